"""The online index scores as the formula does, after every insertion."""

from __future__ import annotations

import pytest
from bm25_formula import bm25
from hypothesis import given
from hypothesis import strategies as st

from screensearch.identify.sparse import Bm25

documents = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=12), max_size=12)
queries = st.lists(st.integers(0, 22), unique=True, max_size=12)


@given(documents, queries, st.floats(0, 3), st.floats(0, 1))
def test_scores_follow_the_formula(
    given_documents: list[list[int]], query: list[int], k1: float, b: float
) -> None:
    index = Bm25(k1=k1, b=b)
    for count, document in enumerate(given_documents, start=1):
        index.add(document)
        expected = bm25(query, given_documents[:count], k1=k1, b=b)
        assert index.scores(query).tolist() == pytest.approx(expected)


@given(documents, queries, st.integers(1, 8))
def test_the_top_is_sorted_by_score_then_age_and_holds_no_strangers(
    given_documents: list[list[int]], query: list[int], depth: int
) -> None:
    index = Bm25(k1=1.2, b=0.75)
    for document in given_documents:
        index.add(document)
    scores = index.scores(query).tolist()
    sharing = [place for place, score in enumerate(scores) if score > 0]
    assert index.top(query, depth) == sorted(sharing, key=lambda place: (-scores[place], place))[:depth]
