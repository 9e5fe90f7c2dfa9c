"""BM25 over sets of numbers in flat columns, by one sweep over all of them.

The same scores as those of `identify.sparse`, in far less memory: 4 bytes for each number of each set, and no
posting lists. A sweep over the sets of 30,000 screens takes some milliseconds, which is quick enough for a
person who asks, though not for an identifier that asks at every step.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

_BITS = 18  # of a number: a table of that many bits picks out what may be asked for, and fits into a cache
_PART = 1 << 16  # numbers that are swept at once: what is made of them on the way fits into a cache, too


class Hits(NamedTuple):
    """Where numbers that were asked for are: the sets, and the places of the numbers in the question."""

    sets: NDArray[np.int32]
    places: NDArray[np.int32]


class SetColumns:
    """Sets of 32-bit numbers, each set numbered from 0 as it is added."""

    def __init__(self, *, k1: float, b: float) -> None:
        self._k1 = k1
        self._b = b
        self._numbers: array[int] = array("I")
        self._starts: array[int] = array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: int) -> array[int]:
        """The numbers of one set."""
        return self._numbers[self._starts[place] : self._starts[place + 1]]

    def add(self, numbers: Iterable[int]) -> None:
        """Insert the next set."""
        self._numbers.extend(numbers)
        self._starts.append(len(self._numbers))

    def find(self, numbers: Sequence[int]) -> Hits:
        """Every set that has one of these numbers, which are distinct."""
        everything = np.frombuffer(self._numbers, np.uint32) if self._numbers else np.zeros(0, np.uint32)
        asked = np.asarray(numbers, dtype=np.uint32)
        maybe = np.zeros(1 << _BITS, dtype=bool)
        mask = np.uint32((1 << _BITS) - 1)
        maybe[asked & mask] = True
        order = np.argsort(asked)
        starts = self._starts_column()
        sets: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        places: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        for begin in range(0, len(everything) if len(order) else 0, _PART):
            part = everything[begin : begin + _PART]
            spots = np.flatnonzero(maybe.take(part & mask, mode="clip"))
            nearest = np.searchsorted(asked, part[spots], sorter=order)
            here = order[np.minimum(nearest, len(order) - 1)]
            exact = asked[here] == part[spots]
            sets.append((np.searchsorted(starts, begin + spots[exact], side="right") - 1).astype(np.int32))
            places.append(here[exact].astype(np.int32))
        return Hits(np.concatenate(sets), np.concatenate(places))

    def norms(self) -> Scores:
        """What the sum of a set's weights is multiplied by, for its length."""
        lengths = np.diff(self._starts_column())
        mean = len(self._numbers) / max(1, len(lengths))
        relative = lengths / mean if mean else np.ones(len(lengths))
        return np.asarray((self._k1 + 1) / (1 + self._k1 * (1 - self._b + self._b * relative)))

    def weigh(self, counts: NDArray[np.int64]) -> Scores:
        """The weights (idf) of numbers that so many sets have."""
        return np.asarray(np.log1p((len(self) - counts + 0.5) / (counts + 0.5)))

    def strongest(self, *questions: Sequence[Mapping[int, float]]) -> list[Scores]:
        """For each question, of every set the sum over the question's groups of the greatest weight there.

        That is the weight of a number in the group that the set has. All questions take one sweep.
        """
        numbers = list({number for groups in questions for group in groups for number in group})
        hits = self.find(numbers)
        return [self._sum(groups, numbers, hits) for groups in questions]

    def _sum(self, groups: Sequence[Mapping[int, float]], numbers: Sequence[int], hits: Hits) -> Scores:
        sums = np.zeros(len(self))
        for group in groups:
            weights = np.array([group.get(number, 0.0) for number in numbers])
            best = np.zeros(len(self))
            np.maximum.at(best, hits.sets, weights[hits.places])
            sums += best
        return sums

    def scores(self, numbers: Sequence[int]) -> Scores:
        """BM25 of every set; 0 where no number is shared."""
        if not len(self):
            return np.zeros(0)
        hits = self.find(numbers)
        weights = self.weigh(np.bincount(hits.places, minlength=len(numbers)))
        return np.bincount(hits.sets, weights=weights[hits.places], minlength=len(self)) * self.norms()

    def _starts_column(self) -> NDArray[np.int64]:
        return np.frombuffer(self._starts, np.int64)


def hashed(texts: Iterable[str]) -> list[int]:
    """Texts as numbers, without a table of them. Two may share one, by a chance of 1 to 4,000,000,000."""
    return list({zlib.crc32(text.encode()) for text in texts})
