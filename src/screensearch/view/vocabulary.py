"""The words of all screens, and which of them a typed word may mean: it may be unfinished or misspelt."""

from __future__ import annotations

import string
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice, repeat

MOST_MEANT = 24
"""How many words one typed word may stand for."""

_LETTERS = string.ascii_lowercase + string.digits
_SHORTEST_MISSPELT = 4  # letters: almost every shorter word is one letter away from another
_LONGEST_MISSPELT = 40


class Vocabulary:
    """Words as dense integers, numbered by first appearance, and how many screens have each."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._frequency: array[int] = array("I")
        self._sorted: list[str] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, word: str) -> int | None:
        """The number of a word, if any screen has it."""
        return self._numbers.get(word)

    def intern(self, words: Iterable[str]) -> set[int]:
        """The numbers of these words; new ones are added."""
        numbers = self._numbers
        return {numbers.setdefault(word, len(numbers)) for word in words}

    def count(self, numbers: Iterable[int]) -> None:
        """One more screen has these words."""
        self._frequency.extend(repeat(0, len(self._numbers) - len(self._frequency)))
        for number in numbers:
            self._frequency[number] += 1

    def frequency(self, number: int) -> int:
        """How many screens have a word."""
        return self._frequency[number]

    def meant(self, word: str, *, unfinished: bool) -> dict[str, int]:
        """The known words that a typed word may stand for, besides itself, with their numbers.

        An `unfinished` word stands for what begins with it, as does one that is not known; one that begins
        nothing, for those that differ by one letter. At most `MOST_MEANT`, the most frequent.
        """
        known = word in self._numbers
        if known and not unfinished:
            return {}
        found = list(self._beginning_with(word))
        if not found and not known:
            found = list(self._one_letter_off(word))
        found.sort(key=lambda each: (-self._frequency[self._numbers[each]], each))
        return {each: self._numbers[each] for each in found[:MOST_MEANT]}

    def _beginning_with(self, beginning: str) -> Iterator[str]:
        if len(self._sorted) != len(self._numbers):
            self._sorted += islice(self._numbers, len(self._sorted), None)
            self._sorted.sort()  # quick where most of it is in order
        first = bisect_left(self._sorted, beginning)
        for word in islice(self._sorted, first, None):
            if not word.startswith(beginning):
                return
            if word != beginning:
                yield word

    def _one_letter_off(self, word: str) -> Iterator[str]:
        if not _SHORTEST_MISSPELT <= len(word) <= _LONGEST_MISSPELT:
            return
        for variant in dict.fromkeys(_variants(word)):
            if variant in self._numbers and variant != word:
                yield variant


def _variants(word: str) -> Iterator[str]:
    """What one letter less, one more, another one, or two neighbours exchanged make of a word."""
    for place in range(len(word) + 1):
        head, tail = word[:place], word[place:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in _LETTERS:
            if tail:
                yield head + letter + tail[1:]
            yield head + letter + tail
