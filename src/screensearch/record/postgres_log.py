"""The log in a PostgreSQL database: for runs that outgrow one machine.

A batch is collected here and sent in one journey when it is committed. Numbers are given by the owner, who
knows all that it wrote; that there is only one is seen to by the lease (`postgres_schema.fence`), which
every statement that writes checks. When the connection is lost on the way, the owner connects again, asks
whether its batch was kept, and sends it once more if it was not.
"""

from __future__ import annotations

import logging
import os
import socket
import zlib
from collections.abc import Sequence
from typing import Any, NoReturn

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import FormatError, RunBusy, RunNotFound, StoreFailed
from screensearch.record.format import (
    FORMAT_VERSION,
    check_text,
    check_version,
    encode_entry,
    encode_screen,
)
from screensearch.record.log import DuplicateEntry, row_of
from screensearch.record.postgres_batch import NUMBERS, Batch, Statement, to_text
from screensearch.record.postgres_reading import PostgresReading
from screensearch.record.postgres_session import ConnectionLost, Session, StaleOwner, migrate

logger = logging.getLogger(__name__)

_PAGE_ROWS = 2_000
_CACHED = 50_000
_KEPT_GRAPHS = 2


class PostgresLog(PostgresReading):
    """A `Log` in a PostgreSQL database. Not for use by two threads at once; they may take turns."""

    def __init__(self, session: Session, log: int, *, epoch: int | None) -> None:
        super().__init__(session, log)
        self.epoch = epoch
        """Of the lease, counted from 1; None when the log is open for reading only."""
        self._closed = False
        self._batch = Batch()
        self._signature_ids: dict[str, int] = {}
        self._screen_ids: dict[tuple[str, int], int] = {}
        self._metadata_ids: dict[Metadata, int] = {}
        self._founded = bytearray()  # by state: 1 if it was founded in a batch that is committed
        self._latest: dict[int, tuple[int, int]] = {}  # by worker: its latest episode and step
        if epoch is not None:
            self._count()

    # -- opening ------------------------------------------------------------------------------

    @classmethod
    def create(cls, url: str, run: str, shard: str) -> PostgresLog:
        """A new, empty log, opened for writing. Makes the tables too, where there are none."""
        session = Session(url, "screensearch")
        try:
            migrate(session)
            made = session.rows(
                "INSERT INTO logs (run, shard, format) VALUES (%s, %s, %s) "
                "ON CONFLICT DO NOTHING RETURNING id",
                *(run, shard, FORMAT_VERSION),
            )
        finally:
            session.close()
        if not made:
            raise StoreFailed(
                f"{_name(run, shard)} is in {session.where} already: a log is never overwritten"
            )
        return cls.open_to_write(url, run, shard)

    @classmethod
    def open_to_write(cls, url: str, run: str, shard: str, *, take_over: bool = False) -> PostgresLog:
        """Open as the owner. One that is at work is left alone, unless it is to be replaced (`take_over`)."""
        log = _find(url, run, shard)
        session = Session(url, "screensearch")
        try:
            if take_over:
                session.end_others(_owner(log, "%"))
            elif session.sees_others(_owner(log, "%")):
                _refuse_busy(session, log, _name(run, shard))
            epoch = session.one(
                "UPDATE logs SET epoch = epoch + 1, holder = %s, taken = now() WHERE id = %s RETURNING epoch",
                f"process {os.getpid()} on {socket.gethostname()}",
                log,
            )
            session.rename(_owner(log, epoch))
            return cls(session, log, epoch=int(epoch))
        except BaseException:
            session.close()
            raise

    @classmethod
    def open_to_read(cls, url: str, run: str, shard: str) -> PostgresLog:
        """Open for reading, also while another process writes."""
        log = _find(url, run, shard)
        return cls(Session(url, f"screensearch reader {log}"), log, epoch=None)

    def _count(self) -> None:
        """Take the counters from what is committed."""
        self._next = {
            table: int(
                self._session.one(
                    f"SELECT coalesce(max({column}), 0) + 1 FROM {table} WHERE log = %s", self._log
                )
            )
            for table, column in NUMBERS.items()
        }
        for (state,) in self._session.rows(
            "SELECT target FROM entries WHERE log = %s AND founded", self._log
        ):
            self._note_founded(state)

    def _note_founded(self, state: StateId) -> None:
        if state >= len(self._founded):
            self._founded.extend(bytes(state + 1 - len(self._founded)))
        self._founded[state] = 1

    # -- writing ------------------------------------------------------------------------------

    @property
    def last_sequence(self) -> int:
        if self.epoch is not None:
            return self._next["entries"] - 1
        return int(self._session.one("SELECT coalesce(max(seq), 0) FROM entries WHERE log = %s", self._log))

    def append(self, entry: Entry) -> int:
        self._check_writable()
        sequence = self._next["entries"]
        row_of(sequence, entry)  # refuses what the fold could not use
        stored = encode_entry(entry)
        place = (stored.worker, stored.episode, stored.step)
        self._refuse_repeated(entry, place)
        if stored.screen is not None and not self.has_screen(stored.screen):
            raise self._dropped(
                f"step {entry.step} of {entry.episode} names screen {stored.screen}: there is none"
            )
        if stored.founded:
            self._found(stored.target)
        signature = None if stored.signature is None else self._signature_id(stored.signature)
        self._add("entries", (sequence, *stored[:5], signature, *stored[6:]))
        self._batch.entries[place] = (sequence, entry)
        self._latest[stored.worker] = max(self._latest[stored.worker], place[1:])
        return sequence

    def _check_writable(self) -> None:
        if self.epoch is None:
            raise StoreFailed(f"{self._where} is open for reading only")

    def _add(self, table: str, row: tuple[Any, ...]) -> None:
        self._batch.rows[table].append(row)
        self._next[table] += 1

    def _refuse_repeated(self, entry: Entry, place: tuple[int, int, int]) -> None:
        """A later step than all of its worker's is new; whether an earlier one is, the log knows."""
        if self._latest_of(place[0]) < place[1:] or self.find(entry.episode, entry.step) is None:
            return
        raise DuplicateEntry(
            f"step {entry.step} of {entry.episode} is in {self._where} already; find() gives it"
        )

    def _latest_of(self, worker: int) -> tuple[int, int]:
        if worker not in self._latest:
            found = self._rows(
                "SELECT episode, step FROM entries WHERE log = %s AND worker = %s "
                "ORDER BY episode DESC, step DESC LIMIT 1",
                *(self._log, worker),
                batch=False,
            )
            self._latest[worker] = found[0] if found else (-1, -1)
        return self._latest[worker]

    def _found(self, state: StateId | None) -> None:
        assert state is not None  # whatever was founded
        if state in self._batch.founded or (state < len(self._founded) and self._founded[state]):
            raise self._dropped(f"state {state} was founded before")
        self._batch.founded.add(state)

    def _dropped(self, why: str) -> StoreFailed:
        self.rollback()
        return StoreFailed(f"{self._where} failed: {why}; what was not committed is dropped")

    def _signature_id(self, text: str) -> int:
        known = self._batch.signatures.get(text) or self._signature_ids.get(text)
        if known is None:
            stored = to_text(text)
            known = self._one(
                "SELECT id FROM signatures WHERE log = %s AND md5(text) = md5(%s) AND text = %s",
                *(self._log, stored, stored),
                batch=False,
            )
            if known is None:
                known = self._batch.signatures[text] = self._next["signatures"]
                self._add("signatures", (known, stored))
            else:
                _remember(self._signature_ids, {text: known})
        return int(known)

    def add_screen(self, screen: Screen, elements: bytes) -> int:
        self._check_writable()
        known = self.screen_id(screen)
        if known is not None:
            return known
        atoms = encode_screen(screen)
        metadata = self._metadata_id(screen.metadata)
        if metadata is None:
            metadata = self._batch.metadata[screen.metadata] = self._next["metadata"]
            self._add("metadata", (metadata, *map(to_text, _fields(screen.metadata))))
        row = self._next["screens"]
        self._add("screens", (row, to_text(screen.key), metadata, atoms, elements))
        self._batch.screens[screen.key, metadata] = row
        return row

    def screen_id(self, screen: Screen) -> int | None:
        check_text(screen.key)
        metadata = self._metadata_id(screen.metadata)
        if metadata is None:
            return None
        name = (screen.key, metadata)
        known = self._batch.screens.get(name) or self._screen_ids.get(name)
        if known is None:
            known = self._one(
                "SELECT id FROM screens WHERE log = %s AND key = %s AND metadata = %s",
                *(self._log, to_text(screen.key), metadata),
                batch=False,
            )
            if known is not None:
                _remember(self._screen_ids, {name: known})
        return known

    def _metadata_id(self, metadata: Metadata) -> int | None:
        known = self._batch.metadata.get(metadata) or self._metadata_ids.get(metadata)
        if known is None:
            fields = _fields(metadata)
            check_text(*fields)
            known = self._one(
                "SELECT id FROM metadata WHERE log = %s AND application = %s AND display_mode = %s "
                'AND text_size = %s AND "window" = %s',
                *(self._log, *map(to_text, fields)),
                batch=False,
            )
            if known is not None:
                self._metadata_ids[metadata] = known
        return known

    def has_screen(self, row: int) -> bool:
        if self.epoch is not None:
            return 0 < row < self._next["screens"]
        return (
            self._session.one("SELECT 1 FROM screens WHERE log = %s AND id = %s", self._log, row) is not None
        )

    def commit(self) -> None:
        if not self._batch and not self._session.in_transaction:
            return
        try:
            self._send([("COMMIT", ())])
        except ConnectionLost:
            self._connect_again()
            if not self._was_kept():
                self._send([("COMMIT", ())])
        self._keep()

    def _send(self, then: Sequence[Statement] = ()) -> None:
        """Send what the server has not got of the batch, in a transaction, and then something more.

        Unless only the connection failed, a failure drops the batch.
        """
        assert self.epoch is not None  # a reader has no batch
        begin: list[Statement] = [] if self._session.in_transaction else [("BEGIN", ())]
        try:
            self._session.run([*begin, *self._batch.statements(self._log, self.epoch), *then])
        except ConnectionLost:
            raise
        except (StoreFailed, FormatError):
            self.rollback()
            raise
        self._batch.note_sent()

    def _connect_again(self) -> None:
        """Go on after the connection was lost, if the lease is still ours."""
        logger.warning("the connection to %s was lost; connecting again", self._where)
        self._session.connect_again()
        # Else the server may yet commit what came over the lost connection.
        self._session.end_others(self._session.name)
        self._batch.forget_sent()
        held = self._session.one("SELECT epoch FROM logs WHERE id = %s", self._log)
        if held != self.epoch:
            self.rollback()
            raise StaleOwner(
                f"{self._where} was taken over by another process (epoch {held}, ours {self.epoch})"
            )

    def _was_kept(self) -> bool:
        """Whether the whole batch is there: its last numbers are. What has none is harmless to send twice."""
        numbered = {table: rows for table, rows in self._batch.rows.items() if rows}
        return bool(numbered) and all(
            self._session.one(
                f"SELECT 1 FROM {table} WHERE log = %s AND {NUMBERS[table]} = %s", self._log, rows[-1][0]
            )
            for table, rows in numbered.items()
        )

    def _keep(self) -> None:
        """The batch is committed."""
        batch, self._batch = self._batch, Batch()
        _remember(self._signature_ids, batch.signatures)
        _remember(self._screen_ids, batch.screens)
        self._metadata_ids |= batch.metadata
        for state in batch.founded:
            self._note_founded(state)

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        pending = self._batch.entries.get((episode.worker, episode.number, step))
        return super().find(episode, step) if pending is None else pending

    def _rows(self, statement: str, *values: object, batch: bool = True) -> list[tuple[Any, ...]]:
        """Query, with the open batch in sight or, where it is known here, without."""
        for last in (False, True):
            try:
                if batch and self._batch.unsent:
                    self._send()
                return super()._rows(statement, *values)
            except ConnectionLost:
                if last or self.epoch is None:
                    raise
                self._connect_again()
        raise AssertionError("unreachable")

    def rollback(self) -> None:
        if self._session.in_transaction:
            self._session.run([("ROLLBACK", ())])
        for table, rows in self._batch.rows.items():
            if rows:
                self._next[table] -= len(rows)
        self._batch = Batch()
        self._latest.clear()

    def write_checkpoint(self, sequence: int, digest: str, graph: bytes) -> None:
        self._check_writable()
        if not 0 <= sequence <= self.last_sequence:
            raise StoreFailed(f"a checkpoint at {sequence} is beyond the last entry, {self.last_sequence}")
        noted = self._one("SELECT digest FROM checkpoints WHERE log = %s AND seq = %s", self._log, sequence)
        if noted is not None and noted != digest:
            raise FormatError(
                f"the graph at entry {sequence} had digest {noted} and now has {digest}: "
                "one of the two folds is wrong; run `screensearch verify`"
            )
        mine = (self._log, self.epoch)
        self._batch.others += [
            (
                "INSERT INTO checkpoints SELECT %s, %s, %s FROM fence(%s, %s) ON CONFLICT DO NOTHING",
                (self._log, sequence, digest, *mine),
            ),
            (
                "INSERT INTO graphs SELECT %s, %s, %s FROM fence(%s, %s) "
                "ON CONFLICT (log, seq) DO UPDATE SET graph = excluded.graph",
                (self._log, sequence, zlib.compress(graph, 1), *mine),
            ),
            (
                "DELETE FROM graphs WHERE log = %s AND seq NOT IN "
                "(SELECT seq FROM graphs WHERE log = %s ORDER BY seq DESC LIMIT %s)",
                (self._log, self._log, _KEPT_GRAPHS),
            ),
        ]

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._session.close()  # which drops an open batch


def _find(url: str, run: str, shard: str) -> int:
    session = Session(url, "screensearch")
    try:
        migrate(session)
        found = session.rows("SELECT id, format FROM logs WHERE run = %s AND shard = %s", run, shard)
    finally:
        session.close()
    if not found:
        raise RunNotFound(f"{_name(run, shard)} is not in {session.where}")
    ((log, version),) = found
    check_version(version, f"{_name(run, shard)} in {session.where}")
    return int(log)


def _owner(log: int, epoch: object) -> str:
    """What the server calls the owner of a log in an epoch."""
    return f"screensearch owner {log} {epoch}"


def _refuse_busy(session: Session, log: int, name: str) -> NoReturn:
    holder = session.one("SELECT holder FROM logs WHERE id = %s", log)
    raise RunBusy(f"{name} in {session.where} is owned by {holder}: wait for it, or stop it")


def _name(run: str, shard: str) -> str:
    return f"the log of run {run}" + (f", shard {shard}," if shard else "")


def _fields(metadata: Metadata) -> tuple[str, str, str, str]:
    return metadata.application, metadata.display_mode, metadata.text_size, metadata.window


def _remember(known: dict[Any, int], more: dict[Any, int]) -> None:
    if len(known) >= _CACHED:
        known.clear()
    known |= more
