"""Calibration: by hand, and joined as if it were of all states at once."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.errors import FormatError
from screensearch.study.calibration import calibrate, join

scored = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_a_score_that_is_right_as_often_as_it_says_has_no_error() -> None:
    found = calibrate([0.25] * 4 + [0.75] * 4, [True, False, False, False, True, True, True, False])
    assert found.error == 0
    assert found.brier == pytest.approx(0.1875)
    assert found.base_brier == 0.25
    assert [(each.states, each.score, each.share) for each in found.bins if each.states] == [
        (4, 0.25, 0.25),
        (4, 0.75, 0.75),
    ]


def test_a_constant_at_the_base_rate_has_no_error_and_the_base_brier() -> None:
    found = calibrate([0.25] * 8, [True, False, False, False] * 2)
    assert (found.error, found.brier) == (0, found.base_brier)


def test_certainty_that_is_wrong_has_the_largest_error() -> None:
    found = calibrate([1.0, 0.0], [False, True])
    assert (found.brier, found.error) == (1, 1)
    assert (found.bins[0].states, found.bins[-1].states) == (1, 1), "1 belongs to the last bin"


def test_no_states_have_no_calibration() -> None:
    found = calibrate([], [])
    assert found.states == 0
    assert math.isnan(found.brier)
    assert math.isnan(found.error)


def test_what_is_no_score_is_refused_by_its_value() -> None:
    with pytest.raises(FormatError, match=r"1\.5"):
        calibrate([0.2, 1.5], [True, False])
    with pytest.raises(FormatError, match="2 scores need as many labels, not 1"):
        calibrate([0.2, 0.5], [True])


@given(scored, scored)
def test_joined_parts_are_the_calibration_of_all(
    one: list[tuple[float, bool]], two: list[tuple[float, bool]]
) -> None:
    def of(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
        return [score for score, _ in pairs], [label for _, label in pairs]

    joined, whole = join([calibrate(*of(one)), calibrate(*of(two))]), calibrate(*of(one + two))
    assert joined.states == whole.states
    assert (joined.brier, joined.base_brier, joined.error) == pytest.approx(
        (whole.brier, whole.base_brier, whole.error)
    )
    assert [each.states for each in joined.bins] == [each.states for each in whole.bins]
