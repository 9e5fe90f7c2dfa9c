"""The sweep of search gives the scores of the inverted index of identification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from screensearch.identify.sparse import Bm25
from screensearch.view.sweep import SetColumns, hashed

NUMBERS = st.sets(st.integers(0, 40) | st.integers(0, 2**32 - 1), max_size=12)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(NUMBERS, max_size=20), NUMBERS)
def test_a_sweep_scores_as_posting_lists_do(sets: list[set[int]], query: set[int]) -> None:
    swept, indexed = SetColumns(k1=1.2, b=0.75), Bm25(k1=1.2, b=0.75)
    for each in sets:
        swept.add(each)
        indexed.add(each)
    assert swept.scores(list(query)) == pytest.approx(indexed.scores(query))


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(NUMBERS, max_size=12),
    st.lists(st.dictionaries(st.integers(0, 40), st.floats(0.1, 9)), max_size=4),
)
def test_the_strongest_of_each_group_counts(sets: list[set[int]], groups: list[dict[int, float]]) -> None:
    swept = SetColumns(k1=1.2, b=0.75)
    for each in sets:
        swept.add(each)
    expected = [
        sum(
            max((weight for number, weight in group.items() if number in each), default=0) for group in groups
        )
        for each in sets
    ]
    (scores,) = swept.strongest(groups)
    assert scores == pytest.approx(np.array(expected))


def test_atoms_keep_apart_as_numbers() -> None:
    atoms = [f"r{row}_c{column}|button" for row in range(30) for column in range(30)]
    assert len(set(hashed(atoms))) == len(atoms)
