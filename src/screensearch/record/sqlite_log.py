"""The log in one SQLite file: the default on one machine.

While it is owned the file runs in WAL mode with full synchronisation; when its owner closes it, it goes
back to a single plain file, which readers open without leaving anything beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import DamagedStore, FormatError, LogExists, StoreFailed
from screensearch.record.checkpoints import (
    KEPT_GRAPHS,
    Kept,
    check_new,
    list_damage,
    newest_whole,
    pack_graph,
)
from screensearch.record.format import (
    FORMAT_VERSION,
    StoredEntry,
    check_text,
    decode_entry,
    decode_screen,
    encode_entry,
    encode_screen,
    metadata_fields,
    outline_of,
)
from screensearch.record.log import Checkpoint, DecidedScreen, DuplicateEntry, Outline, Row, row_of
from screensearch.record.sqlite_file import APPLICATION_ID, check_log_file
from screensearch.record.sqlite_schema import SCHEMA

_BUSY_SECONDS = 10.0
_PAGE_ROWS = 2_000  # rows fetched at a time: no statement stays open between them
_FIRST_ROWS = 4  # of a reading, at first: who wants one entry does not wait for the page it is on
_CACHED_SIGNATURES = 50_000
_WAL_PAGES = 4_000  # 16 MB between checkpoints of the write-ahead log
_CACHE_KIBIBYTES = 4_096  # four times as much made no step measurably cheaper: the system caches pages too


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours. Damage is a matter of format, anything else of storage."""
    try:
        yield
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DamagedStore(f"the log {path} is damaged: {problem}; restore it from a copy") from problem
        raise StoreFailed(f"the log {path} failed: {problem}; check free space and permissions") from problem


class _Signatures(dict[int | None, str | None]):
    """Texts by id, fetched when first asked for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__({None: None})
        self._connection = connection

    def load_all(self) -> None:
        self.update(self._connection.execute("SELECT id, text FROM signatures"))

    def __missing__(self, number: int | None) -> str | None:
        found = self._connection.execute("SELECT text FROM signatures WHERE id = ?", (number,)).fetchone()
        if found is None:
            raise FormatError(f"the log names signature {number}, which it does not hold: it is damaged")
        self[number] = text = found[0]
        return text  # type: ignore[no-any-return]


class SqliteLog:
    """A `Log` in a SQLite file. Not for use by two threads at once; they may take turns."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, writable: bool) -> None:
        self.path = path
        self._connection = connection
        self._writable = writable
        self._closed = False
        self._signature_ids: dict[str, int] = {}
        self._metadata_ids: dict[Metadata, int] = {}
        self._reset()

    @classmethod
    def create(cls, path: Path) -> SqliteLog:
        """A new, empty log at a path where there is no file, opened for writing."""
        if path.exists():
            raise LogExists(f"{path} exists already: a log is never overwritten")
        with _translated(path):
            connection = sqlite3.connect(path, isolation_level=None)
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT_VERSION};"
                f"BEGIN; {SCHEMA} COMMIT;"
            )
            connection.close()
        return cls.open_to_write(path)

    @classmethod
    def open_to_write(cls, path: Path) -> SqliteLog:
        """Open as the owner. The caller sees to it that there is only one (``run.own``)."""
        check_log_file(path)
        with _translated(path):
            connection = _connect(path, "rw")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA recursive_triggers = ON")  # or a REPLACE would delete silently
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIBIBYTES}")
            return cls(path, connection, writable=True)

    @classmethod
    def open_to_read(cls, path: Path, *, owned: bool = False) -> SqliteLog:
        """Open for reading, also while another process writes (`owned`). Never changes the file."""
        check_log_file(path, owned=owned)
        with _translated(path):
            return cls(path, _connect(path, "ro"), writable=False)

    def _reset(self) -> None:
        """Take the counters from what is committed."""
        self._in_batch = False
        self._signature_ids.clear()
        self._metadata_ids.clear()
        with _translated(self.path):
            self._next_entry: int = self._one("SELECT coalesce(max(seq), 0) + 1 FROM entries")
            self._next_screen: int = self._one("SELECT coalesce(max(id), 0) + 1 FROM screens")

    def _one(self, statement: str, *values: object) -> Any:
        found = self._connection.execute(statement, values).fetchone()
        return None if found is None else found[0]

    def _insert(self, statement: str, *values: object) -> int:
        """Insert one row; returns the number SQLite gave it."""
        return self._connection.execute(statement, values).lastrowid or 0

    @property
    def last_sequence(self) -> int:
        if self._writable:
            return self._next_entry - 1
        with _translated(self.path):
            return int(self._one("SELECT coalesce(max(seq), 0) FROM entries"))

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """Write into the open batch, beginning one if needed; a failure of storage drops the batch."""
        if not self._writable:
            raise StoreFailed(f"the log {self.path} is open for reading only")
        try:
            with _translated(self.path):
                if not self._in_batch:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._in_batch = True
                yield
        except (StoreFailed, FormatError):
            self.rollback()
            raise

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        """Let several reads see the same, whatever an owner commits meanwhile."""
        ours = not self._connection.in_transaction  # an open batch is such a moment already
        with _translated(self.path):
            if ours:
                self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with _translated(self.path):
                if ours and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def append(self, entry: Entry) -> int:
        sequence = self._next_entry
        row_of(sequence, entry)  # refuses what the fold could not use
        stored = encode_entry(entry)
        with self._batch():
            signature = None if stored.signature is None else self._signature_id(stored.signature)
            try:
                self._connection.execute(
                    "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (sequence, *stored[:5], signature, *stored[6:]),
                )
            except sqlite3.IntegrityError:
                if self.find(entry.episode, entry.step) is None:
                    raise
                raise DuplicateEntry(
                    f"step {entry.step} of {entry.episode} is in the log {self.path} already; find() gives it"
                ) from None
        self._next_entry = sequence + 1
        return sequence

    def _signature_id(self, text: str) -> int:
        known = self._signature_ids.get(text)
        if known is not None:
            return known
        number = int(
            self._one("SELECT id FROM signatures WHERE text = ?", text)
            or self._insert("INSERT INTO signatures (text) VALUES (?)", text)
        )
        if len(self._signature_ids) >= _CACHED_SIGNATURES:
            self._signature_ids.clear()
        self._signature_ids[text] = number
        return number

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        with _translated(self.path):
            found = self._connection.execute(
                "SELECT * FROM whole_entries WHERE worker = ? AND episode = ? AND step = ?",
                (episode.worker, episode.number, step),
            ).fetchone()
        return None if found is None else (found[0], decode_entry(StoredEntry(*found[1:])))

    def add_screen(self, screen: Screen, elements: bytes) -> int:
        known = self.screen_id(screen)
        if known is not None:
            return known
        atoms = encode_screen(screen)
        row = self._next_screen
        with self._batch():
            metadata = self._metadata_id(screen.metadata)
            if metadata is None:
                metadata = self._insert(
                    "INSERT INTO metadata (application, display_mode, text_size, window) VALUES (?, ?, ?, ?)",
                    *metadata_fields(screen.metadata),
                )
            self._insert(
                "INSERT INTO screens VALUES (?, ?, ?, ?, ?)", row, screen.key, metadata, atoms, elements
            )
        self._next_screen = row + 1
        return row

    def screen_id(self, screen: Screen) -> int | None:
        check_text(screen.key)
        with _translated(self.path):
            metadata = self._metadata_id(screen.metadata)
            if metadata is None:
                return None
            row: int | None = self._one(
                "SELECT id FROM screens WHERE key = ? AND metadata = ?", screen.key, metadata
            )
            return row

    def has_screen(self, row: int) -> bool:
        if self._writable:
            return 0 < row < self._next_screen
        with _translated(self.path):
            return self._one("SELECT 1 FROM screens WHERE id = ?", row) is not None

    def _metadata_id(self, metadata: Metadata) -> int | None:
        known = self._metadata_ids.get(metadata)
        if known is not None:
            return known
        fields = metadata_fields(metadata)
        check_text(*fields)
        number: int | None = self._one(
            "SELECT id FROM metadata "
            "WHERE application = ? AND display_mode = ? AND text_size = ? AND window = ?",
            *fields,
        )
        if number is not None:
            self._metadata_ids[metadata] = number
        return number

    def commit(self) -> None:
        if self._in_batch:
            with self._batch():
                self._connection.execute("COMMIT")
                self._in_batch = False

    def rollback(self) -> None:
        if self._in_batch:
            with _translated(self.path):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            self._reset()

    def _pages(self, statement: str, after: int) -> Iterator[list[tuple[Any, ...]]]:
        """Run ``… > ? ORDER BY … LIMIT ?`` again and again; the first column says where to go on."""
        rows = _FIRST_ROWS
        while True:
            with _translated(self.path):
                page = self._connection.execute(statement, (after, rows)).fetchall()
            if not page:
                return
            yield page
            after, rows = page[-1][0], min(8 * rows, _PAGE_ROWS)

    def read(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        statement = "SELECT * FROM whole_entries WHERE seq > ? ORDER BY seq LIMIT ?"
        for page in self._pages(statement, after):
            for sequence, *columns in page:
                yield sequence, decode_entry(StoredEntry(*columns))

    def rows(self, after: int = 0) -> Iterator[Row]:
        statement = (
            "SELECT seq, outcome, source, signature, target, reward FROM entries "
            "WHERE seq > ? ORDER BY seq LIMIT ?"
        )
        texts = self._texts_after(after)
        for page in self._pages(statement, after):
            for sequence, outcome, source, signature, target, reward in page:
                yield Row(sequence, outcome, source, texts[signature], target, reward)

    def outlines(self, after: int = 0) -> Iterator[Outline]:
        texts = self._texts_after(after)
        for page in self._pages("SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT ?", after):
            for row in page:
                stored = StoredEntry._make((*row[1:6], texts[row[6]], *row[7:]))
                yield outline_of(row[0], stored)

    def _texts_after(self, after: int) -> _Signatures:
        """The signatures for a read from there on."""
        texts = _Signatures(self._connection)
        with _translated(self.path):
            if self.last_sequence - after >= self._one("SELECT coalesce(max(id), 0) FROM signatures"):
                texts.load_all()  # a long read will want most of them: one query instead of one each
        return texts

    def last_episode(self, worker: int) -> int:
        with _translated(self.path):
            return int(self._one("SELECT coalesce(max(episode), -1) FROM entries WHERE worker = ?", worker))

    def latest_entry(self, worker: int) -> Entry | None:
        with _translated(self.path):
            found = self._connection.execute(
                "SELECT * FROM whole_entries WHERE worker = ? ORDER BY episode DESC, step DESC LIMIT 1",
                (worker,),
            ).fetchone()
        return None if found is None else decode_entry(StoredEntry(*found[1:]))

    def screen(self, row: int) -> Screen:
        with _translated(self.path):
            found = self._connection.execute("SELECT * FROM whole_screens WHERE id = ?", (row,)).fetchone()
        if found is None:
            raise FormatError(f"the log {self.path} has no screen {row}")
        _, key, *metadata, atoms = found
        return decode_screen(key, Metadata(*metadata), atoms)

    def elements(self, row: int) -> bytes:
        with _translated(self.path):
            found: bytes | None = self._one("SELECT elements FROM screens WHERE id = ?", row)
        if found is None:
            raise FormatError(f"the log {self.path} has no screen {row}")
        return found

    def founder(self, state: StateId) -> int | None:
        with _translated(self.path):
            row: int | None = self._one("SELECT screen FROM entries WHERE founded = 1 AND target = ?", state)
            return row

    def decided_screens(self) -> Iterator[DecidedScreen]:
        # min() also picks the row that the other columns come from: SQLite documents that.
        statement = (
            "SELECT min(seq) AS first, screen, target, founded FROM entries "
            "WHERE target IS NOT NULL AND screen IS NOT NULL GROUP BY screen ORDER BY first"
        )
        with _translated(self.path):
            decided = self._connection.execute(statement).fetchall()
        for _, screen, state, founded in decided:
            yield DecidedScreen(screen, state, bool(founded))

    def known_screens(self) -> Iterator[tuple[DecidedScreen, Screen]]:
        for decided in self.decided_screens():
            yield decided, self.screen(decided.screen)

    def give_up(self) -> None:
        pass  # a file does not keep anybody waiting

    def write_checkpoint(self, sequence: int, digest: str, graph: bytes) -> None:
        with _translated(self.path):
            noted = self._one("SELECT digest FROM checkpoints WHERE seq = ?", sequence)
        check_new(sequence, digest, last=self.last_sequence, noted=noted)
        with self._batch():
            if noted is None:
                self._connection.execute("INSERT INTO checkpoints VALUES (?, ?)", (sequence, digest))
            self._connection.execute(
                "INSERT OR REPLACE INTO graphs VALUES (?, ?)", (sequence, pack_graph(graph))
            )
            self._connection.execute(
                "DELETE FROM graphs WHERE seq NOT IN (SELECT seq FROM graphs ORDER BY seq DESC LIMIT ?)",
                (KEPT_GRAPHS,),
            )

    def latest_checkpoint(self) -> Checkpoint | None:
        with self._one_moment():
            return newest_whole(self._kept_graphs(), str(self.path))

    def damaged_checkpoints(self) -> list[str]:
        with self._one_moment():
            return list(list_damage(self._kept_graphs(), str(self.path)))

    def _kept_graphs(self) -> Iterator[Kept]:
        """The graphs that are kept, the newest first, each fetched when it is asked for."""
        with _translated(self.path):
            noted = self._connection.execute(
                "SELECT seq, digest FROM graphs JOIN checkpoints USING (seq) ORDER BY seq DESC"
            ).fetchall()
        for sequence, digest in noted:
            with _translated(self.path):
                packed = self._one("SELECT graph FROM graphs WHERE seq = ?", sequence)
            yield sequence, digest, packed

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        with _translated(self.path):
            yield from self._connection.execute("SELECT seq, digest FROM checkpoints ORDER BY seq").fetchall()

    def check_pages(self) -> None:
        # `quick_check` would save half of it, and not see that an index and its table disagree.
        with _translated(self.path):
            ((problem,),) = self._connection.execute("PRAGMA integrity_check(1)")
        if problem != "ok":
            said = " ".join(problem.removeprefix("*** in database main ***").split())
            raise DamagedStore(f"the log {self.path} is damaged: {said}; restore it from a copy")

    def integrity_check(self) -> None:
        with self._one_moment(), _translated(self.path):
            self.check_pages()
            strays = self._connection.execute("PRAGMA foreign_key_check").fetchall()
            entries, last = self._connection.execute(
                "SELECT count(*), coalesce(max(seq), 0) FROM entries"
            ).fetchone()
        if strays:
            raise FormatError(f"the log {self.path} is damaged: {len(strays)} rows name what is not there")
        if entries != last:
            raise FormatError(f"the log {self.path} has {entries} entries but counts {last}")

    def close(self) -> None:
        if self._closed:
            return
        self.rollback()
        self._closed = True
        with _translated(self.path):
            if self._writable:
                # A reader that is still there keeps the file in WAL mode; the next owner tries again.
                with suppress(sqlite3.OperationalError):
                    self._connection.execute("PRAGMA busy_timeout = 0")
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.close()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )
