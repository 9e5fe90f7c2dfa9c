"""Curves as SVG, written by hand: a figure of a study is a few lines, and a plotting library is not.

Every curve has a colour, a dash pattern and its name at its end, so that it can be told apart in print and by
those who do not see all colours. The band around it is ± one standard error over episodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from screensearch.study.metrics import Floats

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 44, 52

COLOURS = ("#1f6f43", "#c2410c", "#1d4ed8", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#475569")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 2", "1 4", "12 4", "6 2 2 2")

FONT = "font-family='system-ui, sans-serif'"


def line_chart(
    curves: Mapping[str, tuple[Floats, Floats]], *, title: str, x_label: str, y_label: str, every: float = 1
) -> str:
    """Named curves, each with its standard error, over steps 0, 1, …; as the text of an SVG file.

    Of a long curve only one value in `every` steps need be given.
    """
    low, high = _range(curves)
    steps = max((len(mean) for mean, _ in curves.values()), default=1)

    def across(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / max(1, steps - 1)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' "
        f"width='{WIDTH}' height='{HEIGHT}' {FONT} font-size='12'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        f"<text x='{LEFT}' y='24' font-size='15' font-weight='600' fill='#111'>{escape(title)}</text>",
    ]
    for tick in ticks(low, high):
        y = up(tick)
        parts.append(f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y:.1f}' y2='{y:.1f}' stroke='#e5e7eb'/>")
        parts.append(label(LEFT - 8, y + 4, short(tick), anchor="end"))
    below = HEIGHT - BOTTOM + 18
    parts += [
        label(across(tick / every), below, short(tick), anchor="middle")
        for tick in ticks(0, (steps - 1) * every)
    ]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, anchor="middle"))
    parts.append(
        f"<text transform='translate(18 {middle:.1f}) rotate(-90)' text-anchor='middle' fill='#333'>"
        f"{escape(y_label)}</text>"
    )
    ends: list[tuple[float, str, str]] = []
    for place, (name, (mean, error)) in enumerate(curves.items()):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        band = [(across(step), up(value)) for step, value in enumerate(mean + error)]
        band += reversed([(across(step), up(value)) for step, value in enumerate(mean - error)])
        parts.append(f"<polygon points='{polyline(band)}' fill='{colour}' opacity='0.12'/>")
        line = [(across(step), up(value)) for step, value in enumerate(mean)]
        parts.append(
            f"<polyline points='{polyline(line)}' fill='none' stroke='{colour}' stroke-width='2' "
            f"stroke-dasharray='{dash}'/>"
        )
        ends.append((line[-1][1], name, colour))
    parts += [
        f"<text x='{WIDTH - RIGHT + 8}' y='{y + 4:.1f}' fill='{colour}' font-weight='600'>"
        f"{escape(name)}</text>"
        for y, name, colour in apart(ends)
    ]
    return "\n".join([*parts, "</svg>", ""])


def _range(curves: Mapping[str, tuple[Floats, Floats]]) -> tuple[float, float]:
    """From the lowest to the highest value with its error; 0 is always in it, and it is never empty."""
    values = [0.0]
    for mean, error in curves.values():
        values += [float((mean - error).min()), float((mean + error).max())]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1)


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers from low to high."""
    width = (high - low) / 5 or 1
    size = 10 ** math.floor(math.log10(width))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= width)
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def apart(ends: Sequence[tuple[float, str, str]], distance: float = 15) -> list[tuple[float, str, str]]:
    """The names at the ends of curves, moved so far that they do not lie on each other."""
    placed: list[tuple[float, str, str]] = []
    for y, name, colour in sorted(ends):
        y = max(y, placed[-1][0] + distance) if placed else y
        placed.append((y, name, colour))
    over = placed[-1][0] - (HEIGHT - BOTTOM) if placed else 0
    if over <= 0:
        return placed
    lowest = HEIGHT - BOTTOM + distance
    for place in reversed(range(len(placed))):
        y, name, colour = placed[place]
        lowest = min(y, lowest - distance)
        placed[place] = (lowest, name, colour)
    return placed


def polyline(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def label(x: float, y: float, text: str, *, anchor: str) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='#333'>{escape(text)}</text>"


def short(value: float) -> str:
    return f"{value:,.6g}"
