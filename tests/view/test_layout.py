"""Every state has a place of its own on the map, the same one each time."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from screensearch.view.layout import RING, lay_out


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[list[int]], list[int]]:
    states = draw(st.integers(0, 40))
    if not states:
        return 0, [], []
    numbers = st.integers(0, states - 1)
    links = [sorted(draw(st.sets(numbers, max_size=5))) for _ in range(states)]
    return states, links, sorted(draw(st.sets(numbers, max_size=3)))


@given(graphs())
def test_states_are_laid_out_apart_and_the_same_each_time(
    graph: tuple[int, list[list[int]], list[int]],
) -> None:
    laid = lay_out(*graph)
    places = list(zip(laid.x, laid.y, strict=True))
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places)
    assert len(set(places)) == graph[0]
    assert laid == lay_out(*graph)


@given(graphs())
def test_depth_is_the_fewest_actions_from_a_start(graph: tuple[int, list[list[int]], list[int]]) -> None:
    states, links, starts = graph
    depth = lay_out(*graph).depth
    for state in range(states):
        if state in starts:
            assert depth[state] == 0
            continue
        before = [depth[source] for source in range(states) if state in links[source] and depth[source] >= 0]
        assert depth[state] == (min(before) + 1 if before else -1)


@given(graphs())
def test_what_is_further_away_is_further_out(graph: tuple[int, list[list[int]], list[int]]) -> None:
    laid = lay_out(*graph)
    rings: dict[int, set[float]] = {}
    for x, y, depth in zip(*laid, strict=True):
        rings.setdefault(depth, set()).add(round(math.hypot(x, y), 0))
    apart = rings.pop(-1, set())
    radii = [max(rings[depth]) for depth in sorted(rings)]
    assert all(outer - inner >= RING - 1 for inner, outer in pairwise(radii))
    assert all(radius > max(radii, default=0) for radius in apart)


def test_a_single_start_is_in_the_middle() -> None:
    laid = lay_out(3, [[1, 2], [], []], [0])
    assert (laid.x[0], laid.y[0]) == (0, 0)
