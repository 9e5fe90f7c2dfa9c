"""Reading a log in a PostgreSQL database."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator
from typing import Any

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import FormatError
from screensearch.record.columns import digest_of
from screensearch.record.format import StoredEntry, decode_entry, decode_screen
from screensearch.record.log import Checkpoint, DecidedScreen, Row
from screensearch.record.postgres_batch import NUMBERS, from_text
from screensearch.record.postgres_session import Session

logger = logging.getLogger(__name__)

_PAGE_ROWS = 2_000

_ENTRY = (
    "SELECT seq, worker, episode, step, outcome, source, signatures.text, target, founded, snapshot, reward, "
    "screen, detail FROM entries LEFT JOIN signatures ON signatures.log = entries.log AND id = signature "
    "WHERE entries.log = %s"
)


class PostgresReading:
    """The half of a `Log` that reads."""

    def __init__(self, session: Session, log: int) -> None:
        self._session = session
        self._log = log

    @property
    def _where(self) -> str:
        return f"log {self._log} in {self._session.where}"

    def _rows(self, statement: str, *values: object, batch: bool = True) -> list[tuple[Any, ...]]:
        """Query; a writer's open `batch` is in sight unless it is known to the caller."""
        del batch
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
        while page := self._rows(
            f"{statement} AND seq > %s ORDER BY seq LIMIT %s", self._log, after, _PAGE_ROWS
        ):
            yield page
            after = page[-1][0]

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

    def last_episode(self, worker: int) -> int:
        latest = self._one(
            "SELECT coalesce(max(episode), -1) FROM entries WHERE log = %s AND worker = %s", self._log, worker
        )
        return int(latest)

    def screen(self, row: int) -> Screen:
        found = self._rows(
            'SELECT key, application, display_mode, text_size, "window", atoms FROM screens '
            "JOIN metadata ON metadata.log = screens.log AND metadata.id = screens.metadata "
            "WHERE screens.log = %s AND screens.id = %s",
            *(self._log, row),
        )
        if not found:
            raise FormatError(f"{self._where} has no screen {row}")
        *texts, atoms = found[0]
        key, *metadata = (from_text(text) or "" for text in texts)
        return decode_screen(key, Metadata(*metadata), atoms)

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
        decided = self._rows(
            "SELECT DISTINCT ON (screen) screen, target, founded, seq FROM entries "
            "WHERE log = %s AND target IS NOT NULL AND screen IS NOT NULL ORDER BY screen, seq",
            self._log,
        )
        for screen, state, founded, _ in sorted(decided, key=lambda each: each[3]):
            yield DecidedScreen(screen, state, founded)

    def latest_checkpoint(self) -> Checkpoint | None:
        for sequence, digest, graph in self._graphs():
            if graph is not None:
                return Checkpoint(sequence, digest, graph)
            logger.warning("%s; more of the log is folded instead", self._damage(sequence))
        return None

    def damaged_checkpoints(self) -> list[str]:
        return [self._damage(sequence) for sequence, _, graph in self._graphs() if graph is None]

    def _graphs(self) -> Iterator[tuple[int, str, bytes | None]]:
        """The graphs that are kept, the newest first; None for one that is not what was noted."""
        kept = self._rows(
            "SELECT seq, digest, graph FROM graphs JOIN checkpoints USING (log, seq) WHERE log = %s "
            "ORDER BY seq DESC",
            self._log,
        )
        for sequence, digest, packed in kept:
            try:
                graph = zlib.decompress(packed)
            except zlib.error:
                yield sequence, digest, None
            else:
                yield sequence, digest, graph if digest_of([graph]) == digest else None

    def _damage(self, sequence: int) -> str:
        return f"the graph kept for entry {sequence} of {self._where} does not match its digest"

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        yield from self._rows("SELECT seq, digest FROM checkpoints WHERE log = %s ORDER BY seq", self._log)

    def integrity_check(self) -> None:
        with self._session.one_moment():
            for table, blobs in (
                ("entries", "length(detail)"),
                ("screens", "length(atoms) + length(elements)"),
            ):
                # The lengths make the server read every byte, and complain of what it cannot read.
                ((count, last, _),) = self._rows(
                    f"SELECT count(*), coalesce(max({NUMBERS[table]}), 0), sum({blobs}) FROM {table} "
                    "WHERE log = %s",
                    self._log,
                )
                if count != last:
                    raise FormatError(f"{self._where} has {count} {table} but counts {last}")


def _decoded(row: tuple[Any, ...]) -> tuple[int, Entry]:
    sequence, *columns = row
    stored = StoredEntry(*columns)
    return sequence, decode_entry(stored._replace(signature=from_text(stored.signature)))
