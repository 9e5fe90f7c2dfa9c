"""The merge rule: equation 3, decided exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.screen import Metadata, Screen
from screensearch.errors import SettingsError
from screensearch.identify.verify import (
    MergeSettings,
    Overlap,
    compare,
    jaccard,
    merge_rule,
    overlap,
)

METADATA = Metadata("app", "light", "1", "main")


def screen(roles: list[str], texts: list[str]) -> Screen:
    return Screen("", tuple(sorted(roles)), tuple(sorted(texts)), "", METADATA)


def test_two_empty_sets_are_the_same_set() -> None:
    assert jaccard([], []) == 1
    assert jaccard([], ["a"]) == 0


def test_the_score_weighs_both_overlaps_equally_as_in_the_paper() -> None:
    assert merge_rule(MergeSettings()).score(Overlap(1, 2), Overlap(1, 4)) == 0.375


def test_the_weights_are_settings() -> None:
    settings = MergeSettings(role_weight=0.75, text_weight=0.25)
    assert merge_rule(settings).score(Overlap(1, 2), Overlap(1, 1)) == 0.625


def test_a_score_exactly_at_the_threshold_passes_although_floats_would_round_it_below() -> None:
    roles, texts = Overlap(5, 5), Overlap(43, 50)
    assert 0.5 * 1.0 + 0.5 * (43 / 50) < 0.93
    rule = merge_rule(MergeSettings())
    assert rule.passes(roles, texts)
    assert rule.score(roles, texts) == 0.93


@given(st.integers(0, 200), st.integers(1, 200), st.integers(0, 200), st.integers(1, 200))
def test_the_reported_score_tells_whether_it_passed(a: int, b: int, c: int, d: int) -> None:
    roles, texts = Overlap(min(a, b), b), Overlap(min(c, d), d)
    rule = merge_rule(MergeSettings())
    assert rule.passes(roles, texts) == (rule.score(roles, texts) >= 0.93)


def test_a_comparison_names_every_atom_that_differs() -> None:
    found = compare(
        screen(["r1|button", "r2|edit"], ["r1|save"]), screen(["r1|button"], ["r1|open"]), MergeSettings()
    )
    assert found.shared == ("r1|button",)
    assert found.only_a == ("r2|edit", "r1|save")
    assert found.only_b == ("r1|open",)
    assert (found.score, found.role_jaccard, found.text_jaccard) == (0.25, 0.5, 0.0)
    assert not found.same


def test_a_comparison_with_itself_is_the_same_state() -> None:
    one = screen(["r1|button"], [])
    found = compare(one, one, MergeSettings())
    assert found.same
    assert found.score == 1


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_overlap_is_symmetric(a: set[int], b: set[int]) -> None:
    assert overlap(a, b) == overlap(b, a) == Overlap(len(a & b), len(a | b))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"threshold": 0.0}, "merge.threshold is 0.0"),
        ({"threshold": 1.01}, "merge.threshold is 1.01"),
        ({"threshold": float("nan")}, "merge.threshold is nan"),
        ({"role_weight": -0.1, "text_weight": 1.1}, "merge.role_weight is -0.1"),
        ({"role_weight": 0.6}, "must add up to 1"),
        ({"threshold": 1 / 3}, "at most 6 decimals"),
    ],
)
def test_settings_out_of_range_say_what_is_allowed(settings: dict[str, float], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        MergeSettings(**settings)
