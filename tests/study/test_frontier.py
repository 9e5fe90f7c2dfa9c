"""Breadth-first and depth-first, on a small drawn application: whose turn it is, and the way there."""

from __future__ import annotations

import numpy as np
import pytest

from screensearch.domain.action import Action, Candidate
from screensearch.errors import SettingsError
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row
from screensearch.select.settings import SelectSettings
from screensearch.study.frontier import Frontier

START, LEFT, RIGHT = 0, 1, 2
OFFERED = {START: ["left", "right"], LEFT: ["back", "deeper"], RIGHT: ["back"]}


def candidates(state: int) -> list[Candidate]:
    return [
        Candidate(place, Action("focus_click@1"), name, name) for place, name in enumerate(OFFERED[state])
    ]


def graph_of(*taken: tuple[int, str, int]) -> StateGraph:
    """A graph in which an episode began at the start, and these steps were taken, each from where it says."""
    graph = StateGraph(AmbiguitySettings())
    graph.apply(Row(1, "start", None, None, START, None))
    for sequence, (source, signature, target) in enumerate(taken, start=2):
        graph.apply(Row(sequence, "ok", source, signature, target, 0.0))
    return graph


def choices(policy: str, graph: StateGraph, *visited: int) -> str:
    """What is chosen at the last of these states, after the others were met in this order."""
    frontier = Frontier(policy, SelectSettings(prior="uniform@1"), graph)
    chosen = ""
    for state in visited:
        frontier.here = state
        rng = np.random.default_rng(0)
        chosen = frontier.choose(candidates(state), {}, rng=rng, snapshot=1)[1].signature
    return chosen


KNOWN = [(START, "left", LEFT), (LEFT, "back", START)]


def test_breadth_first_walks_back_to_the_start_for_what_is_untried_there() -> None:
    assert choices("breadth-first", graph_of(*KNOWN), START, LEFT) == "back"


def test_depth_first_stays_for_what_is_untried_here() -> None:
    assert choices("depth-first", graph_of(*KNOWN), START, LEFT) == "deeper"


def test_both_take_what_is_untried_where_it_is_its_turn() -> None:
    for policy in ("breadth-first", "depth-first"):
        assert choices(policy, graph_of(*KNOWN), START) == "right"


def test_depth_first_goes_back_to_the_latest_state_that_has_something_left() -> None:
    known = [*KNOWN, (START, "right", RIGHT), (RIGHT, "back", START)]
    assert choices("depth-first", graph_of(*known), START, LEFT, START, RIGHT) == "back"
    assert choices("depth-first", graph_of(*known), START, LEFT, START, RIGHT, START) == "left"


def test_an_action_that_failed_is_not_untried() -> None:
    graph = graph_of((START, "left", LEFT))
    graph.apply(Row(3, "crash", START, "right", None, None))
    assert choices("breadth-first", graph, START) in ("left", "right")  # nothing is left: any will do
    assert choices("breadth-first", graph, START, LEFT) in ("back", "deeper")


def test_without_a_known_way_what_is_untried_here_is_taken() -> None:
    graph = graph_of((START, "left", LEFT))
    assert choices("breadth-first", graph, START, LEFT) in ("back", "deeper")


def test_an_unknown_policy_is_named() -> None:
    with pytest.raises(SettingsError, match="no policy named 'best-first'"):
        Frontier("best-first", SelectSettings(), graph_of())
