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

from screensearch.study.metrics import at_budget, auc, frontier_curve

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
