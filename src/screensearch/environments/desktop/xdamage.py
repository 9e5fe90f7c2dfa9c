"""What was drawn on an X screen, as the server tells it: the rectangles, and few of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from screensearch.domain.screen import Box

_MOST = 32  # rectangles; more become the one around them
_AS_IT_GROWS = 1  # the level of reports: each rectangle that was not drawn in yet
_NONE = 0  # in the place of a region


class DamageWire(Protocol):
    """What watching the drawing needs of a connection."""

    damage: Any  # makes requests of the extension
    root: int

    def new_id(self) -> int:
        """A number for something that is made on the server."""
        ...

    def send(self) -> None:
        """Have what was asked for go out, and handle nothing that comes."""
        ...


class Damage:
    """The rectangles that were drawn in since they were last taken."""

    def __init__(self, wire: DamageWire) -> None:
        self._wire = wire
        self._id = wire.new_id()
        self._rectangles: dict[tuple[int, int, int, int], None] = {}
        self._reported = False
        wire.damage.Create(self._id, wire.root, _AS_IT_GROWS)

    def add(self, area: Any) -> None:
        """The server reported a rectangle."""
        self._rectangles[(area.x, area.y, area.width, area.height)] = None
        if len(self._rectangles) > _MOST:
            self._rectangles = {_around(self._rectangles): None}
        self._reported = True

    def acknowledge(self) -> bool:
        """Have what was reported be reported again when it is drawn anew; False when nothing was."""
        reported, self._reported = self._reported, False
        if reported:
            self._wire.damage.Subtract(self._id, _NONE, _NONE)
            self._wire.send()
        return reported

    def take(self) -> list[Box]:
        """The rectangles, which are forgotten here."""
        taken = [Box(*rectangle) for rectangle in self._rectangles]
        self._rectangles.clear()
        return taken


def _around(rectangles: Iterable[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    """The smallest rectangle around others."""
    lefts, tops, widths, heights = zip(*rectangles, strict=True)
    right = max(map(sum, zip(lefts, widths, strict=True)))
    bottom = max(map(sum, zip(tops, heights, strict=True)))
    return min(lefts), min(tops), right - min(lefts), bottom - min(tops)
