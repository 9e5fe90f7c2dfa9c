"""Reading a log in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import FormatError, StoreFailed
from screensearch.record.checkpoints import Kept, list_damage, newest_whole
from screensearch.record.format import StoredEntry, decode_entry, decode_screen, outline_of
from screensearch.record.log import Checkpoint, DecidedScreen, Outline, Row
from screensearch.record.postgres_batch import NUMBERS, from_text
from screensearch.record.postgres_session import ConnectionLost, Session

_PAGE_ROWS = 2_000
_FIRST_ROWS = 4  # of a reading, at first: who wants one entry does not wait for the page it is on
_PAGE_SCREENS = 500  # which are larger

_ENTRY = (
    "SELECT seq, worker, episode, step, outcome, source, signatures.text, target, founded, snapshot, reward, "
    "screen, detail FROM entries LEFT JOIN signatures ON signatures.log = entries.log AND id = signature "
    "WHERE entries.log = %s"
)

_SCREEN = 'key, application, display_mode, text_size, "window", atoms'
_DECISION = "seq, screen, target, founded"

_STRAYS = {
    "entries name a signature that is not there": (
        "SELECT count(*) FROM entries LEFT JOIN signatures ON signatures.log = entries.log AND id = signature"
        " WHERE entries.log = %s AND signature IS NOT NULL AND id IS NULL"
    ),
    "entries name a screen that is not there": (
        "SELECT count(*) FROM entries LEFT JOIN screens ON screens.log = entries.log AND id = screen "
        "WHERE entries.log = %s AND screen IS NOT NULL AND id IS NULL"
    ),
    "screens name metadata that is not there": (
        "SELECT count(*) FROM screens LEFT JOIN metadata ON metadata.log = screens.log AND "
        "metadata.id = screens.metadata WHERE screens.log = %s AND metadata.id IS NULL"
    ),
    "first decisions of screens are not those of the entries": (
        "WITH mine AS (SELECT %s::bigint AS log), first AS (SELECT DISTINCT ON (screen) "
        "seq, screen, target, founded FROM entries JOIN mine USING (log) "
        "WHERE target IS NOT NULL AND screen IS NOT NULL ORDER BY screen, seq) "
        "SELECT count(*) FROM first FULL JOIN (SELECT * FROM decisions JOIN mine USING (log)) AS noted "
        "USING (seq, screen, target, founded) WHERE noted.log IS NULL OR first IS NULL"
    ),
}
"""What is counted in a whole log is 0."""


class PostgresReading:
    """The half of a `Log` that reads."""

    def __init__(self, session: Session, log: int) -> None:
        self._session = session
        self._log = log
        self._closed = False

    @property
    def _where(self) -> str:
        return f"log {self._log} in {self._session.where}"

    def _rows(self, statement: str, *values: object, batch: bool = True) -> list[tuple[Any, ...]]:
        """Query; a writer's open `batch` is in sight unless it is known to the caller."""
        del batch
        if self._closed:
            raise StoreFailed(f"{self._where} is closed")
        of_a_moment = self._session.in_transaction
        try:
            return self._session.rows(statement, *values)
        except ConnectionLost:
            if of_a_moment:  # which is over
                raise
        self._session.connect_again()
        return self._session.rows(statement, *values)

    def _one(self, statement: str, *values: object, batch: bool = True) -> Any:
        found = self._rows(statement, *values, batch=batch)
        return found[0][0] if found else None

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        place = (episode.worker, episode.number, step)
        found = self._rows(
            f"{_ENTRY} AND worker = %s AND episode = %s AND step = %s", self._log, *place, batch=False
        )
        return _decoded(found[0]) if found else None

    def _pages(self, statement: str, after: int) -> Iterator[list[tuple[Any, ...]]]:
        rows = _FIRST_ROWS
        while page := self._rows(f"{statement} AND seq > %s ORDER BY seq LIMIT %s", self._log, after, rows):
            yield page
            after, rows = page[-1][0], min(8 * rows, _PAGE_ROWS)

    def read(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        for page in self._pages(_ENTRY, after):
            yield from map(_decoded, page)

    def rows(self, after: int = 0) -> Iterator[Row]:
        statement = (
            "SELECT seq, outcome, source, signatures.text, target, reward FROM entries "
            "LEFT JOIN signatures ON signatures.log = entries.log AND id = signature WHERE entries.log = %s"
        )
        for page in self._pages(statement, after):
            for sequence, outcome, source, signature, target, reward in page:
                yield Row(sequence, outcome, source, from_text(signature), target, reward)

    def outlines(self, after: int = 0) -> Iterator[Outline]:
        for page in self._pages(_ENTRY, after):
            for row in page:
                yield outline_of(row[0], _stored(row))

    def last_episode(self, worker: int) -> int:
        latest = self._one(
            "SELECT coalesce(max(episode), -1) FROM entries WHERE log = %s AND worker = %s", self._log, worker
        )
        return int(latest)

    def latest_entry(self, worker: int) -> Entry | None:
        found = self._rows(
            f"{_ENTRY} AND worker = %s ORDER BY episode DESC, step DESC LIMIT 1", self._log, worker
        )
        return _decoded(found[0])[1] if found else None

    def screen(self, row: int) -> Screen:
        found = self._rows(
            f"SELECT {_SCREEN} FROM screens "
            "JOIN metadata ON metadata.log = screens.log AND metadata.id = metadata "
            "WHERE screens.log = %s AND screens.id = %s",
            *(self._log, row),
        )
        if not found:
            raise FormatError(f"{self._where} has no screen {row}")
        return _decoded_screen(found[0])

    def elements(self, row: int) -> bytes:
        found = self._one("SELECT elements FROM screens WHERE log = %s AND id = %s", self._log, row)
        if found is None:
            raise FormatError(f"{self._where} has no screen {row}")
        return bytes(found)

    def founder(self, state: StateId) -> int | None:
        row: int | None = self._one(
            "SELECT screen FROM entries WHERE log = %s AND founded AND target = %s", self._log, state
        )
        return row

    def decided_screens(self) -> Iterator[DecidedScreen]:
        for page in self._pages(f"SELECT {_DECISION} FROM decisions WHERE log = %s", 0):
            for _, *decided in page:
                yield DecidedScreen(*decided)

    def known_screens(self) -> Iterator[tuple[DecidedScreen, Screen]]:
        # The page is cut before it is joined: the planner of a table that it knows little of joins all of it.
        statement = (
            f"SELECT {_DECISION}, {_SCREEN} FROM "
            "(SELECT * FROM decisions WHERE log = %s AND seq > %s ORDER BY seq LIMIT %s) AS page "
            "LEFT JOIN screens ON screens.log = page.log AND screens.id = screen "
            "LEFT JOIN metadata ON metadata.log = screens.log AND metadata.id = metadata ORDER BY seq"
        )
        after = 0
        while page := self._rows(statement, self._log, after, _PAGE_SCREENS):
            after = page[-1][0]
            for _, screen, state, founded, *columns in page:
                if None in columns:
                    raise FormatError(f"{self._where} has no screen {screen}")
                yield DecidedScreen(screen, state, founded), _decoded_screen(columns)

    def latest_checkpoint(self) -> Checkpoint | None:
        with self._one_moment():
            return newest_whole(self._kept_graphs(), self._where)

    def damaged_checkpoints(self) -> list[str]:
        with self._one_moment():
            return list(list_damage(self._kept_graphs(), self._where))

    def _kept_graphs(self) -> Iterator[Kept]:
        """The graphs that are kept, the newest first, each fetched when it is asked for."""
        for sequence, digest in self._rows(
            "SELECT seq, digest FROM graphs JOIN checkpoints USING (log, seq) WHERE log = %s "
            "ORDER BY seq DESC",
            self._log,
        ):
            packed = self._one("SELECT graph FROM graphs WHERE log = %s AND seq = %s", self._log, sequence)
            yield sequence, digest, packed

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        yield from self._rows("SELECT seq, digest FROM checkpoints WHERE log = %s ORDER BY seq", self._log)

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        """Let several queries see the same, whatever an owner commits meanwhile."""
        self._one("SELECT 1")  # which connects again if that is needed: within the moment it cannot
        with self._session.one_moment():
            yield

    def check_pages(self) -> None:
        """Nothing: the server checks every page that it reads."""

    def integrity_check(self) -> None:
        with self._one_moment(), self._session.patience():
            for table, blobs in (
                ("entries", "length(detail)"),
                ("screens", "length(atoms) + length(elements)"),
                ("signatures", "length(text)"),
                ("metadata", "length(application)"),
            ):
                # The lengths make the server read every byte, and complain of what it cannot read.
                ((count, last, _),) = self._rows(
                    f"SELECT count(*), coalesce(max({NUMBERS[table]}), 0), sum({blobs})::bigint FROM {table} "
                    "WHERE log = %s",
                    self._log,
                )
                if count != last:
                    raise FormatError(f"{self._where} has {count} {table} but counts {last}")
            for what, statement in _STRAYS.items():
                strays = self._one(statement, self._log)
                if strays:
                    raise FormatError(f"{self._where} is damaged: {strays} {what}")


def _decoded_screen(columns: Sequence[Any]) -> Screen:
    *texts, atoms = columns
    key, *metadata = (from_text(text) or "" for text in texts)
    return decode_screen(key, Metadata(*metadata), atoms)


def _decoded(row: tuple[Any, ...]) -> tuple[int, Entry]:
    return row[0], decode_entry(_stored(row))


def _stored(row: tuple[Any, ...]) -> StoredEntry:
    stored = StoredEntry(*row[1:])
    return stored._replace(signature=from_text(stored.signature))
