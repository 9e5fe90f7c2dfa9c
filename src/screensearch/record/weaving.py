"""The entries of several shards in one order, as one owner of all their screens would have written them.

Shards have no common count, but they share episodes: a step comes after the one before it, whichever shard
that is in. Any order that keeps the order of each shard and of each episode could have been; this one takes
an entry of each shard in turn, as long as it has what it follows. A step from one shard into another is told
by both, as a step there and as a landing here: it becomes one step again, ended on the landing's screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from screensearch.domain.transition import ELSEWHERE, Arrival, Entry, EpisodeId, Outcome, Transition
from screensearch.record.sharded_log import ShardedLog


class _Woven(NamedTuple):
    """The latest step of an episode that has its place: its number there and in the new order."""

    step: int
    sequence: int
    over: bool


class _Strand:
    """The entries of one shard that have no place yet."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries
        self.head = next(entries, None)
        self._places = [0]  # after so many entries of this shard: how many there were in the new order

    def move(self, sequence: int) -> None:
        """The head has its place, when the new order has come to that number."""
        self._places.append(sequence)
        self.head = next(self._entries, None)

    def place(self, number: int) -> int:
        """How far the new order was when this shard had come to a number."""
        return self._places[max(0, min(number, len(self._places) - 1))]


class Weaving:
    """Iterate over it, once: entries in the new order. Snapshots are numbers of it; states stay as they are.

    What can have no place is left out and counted: what follows a step that is not there, since the shards of
    a run that is going on are read one after the other; and a step into another shard that only one of the
    two tells of, since its worker was lost in between.
    """

    def __init__(self, log: ShardedLog) -> None:
        self.left_out = 0
        self._strands = [_Strand(entries) for entries in log.read_apart()]
        self._landings: dict[tuple[EpisodeId, int], Arrival] = {}  # whose step has no place yet
        self._latest: dict[EpisodeId, _Woven] = {}
        self._sequence = 0

    def __iter__(self) -> Iterator[Entry]:
        moved = True
        while moved:
            moved = False
            for strand in self._strands:
                if strand.head is not None and self._ready(strand.head):
                    moved = True
                    yield from self._take(strand, strand.head)
            moved = moved or self._pass_over_a_loss()
        self.left_out += len(self._landings)
        for strand in self._strands:
            while strand.head is not None:
                self.left_out += 1
                strand.move(self._sequence)

    def _ready(self, entry: Entry) -> bool:
        """Whether all that this entry follows has its place."""
        if not isinstance(entry, Transition):
            return True
        before = self._latest.get(entry.episode)
        if before is None:
            return False
        if before.over:
            return True
        here = entry.decision is None or entry.decision.how != ELSEWHERE
        return entry.step == before.step + 1 and (here or (entry.episode, entry.step) in self._landings)

    def _take(self, strand: _Strand, entry: Entry) -> Iterator[Entry]:
        if isinstance(entry, Arrival) and entry.step:
            self._landings[entry.episode, entry.step] = entry
            strand.move(self._sequence)
            return
        before = self._latest.get(entry.episode)
        if before is not None and before.over:  # its loss is told by both shards that it was between
            self.left_out += 1
            strand.move(self._sequence)
            return
        if isinstance(entry, Transition):
            assert before is not None  # it is ready
            entry = self._joined(strand, entry, before)
        self._sequence += 1
        over = entry.decision is None
        self._latest[entry.episode] = _Woven(entry.step, self._sequence, over)
        strand.move(self._sequence)
        yield entry

    def _joined(self, strand: _Strand, entry: Transition, before: _Woven) -> Transition:
        """A step with the screen that it ended on, and the snapshot that its choice has seen.

        That has in any case the step before it: the landing of that one was seen, wherever it was told.
        """
        choice = entry.choice
        if choice is not None:
            snapshot = max(strand.place(choice.snapshot), before.sequence)
            entry = replace(entry, choice=replace(choice, snapshot=snapshot))
        if entry.decision is not None and entry.decision.how == ELSEWHERE:
            landing = self._landings.pop((entry.episode, entry.step))
            entry = replace(entry, decision=landing.decision, screen=landing.screen)
        return entry

    def _pass_over_a_loss(self) -> bool:
        """Where nothing is ready: leave out the loss of a worker that was between two shards."""
        for strand in self._strands:
            entry = strand.head
            if (
                isinstance(entry, Transition)
                and entry.outcome is Outcome.LOST
                and (entry.episode, entry.step - 1) in self._landings
            ):
                self.left_out += 1
                strand.move(self._sequence)
                return True
        return False
