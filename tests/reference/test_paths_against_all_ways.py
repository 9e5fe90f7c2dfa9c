"""The most reliable way, against exact fractions relaxed until nothing changes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from random_rows import row_lists

import screensearch as ss
from screensearch.explore.path import Paths, PathStart, Unreachable
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row

EPISODE = ss.EpisodeId(0, 0)


@given(row_lists())
def test_the_way_is_as_likely_as_the_best_of_all_ways(rows: list[Row]) -> None:
    graph = StateGraph.fold(rows, AmbiguitySettings())
    starts = [
        PathStart(row.target, (), 1, 1, (EPISODE,), row.sequence)
        for row in rows
        if row.outcome == "start" and row.target is not None
    ]
    best = {start.state: Fraction(2, 3) for start in starts}
    for _ in range(graph.states):
        for source, signature, target, count in graph.iter_edges():
            failed = graph.failures(source).get(signature, {})
            tries = graph.tried(source)[signature].visits + sum(
                number for outcome, number in failed.items() if outcome != "lost"
            )
            if source in best:
                through = best[source] * Fraction(count + 1, tries + 2)
                best[target] = max(best.get(target, Fraction(0)), through)
    paths = Paths(graph, starts)
    for state in graph.iter_states():
        if state not in best:
            with pytest.raises(Unreachable):
                paths.to(state)
            continue
        path = paths.to(state)
        assert math.isclose(path.estimate, best[state], rel_tol=1e-9)
        places = [path.origin, *(step.target for step in path.steps)]
        assert [step.source for step in path.steps] == places[:-1]
        assert places[-1] == state
