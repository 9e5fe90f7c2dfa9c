"""Where on the active window something is, coarsely enough to survive a shift of some pixels."""

from __future__ import annotations

import math

from screensearch.domain.screen import Box

GRID = 30  # rows and columns over the active window (paper, section 3)


def centre_of(box: Box, window: Box) -> tuple[float, float] | None:
    """The centre of a box as fractions (down, across) of the window, not clamped.

    None when there is no such place: a coordinate is NaN or infinite, a size is negative, or the
    window has no area.
    """
    if not (box.width >= 0 and box.height >= 0 and window.width > 0 and window.height > 0):
        return None
    try:
        down = (box.y + box.height / 2 - window.y) / window.height
        across = (box.x + box.width / 2 - window.x) / window.width
    except OverflowError:  # an integer too large for a float
        return None
    if not (math.isfinite(down) and math.isfinite(across) and math.isfinite(window.width + window.height)):
        return None
    return down, across


def cell_at(centre: tuple[float, float]) -> tuple[int, int]:
    """The (row, column) of the cell that holds a centre given as fractions, clamped to the grid."""
    down, across = centre
    # Clamped before the product, which could overflow to infinity.
    row, column = int(min(max(down, 0.0), 1.0) * GRID), int(min(max(across, 0.0), 1.0) * GRID)
    return min(row, GRID - 1), min(column, GRID - 1)


def cell_name(row: int, column: int) -> str:
    """How a cell is written in atoms and signatures: ``r12_c7``."""
    return f"r{row}_c{column}"
