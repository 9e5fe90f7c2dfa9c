from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.traces.loops import periodic_runs, short_cycles

letters = st.lists(st.sampled_from("abc"), max_size=14)


@given(letters, st.integers(1, 4))
def test_periodic_runs_are_all_the_maximal_ones(items: list[str], period: int) -> None:
    def holds(begin: int, end: int) -> bool:
        return all(items[place] == items[place - period] for place in range(begin + period, end))

    stretches = [
        (begin, end)
        for begin, end in itertools.combinations(range(len(items) + 1), 2)
        if end - begin > period and holds(begin, end)
    ]
    maximal = [
        (begin, end)
        for begin, end in stretches
        if not any((a <= begin and end <= b) and (a, b) != (begin, end) for a, b in stretches)
    ]
    assert periodic_runs(items, period) == maximal


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ("abcd", []),
        ("aba", []),  # there and back is no loop yet
        ("abab", [(0, 4)]),
        ("xababay", [(1, 6)]),
        ("xabcabcy", [(1, 7)]),
        ("aaaa", []),  # resting is no cycle
        ("abcdeabcde", []),  # longer than the longest
    ],
)
def test_a_short_cycle_stands_twice_in_a_row(items: str, found: list[tuple[int, int]]) -> None:
    assert list(short_cycles(items)) == found


def test_more_repeats_can_be_asked_for() -> None:
    assert list(short_cycles("ababa", repeats=3)) == []
    assert list(short_cycles("ababab", repeats=3)) == [(0, 6)]
