"""`hybrid`: two rankings nominate, fusion ranks, the merge rule decides."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from screensearch.domain.screen import Metadata, Screen
from screensearch.identify.dense import Hnsw
from screensearch.identify.fuse import reciprocal_rank_fusion
from screensearch.identify.hybrid import HybridIdentifier
from screensearch.identify.resolve import IdentifySettings, Query
from screensearch.identify.sparse import Bm25

METADATA = Metadata("app", "light", "1", "main")


class Direction:
    """Embeds the text "30" as the unit vector at 30 degrees, and no text as the zero vector."""

    name = "direction"
    dimensions = 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        angles = [np.radians(float(text or 0)) for text in texts]
        rows = [[np.cos(a), np.sin(a)] if text else [0, 0] for a, text in zip(angles, texts, strict=True)]
        return np.array(rows, dtype=np.float32)


def query(roles: list[int], texts: list[int], text: str) -> Query:
    return Query(Screen("", (), (), text, METADATA), array("I", roles), array("I", texts))


def test_fusion_adds_reciprocal_ranks_and_breaks_ties_by_age() -> None:
    assert reciprocal_rank_fusion([[3, 1], [1, 2]], k=60, top=10) == [1, 3, 2]
    assert reciprocal_rank_fusion([[5], [4]], k=60, top=10) == [4, 5]
    assert reciprocal_rank_fusion([[3, 1], [1, 2]], k=60, top=1) == [1]
    assert reciprocal_rank_fusion([[], []], k=60, top=5) == []


def test_the_constant_of_the_fusion_decides_how_much_a_first_place_is_worth() -> None:
    rankings = [[1, 0], [2, 0]]
    assert reciprocal_rank_fusion(rankings, k=60, top=3)[0] == 0
    assert reciprocal_rank_fusion(rankings, k=0, top=3) == [0, 1, 2]
    assert reciprocal_rank_fusion([[1, 5, 0], [2, 6, 0]], k=0, top=3)[0] == 1


def test_the_nearest_vector_comes_first_and_equals_go_to_the_oldest() -> None:
    index = Hnsw(2, connectivity=16, expansion_add=128, expansion_search=64)
    assert index.top(np.array([1, 0], dtype=np.float32), 5) == []
    for row in Direction().embed(["90", "0", "0", "", "45"]):
        index.add(row)
    assert index.top(Direction().embed(["5"])[0], 4) == [1, 2, 4, 0]


def test_frequent_terms_score_as_rare_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screensearch.identify.sparse._SMALL", 3)
    frequent = Bm25(k1=1.2, b=0.75)
    monkeypatch.setattr("screensearch.identify.sparse._SMALL", 10_000)
    plain = Bm25(k1=1.2, b=0.75)
    random = np.random.default_rng(1)
    for number in range(60):
        document = [0, *np.flatnonzero(random.random(20) < 0.3) + 1, 100 + number]
        monkeypatch.setattr("screensearch.identify.sparse._SMALL", 3)
        frequent.add(document)
        monkeypatch.setattr("screensearch.identify.sparse._SMALL", 10_000)
        plain.add(document)
        terms = [0, 3, 5, 7, 100, 130, 999]
        assert frequent.scores(terms).tolist() == plain.scores(terms).tolist()
        assert frequent.top(terms, 7) == plain.top(terms, 7)
    assert frequent._columns
    assert not plain._columns


def test_the_highest_ranked_that_passes_wins_even_if_another_scores_higher() -> None:
    """State 0 fits a little better; both rankings prefer state 1, whose rare atom and vector agree."""
    settings = IdentifySettings()
    identifier = HybridIdentifier(settings, Direction())
    common = list(range(60))
    identifier.add(0, query([1], common, "90"))
    identifier.add(1, query([1], [*common[1:], 70], "10"))
    for state in range(2, 12):
        identifier.add(state, query([1], [*common[:30], 500 + state], "180"))
    wanted = query([1], [*common[:-1], 70], "10")
    found = identifier.find(wanted)
    assert found is not None
    assert found.runner_up is not None
    assert (found.state, found.runner_up.state) == (1, 0)


def test_similar_vectors_alone_merge_nothing() -> None:
    identifier = HybridIdentifier(IdentifySettings(), Direction())
    identifier.add(0, query([1], [1, 2], "30"))
    assert identifier.candidates(query([9], [8], "30")) == [0]
    assert identifier.find(query([9], [8], "30")) is None


def test_only_the_fused_top_is_verified() -> None:
    narrow = HybridIdentifier(IdentifySettings(fused_top=1), Direction())
    wide = HybridIdentifier(IdentifySettings(), Direction())
    for identifier in (narrow, wide):
        for state in range(5):
            identifier.add(state, query([1], [*range(40), 100 + state], str(10 * state)))
        assert len(identifier.candidates(query([1], [*range(40), 103], "30"))) == (
            1 if identifier is narrow else 5
        )


def test_a_search_and_the_insertion_after_it_embed_once() -> None:
    embedder = Direction()
    identifier = HybridIdentifier(IdentifySettings(), embedder)
    new = query([1], [2], "30")
    assert identifier.find(new) is None
    identifier.add(0, new)
    assert embedder.texts == ["30"]


def test_measuring_a_state_of_another_pool_is_a_key_error() -> None:
    identifier = HybridIdentifier(IdentifySettings(), Direction())
    identifier.add(4, query([1], [2, 3], "30"))
    measured = identifier.measure(4, query([1], [2], "30"))
    assert (measured.score, measured.role_jaccard, measured.text_jaccard) == (0.75, 1.0, 0.5)
    with pytest.raises(KeyError):
        identifier.measure(3, query([1], [2], "30"))
