"""Ambiguity against the paper's own figures, and its bounds for all counts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.errors import SettingsError
from screensearch.record.ambiguity import (
    AmbiguitySettings,
    ambiguity,
    decompose,
    dispersion,
    normalised_entropy,
)

COUNTS = st.lists(st.integers(0, 10_000), max_size=8)
SIGNATURES = st.lists(COUNTS.filter(any), max_size=6)


def test_a_six_to_four_split_has_the_published_dispersion() -> None:
    assert round(normalised_entropy([6, 4]), 3) == 0.971


def test_one_successor_or_none_has_no_dispersion() -> None:
    assert normalised_entropy([]) == 0.0
    assert normalised_entropy([7]) == 0.0
    assert normalised_entropy([7, 0]) == 0.0


@pytest.mark.parametrize("kinds", [2, 3, 7, 100])
def test_an_even_split_is_one_whatever_the_number_of_successors(kinds: int) -> None:
    assert normalised_entropy([5] * kinds) == pytest.approx(1.0)
    assert normalised_entropy([5] * kinds) <= 1.0


def test_two_hidden_variants_of_ten_trials_lie_all_between_conditions() -> None:
    split = decompose({"alpha": {"shows alpha": 10}, "beta": {"shows beta": 10}})
    assert (split.pooled, split.within, split.between) == (1.0, 0.0, 1.0)


def test_an_asynchronous_race_of_ten_lies_all_within_its_condition() -> None:
    split = decompose({"fixed": {"early": 6, "late": 4}})
    assert [round(part, 3) for part in (split.pooled, split.within, split.between)] == [0.971, 0.971, 0.0]


def test_an_action_that_always_does_the_same_has_nothing_to_split() -> None:
    split = decompose({"a": {"x": 3}, "b": {"x": 5}})
    assert (split.pooled, split.within, split.between) == (0.0, 0.0, 0.0)
    assert decompose({}).pooled == 0.0


@given(st.dictionaries(st.integers(0, 5), st.dictionaries(st.integers(0, 4), st.integers(0, 50)), max_size=5))
def test_within_and_between_add_up_and_neither_is_negative(groups: dict[int, dict[int, int]]) -> None:
    split = decompose(groups)
    assert split.within + split.between == pytest.approx(split.pooled)
    assert 0.0 <= split.within <= 1.0
    assert 0.0 <= split.between <= 1.0


def test_signatures_weigh_by_their_trials() -> None:
    assert dispersion([[5, 5], [30]], 40) == pytest.approx(0.25)  # eq. 1: 10/40 · 1 + 30/40 · 0


def test_evidence_and_prior_weigh_the_same_after_kappa_trials() -> None:
    settings = AmbiguitySettings()
    assert (settings.kappa, settings.prior_ambiguity) == (20.0, 0.5)  # as in the reported runs
    assert ambiguity([[10, 10]], 20, settings) == pytest.approx(0.5 * 1.0 + 0.5 * 0.5)
    assert ambiguity([[20]], 20, settings) == pytest.approx(0.25)


def test_without_trials_the_prior_is_all_there_is() -> None:
    assert ambiguity([], 0, AmbiguitySettings(prior_ambiguity=0.3)) == 0.3
    assert ambiguity([], 0, AmbiguitySettings(kappa=0.0)) == 0.5


@given(SIGNATURES, st.floats(0, 1e6), st.floats(0, 1))
def test_ambiguity_lies_between_zero_and_one(counts: list[list[int]], kappa: float, prior: float) -> None:
    settings = AmbiguitySettings(kappa=kappa, prior_ambiguity=prior)
    trials = sum(map(sum, counts))
    assert 0.0 <= dispersion(counts, trials) <= 1.0
    assert 0.0 <= ambiguity(counts, trials, settings) <= 1.0


@given(SIGNATURES, st.randoms(use_true_random=False))
def test_ambiguity_is_the_same_to_the_bit_in_any_order(counts: list[list[int]], order: random.Random) -> None:
    settings = AmbiguitySettings()
    trials = sum(map(sum, counts))
    shuffled = [order.sample(successors, len(successors)) for successors in counts]
    order.shuffle(shuffled)
    assert ambiguity(shuffled, trials, settings).hex() == ambiguity(counts, trials, settings).hex()


@given(SIGNATURES)
def test_signatures_with_one_successor_may_be_left_out(counts: list[list[int]]) -> None:
    settings = AmbiguitySettings()
    trials = sum(map(sum, counts))
    dispersed = [successors for successors in counts if sum(count > 0 for count in successors) > 1]
    assert ambiguity(dispersed, trials, settings).hex() == ambiguity(counts, trials, settings).hex()


@pytest.mark.parametrize(
    ("name", "value"),
    [("kappa", -1.0), ("kappa", float("nan")), ("kappa", float("inf")), ("prior_ambiguity", 1.01)],
)
def test_settings_out_of_range_are_refused_by_name_and_value(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=rf"ambiguity\.{name} is {value}"):
        AmbiguitySettings(**{name: value})
