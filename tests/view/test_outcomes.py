"""When a difference between two runs is evidence: the chances, against counting all cases."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.view.outcomes import (
    CHANCE,
    Trials,
    began_to_fail,
    chance_of_nothing_in_common,
    differ,
    gone,
    level,
    rarest,
)

trials = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@given(trials, trials)
def test_the_chance_of_nothing_in_common_is_that_of_all_ways_to_deal(
    first: list[str], second: list[str]
) -> None:
    pooled = first + second
    deals = list(combinations(range(len(pooled)), len(first)))
    apart = sum(
        not {pooled[at] for at in deal} & {pooled[at] for at in range(len(pooled)) if at not in deal}
        for deal in deals
    )
    chance = chance_of_nothing_in_common(Counter(first), Counter(second))
    assert chance == pytest.approx(apart / len(deals))


def tried(*episodes: str) -> Trials[str]:
    """The outcomes of one action, a text of letters for each episode."""
    trials: Trials[str] = Trials()
    for number, outcomes in enumerate(episodes):
        for outcome in outcomes:
            trials.add(outcome, number)
    return trials


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_rarest_chance_is_that_of_the_plainest_difference(first: int, second: int) -> None:
    ways = 2 if first == second else 1
    plainest = chance_of_nothing_in_common({"a": first}, {"b": second}) / ways
    if min(first, second) <= 20:
        assert rarest(first, second) == pytest.approx(plainest)
    assert rarest(first, second) >= plainest * 0.999


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60))
def test_all_actions_together_give_a_false_alarm_no_oftener_than_one_may(
    trials: list[tuple[int, int]],
) -> None:
    rare = level(trials)
    assert rare * sum(rarest(*each) <= rare for each in trials) <= CHANCE * (1 + 1e-9)


def test_the_more_actions_are_compared_the_rarer_a_difference_has_to_be() -> None:
    assert level([]) == level([(9, 9)]) == CHANCE
    assert level([(9, 9)] * 70) == CHANCE / 70
    assert level([(9, 9)] + [(1, 1)] * 70) == CHANCE  # these could not tell anything in any case
    assert differ(tried(*"aaaa"), tried(*"bbbbb"), CHANCE)
    assert not differ(tried(*"aaaa"), tried(*"bbbbb"), CHANCE / 70)


def test_executions_of_one_episode_are_one_trial() -> None:
    assert not differ(tried("aaaa", "aa"), tried("bbbb", "bbb"), CHANCE)
    assert tried("aab", "ba").episodes == {"a": 1, "b": 1}


def test_what_came_about_later_in_an_episode_is_in_common_too() -> None:
    assert not differ(tried(*"aaaa", "ab"), tried(*"bbbbb"), CHANCE)


def test_what_was_done_too_rarely_has_not_changed() -> None:
    assert not differ(tried("a"), tried("b"), CHANCE)
    assert not differ(tried(*"aaa"), tried(*"bbb"), CHANCE)
    assert not differ(tried(*"aaaaa"), tried(), CHANCE)


def test_an_action_whose_outcomes_never_repeat_has_not_changed() -> None:
    assert not differ(tried(*"abcdefgh"), tried(*"ijklmnop"), CHANCE)


def test_other_shares_of_the_same_outcomes_are_no_change() -> None:
    assert not differ(tried(*"aaaaaaaaab"), tried(*"abbbbbbbbb"), CHANCE)


def test_an_outcome_is_gone_if_it_always_came_and_does_not_come_any_more() -> None:
    assert gone(tried(*"aaaaa"), "a", tried(*"bbbcc"), CHANCE)
    assert not gone(tried(*"aaaaa"), "a", tried("b"), CHANCE)  # once is not enough to know
    assert not gone(tried(*"aaaab"), "b", tried(*"ccccc"), CHANCE)  # it did not always come


def test_any_number_of_trials_can_be_compared() -> None:
    assert 0 < rarest(10**9, 10**9) < 1e-9
    assert rarest(0, 5) == 1


def test_a_failure_is_told_if_the_action_went_well_in_the_other_run() -> None:
    assert began_to_fail(tried(*"aaa"), tried("x"), {"x"})
    assert began_to_fail(tried("x"), tried(*"aab"), {"x"})
    assert not began_to_fail(tried(*"aa"), tried("x"), {"x"})  # too rarely
    assert not began_to_fail(tried("aaa"), tried("x"), {"x"})  # in one episode
    assert not began_to_fail(tried(*"aaa"), tried("x", "a"), {"x"})  # it goes well, too
    assert not began_to_fail(tried(*"aaaax"), tried("x"), {"x"})  # it failed before
