"""The contract of every selector, ours and others': a new one needs only its name in the registry."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.select.selectors import SELECTORS, Situation
from screensearch.select.settings import SelectSettings

PLUGINS = {name: SELECTORS.get(name) for name in SELECTORS.names()}

rows = st.lists(st.tuples(st.floats(0, 3), st.floats(0.05, 1), st.integers(0, 40)), min_size=1, max_size=20)


def situation_of(rows: list[tuple[float, float, int]], seed: int) -> Situation:
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    visits = columns[:, 2].astype(np.int64)
    return Situation(
        values=np.where(visits > 0, columns[:, 0], 0.0),
        priors=columns[:, 1] / columns[:, 1].sum(),
        visits=visits,
        rng=np.random.default_rng(seed),
        settings=SelectSettings(),
    )


@pytest.mark.parametrize("name", PLUGINS)
@given(rows=rows, seed=st.integers(0, 2**32 - 1))
def test_it_chooses_a_candidate_and_scores_it(
    name: str, rows: list[tuple[float, float, int]], seed: int
) -> None:
    selection = PLUGINS[name](situation_of(rows, seed))
    assert type(selection.index) is int
    assert 0 <= selection.index < len(rows)
    assert np.isfinite(selection.score)


@pytest.mark.parametrize("name", PLUGINS)
@given(rows=rows, seed=st.integers(0, 2**32 - 1))
def test_the_same_situation_and_seed_give_the_same_choice(
    name: str, rows: list[tuple[float, float, int]], seed: int
) -> None:
    selector = PLUGINS[name]
    assert selector(situation_of(rows, seed)) == selector(situation_of(rows, seed))


@pytest.mark.parametrize("name", PLUGINS)
@given(rows=rows)
def test_it_leaves_the_statistics_as_they_are(name: str, rows: list[tuple[float, float, int]]) -> None:
    situation = situation_of(rows, seed=0)
    before = copy.deepcopy((situation.values, situation.priors, situation.visits))
    PLUGINS[name](situation)
    after = (situation.values, situation.priors, situation.visits)
    assert all(np.array_equal(old, new) for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("name", PLUGINS)
def test_a_single_candidate_is_the_choice(name: str) -> None:
    assert PLUGINS[name](situation_of([(0.0, 1.0, 0)], seed=1)).index == 0


def test_the_selectors_of_the_paper_are_there() -> None:
    assert {"puct", "greedy", "random"} <= PLUGINS.keys()
