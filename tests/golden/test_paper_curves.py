"""The paper's published curves give its published summaries (appendix "Original Notepad diagnostic").

Coordinates are printed to four decimals, so a sum of 50 of them is known to 50 · 0.00005 = 0.0025,
and summaries to two decimals: the two roundings together allow 0.0075.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screensearch.study.diagnostic import PUCT, DiagnosticRow, diagnose
from screensearch.study.metrics import STEPS, at_budget, auc, frontier_curve
from screensearch.study.paper_diagnostic import CURVES, PRIORS
from screensearch.study.plan import Plan, PlannedSuite
from screensearch.study.trace import Place, Trace

PAPER = json.loads(Path(__file__).with_name("paper_curves.json").read_text())["methods"]
METHODS = sorted(PAPER)

COORDINATE = 0.00005
SUMMARY = 0.005


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> dict[str, Any]:
    named: dict[str, Any] = PAPER[request.param]
    return named


def test_all_five_methods_are_there_with_all_their_steps() -> None:
    assert len(METHODS) == 5
    assert {len(PAPER[name][curve]) for name in METHODS for curve in ("frontier", "ambiguity_change")} == {50}


def test_the_frontier_auc_is_the_plain_sum(method: dict[str, Any]) -> None:
    published = method["published"]["frontier_auc"]
    assert auc(method["frontier"]) == pytest.approx(published, abs=50 * COORDINATE + SUMMARY)


def test_the_ambiguity_auc_is_the_plain_sum(method: dict[str, Any]) -> None:
    published = method["published"]["ambiguity_auc"]
    assert auc(method["ambiguity_change"]) == pytest.approx(published, abs=50 * COORDINATE + SUMMARY)


def test_the_trapezoid_would_not_give_the_published_frontier_auc(method: dict[str, Any]) -> None:
    assert abs(np.trapezoid(method["frontier"]) - method["published"]["frontier_auc"]) > 4


def test_the_final_values_are_those_of_step_49(method: dict[str, Any]) -> None:
    published = method["published"]
    assert at_budget(method["frontier"]) == pytest.approx(
        published["final_frontier"], abs=COORDINATE + SUMMARY
    )
    assert at_budget(method["ambiguity_change"]) == pytest.approx(
        published["final_ambiguity_change"], abs=COORDINATE + SUMMARY
    )


def test_the_published_frontier_does_not_count_the_start(method: dict[str, Any]) -> None:
    """Equation 7 as printed gives 1 at step 0; the published curves begin at 0, as ours do."""
    assert method["frontier"][0] == 0 == frontier_curve([["start"]])[0]


def test_the_published_frontier_is_a_mean_of_three_whole_counts(method: dict[str, Any]) -> None:
    thirds = np.asarray(method["frontier"]) * 3
    assert np.abs(thirds - thirds.round()).max() <= 3 * COORDINATE * 1.01
    assert (np.diff(method["frontier"]) >= 0).all()


def test_the_figures_that_we_print_beside_ours_are_the_published_ones() -> None:
    assert sorted(CURVES) == METHODS
    for name, printed in CURVES.items():
        published = PAPER[name]["published"]
        assert printed.frontier == published["final_frontier"]
        assert printed.frontier_auc == published["frontier_auc"]
        assert printed.ambiguity == published["final_ambiguity_change"]
        assert printed.ambiguity_auc == published["ambiguity_auc"]
    uniform, curves = PRIORS[0], CURVES["puct_uniform_prior"]
    assert (uniform.states, uniform.state_auc) == (curves.frontier, curves.frontier_auc)


def test_three_episodes_with_the_published_curves_have_the_published_row(method: dict[str, Any]) -> None:
    """The whole way of our own diagnostic: from what episodes met to the row of its table."""
    row, published = _row_of(method), method["published"]
    assert row.starts == 3
    assert row.frontier.mean == pytest.approx(published["final_frontier"], abs=SUMMARY)
    assert row.frontier_auc.mean == pytest.approx(published["frontier_auc"], abs=SUMMARY)
    assert row.ambiguity.mean == pytest.approx(published["final_ambiguity_change"], abs=COORDINATE + SUMMARY)
    assert row.ambiguity_auc.mean == pytest.approx(published["ambiguity_auc"], abs=50 * COORDINATE + SUMMARY)


def _row_of(method: dict[str, Any]) -> DiagnosticRow:
    """The row of three episodes whose mean curves are the published ones."""
    traces = [
        Trace(
            place=Place("mousepad", PUCT.name, start, 0),
            ambiguity=[0.5 + change for change in method["ambiguity_change"]],
            known_states=[False] * STEPS,
            signatures=[None, *["s"] * (STEPS - 1)],
            outcomes=["start", *["ok"] * (STEPS - 1)],
            known_edges=[False] * STEPS,
            true_states=[None] * STEPS,
        )
        for start in range(3)
    ]
    met = [0, 0, 0]
    for total in np.asarray(method["frontier"]) * 3:
        # Which of the three met the next state is not published, and makes no difference to a mean; none
        # meets more than one at a step.
        fresh = round(float(total)) - sum(met)
        for start in sorted(range(3), key=lambda each: met[each])[:fresh]:
            met[start] += 1
        for start, trace in enumerate(traces):
            trace.states.append(met[start])
    plan = Plan(
        study="diagnostic",
        conditions=[PUCT],
        suites=[PlannedSuite("mousepad", "", "desktop:mousepad", 0.5, [0, 1, 2])],
        steps=STEPS,
        replicates=1,
        seed=0,
        version="test",
    )
    (row,) = diagnose(plan, traces).rows
    return row
