"""What a window manager is asked for: to raise a window, and to say that it is up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

_ACTIVE = "_NET_ACTIVE_WINDOW"
_FRAME = "_NET_REQUEST_FRAME_EXTENTS"
ATOMS = (_ACTIVE, _FRAME)

_FROM_A_PAGER = 2  # a manager heeds requests of a pager, where it might hold back an application's own
_TO_MANAGERS = 0x80000 | 0x100000  # those who watch the root for what is below, and who may redirect it


class ManagerWire(Protocol):
    """What asking a window manager needs of a connection."""

    root: int
    atoms: Mapping[str, int]

    def message(self, to: int, about: int, kind: int, data: Sequence[int], *, mask: int) -> None:
        """Send a message to whoever watches a window for such events."""
        ...


class Manager:
    """The window manager, as others ask it. It may do otherwise, and does it later."""

    def __init__(self, wire: ManagerWire) -> None:
        self._wire = wire

    def activate(self, window: int) -> None:
        """Raise a window and give it the input."""
        self._ask(_ACTIVE, window, _FROM_A_PAGER)

    def measure_frame(self, window: int) -> None:
        """Ask how wide its frame would be around a window of ours.

        Its answer is of no interest, but by then it has handled all that came before.
        """
        self._ask(_FRAME, window)

    def _ask(self, kind: str, window: int, *data: int) -> None:
        self._wire.message(self._wire.root, window, self._wire.atoms[kind], data, mask=_TO_MANAGERS)
