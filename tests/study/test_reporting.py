"""From episodes to figures: metrics by hand, tables with the paper's figures, pictures that parse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest

from screensearch.study.conditions import SELECTOR, SENSITIVITY, Condition
from screensearch.study.figures import line_chart
from screensearch.study.matching import Matching
from screensearch.study.paper import COMPONENTS, STAND_INS, published
from screensearch.study.plan import Plan, PlannedSuite
from screensearch.study.summary import summarise
from screensearch.study.tables import (
    differences_markdown,
    factors_latex,
    factors_markdown,
    results_latex,
    results_markdown,
)
from screensearch.study.trace import Failure, Metrics, Place, Trace, measure

STEPS = 6


@pytest.fixture(autouse=True)
def _the_papers_budget_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's figures are shown for its own budget only: here that is one of six steps."""
    monkeypatch.setattr("screensearch.study.paper.STEPS", STEPS)


def trace_of(condition: str, start: int, states: list[int], suite: str = "mousepad", known: int = 3) -> Trace:
    """An episode through these states, by another action at each step; those below `known` earn no credit."""
    return Trace(
        place=Place(suite, condition, start, 0),
        states=states,
        ambiguity=[0.1 * state for state in states],
        known_states=[state < known for state in states],
        signatures=[None, *(f"s{step}" for step in range(1, len(states)))],
        outcomes=["start", *["ok"] * (len(states) - 1)],
        known_edges=[True, *(state < known for state in states[1:])],
        true_states=[None] * len(states),
    )


def plan_of(*suites: str, study: str = "selector", conditions: Sequence[Condition] = SELECTOR[:2]) -> Plan:
    return Plan(
        study=study,
        conditions=list(conditions),
        suites=[PlannedSuite(name, "d" * 64, f"desktop:{name}", 0.35, [0, 1]) for name in suites],
        steps=STEPS,
        replicates=1,
        seed=0,
        version="test",
    )


def test_the_metrics_of_an_episode_by_hand() -> None:
    trace = trace_of("puct", 0, [0, 1, 7, 7, 8, 0])
    found = measure(trace, steps=STEPS, high=0.35)
    assert found.new_states == 2
    assert found.state_auc == 0 + 0 + 1 + 1 + 2 + 2
    assert found.new_edges == 3  # to 7, 7 and 8; those to 0 and 1 were known
    assert found.edge_auc == 0 + 0 + 1 + 2 + 3 + 3
    assert found.net_ambiguity == pytest.approx(0.0)
    assert found.high_occupancy == 3 / 6
    assert found.revisit == pytest.approx(1 - 2 / 5)  # what the initial graph has counts as visited
    assert found.loop_stall == 0


def test_an_edge_of_a_step_that_did_not_come_out_is_none() -> None:
    trace = trace_of("puct", 0, [0, 7, 0, 7, 8, 8])
    trace.outcomes[2] = "crash"
    assert trace.edges[:3] == [None, (0, "s1", 7), None]
    assert measure(trace, steps=STEPS, high=0.35).new_edges == 4


def test_the_frontier_counts_known_states_too() -> None:
    assert trace_of("puct", 0, [0, 1, 7, 7, 8, 0]).frontier_curve(STEPS).tolist() == [0, 1, 2, 2, 3, 3]


def episodes(suite: str) -> list[Trace]:
    return [
        trace_of("puct", 0, [0, 7, 8, 9, 10, 11], suite),
        trace_of("greedy", 0, [0, 0, 0, 0, 0, 0], suite),
        trace_of("puct", 1, [1, 7, 8, 9, 1, 1], suite),
        trace_of("greedy", 1, [1, 7, 1, 1, 1, 1], suite),
    ]


def test_a_row_is_the_mean_over_starts_with_the_papers_figure_behind_it() -> None:
    table = results_markdown(summarise(plan_of("mousepad"), episodes("mousepad")))
    assert "| mousepad (for Notepad) | PUCT | 2 | 4.000 (1.000) |" in table
    assert "| mousepad (for Notepad) | Greedy | 2 | 0.500 (0.240) |" in table
    assert "New states @ 6" in table


def test_the_macro_average_has_the_papers_figure_only_over_its_three_applications() -> None:
    two, three = ["mousepad", "thunar"], list(STAND_INS)
    for suites, shown in ((two, "| 4.000 |"), (three, "| 4.000 (1.573) |")):
        traces = [trace for suite in suites for trace in episodes(suite)]
        table = results_markdown(summarise(plan_of(*suites), traces))
        assert f"| Macro-average | PUCT | {2 * len(suites)} {shown}" in table


def test_a_pair_of_which_one_failed_is_left_out() -> None:
    traces = episodes("mousepad")
    traces[1] = Trace(traces[1].place, failure=Failure.ENVIRONMENT, note="no display")
    summary = summarise(plan_of("mousepad"), traces)
    greedy = next(row for row in summary.rows if row.condition == "greedy")
    assert (greedy.starts, greedy.failed) == (1, 1)
    difference = next(each for each in summary.differences if each.metric == "new_states")
    assert difference.comparison.pairs == 1
    assert difference.comparison.difference.mean == 3 - 1
    assert not difference.stands
    assert "1 (1 failed)" in results_markdown(summary)
    assert "[–, –]" in differences_markdown(summary)


def test_replicates_of_a_start_are_averaged_before_anything_is_paired() -> None:
    traces = episodes("mousepad")
    second = trace_of("puct", 0, [0, 0, 0, 0, 0, 0])
    second.place = Place("mousepad", "puct", 0, 1)
    summary = summarise(plan_of("mousepad"), [*traces, second])
    assert summary.rows[0].starts == 2
    assert summary.rows[0].metrics["new_states"].mean == ((5 + 0) / 2 + 3) / 2


def test_sensitivity_has_a_line_for_each_factor_with_its_three_values() -> None:
    plan = plan_of("mousepad", study="sensitivity", conditions=SENSITIVITY)
    traces = [
        trace_of(each.name, 0, [0, place, 0, 0, 0, 0]) for place, each in enumerate(SENSITIVITY, start=3)
    ]
    matchings = [
        Matching("mousepad", each.name, "true screens", 10, 5, 0.5 + place / 10, place / 100)
        for place, each in enumerate(SENSITIVITY)
    ]
    table = factors_markdown(summarise(plan, traces), matchings)
    merges = "False merge 0.010 / 0.000 / 0.020; pair F1 0.600 / 0.500 / 0.700"
    assert f"| τ | 0.90 / 0.93 / 0.96 | 5.000 / 5.000 / 5.000 | {merges} |" in table
    assert "| κ | 5 / 20 / 50 | 5.000 / 5.000 / 5.000 | Revisit 0.8000 / 0.8000 / 0.8000 |" in table
    assert "| u₀ | 0.25 / 0.5 / 0.75 |" in table
    latex = factors_latex(summarise(plan, traces), matchings)
    assert rf"& $\tau$ & 0.90 / 0.93 / 0.96 & 5.000 / 5.000 / 5.000 & {merges}\\" in latex
    assert "& u$_0$ & 0.25 / 0.5 / 0.75 &" in latex
    assert latex.isascii()


def test_latex_names_an_application_once_and_has_nothing_that_tex_acts_on() -> None:
    plan = plan_of("my_app")
    latex = results_latex(summarise(plan, episodes("my_app")))
    assert latex.count(r"my\_app") == 1
    assert r"New states @ 6 & State AUC & Edge AUC & Net $\Delta u$ & Revisit\\" in latex
    assert latex.count("{") == latex.count("}")


@pytest.mark.parametrize("condition", ["full", "novelty", "uniform", "identical"])
def test_published_revisits_follow_from_published_new_states(condition: str) -> None:
    """A check of what was copied from the paper: 1 - new / 49, within what its rounding allows."""
    row = COMPONENTS["", condition]
    assert row.revisit == pytest.approx(1 - row.new_states / 49, abs=0.0008)


def test_the_paper_has_no_figure_for_what_is_no_stand_in() -> None:
    assert published("selector", ("synthetic-notepad",), "puct", STEPS) is None
    assert published("selector", ("mousepad",), "random", STEPS) is None
    assert published("selector", ("mousepad",), "puct", STEPS + 1) is None
    found = published("selector", ("thunar",), "puct", STEPS)
    assert isinstance(found, Metrics)
    assert found.edge_auc == 1076.4
    assert math.isnan(found.loop_stall)


def test_a_chart_parses_and_is_not_broken_by_names() -> None:
    flat = np.zeros(6), np.zeros(6)
    rising = np.arange(6.0), np.full(6, 0.5)
    drawn = line_chart(
        {"a & <b>": flat, "rising": rising}, title="<script>alert(1)</script>", x_label="step", y_label="Δu"
    )
    root = ElementTree.fromstring(drawn)
    texts = [element.text for element in root.iter() if element.text and element.text.strip()]
    assert "a & <b>" in texts
    assert "<script>alert(1)</script>" in texts
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_names_at_the_ends_of_equal_curves_do_not_lie_on_each_other() -> None:
    flat = np.zeros(6), np.zeros(6)
    drawn = line_chart({f"c{n}": flat for n in range(6)}, title="t", x_label="x", y_label="y")
    root = ElementTree.fromstring(drawn)
    places = sorted(
        float(element.attrib["y"]) for element in root.iter() if (element.text or "").startswith("c")
    )
    assert all(after - before >= 14 for before, after in itertools.pairwise(places))
    assert places[-1] <= 400
