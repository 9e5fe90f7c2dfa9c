from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.screen import Box
from screensearch.encode.grid import GRID, cell_at, cell_name, centre_of

WINDOW = Box(100, 50, 600, 300)
numbers = st.floats(allow_nan=True, allow_infinity=True)
boxes = st.builds(Box, numbers, numbers, numbers, numbers)


def cell_of(box: Box, window: Box) -> tuple[int, int] | None:
    centre = centre_of(box, window)
    return None if centre is None else cell_at(centre)


def test_the_centre_decides_the_cell() -> None:
    assert cell_of(Box(100, 50, 20, 10), WINDOW) == (0, 0)
    assert cell_of(Box(100, 50, 600, 300), WINDOW) == (15, 15)
    assert cell_of(Box(680, 340, 20, 10), WINDOW) == (29, 29)
    assert cell_of(Box(119, 59, 2, 2), WINDOW) == (1, 1)


def test_what_lies_outside_is_clamped() -> None:
    assert cell_of(Box(-5000, 9000, 10, 10), WINDOW) == (29, 0)
    assert cell_of(Box(1e300, -1e300, 0, 0), WINDOW) == (0, 29)


def test_a_box_without_size_still_has_a_centre() -> None:
    assert cell_of(Box(400, 200, 0, 0), WINDOW) == (15, 15)


@pytest.mark.parametrize(
    "box",
    [
        Box(math.nan, 0, 1, 1),
        Box(0, 0, math.nan, 1),
        Box(0, math.inf, 1, 1),
        Box(0, 0, 1, -math.inf),
        Box(0, 0, -1, 1),
        Box(0, 0, 1, -1),
        Box(10**400, 0, 1, 1),
    ],
)
def test_nonsense_is_no_place(box: Box) -> None:
    assert cell_of(box, WINDOW) is None


@pytest.mark.parametrize(
    "window",
    [Box(0, 0, 0, 10), Box(0, 0, 10, -1), Box(math.nan, 0, 10, 10), Box(0, 0, math.inf, 10)],
)
def test_a_window_without_area_has_no_cells(window: Box) -> None:
    assert cell_of(Box(1, 1, 1, 1), window) is None


@given(boxes, boxes)
def test_every_box_has_a_cell_of_the_grid_or_none(box: Box, window: Box) -> None:
    cell = cell_of(box, window)
    assert cell is None or (0 <= cell[0] < GRID and 0 <= cell[1] < GRID)


def test_cells_are_written_as_in_the_paper() -> None:
    assert cell_name(12, 7) == "r12_c7"
