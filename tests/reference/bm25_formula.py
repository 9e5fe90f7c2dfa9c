"""Okapi BM25 written out, term by term, for documents that are bags of terms."""

from __future__ import annotations

import math
from collections.abc import Sequence


def bm25(query: Sequence[int], documents: Sequence[Sequence[int]], *, k1: float, b: float) -> list[float]:
    """The score of every document: Σ idf(t) · tf·(k1+1) / (tf + k1·(1 − b + b·|d|/mean))."""
    count = len(documents)
    mean = sum(len(document) for document in documents) / count if count else 0.0
    scores = []
    for document in documents:
        score = 0.0
        for term in query:
            frequency = document.count(term)
            if frequency == 0:
                continue
            containing = sum(term in other for other in documents)
            idf = math.log(1 + (count - containing + 0.5) / (containing + 0.5))
            length = 1 - b + b * len(document) / mean
            score += idf * frequency * (k1 + 1) / (frequency + k1 * length)
        scores.append(score)
    return scores
