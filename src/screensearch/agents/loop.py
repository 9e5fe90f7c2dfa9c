"""An event loop in a thread of its own, for callers that are not asynchronous.

Environments are: a live desktop goes on sending events while nobody asks, and a notebook already runs a loop
in the caller's thread. So neither one loop per call nor the caller's own will do.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from screensearch.explore.step import in_time

T = TypeVar("T")

_STOP_SECONDS = 10.0  # for what was cancelled to end


class LoopThread:
    """Runs coroutines for one caller at a time. `stop` it when done: safe to call twice."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="screensearch-environment", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()

    @property
    def running(self) -> bool:
        """Whether it can still be given something to do."""
        return not self._stopped

    def run(self, doing: Coroutine[Any, Any, T], *, seconds: float, what: str) -> T:
        """Wait for a coroutine. One that takes longer, or whose waiting is interrupted, is cancelled."""
        waited_for = asyncio.run_coroutine_threadsafe(in_time(doing, seconds, what), self._loop)
        try:
            return waited_for.result()
        except BaseException:
            waited_for.cancel()
            raise

    def stop(self) -> None:
        """End the loop and its thread; what still runs there is cancelled."""
        if not self._stopped:
            self._stopped = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_STOP_SECONDS)
