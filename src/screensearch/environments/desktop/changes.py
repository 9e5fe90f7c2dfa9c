"""Which pixels really changed: applications repaint far more than they change.

The server reports what was painted. LibreOffice paints its whole window for one letter; compared with
the picture before, a few squares are left, and only the elements under them have to be read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import Box

TILE = 16
"""Changes are told apart by squares of so many pixels."""


class Picture(Protocol):
    """A picture that others paint in."""

    height: int
    width: int

    def rows(self, top: int, bottom: int) -> NDArray[np.uint32]:
        """These lines as they are now, ``[rows, columns]`` of whole pixels; good until the next are read."""
        ...


class Changes:
    """Compares a picture with what it was."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._before = picture.rows(0, picture.height).copy()

    def take(self, painted: Sequence[Box]) -> list[Box]:
        """The parts that changed since they were last taken, of those that were painted."""
        height, width = self._picture.height, self._picture.width
        left = max(min((int(box.x) for box in painted), default=0), 0) // TILE * TILE
        top = max(min((int(box.y) for box in painted), default=0), 0) // TILE * TILE
        right = min(max((int(np.ceil(box.x + box.width)) for box in painted), default=0), width)
        bottom = min(max((int(np.ceil(box.y + box.height)) for box in painted), default=0), height)
        if right <= left or bottom <= top:
            return []
        now = self._picture.rows(top, bottom)[:, left:right]
        before = self._before[top:bottom, left:right]
        tiles = _tiles(now != before)
        before[:] = now
        return [
            Box(left + x * TILE, top + y * TILE, wide * TILE, high * TILE)
            for x, y, wide, high in _rectangles(tiles)
        ]


def _tiles(different: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """``[rows, columns]`` of squares: whether any pixel of each is different."""
    height, width = different.shape
    # Along the rows first: that is how they lie in memory.
    rows = np.logical_or.reduceat(different, np.arange(0, height, TILE), axis=0)
    return np.asarray(np.logical_or.reduceat(rows, np.arange(0, width, TILE), axis=1), np.bool_)


def _rectangles(tiles: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """The squares that are set, as few rectangles (x, y, width, height): runs, joined downwards."""
    found: list[list[int]] = []
    above: dict[tuple[int, int], list[int]] = {}
    for y in np.flatnonzero(tiles.any(axis=1)).tolist():
        edges = np.flatnonzero(np.diff(tiles[y], prepend=False, append=False)).tolist()
        current: dict[tuple[int, int], list[int]] = {}
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            rectangle = above.get((start, end))
            if rectangle is not None and rectangle[1] + rectangle[3] == y:
                rectangle[3] += 1
            else:
                rectangle = [start, y, end - start, 1]
                found.append(rectangle)
            current[start, end] = rectangle
        above = current
    return [(x, y, wide, high) for x, y, wide, high in found]
