"""What a window manager is asked for: to raise a window, to give it a size and a place, to say that it is up
to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from screensearch.environments.desktop.settings import Placement

_ACTIVE = "_NET_ACTIVE_WINDOW"
_STATE = "_NET_WM_STATE"
_MAXIMIZED = ("_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ")
_PLACE = "_NET_MOVERESIZE_WINDOW"
_FRAME = "_NET_REQUEST_FRAME_EXTENTS"
ATOMS = (_ACTIVE, _STATE, *_MAXIMIZED, _PLACE, _FRAME)

_FROM_A_PAGER = 2  # a manager heeds requests of a pager, where it might hold back an application's own
_TO_MANAGERS = 0x80000 | 0x100000  # those who watch the root for what is below, and who may redirect it
_REMOVE = 0
_NORTH_WEST, _ALL_FOUR, _SOURCE_SHIFT = 1, 0xF00, 12


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

    def place(self, window: int, placement: Placement, *, shadow: tuple[int, int, int, int]) -> None:
        """Give a window a size, and its decorations a place; its shadow, which it draws itself, comes on top.

        `shadow` is its width on the left, right, top and bottom. A window that fills the screen does no more.
        """
        left, right, top, bottom = shadow
        self._ask(_STATE, window, _REMOVE, *(self._wire.atoms[name] for name in _MAXIMIZED), _FROM_A_PAGER)
        self._ask(
            _PLACE,
            window,
            _NORTH_WEST | _ALL_FOUR | _FROM_A_PAGER << _SOURCE_SHIFT,
            placement.x - left,
            placement.y - top,
            placement.width + left + right,
            placement.height + top + bottom,
        )

    def measure_frame(self, window: int) -> None:
        """Ask how wide its frame would be around a window of ours.

        Its answer is of no interest, but by then it has handled all that came before.
        """
        self._ask(_FRAME, window)

    def _ask(self, kind: str, window: int, *data: int) -> None:
        self._wire.message(self._wire.root, window, self._wire.atoms[kind], data, mask=_TO_MANAGERS)
