"""BM25 over atoms, kept up to date insertion by insertion.

Atoms are sets, so the frequency of a term in a document is 1 and the score of a document d is

    norm(d) · Σ idf(t) over the terms t of the query in d,
    idf(t)  = ln(1 + (N − df + ½) / (df + ½)),
    norm(d) = (k1 + 1) / (1 + k1·(1 − b + b·|d| / mean |d|)),

with N, df and the mean length of the pool as it is now. That is a short inverted index: the posting
lists of the query's atoms, added up in an array over all documents.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Bm25:
    """The documents of one pool, numbered from 0 as they are added."""

    def __init__(self, *, k1: float, b: float) -> None:
        self._k1 = k1
        self._b = b
        self._postings: dict[int, array[int]] = {}
        self._lengths: array[float] = array("d")
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Iterable[int]) -> None:
        """Insert the next document: a set of terms."""
        document, length = len(self._lengths), 0
        for term in terms:
            self._postings.setdefault(term, array("I")).append(document)
            length += 1
        self._lengths.append(length)
        self._total += length

    def scores(self, terms: Iterable[int]) -> NDArray[np.float64]:
        """The score of every document [documents]; 0 where no term is shared."""
        count = len(self._lengths)
        sums = np.zeros(count)
        everywhere = 0.0
        for term in terms:
            posting = self._postings.get(term)
            if posting is None:
                continue
            idf = math.log(1 + (count - len(posting) + 0.5) / (len(posting) + 0.5))
            if len(posting) == count:
                everywhere += idf
            else:
                sums[np.asarray(posting)] += idf
        if not self._total:
            return sums
        lengths = np.asarray(self._lengths)
        relative = lengths * (count / self._total)
        norms = (self._k1 + 1) / (1 + self._k1 * (1 - self._b + self._b * relative))
        return np.asarray((sums + everywhere) * norms)

    def top(self, terms: Iterable[int], depth: int) -> list[int]:
        """The best documents that share a term, best first, ties to the oldest."""
        scores = self.scores(terms)
        found = np.flatnonzero(scores > 0)
        if len(found) > depth:
            # All that tie with the last place stay in until they are ordered by age.
            last = -np.partition(-scores[found], depth - 1)[depth - 1]
            found = found[scores[found] >= last]
        order = np.argsort(-scores[found], kind="stable")
        return [int(document) for document in found[order][:depth]]
