"""Every registered selector passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from screensearch.select.choose import policy_named
from screensearch.select.selectors import SELECTORS, Selection, Selector, Situation, puct
from screensearch.select.settings import SelectSettings
from screensearch.testing import ContractBroken, check_selector

FUNCTIONS = [name for name in SELECTORS.names() if policy_named(name) is None]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("settings", [SelectSettings(), SelectSettings(c_puct=0.0)])
def test_every_selector_keeps_the_contract(name: str, settings: SelectSettings) -> None:
    check_selector(cast(Selector, SELECTORS.get(name)), settings=settings)


def test_the_selectors_of_the_paper_are_there() -> None:
    assert {"puct", "greedy", "random"} <= set(FUNCTIONS)
    assert {"reactive", "reactive-history"} <= set(SELECTORS.names()) - set(FUNCTIONS)


def of_numpy(situation: Situation) -> Selection:
    return Selection(np.argmax(situation.priors), 1.0)  # type: ignore[arg-type]


def one_too_far(situation: Situation) -> Selection:
    return Selection(len(situation.priors), 1.0)


def scored_by_numpy(situation: Situation) -> Selection:
    return Selection(0, situation.priors[0])


def rated_by_visits(situation: Situation) -> Selection:
    with np.errstate(divide="ignore", invalid="ignore"):
        return Selection(0, float(situation.values[0] / situation.visits[0]))


def of_its_own_randomness(situation: Situation) -> Selection:
    return Selection(random.randrange(len(situation.priors)), 1.0)


def in_turn() -> Selector:
    turns = itertools.count()
    return lambda situation: Selection(next(turns) % len(situation.priors), 1.0)


def changing(name: str) -> Selector:
    def selector(situation: Situation) -> Selection:
        getattr(situation, name)[0] += 1
        return Selection(0, 1.0)

    return selector


def at_odds_with_a_single_candidate(situation: Situation) -> Selection:
    return replace(puct(situation), index=int(np.argsort(situation.priors)[-2]))


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (lambda: of_numpy, "the index is an `int`"),
        (lambda: one_too_far, r"one of \d+ candidates"),
        (lambda: lambda situation: Selection(-1, 1.0), r"one of \d+ candidates"),
        (lambda: scored_by_numpy, "finite `float`"),
        (lambda: rated_by_visits, "finite `float`"),
        (lambda: lambda situation: Selection(0, math.inf), "finite `float`"),
        (lambda: of_its_own_randomness, "equal situations with equal generators"),
        (in_turn, "equal situations with equal generators"),
        (lambda: changing("values"), "leaves `values`"),
        (lambda: changing("priors"), "leaves `priors`"),
        (lambda: changing("visits"), "leaves `visits`"),
        (lambda: at_odds_with_a_single_candidate, "chooses in every situation; it raised IndexError"),
    ],
)
def test_a_broken_clause_is_named(broken: Callable[[], Selector], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        check_selector(broken())
