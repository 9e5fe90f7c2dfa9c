"""BM25 over atoms, kept up to date insertion by insertion.

Atoms are sets, so the frequency of a term in a document is 1 and the score of a document d is

    norm(d) · Σ idf(t) over the terms t of the query in d,
    idf(t)  = ln(1 + (N − df + ½) / (df + ½)),
    norm(d) = (k1 + 1) / (1 + k1·(1 − b + b·|d| / mean |d|)),

with N, df and the mean length of the pool as it is now. That is a short inverted index: the posting
lists of the query's atoms, added up in an array over all documents. An atom that many documents have
(a title bar) is kept as a column of zeros and ones instead: adding a whole column is faster than adding
at many places.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_SMALL = 4096  # documents below which a posting list is always short enough
_FREQUENT = 8  # a term in more than one of so many documents becomes a column


class Bm25:
    """The documents of one pool, numbered from 0 as they are added."""

    def __init__(self, *, k1: float, b: float) -> None:
        self._k1 = k1
        self._b = b
        self._postings: dict[int, array[int]] = {}
        self._columns: dict[int, tuple[bytearray, int]] = {}  # one byte per document; how many have it
        self._lengths: array[float] = array("d")
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Iterable[int]) -> None:
        """Insert the next document: a set of terms."""
        document, distinct = len(self._lengths), set(terms)
        self._lengths.append(len(distinct))
        self._total += len(distinct)
        for term, (column, count) in self._columns.items():
            column.append(term in distinct)
            self._columns[term] = (column, count + column[-1])
        for term in distinct - self._columns.keys():
            posting = self._postings.setdefault(term, array("I"))
            posting.append(document)
            if document >= _SMALL and len(posting) * _FREQUENT > document:
                self._make_column(term)

    def _make_column(self, term: int) -> None:
        posting = self._postings.pop(term)
        column = np.zeros(len(self._lengths), dtype=np.uint8)
        column[np.asarray(posting)] = 1
        self._columns[term] = (bytearray(column), len(posting))

    def _idf(self, count: int) -> float:
        return math.log(1 + (len(self._lengths) - count + 0.5) / (count + 0.5))

    def scores(self, terms: Iterable[int]) -> NDArray[np.float64]:
        """The score of every document [documents]; 0 where no term is shared."""
        sums = np.zeros(len(self._lengths))
        for term in terms:
            if (posting := self._postings.get(term)) is not None:
                sums[np.asarray(posting)] += self._idf(len(posting))
            elif (frequent := self._columns.get(term)) is not None:
                column, count = frequent
                sums += np.frombuffer(column, dtype=np.uint8) * self._idf(count)
        if not self._total:
            return sums
        lengths = np.asarray(self._lengths)
        relative = lengths * (len(lengths) / self._total)
        norms = (self._k1 + 1) / (1 + self._k1 * (1 - self._b + self._b * relative))
        return np.asarray(sums * norms)

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
