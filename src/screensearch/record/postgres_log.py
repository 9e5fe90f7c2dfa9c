"""The log in a PostgreSQL database: for runs that outgrow one machine.

A batch is collected here and sent in one journey when it is committed (`postgres_sending`). Numbers are given
by the owner, who knows all that it wrote; that there is only one is seen to by the lease (`postgres_lease`),
which every statement that writes checks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import RunNotFound, StoreFailed
from screensearch.record.checkpoints import KEPT_GRAPHS, check_new, pack_graph
from screensearch.record.format import check_text, encode_entry, encode_screen, metadata_fields
from screensearch.record.log import DuplicateEntry, row_of
from screensearch.record.postgres_batch import Batch, Numbers, digest_texts, to_text
from screensearch.record.postgres_lease import Lease, new_token, release_lease, session_name, take_lease
from screensearch.record.postgres_reading import PostgresReading
from screensearch.record.postgres_schema import check_tables, find_log, log_name, make_log, migrate
from screensearch.record.postgres_sending import Sender
from screensearch.record.postgres_session import Session

SOON_SECONDS = 1.0
"""A server that is in reach and not busy makes a commit in this time, the way there and back included."""

_CACHED = 50_000
_PAGE_NUMBERS = 50_000


class Reach(NamedTuple):
    """How far a log goes, and whose turn it is to write there."""

    epoch: int
    entries: int  # all that are durable: the sequence number of the latest


class PostgresLog(PostgresReading):
    """A `Log` in a PostgreSQL database. Not for use by two threads at once; they may take turns."""

    def __init__(self, session: Session, log: int, lease: Lease | None) -> None:
        super().__init__(session, log)
        self._lease = lease
        self._signature_ids: dict[str, int] = {}
        self._screen_ids: dict[tuple[str, int], int] = {}
        self._metadata_ids: dict[Metadata, int] = {}
        self._latest: dict[int, tuple[int, int]] = {}  # by worker: its latest committed episode and step
        self._founded: set[StateId] = set()  # few, and of a shard that may begin anywhere
        self._decided = Numbers()  # screens
        self._sender: Sender | None = None
        if lease is not None:
            self._sender = Sender(session, lease)
            self._founded.update(self._numbers("entries", "target", "founded"))
            self._decided.add_all(self._numbers("decisions", "screen", "true"))

    @property
    def epoch(self) -> int | None:
        """Of the lease, counted from 1; None when the log is open for reading only."""
        return None if self._lease is None else self._lease.epoch

    # -- opening ------------------------------------------------------------------------------

    @classmethod
    def reach(cls, url: str) -> None:
        """Raise when there is no server at an address that would take a log. Changes nothing."""
        Session(url, "screensearch", writes=True).close()

    @classmethod
    def create(cls, url: str, run: str, shard: str, *, exploration: str = "") -> PostgresLog:
        """A new, empty log, opened for writing. Makes the tables too, where there are none."""
        token = new_token(exploration)
        with _session(url, session_name(token), writes=True) as session:
            migrate(session)
            log = make_log(session, run, shard)
            return cls._owned(session, take_lease(session, log, token, log_name(run, shard), take_over=False))

    @classmethod
    def open_to_write(
        cls,
        url: str,
        run: str,
        shard: str,
        *,
        take_over: bool = False,
        exploration: str = "",
        again: bool = False,
    ) -> PostgresLog:
        """Open as the owner, for an exploration; who is replaced for that is said by `take_lease`."""
        token = new_token(exploration)
        with _session(url, session_name(token), writes=True) as session:
            if check_tables(session, behind=True):
                migrate(session)
            log = find_log(session, run, shard)
            name = log_name(run, shard)
            return cls._owned(
                session, take_lease(session, log, token, name, take_over=take_over, again=again)
            )

    @classmethod
    def _owned(cls, session: Session, lease: Lease) -> PostgresLog:
        try:
            check_tables(session)  # which may have changed meanwhile; from now on, that ends the lease
            return cls(session, lease.log, lease)
        except BaseException:
            # Or it would seem to be in use, for as long as this process lives.
            with suppress(StoreFailed):
                release_lease(session, lease)
            raise

    @classmethod
    def open_to_read(cls, url: str, run: str, shard: str, *, latest: bool = False) -> PostgresLog:
        """Open for reading, also while another process writes. Changes nothing, and may not need to.

        `latest`: where writing is possible, since a replica may be behind.
        """
        with _session(url, "screensearch reader", writes=latest) as session:
            return cls(session, find_log(session, run, shard), None)

    @classmethod
    def shards(cls, url: str, run: str, *, latest: bool = False) -> list[str]:
        """The names of a run's shards; none where there are no tables. Those may be behind this version."""
        session = Session(url, "screensearch reader", writes=latest)
        try:
            if not check_tables(session, behind=True):
                return []
            return [name for (name,) in session.rows("SELECT shard FROM logs WHERE run = %s", run)]
        finally:
            session.close()

    @classmethod
    def check_to_write(cls, url: str, run: str, shard: str) -> None:
        """Raise when there is no log that `open_to_write` could open, whoever owns it. Changes nothing."""
        session = Session(url, "screensearch reader")
        try:
            find_log(session, run, shard, behind=True)
        finally:
            session.close()

    @classmethod
    def how_far(cls, url: str, run: str, shard: str) -> Reach:
        """How far a log goes now, also while it has an owner, and by no replica that may be behind."""
        session = Session(url, "screensearch reader", writes=True)
        try:
            log = find_log(session, run, shard)
            found = session.rows(
                "SELECT epoch, (SELECT coalesce(max(seq), 0) FROM entries WHERE log = logs.id) "
                "FROM logs WHERE id = %s",
                log,
            )
            if not found:
                raise RunNotFound(f"{log_name(run, shard)} was deleted from {session.where} just now")
            ((epoch, entries),) = found
            return Reach(int(epoch), int(entries))
        finally:
            session.close()

    @classmethod
    def answers(cls, url: str) -> bool:
        """Whether the database makes something durable for this process, and soon: nothing that stays."""
        begun = time.monotonic()
        try:
            session = Session(url, "screensearch probe", writes=True)
            try:
                with session.haste(SOON_SECONDS):
                    session.rows("SELECT pg_logical_emit_message(true, 'screensearch', '')")
            finally:
                session.close()
        except StoreFailed:
            return False
        return time.monotonic() - begun < SOON_SECONDS

    @classmethod
    def drop(cls, url: str, run: str, shard: str) -> None:
        """Delete a log, if there is one."""
        session = Session(url, "screensearch", writes=True)
        try:
            session.rows("SELECT drop_log(%s, %s)", run, shard)
        finally:
            session.close()

    def _numbers(self, table: str, column: str, which: str) -> Iterator[int]:
        """The numbers in a column of a table, page by page."""
        last = -1
        while page := self._rows(
            f"SELECT {column} FROM {table} WHERE log = %s AND {which} AND {column} > %s "
            f"ORDER BY {column} LIMIT %s",
            *(self._log, last, _PAGE_NUMBERS),
        ):
            yield from (number for (number,) in page)
            last = page[-1][0]

    # -- writing ------------------------------------------------------------------------------

    @property
    def silent_seconds(self) -> float:
        """For how long the server owes an answer and has said nothing. Any thread may ask."""
        return 0.0 if self._sender is None else self._sender.silent_seconds

    @property
    def last_sequence(self) -> int:
        if self._sender is not None:
            return self._sender.next_number("entries") - 1
        return int(self._one("SELECT coalesce(max(seq), 0) FROM entries WHERE log = %s", self._log))

    def append(self, entry: Entry) -> int:
        sender = self._writable()
        sequence = sender.next_number("entries")
        row_of(sequence, entry)  # refuses what the fold could not use
        stored = encode_entry(entry)
        place = (stored.worker, stored.episode, stored.step)
        self._refuse_repeated(entry, place)
        if stored.screen is not None and not self.has_screen(stored.screen):
            raise self._dropped(
                f"step {entry.step} of {entry.episode} names screen {stored.screen}: there is none"
            )
        # All that may fail comes first: what failed must leave nothing in the batch.
        signature = None if stored.signature is None else self._signature_id(stored.signature)
        batch = sender.batch
        if stored.founded:
            assert stored.target is not None  # whatever was founded
            if stored.target in batch.founded or stored.target in self._founded:
                raise self._dropped(f"state {stored.target} was founded before")
            batch.founded.add(stored.target)
        batch.rows["entries"].append((sequence, *stored[:5], signature, *stored[6:]))
        batch.entries[place] = (sequence, entry)
        batch.latest[stored.worker] = max(batch.latest.get(stored.worker, place[1:]), place[1:])
        if stored.screen is not None and stored.target is not None:
            self._decide(sequence, stored.screen, stored.target, founded=stored.founded)
        return sequence

    def _decide(self, sequence: int, screen: int, state: StateId, *, founded: bool) -> None:
        batch = self._writable().batch
        if screen not in batch.decided and screen not in self._decided:
            batch.decided.add(screen)
            batch.rows["decisions"].append((sequence, screen, state, founded))

    def _writable(self) -> Sender:
        if self._sender is None:
            raise StoreFailed(f"{self._where} is open for reading only")
        self._sender.check()
        return self._sender

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
            # When the batch was sent, this is one of its own: not to be remembered beyond it.
            latest = found[0] if found else (-1, -1)
            if not self._writable().session.in_transaction:
                self._latest[worker] = latest
        else:
            latest = self._latest[worker]
        return max(latest, self._writable().batch.latest.get(worker, latest))

    def _dropped(self, why: str) -> StoreFailed:
        self.rollback()
        return StoreFailed(f"{self._where} failed: {why}; what was not committed is dropped")

    def _signature_id(self, text: str) -> int:
        sender = self._writable()
        known = sender.batch.signatures.get(text) or self._signature_ids.get(text)
        if known is None:
            stored, digest = to_text(text), digest_texts(text)
            known = self._one(
                "SELECT id FROM signatures WHERE log = %s AND digest = %s AND text = %s",
                *(self._log, digest, stored),
                batch=False,
            )
            if known is None:
                known = sender.batch.signatures[text] = sender.next_number("signatures")
                sender.batch.rows["signatures"].append((known, digest, stored))
            else:
                _remember(self._signature_ids, {text: known})
        return int(known)

    def add_screen(self, screen: Screen, elements: bytes) -> int:
        sender = self._writable()
        known = self.screen_id(screen)
        if known is not None:
            return known
        atoms = encode_screen(screen)
        metadata = self._metadata_id(screen.metadata)
        batch = sender.batch
        if metadata is None:
            metadata = batch.metadata[screen.metadata] = sender.next_number("metadata")
            fields = metadata_fields(screen.metadata)
            batch.rows["metadata"].append((metadata, digest_texts(*fields), *map(to_text, fields)))
        row = sender.next_number("screens")
        digest = digest_texts(screen.key)
        batch.rows["screens"].append((row, digest, to_text(screen.key), metadata, atoms, elements))
        batch.screens[screen.key, metadata] = row
        return row

    def screen_id(self, screen: Screen) -> int | None:
        check_text(screen.key)
        metadata = self._metadata_id(screen.metadata)
        if metadata is None:
            return None
        name = (screen.key, metadata)
        known = self._pending.screens.get(name) or self._screen_ids.get(name)
        if known is None:
            known = self._one(
                "SELECT id FROM screens WHERE log = %s AND digest = %s AND metadata = %s AND key = %s",
                *(self._log, digest_texts(screen.key), metadata, to_text(screen.key)),
                batch=False,
            )
            if known is not None:
                _remember(self._screen_ids, {name: known})
        return known

    def _metadata_id(self, metadata: Metadata) -> int | None:
        known = self._pending.metadata.get(metadata) or self._metadata_ids.get(metadata)
        if known is None:
            fields = metadata_fields(metadata)
            check_text(*fields)
            known = self._one(
                "SELECT id FROM metadata WHERE log = %s AND digest = %s",
                *(self._log, digest_texts(*fields)),
                batch=False,
            )
            if known is not None:
                _remember(self._metadata_ids, {metadata: known})
        return known

    @property
    def _pending(self) -> Batch:
        return Batch() if self._sender is None else self._sender.batch

    def has_screen(self, row: int) -> bool:
        if self._sender is not None:
            return 0 < row < self._sender.next_number("screens")
        return self._one("SELECT 1 FROM screens WHERE log = %s AND id = %s", self._log, row) is not None

    def commit(self) -> None:
        if self._sender is None:
            return
        batch = self._sender.commit()
        _remember(self._signature_ids, batch.signatures)
        _remember(self._screen_ids, batch.screens)
        _remember(self._metadata_ids, batch.metadata)
        for worker, latest in batch.latest.items():
            if worker in self._latest:  # else the log may have a later one
                self._latest[worker] = max(latest, self._latest[worker])
        self._founded |= batch.founded
        self._decided.add_all(batch.decided)

    def rollback(self) -> None:
        if self._sender is not None:
            self._sender.rollback()

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        pending = self._pending.entries.get((episode.worker, episode.number, step))
        return super().find(episode, step) if pending is None else pending

    def _rows(self, statement: str, *values: object, batch: bool = True) -> list[tuple[Any, ...]]:
        if self._sender is None:
            return super()._rows(statement, *values)
        return self._sender.rows(statement, *values, batch=batch)

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        self._one("SELECT 1")  # which sends an open batch
        if self._sender is not None and self._session.in_transaction:
            yield  # it holds the lease: nobody writes meanwhile
        else:
            with super()._one_moment():
                yield

    def write_checkpoint(self, sequence: int, digest: str, graph: bytes) -> None:
        sender = self._writable()
        noted = self._one("SELECT digest FROM checkpoints WHERE log = %s AND seq = %s", self._log, sequence)
        check_new(sequence, digest, last=self.last_sequence, noted=noted)
        held = sender.lease.held
        sender.batch.others += [
            (
                "INSERT INTO checkpoints SELECT %s, %s, %s FROM fence(%s, %s, %s) ON CONFLICT DO NOTHING",
                (self._log, sequence, digest, *held),
            ),
            (
                "INSERT INTO graphs SELECT %s, %s, %s FROM fence(%s, %s, %s) "
                "ON CONFLICT (log, seq) DO UPDATE SET graph = excluded.graph",
                (self._log, sequence, pack_graph(graph), *held),
            ),
            (
                "DELETE FROM graphs WHERE log = %s AND seq NOT IN "
                "(SELECT seq FROM graphs WHERE log = %s ORDER BY seq DESC LIMIT %s)",
                (self._log, self._log, KEPT_GRAPHS),
            ),
        ]

    def give_up(self) -> None:
        self._session.give_up()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._sender is not None:
                self._sender.close()
            self._session.close()


@contextmanager
def _session(url: str, name: str, *, writes: bool = False) -> Iterator[Session]:
    """A session for a log to be opened with: closed again if that fails, or is interrupted."""
    session = Session(url, name, writes=writes)
    try:
        yield session
    except BaseException:
        session.close()
        raise


def _remember(known: dict[Any, int], more: dict[Any, int]) -> None:
    if len(known) >= _CACHED:
        known.clear()
    known |= more
