from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.errors import FormatError
from screensearch.study.metrics import (
    ambiguity_curve,
    at_budget,
    auc,
    auroc,
    discovery_curve,
    frontier_curve,
    high_ambiguity_occupancy,
    loop_stall_rate,
    net_ambiguity_change,
    pair_quality,
    revisit_rate,
)

letters = st.lists(st.sampled_from("abc"), max_size=14)


def test_a_discovery_curve_begins_at_zero_and_counts_each_item_once() -> None:
    assert discovery_curve("abacc").tolist() == [0, 1, 1, 2, 2]


def test_known_coverage_earns_no_credit() -> None:
    assert discovery_curve("abcd", known="bd").tolist() == [0, 0, 1, 1]


def test_edges_start_with_nothing_done() -> None:
    edges = [None, ("a", "click", "b"), None, ("b", "click", "a"), ("a", "click", "b")]
    assert discovery_curve(edges).tolist() == [0, 1, 1, 2, 2]


@given(letters)
def test_a_discovery_curve_never_falls_and_ends_at_what_is_distinct(states: list[str]) -> None:
    curve = discovery_curve(states).tolist()
    assert curve == sorted(curve)
    assert (curve or [0])[-1] == max(0, len(set(states)) - 1)


def test_an_edge_at_every_one_of_49_actions_gives_the_published_auc() -> None:
    """Table "learned-proposal control": 49.00 edges, edge AUC 1,225.00."""
    edges = [None, *range(49)]
    assert at_budget(discovery_curve(edges)) == 49
    assert auc(discovery_curve(edges)) == 1225


@pytest.mark.parametrize(
    ("new_states", "published", "decimals"),
    [
        (10, 0.796, 3),  # Notepad diagnostic, PUCT, uniform prior
        (1.0, 0.9796, 4),  # Notepad, PUCT
        (0.58, 0.9882, 4),  # LibreOffice Calc, PUCT
        (0.24, 0.9951, 4),  # Notepad, greedy
        (0.04, 0.9992, 4),  # File Explorer, greedy
        (0.02, 0.9996, 4),  # LibreOffice Calc, greedy
    ],
)
def test_published_revisit_rates_divide_by_49_actions(
    new_states: float, published: float, decimals: int
) -> None:
    assert round(1 - new_states / 49, decimals) == published
    assert round(1 - new_states / 50, decimals) != published or new_states < 0.1


def test_one_new_state_in_an_episode_of_50_steps_gives_the_published_revisit_rate() -> None:
    """Table 4, Notepad with PUCT: 1.000 new states, revisit 0.9796."""
    assert revisit_rate([*["start"] * 20, *["found"] * 30]) == pytest.approx(0.9796, abs=0.00005)


def test_an_episode_that_ends_early_keeps_its_last_value() -> None:
    assert auc([0, 1, 2], steps=5) == 0 + 1 + 2 + 2 + 2
    assert at_budget([0, 1, 2], steps=5) == 2


def test_steps_beyond_the_budget_do_not_count() -> None:
    assert auc([0, 1, 2, 3], steps=3) == 3


def test_a_curve_without_a_start_is_refused() -> None:
    with pytest.raises(FormatError, match="step 0"):
        auc([])


def test_the_frontier_is_the_mean_over_episodes() -> None:
    assert frontier_curve(["abc", "xxx"], steps=3).tolist() == [0, 0.5, 1]


def test_ambiguity_change_is_relative_to_each_start() -> None:
    assert ambiguity_curve([[0.5, 0.25, 0.0], [0.25, 0.25, 0.75]], steps=3).tolist() == [0, -0.125, 0]
    assert net_ambiguity_change([0.5, 0.9, 0.25]) == -0.25


def test_without_actions_nothing_is_a_revisit() -> None:
    assert revisit_rate("a") == 0
    assert revisit_rate("aaab") == pytest.approx(2 / 3)


def test_occupancy_is_strictly_above_the_threshold() -> None:
    assert high_ambiguity_occupancy([0.4, 0.5, 0.6, 0.9], threshold=0.5) == 0.5
    assert high_ambiguity_occupancy([], threshold=0.5) == 0


@pytest.mark.parametrize(
    ("states", "marked"),
    [
        ("abcdefgh", 0),
        ("abab", 4),  # a cycle of two, twice
        ("xabcabcy", 6),  # a cycle of three, twice
        ("abcdabcd", 8),
        ("abcdeabcde", 0),  # longer than the longest cycle
        ("aab", 0),
        ("aaab", 3),  # a no-progress run
        ("aabaab", 6),  # a cycle that rests a step
        ("ababaaa", 7),  # both kinds, overlapping: no step counts twice
    ],
)
def test_loops_and_stalls_mark_whole_repetitions(states: str, marked: int) -> None:
    assert loop_stall_rate(states) == pytest.approx(marked / len(states))


def test_a_longer_stall_can_be_asked_for() -> None:
    assert loop_stall_rate("aaab", stall=4) == 0


def test_no_steps_are_no_loop() -> None:
    assert loop_stall_rate("") == 0


def brute_force_auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    positives = [score for score, label in zip(scores, labels, strict=True) if label]
    negatives = [score for score, label in zip(scores, labels, strict=True) if not label]
    wins = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return wins / (len(positives) * len(negatives))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]), st.booleans()), max_size=30))
def test_auroc_equals_brute_force_with_ties(rows: list[tuple[float, bool]]) -> None:
    scores = [score for score, _ in rows]
    labels = [label for _, label in rows]
    if len(set(labels)) < 2:
        assert math.isnan(auroc(scores, labels))
    else:
        assert auroc(scores, labels) == pytest.approx(brute_force_auroc(scores, labels))


def test_auroc_refuses_lengths_that_differ() -> None:
    with pytest.raises(FormatError, match="3 scores"):
        auroc([1, 2, 3], [True, False])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_pair_quality_equals_counting_pair_by_pair(items: list[tuple[int, int]]) -> None:
    pairs = list(itertools.combinations(items, 2))
    joined = [a[0] == b[0] for a, b in pairs]
    belonging = [a[1] == b[1] for a, b in pairs]
    quality = pair_quality([found for found, _ in items], [true for _, true in items])
    assert quality.pairs == len(pairs)
    assert quality.joined == sum(joined)
    assert quality.belonging == sum(belonging)
    assert quality.agreed == sum(j and b for j, b in zip(joined, belonging, strict=True))


def test_pair_quality_of_one_false_merge() -> None:
    quality = pair_quality(found=[0, 0, 0, 1], truth=["a", "a", "b", "c"])
    assert quality.precision == pytest.approx(1 / 3)
    assert quality.recall == 1
    assert quality.f1 == pytest.approx(0.5)
    assert quality.false_merge_rate == pytest.approx(2 / 5)


def test_nothing_to_merge_and_nothing_merged_is_perfect() -> None:
    quality = pair_quality([0, 1], ["a", "b"])
    assert (quality.precision, quality.recall, quality.f1, quality.false_merge_rate) == (1, 1, 1, 0)


def test_everything_belonging_together_leaves_no_false_merge() -> None:
    assert pair_quality([0, 0], ["a", "a"]).false_merge_rate == 0


def test_pair_quality_refuses_lengths_that_differ() -> None:
    with pytest.raises(FormatError, match="2 found labels"):
        pair_quality([0, 1], ["a"])
