"""The logs of several shards, read as one.

Entries of one shard follow those of another: between shards there is no order, and none is needed, since
what a step of one shard did in another is told by both (`domain.shard`). Rows of the screen table carry
the number of their shard, as states do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from screensearch.domain.screen import Screen, StateId
from screensearch.domain.shard import first_of, shard_of, within
from screensearch.domain.transition import Entry, EpisodeId, Transition
from screensearch.errors import FormatError, StoreFailed
from screensearch.record.log import Checkpoint, DecidedScreen, Log, Outline, Row


class ShardedLog:
    """A `Log` for reading, as of the moment it was opened."""

    def __init__(self, shards: Sequence[tuple[int, Log]]) -> None:
        self.shards = tuple(shards)
        self._logs = dict(shards)
        self._last = [log.last_sequence for _, log in shards]

    @property
    def last_sequence(self) -> int:
        return sum(self._last)

    @property
    def lengths(self) -> tuple[tuple[int, int], ...]:
        """Every shard, and how many entries it has."""
        return tuple((shard, last) for (shard, _), last in zip(self.shards, self._last, strict=True))

    def _from(self, after: int) -> Iterator[tuple[int, Log, int, int, int]]:
        """Of each shard with entries beyond a number: itself, what precedes it, where to begin and end."""
        before = 0
        for (shard, log), last in zip(self.shards, self._last, strict=True):
            if before + last > after:
                yield shard, log, before, max(0, after - before), last
            before += last

    def read(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        for shard, log, before, begin, last in self._from(after):
            for sequence, entry in log.read(begin):
                if sequence > last:
                    break
                yield before + sequence, _placed(entry, shard)

    def read_apart(self) -> list[Iterator[Entry]]:
        """The entries of each shard by themselves, in its own order."""

        def entries(shard: int, log: Log, last: int) -> Iterator[Entry]:
            return (_placed(entry, shard) for sequence, entry in log.read() if sequence <= last)

        return [entries(*each, last) for each, last in zip(self.shards, self._last, strict=True)]

    def rows(self, after: int = 0) -> Iterator[Row]:
        for _, log, before, begin, last in self._from(after):
            for row in log.rows(begin):
                if row.sequence > last:
                    break
                yield row._replace(sequence=before + row.sequence)

    def outlines(self, after: int = 0) -> Iterator[Outline]:
        for shard, log, before, begin, last in self._from(after):
            for outline in log.outlines(begin):
                if outline.sequence > last:
                    break
                row = None if outline.screen is None else first_of(shard) + outline.screen
                yield outline._replace(sequence=before + outline.sequence, screen=row)

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        """The entry of that step: where it was taken, rather than where it landed."""
        found: tuple[int, Entry] | None = None
        before = 0
        for (shard, log), last in zip(self.shards, self._last, strict=True):
            here = log.find(episode, step)
            if here is not None and here[0] <= last and (found is None or isinstance(here[1], Transition)):
                found = before + here[0], _placed(here[1], shard)
            before += last
        return found

    def last_episode(self, worker: int) -> int:
        return max(log.last_episode(worker) for _, log in self.shards)

    def latest_entry(self, worker: int) -> Entry | None:
        placed = [
            _placed(entry, shard)
            for shard, log in self.shards
            if (entry := log.latest_entry(worker)) is not None
        ]
        return max(placed, key=lambda entry: (entry.episode.number, entry.step), default=None)

    def screen_id(self, screen: Screen) -> int | None:
        for shard, log in self.shards:
            row = log.screen_id(screen)
            if row is not None:
                return first_of(shard) + row
        return None

    def has_screen(self, row: int) -> bool:
        return shard_of(row) in self._logs and self._logs[shard_of(row)].has_screen(within(row))

    def screen(self, row: int) -> Screen:
        return self._log_of(row).screen(within(row))

    def elements(self, row: int) -> bytes:
        return self._log_of(row).elements(within(row))

    def _log_of(self, number: int) -> Log:
        log = self._logs.get(shard_of(number))
        if log is None:
            raise FormatError(f"the run has no shard {shard_of(number)}")
        return log

    def founder(self, state: StateId) -> int | None:
        log = self._logs.get(shard_of(state))
        row = None if log is None else log.founder(state)
        return None if row is None else first_of(shard_of(state)) + row

    def decided_screens(self) -> Iterator[DecidedScreen]:
        for shard, log in self.shards:
            for decided in log.decided_screens():
                yield decided._replace(screen=first_of(shard) + decided.screen)

    def known_screens(self) -> Iterator[tuple[DecidedScreen, Screen]]:
        for shard, log in self.shards:
            for decided, screen in log.known_screens():
                yield decided._replace(screen=first_of(shard) + decided.screen), screen

    def latest_checkpoint(self) -> Checkpoint | None:
        """None: those of the shards are of their own graphs."""
        return None

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        return iter(())

    def damaged_checkpoints(self) -> list[str]:
        return [damage for _, log in self.shards for damage in log.damaged_checkpoints()]

    def check_pages(self) -> None:
        for _, log in self.shards:
            log.check_pages()

    def integrity_check(self) -> None:
        for _, log in self.shards:
            log.integrity_check()

    def give_up(self) -> None:
        for _, log in self.shards:
            log.give_up()

    def close(self) -> None:
        for _, log in self.shards:
            log.close()

    # -- it is for reading ----------------------------------------------------------------------

    def append(self, entry: Entry) -> int:
        raise _readable()

    def add_screen(self, screen: Screen, elements: bytes) -> int:
        raise _readable()

    def write_checkpoint(self, sequence: int, digest: str, graph: bytes) -> None:
        raise _readable()

    def commit(self) -> None:
        """Nothing: there is no batch."""

    def rollback(self) -> None:
        """Nothing, likewise."""


def _placed(entry: Entry, shard: int) -> Entry:
    """An entry whose screen is named with its shard."""
    if not shard or entry.screen is None:
        return entry
    return replace(entry, screen=first_of(shard) + entry.screen)


def _readable() -> StoreFailed:
    return StoreFailed("the shards of a run are written by their owners, each on its own")
