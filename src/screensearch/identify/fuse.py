"""Reciprocal rank fusion: what two rankings agree on comes first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], *, k: int, top: int) -> list[int]:
    """The `top` documents by Σ 1 / (k + rank), ranks counted from 1, ties to the oldest document."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, document in enumerate(ranking, start=1):
            scores[document] = scores.get(document, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda document: (-scores[document], document))[:top]
