"""Where the states of a map are drawn: around where episodes begin, a ring for each action further away.

Breadth first from the starts gives every state one parent. Each state gets a part of its parent's angle, by
what is behind it, so that branches do not cross. A ring that is full gets more rows outside of it: few states
make a star, many fill a disc, and each has about the same room for its picture. What no known way leads to
stands apart, in rows below. The same graph gives the same picture; the cost is n log n at most.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

RING = 10.0
"""From the last row of a ring to the first of the next."""

SPACE = 6.0
"""What a state takes up on its row, and a row on its ring."""


class Layout(NamedTuple):
    """Places and depths, in the order of the states; depth -1 where no known way leads."""

    x: list[float]
    y: list[float]
    depth: list[int]


def lay_out(states: int, links: Sequence[Sequence[int]], starts: Sequence[int]) -> Layout:
    """Lay out states 0 to `states` - 1; `links` has the successors of each, in the order to draw them in."""
    depth, order, children = _tree(states, links, starts)
    weights = _weights(depth, order, children)
    rings: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    angles = [0.0] * states
    parts: list[tuple[list[int], float, float]] = [(list(starts), -math.pi / 2, 2 * math.pi)]
    for siblings, begin, width in parts:  # grows as it goes: breadth first, so each ring is in order of angle
        total = sum(weights[state] for state in siblings)
        for state in siblings:
            part = width * weights[state] / total
            angles[state] = begin + part / 2
            rings[depth[state]].append(state)
            parts.append((children[state], begin, part))
            begin += part
    x, y = [0.0] * states, [0.0] * states
    outer = -RING if len(starts) == 1 else 0.0
    for ring in rings:
        outer = _place(ring, angles, outer + RING, x, y)
    _set_apart([state for state in range(states) if depth[state] < 0], outer, x, y)
    return Layout(x, y, depth)


def _tree(
    states: int, links: Sequence[Sequence[int]], starts: Sequence[int]
) -> tuple[list[int], list[int], list[list[int]]]:
    """The depth of each state, the states in breadth-first order, and the children of each."""
    depth = [-1] * states
    children: list[list[int]] = [[] for _ in range(states)]
    order: list[int] = []
    waiting = deque(starts)
    for start in starts:
        depth[start] = 0
    while waiting:
        state = waiting.popleft()
        order.append(state)
        for target in links[state]:
            if depth[target] < 0:
                depth[target] = depth[state] + 1
                children[state].append(target)
                waiting.append(target)
    return depth, order, children


def _weights(depth: list[int], order: list[int], children: list[list[int]]) -> list[float]:
    """How much angle each state needs: for itself, less the further out it is, or for all behind it."""
    weights = [0.0] * len(depth)
    for state in reversed(order):
        weights[state] = max(1 / (depth[state] + 1), sum(weights[child] for child in children[state]))
    return weights


def _place(ring: list[int], angles: list[float], inner: float, x: list[float], y: list[float]) -> float:
    """Put the states of a ring, in order of angle, on rows with room there; the radius of the last row."""
    rows: list[tuple[float, int]] = []  # the angle from which each is free
    for state in ring:
        angle = angles[state]
        row = heapq.heappop(rows)[1] if rows and rows[0][0] <= angle else len(rows)
        radius = inner + row * SPACE
        heapq.heappush(rows, (angle + SPACE / max(radius, SPACE), row))
        x[state], y[state] = round(radius * math.cos(angle), 2), round(radius * math.sin(angle), 2)
    return inner + max(0, len(rows) - 1) * SPACE


def _set_apart(states: list[int], outer: float, x: list[float], y: list[float]) -> None:
    """Rows below the rings."""
    columns = max(1, math.ceil(math.sqrt(4 * len(states))))
    top = -(outer + 2 * RING)
    for place, state in enumerate(states):
        row, across = divmod(place, columns)
        x[state] = round((across - (columns - 1) / 2) * SPACE, 2)
        y[state] = round(top - row * SPACE, 2)
