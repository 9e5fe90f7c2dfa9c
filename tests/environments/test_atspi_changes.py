"""What really changed on the screen, of what was painted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from screensearch.domain.screen import Box
from screensearch.environments.desktop.changes import TILE, Changes

HEIGHT, WIDTH = 70, 101
EVERYTHING = [Box(0, 0, WIDTH, HEIGHT)]


class Painted:
    """A picture in memory, which gives copies."""

    def __init__(self, pixels: NDArray[np.uint32]) -> None:
        self._pixels = pixels
        self.height, self.width = pixels.shape

    def rows(self, top: int, bottom: int) -> NDArray[np.uint32]:
        return self._pixels[top:bottom].copy()


def covers(boxes: list[Box], x: int, y: int) -> bool:
    return any(box.x <= x < box.x + box.width and box.y <= y < box.y + box.height for box in boxes)


@given(st.sets(st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1)), max_size=12))
def test_every_changed_pixel_is_covered_and_no_square_without_one(points: set[tuple[int, int]]) -> None:
    pixels = np.zeros((HEIGHT, WIDTH), np.uint32)
    changes = Changes(Painted(pixels))
    for x, y in points:
        pixels[y, x] = 7
    found = changes.take(EVERYTHING)
    tiles = {(x // TILE, y // TILE) for x, y in points}
    assert {
        (x, y)
        for y in range(-(-HEIGHT // TILE))
        for x in range(-(-WIDTH // TILE))
        if covers(found, x * TILE, y * TILE)
    } == tiles
    assert changes.take(EVERYTHING) == []


def test_what_was_painted_as_it_was_is_no_change() -> None:
    pixels = np.full((HEIGHT, WIDTH), 3, np.uint32)
    changes = Changes(Painted(pixels))
    pixels[:] = 3
    assert changes.take(EVERYTHING) == []


def test_what_was_not_painted_is_not_looked_at_until_it_is() -> None:
    pixels = np.zeros((HEIGHT, WIDTH), np.uint32)
    changes = Changes(Painted(pixels))
    pixels[60, 90] = 1
    assert changes.take([]) == []
    assert changes.take([Box(0, 0, 20, 20)]) == []
    assert covers(changes.take([Box(80, 50, 400, 400)]), 90, 60)


def test_a_big_change_is_one_rectangle_and_may_hang_over_the_edge() -> None:
    pixels = np.zeros((HEIGHT, WIDTH), np.uint32)
    changes = Changes(Painted(pixels))
    pixels[:] = 1
    assert len(changes.take([Box(-50, -50, 1000, 1000)])) == 1
