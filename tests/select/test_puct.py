from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.select.selectors import Situation, best, greedy, puct, puct_scores, uniformly_random
from screensearch.select.settings import SelectSettings


def situation(
    values: list[float],
    priors: list[float],
    visits: list[int],
    *,
    seed: int = 7,
    settings: SelectSettings | None = None,
) -> Situation:
    return Situation(
        values=np.array(values, dtype=np.float64),
        priors=np.array(priors, dtype=np.float64),
        visits=np.array(visits, dtype=np.int64),
        rng=np.random.default_rng(seed),
        settings=settings or SelectSettings(),
    )


def test_puct_scores_are_equation_4_by_hand() -> None:
    scores = puct_scores(
        np.array([0.5, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]), np.array([3, 0, 6]), c_puct=2.0
    )
    # sqrt(3 + 0 + 6) = 3; bonuses: 2·0.25·3/4, 2·0.5·3/1, 2·0.25·3/7
    assert scores == pytest.approx([0.5 + 0.375, 3.0, 1.0 + 1.5 / 7])


def test_without_visits_the_bonus_is_zero_for_all() -> None:
    assert (
        puct_scores(np.zeros(3), np.array([0.2, 0.3, 0.5]), np.zeros(3, int), c_puct=9.0).tolist() == [0] * 3
    )


def test_without_visits_the_highest_prior_wins() -> None:
    chosen = puct(situation([0, 0, 0], [0.25, 0.5, 0.25], [0, 0, 0]))
    assert (chosen.index, chosen.score) == (1, 0.0)


def test_what_pays_off_wins_over_what_does_not() -> None:
    assert puct(situation([0.0, 2.0], [0.5, 0.5], [4, 4])).index == 1


def test_what_was_never_tried_wins_when_the_bonus_outgrows_the_value() -> None:
    assert puct(situation([0.4, 0.0], [0.5, 0.5], [3, 0])).index == 1
    assert puct(situation([0.4, 0.0], [0.5, 0.5], [3, 0], settings=SelectSettings(c_puct=0.1))).index == 0


def test_prior_only_visits_in_proportion_to_the_prior() -> None:
    """The paper's "Prior only": no reward, so Q stays 0 and the bonus alone decides."""
    priors = [0.5, 0.3, 0.2]
    visits = [0, 0, 0]
    for _ in range(200):
        visits[puct(situation([0, 0, 0], priors, visits)).index] += 1
    assert np.array(visits) / 200 == pytest.approx(priors, abs=0.02)


def test_greedy_repeats_its_favourite_whatever_was_tried() -> None:
    assert greedy(situation([0, 9, 9], [0.4, 0.3, 0.3], [99, 0, 0])).index == 0
    assert greedy(situation([0, 9, 9], [0.4, 0.3, 0.3], [99, 0, 0])).score == 0.4


def test_ties_of_score_go_to_the_prior_before_the_generator() -> None:
    tied = situation([0, 0, 0], [0.2, 0.6, 0.2], [0, 0, 0])
    assert {best(np.array([1.0, 1.0, 1.0]), tied).index for _ in range(20)} == {1}


def test_a_lower_score_never_wins_by_its_prior() -> None:
    assert best(np.array([1.0, 0.5]), situation([0, 0], [0.1, 0.9], [0, 0])).index == 0


def test_ties_that_remain_are_drawn_evenly() -> None:
    tied = situation([0, 0, 0], [0.4, 0.4, 0.2], [0, 0, 0])
    drawn = [puct(tied).index for _ in range(400)]
    assert set(drawn) == {0, 1}
    assert drawn.count(0) == pytest.approx(200, abs=60)


def test_a_choice_without_ties_leaves_the_generator_alone() -> None:
    clear = situation([0, 0], [0.7, 0.3], [0, 0])
    before = clear.rng.bit_generator.state
    puct(clear)
    assert clear.rng.bit_generator.state == before


def test_random_reaches_every_candidate_and_ignores_the_statistics() -> None:
    at_hand = situation([9, 0, 0], [1, 0, 0], [0, 5, 9])
    assert {uniformly_random(at_hand).index for _ in range(60)} == {0, 1, 2}
    assert uniformly_random(at_hand).score == pytest.approx(1 / 3)


rows = st.lists(st.tuples(st.floats(0, 3), st.floats(0.01, 1), st.integers(0, 50)), min_size=1, max_size=12)


@given(rows, st.floats(0, 4), st.integers(0, 99))
def test_puct_takes_a_highest_score_and_the_plainest_arithmetic_agrees(
    rows: list[tuple[float, float, int]], c_puct: float, seed: int
) -> None:
    total = sum(prior for _, prior, _ in rows)
    values = [value for value, _, _ in rows]
    priors = [prior / total for _, prior, _ in rows]
    visits = [count for _, _, count in rows]
    expected = [
        q + c_puct * p * sum(visits) ** 0.5 / (1 + n) for q, p, n in zip(values, priors, visits, strict=True)
    ]
    chosen = puct(situation(values, priors, visits, seed=seed, settings=SelectSettings(c_puct=c_puct)))
    assert expected[chosen.index] == pytest.approx(max(expected))
    assert chosen.score == pytest.approx(max(expected))
