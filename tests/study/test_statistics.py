"""Paired statistics against answers that are known, or counted out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screensearch.errors import FormatError
from screensearch.study.statistics import compare, estimate, holm, permutation_p

small = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=4)


def test_darwins_maize_has_its_known_permutation_p() -> None:
    """Fisher (The Design of Experiments, section 21) counted 863 of 32,768 in one tail, 1,726 in both."""
    maize: list[float] = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert permutation_p([maize]) == pytest.approx(1726 / 32768, abs=0.006)  # 15 pairs: by random signs
    assert permutation_p([maize[:14]]) == count_out([maize[:14]])


def count_out(groups: list[list[float]]) -> float:
    """The exact test, sign by sign."""
    observed = abs(np.mean([np.mean(group) for group in groups]))
    sizes = [len(group) for group in groups]
    as_far = total = 0
    for signs in itertools.product((1, -1), repeat=sum(sizes)):
        left = list(signs)
        means = [np.mean([left.pop(0) * value for value in group]) for group in groups]
        as_far += abs(np.mean(means)) >= observed - 1e-9
        total += 1
    return as_far / total


@settings(max_examples=25, deadline=None)
@given(small, small)
def test_the_exact_test_equals_counting_all_signs(one: list[float], other: list[float]) -> None:
    assert permutation_p([one, other]) == pytest.approx(count_out([one, other]))


def test_six_differences_of_one_sign_have_p_one_in_32() -> None:
    assert permutation_p([[1, 2, 3, 4, 5, 6]]) == 2 / 64


def test_no_difference_at_all_has_p_one() -> None:
    assert permutation_p([[0.0] * 30]) == 1


def test_many_pairs_never_have_p_zero() -> None:
    assert permutation_p([[1.0] * 40]) == 1 / 10_001


def test_the_interval_of_the_mean_is_the_normal_one_for_many_values() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, size=400)
    found = estimate([values.tolist()])
    half = 1.96 * values.std() / math.sqrt(400)
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    found = [estimate([rng.normal(0, 1, size=50).tolist()]) for _ in range(120)]
    assert 0.88 <= np.mean([each.low <= 0 <= each.high for each in found]) <= 0.99


def test_applications_weigh_the_same_however_many_starts_they_have() -> None:
    assert estimate([[1.0, 1.0], [3.0] * 10]).mean == 2.0


def test_one_start_has_a_mean_and_no_interval() -> None:
    found = compare([[2.0]])
    assert found.difference.mean == 2.0
    assert math.isnan(found.difference.low)
    assert not found.stands()


def test_a_clear_difference_stands_and_noise_does_not() -> None:
    assert compare([[1.0, 1.2, 0.9, 1.1, 1.3, 0.8, 1.0]]).stands()
    assert not compare([[1.0, -1.0, 2.0, -2.0, 0.5, -0.5]]).stands()


def test_the_same_differences_give_the_same_answer_to_the_last_digit() -> None:
    values = [[0.3, 1.5, -0.2] * 10]
    assert compare(values) == compare(values)


def test_holm_corrects_as_in_the_textbook() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_an_application_without_a_pair_is_refused() -> None:
    with pytest.raises(FormatError, match="at least one pair"):
        compare([[1.0], []])
