"""Lead a run that was begun here, on a cluster: whoever ends this process ends the run."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from screensearch.cluster.launch import Attached
from screensearch.cluster.names import View
from screensearch.explore.progress import Summary


class Leading:
    """Ctrl-C and SIGTERM as an exploration in this process takes them: finish the steps under way, then go.

    Until `hold` is called they do what they did before. From then on they are noted, and acted on when there
    is time: not in the middle of a question. For the main thread only, as signals are.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._received = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def interrupted(self) -> bool:
        return self._received > 0

    def hold(self) -> None:
        """Something is under way from now on, and must be told when it is to end."""
        if not self._before:
            self._before = {
                number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)
            }

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._received += 1

    def follow(self, attached: Attached, on_view: Callable[[View], None]) -> Summary:
        """Follow a run to its end: an interrupt ends it, a second one gives up its steps under way."""
        answered = 0

        def look(seen: View) -> None:
            nonlocal answered
            on_view(seen)
            if self._received > answered and seen.phase != "ended":
                answered += 1
                if answered == 1:
                    attached.stop("interrupted")
                else:
                    attached.give_up()

        return attached.follow(look)
