"""The entries of a log as columns, with what looks them up by state: some 50 bytes an entry.

All that a page needs beyond them is fetched from the log, an entry at a time, by its episode and step.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import StateId
from screensearch.domain.transition import EpisodeId, Outcome
from screensearch.errors import FormatError
from screensearch.record.log import START, Outline

NONE = -1
"""What stands in a column for nothing: no state, no signature, no screen, no picture."""


class Numbers:
    """Texts by number, counted from 0 in order of appearance."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def of(self, text: str | None) -> int:
        """The number of a text, a new one if need be."""
        if text is None:
            return NONE
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return number

    def find(self, text: str) -> int | None:
        """The number of a text that is known."""
        return self._numbers.get(text)

    def text(self, number: int) -> str | None:
        """The text of a number."""
        return None if number == NONE else self.texts[number]


class Index:
    """The entries that have a number in a column, such as a state: looked up, not listed for each number.

    A sorted copy of the column answers for most of a log. What was added since it was made is searched, and
    sorted in when it has become long.
    """

    def __init__(self, numbers_from: Callable[[int], NDArray[np.int64]], longest_rest: int = 4_096) -> None:
        self._numbers_from = numbers_from  # the column from a place on
        self._longest_rest = longest_rest
        self._length = 0
        self._sorted: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._places: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)

    def __call__(self, number: int) -> list[int]:
        """The sequence numbers of the entries with this number, in order."""
        rest = self._numbers_from(self._length)
        if len(rest) > self._longest_rest:
            self._sort()
            rest = rest[:0]
        begin, end = np.searchsorted(self._sorted, number), np.searchsorted(self._sorted, number, "right")
        found: list[int] = (self._places[begin:end] + 1).tolist()
        return found + (np.flatnonzero(rest == number) + self._length + 1).tolist()

    def _sort(self) -> None:
        numbers = self._numbers_from(0)
        order = np.argsort(numbers, kind="stable")
        self._length, self._sorted, self._places = len(numbers), numbers[order], order.astype(np.uint32)


class Entries:
    """Columns in the order of the log: the entry of sequence number n is at place n - 1."""

    def __init__(self) -> None:
        self.worker = array("i")
        self.episode = array("i")
        self.step = array("i")
        self.outcome = array("b")  # place in `outcomes`
        self.source = array("q")
        self.signature = array("i")
        self.target = array("q")
        self.screen = array("q")
        self.picture = array("i")
        self.act_seconds = array("f")
        self.decide_seconds = array("f")
        self.outcomes = Numbers()
        self.signatures = Numbers()
        self.pictures = Numbers()
        self.founded: dict[StateId, int] = {}  # the sequence number of the entry that founded a state
        self.done_at = Index(lambda place: column(self.source[place:]))
        """The transitions that began at a state, by sequence number."""
        self.seen_as = Index(self._seen_from)
        """The entries that ended in a state, with its screen."""
        self.led_to = Index(self._led_from)
        """The executions that ended in a state, also from another shard: its screen is another entry's."""
        self._of_episode = Index(self._episodes_from)
        self.starts: set[StateId] = set()  # where episodes began
        self.worker_seconds = 0.0  # spent acting and deciding, all workers together

    def __len__(self) -> int:
        return len(self.step)

    def extend(self, outlines: Sequence[Outline]) -> None:
        """Take in the next entries; `FormatError` if one is missing."""
        if outlines[0].sequence != len(self) + 1 or outlines[-1].sequence != len(self) + len(outlines):
            raise FormatError(f"entry {outlines[0].sequence} follows entry {len(self)}: the log has a gap")
        columns = _Columns(*zip(*outlines, strict=True))
        self.worker.extend(columns.worker)
        self.episode.extend(columns.episode)
        self.step.extend(columns.step)
        self.outcome.extend(map(self.outcomes.of, columns.outcome))
        self.source.extend(map(_or_none, columns.source))
        self.signature.extend(map(self.signatures.of, columns.signature))
        self.target.extend(map(_or_none, columns.target))
        self.screen.extend(map(_or_none, columns.screen))
        self.picture.extend(map(self.pictures.of, columns.screenshot))
        self.act_seconds.extend(columns.act_seconds)
        self.decide_seconds.extend(columns.decide_seconds)
        self.worker_seconds += sum(columns.act_seconds) + sum(columns.decide_seconds)
        for outline in compress(outlines, columns.founded):
            assert outline.target is not None  # it was founded
            self.founded[outline.target] = outline.sequence
        for outcome, target in zip(columns.outcome, columns.target, strict=True):
            if outcome == START:
                self.starts.add(target)

    def _seen_from(self, place: int) -> NDArray[np.int64]:
        return np.where(column(self.screen[place:]) != NONE, column(self.target[place:]), NONE)

    def _led_from(self, place: int) -> NDArray[np.int64]:
        came_out = column(self.outcome[place:]) == self.outcomes.of(Outcome.OK.value)
        return np.where(came_out, column(self.target[place:]), NONE)

    def _episodes_from(self, place: int) -> NDArray[np.int64]:
        return _episode_number(
            column(self.worker[place:]).astype(np.int64), column(self.episode[place:]).astype(np.int64)
        )

    def episode_of(self, sequence: int) -> EpisodeId:
        """The episode that an entry belongs to."""
        return EpisodeId(self.worker[sequence - 1], self.episode[sequence - 1])

    def episodes(self) -> list[EpisodeId]:
        """The episode of every entry, in order."""
        known: dict[tuple[int, int], EpisodeId] = {}
        return [
            known.get(each) or known.setdefault(each, EpisodeId(*each))
            for each in zip(self.worker, self.episode, strict=True)
        ]

    def of_episode(self, episode: EpisodeId) -> list[int]:
        """The entries of an episode, by sequence number."""
        return self._of_episode(_episode_number(episode.worker, episode.number))

    def picture_of(self, sequence: int) -> str | None:
        """The name of the picture of the screen that an entry ended on."""
        return self.pictures.text(self.picture[sequence - 1])

    def places_with(self, *outcomes: str) -> NDArray[np.int64]:
        """The places of the entries with one of these outcomes, in order."""
        wanted = [number for each in outcomes if (number := self.outcomes.find(each)) is not None]
        return np.flatnonzero(np.isin(column(self.outcome), wanted))

    def seconds(self) -> NDArray[np.float64]:
        """All workers' time up to and with each entry. [entries]"""
        spent = column(self.act_seconds).astype(np.float64) + column(self.decide_seconds)
        return np.cumsum(spent)


def column(values: array[Any]) -> NDArray[Any]:
    """A copy of a column for numpy: a view would keep it from growing."""
    return np.array(values)


def _or_none(number: int | None) -> int:
    return NONE if number is None else number


_Whole = TypeVar("_Whole", int, NDArray[np.int64])


def _episode_number(worker: _Whole, number: _Whole) -> _Whole:
    return (worker << 32) + number


class _Columns(NamedTuple):
    """The fields of outlines, each as a column."""

    sequence: tuple[int, ...]
    worker: tuple[int, ...]
    episode: tuple[int, ...]
    step: tuple[int, ...]
    outcome: tuple[str, ...]
    source: tuple[StateId | None, ...]
    signature: tuple[str | None, ...]
    target: tuple[StateId, ...]
    founded: tuple[bool, ...]
    reward: tuple[float | None, ...]
    screen: tuple[int | None, ...]
    screenshot: tuple[str | None, ...]
    act_seconds: tuple[float, ...]
    decide_seconds: tuple[float, ...]
