"""Curves over any axis, and bars, as SVG: what `figures.line_chart` draws over steps, drawn over anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from screensearch.study.figures import (
    BOTTOM,
    COLOURS,
    DASHES,
    FONT,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    apart,
    label,
    polyline,
    short,
    ticks,
)

Points = Sequence[tuple[float, float]]
Scale = Callable[[float], float]

_NAME_LETTERS = 20  # of a curve: what fits on the right
_NARROW = 24  # the room on the right of a chart without names there


def xy_chart(
    curves: Mapping[str, Points], *, title: str, x_label: str, y_label: str, log_y: bool = False
) -> str:
    """Named curves through points with growing x; on a logarithmic axis, values of 0 are left out."""
    drawn = {
        name: [point for point in points if point[1] > 0 or not log_y] for name, points in curves.items()
    }
    drawn = {name: points for name, points in drawn.items() if points}
    most = max((x for points in drawn.values() for x, _ in points), default=1.0) or 1.0
    up, marks = _upward([y for points in drawn.values() for _, y in points], log=log_y)

    def across(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * x / most

    parts = _frame(title, x_label, y_label, up, marks, right=RIGHT)
    parts += [
        label(across(tick), HEIGHT - BOTTOM + 18, _mark(tick), anchor="middle") for tick in ticks(0, most)
    ]
    ends: list[tuple[float, str, str]] = []
    for place, (name, points) in enumerate(drawn.items()):
        colour = COLOURS[place % len(COLOURS)]
        dash = DASHES[(place + place // len(COLOURS)) % len(DASHES)]  # a colour comes again with another
        line = [(across(x), up(y)) for x, y in points]
        parts.append(
            f"<polyline points='{polyline(line)}' fill='none' stroke='{colour}' stroke-width='2' "
            f"stroke-dasharray='{dash}'/>"
        )
        ends.append((line[-1][1], _cut(name), colour))
    parts += [
        f"<text x='{WIDTH - RIGHT + 8}' y='{y + 4:.1f}' fill='{colour}' font-weight='600'>"
        f"{escape(name)}</text>"
        for y, name, colour in apart(ends)
    ]
    return "\n".join([*parts, "</svg>", ""])


def bar_chart(
    bars: Sequence[tuple[str, int]], *, title: str, x_label: str, y_label: str, log_y: bool = False
) -> str:
    """Counts by name, in order. On a logarithmic axis, which begins at a half, a count of 0 is no bar."""
    up, marks = _upward([count for _, count in bars if count], log=log_y, bars=True)
    parts = _frame(title, x_label, y_label, up, marks, right=_NARROW)
    width = (WIDTH - LEFT - _NARROW) / max(1, len(bars))
    every = math.ceil(len(bars) / 20)  # names that fit below each other's bars
    floor = HEIGHT - BOTTOM
    for place, (name, count) in enumerate(bars):
        left = LEFT + place * width
        middle = left + width / 2
        if count:
            top = up(count)
            parts.append(
                f"<rect x='{left + width * 0.1:.1f}' y='{top:.1f}' width='{width * 0.8:.1f}' "
                f"height='{floor - top:.1f}' fill='{COLOURS[0]}'>"
                f"<title>{escape(name)}: {count:,}</title></rect>"
            )
            if len(bars) <= 14:
                parts.append(label(middle, top - 4, f"{count:,}", anchor="middle"))
        if place % every == 0:
            parts.append(label(middle, floor + 18, name, anchor="middle"))
    return "\n".join([*parts, "</svg>", ""])


def _upward(values: Iterable[float], *, log: bool, bars: bool = False) -> tuple[Scale, list[float]]:
    """How far down a value is drawn, and the values that are marked on the axis."""
    known = list(values)
    height = HEIGHT - TOP - BOTTOM
    if not log:
        high = max([*known, 0.0]) or 1.0
        return lambda value: HEIGHT - BOTTOM - height * value / high, ticks(0, high)
    low, high = (min(known), max(known)) if known else (0.1, 1.0)
    bottom = math.log10(0.5) if bars else math.floor(math.log10(low))
    top = max(math.ceil(math.log10(high)), math.floor(bottom) + 1)
    marks = [10.0**power for power in range(math.ceil(bottom), top + 1)]
    return lambda value: HEIGHT - BOTTOM - height * (math.log10(value) - bottom) / (top - bottom), marks


def _frame(
    title: str, x_label: str, y_label: str, up: Scale, marks: Sequence[float], *, right: int
) -> list[str]:
    """All but the data: background, title, lines of the vertical axis, labels."""
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' "
        f"width='{WIDTH}' height='{HEIGHT}' {FONT} font-size='12'>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        f"<text x='{LEFT}' y='24' font-size='15' font-weight='600' fill='#111'>{escape(title)}</text>",
        label((LEFT + WIDTH - right) / 2, HEIGHT - 12, x_label, anchor="middle"),
        f"<text transform='translate(14 {middle:.1f}) rotate(-90)' text-anchor='middle' fill='#333'>"
        f"{escape(y_label)}</text>",
    ]
    for mark in marks:
        y = up(mark)
        parts.append(f"<line x1='{LEFT}' x2='{WIDTH - right}' y1='{y:.1f}' y2='{y:.1f}' stroke='#e5e7eb'/>")
        parts.append(label(LEFT - 8, y + 4, _mark(mark), anchor="end"))
    return parts


def _mark(value: float) -> str:
    """A value on an axis: 5,000, but 10k and 2M, which have room there."""
    for size, letter in ((1_000_000, "M"), (10_000, "k")):
        if value >= size:
            return f"{value / (1_000_000 if letter == 'M' else 1_000):,.6g}{letter}"
    return short(value)


def _cut(name: str) -> str:
    return name if len(name) <= _NAME_LETTERS else name[: _NAME_LETTERS - 1] + "…"
