"""Every registered prior passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.action import Action, Candidate
from screensearch.domain.screen import Box, Element
from screensearch.select.priors import PRIORS, Prior, uniform
from screensearch.select.settings import PriorSettings, SelectSettings
from screensearch.testing import ContractBroken, check_prior


@pytest.mark.parametrize("name", PRIORS.names())
@pytest.mark.parametrize("settings", [PriorSettings(), SelectSettings(overlap_weight=5.0)])
def test_every_prior_keeps_the_contract(name: str, settings: PriorSettings) -> None:
    check_prior(PRIORS.get(name), name, settings=settings)


def test_the_priors_of_the_paper_are_there() -> None:
    assert {"uniform@1", "heuristic@1"} <= set(PRIORS.names())


@pytest.mark.parametrize("name", ["uniform@1", "heuristic@1"])
@given(labels=st.lists(st.text(max_size=20), min_size=1, max_size=20), instruction=st.text(max_size=30))
def test_ours_rule_nothing_out_whatever_is_written(name: str, labels: list[str], instruction: str) -> None:
    """Stricter than the contract, which allows a zero."""
    element = Element("button", "", Box(0, 0, 1, 1), "app")
    candidates = [
        Candidate(place, Action("focus_click@1", element), f"focus_click@1::{place}::none", label)
        for place, label in enumerate(labels)
    ]
    priors = PRIORS.get(name)(candidates, SelectSettings(instruction=instruction))
    assert (priors > 0).all()
    assert priors.sum() == pytest.approx(1)


def share(weights: Sequence[float]) -> Any:
    scores = np.array(weights, dtype=np.float64)
    return scores / scores.sum()


calls = itertools.count(1)


def clears_the_list(candidates: Sequence[Candidate], settings: PriorSettings) -> Any:
    answer = uniform(candidates, settings)
    candidates.clear()  # type: ignore[attr-defined]
    return answer


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (lambda c, s: [1 / len(c)] * len(c), "array of 64-bit floats"),
        (lambda c, s: uniform(c, s).astype(np.float32), "array of 64-bit floats"),
        (lambda c, s: np.full(3, 1 / 3), "one probability each"),
        (lambda c, s: uniform(c, s).reshape(-1, 1), "one probability each"),
        (lambda c, s: np.full(len(c), np.nan), "finite and not negative"),
        (
            lambda c, s: np.array([2.0, *(-1.0 / max(1, len(c) - 1) for _ in c[1:])]),
            "finite and not negative",
        ),
        (lambda c, s: np.ones(len(c)), "sum to 1"),
        (lambda c, s: share([1 + place for place, _ in enumerate(c)]), "order of the candidates"),
        (lambda c, s: share([next(calls) for _ in c]), "equal questions give equal bits"),
        (lambda c, s: share([len(each.action.element.text) for each in c]), "it raised AttributeError"),
        (lambda c, s: share([s.c_puct for _ in c]), "it raised AttributeError"),
        (clears_the_list, "leaves the list of candidates"),
    ],
)
def test_a_broken_clause_is_named(broken: Prior, clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        check_prior(broken, "broken@1")


@pytest.mark.parametrize("name", ["uniform", "uniform@", "uniform@0", "uniform@1.2", "Uniform@1", "@1"])
def test_a_name_without_a_version_is_refused(name: str) -> None:
    with pytest.raises(ContractBroken, match="with a version"):
        check_prior(uniform, name)
