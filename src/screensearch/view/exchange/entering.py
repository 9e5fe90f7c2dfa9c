"""An export becomes a run again: the same log, or the logs of its shards, hence the same graph to the bit.

Nothing is believed that cannot be checked: entries are appended through the log's own checks, and the graph
that they fold to must have the digest that the export was written with.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from screensearch.config import settings_from_document
from screensearch.domain.document import encode_observation
from screensearch.domain.shard import shard_of
from screensearch.domain.transition import Arrival, Entry, FailedStart
from screensearch.encode.encoder import atoms_key
from screensearch.errors import FormatError, ScreenSearchError, StoreFailed
from screensearch.record.columns import digest_of
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log
from screensearch.record.placing import OutExists, placing
from screensearch.record.run import Manifest, create_run, own
from screensearch.record.stores import SqliteStore
from screensearch.view.exchange.conversion import entry_from_row, observation_from_rows, screen_from_row
from screensearch.view.exchange.document import DocumentReader
from screensearch.view.exchange.parquet import ParquetReader
from screensearch.view.exchange.pictures import MovedPictures
from screensearch.view.exchange.rows import ElementRow, Head, ScreenRow, TransitionRow

_BATCH = 2_000  # rows of a commit

Progress = Callable[[str, int, int], None]


class Reader(Protocol):
    """An export, read back."""

    pictures: Path | None  # the folder that may have them

    @property
    def head(self) -> Head: ...

    def screens(self) -> Iterator[tuple[ScreenRow, list[ElementRow]]]: ...

    def transitions(self) -> Iterator[TransitionRow]: ...


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to."""

    out: str
    entries: int
    states: int
    edges: int
    digest: str
    original: str  # digest of the run that was exported; another one if redaction changed signatures
    pictures: int
    without_pictures: int  # those that entries name and the export does not have
    redacted: list[str]
    changed_signatures: int


def read_export(source: Path) -> Reader:
    """The export at a place: a folder of Parquet tables, or a JSON document."""
    if source.is_dir():
        return ParquetReader(source)
    if source.suffix == ".graphml":
        raise FormatError(
            f"{source} has the graph, but not the log that a run is made of: import a JSON or Parquet export"
        )
    return DocumentReader(source)


def import_run(source: Path, out: Path, progress: Progress = lambda name, done, of: None) -> Imported:
    """Make a run at `out` from an export. Bad input raises and leaves nothing."""
    if out.exists() or out.is_symlink():
        raise OutExists(f"{out} exists: choose another place for the run")
    reader = read_export(source)
    head = reader.head
    shards = _shards_of(source, head)
    settings = settings_from_document(head.settings)
    manifest = Manifest(
        run=uuid.uuid4().hex,
        created=head.created,
        environment=head.environment,
        seed=head.seed,
        settings=head.settings,
        version=head.version,
    )
    with placing(out) as building:
        create_run(building, manifest)
        with own(building) as folder, ExitStack() as opened:
            store = folder.store
            assert isinstance(store, SqliteStore)  # the manifest names no other
            logs = {shard: store.create_shard(shard) if shard else folder.write_log() for shard in shards}
            for log in logs.values():
                opened.callback(log.close)
            entering = _Entering(source, logs, StateGraph(settings.ambiguity))
            entering.take_screens(reader.screens())
            pictures = MovedPictures(reader.pictures, folder.artifacts)
            rows, told = reader.transitions(), partial(progress, "entries")
            for shard, entries in shards.items():
                entering.take_entries(shard, islice(rows, entries), pictures, told, head.entries)
            entering.take_entries(max(shards), rows, pictures, told, head.entries)  # none, if it is whole
            entering.finish(head)
    return Imported(
        out=str(out),
        entries=entering.graph.sequence,
        states=entering.graph.states,
        edges=entering.graph.edges,
        digest=head.digest,
        original=head.original,
        pictures=pictures.moved,
        without_pictures=pictures.lacked,
        redacted=head.redacted,
        changed_signatures=head.changed_signatures,
    )


def _shards_of(source: Path, head: Head) -> dict[int, int]:
    """How many entries each shard has, by its number and in order."""
    if head.shards == 1:
        return {0: head.entries}
    numbers = head.shard_numbers
    if not 0 < head.shards == len(numbers) == len(head.shard_entries) or numbers != sorted(set(numbers)):
        raise FormatError(
            f"{source} is of a run with {head.shards} shards, but does not tell which entries are of which "
            f"(shard_numbers {numbers}, shard_entries {head.shard_entries}): export the run again"
        )
    if numbers[0] != 0 or min(head.shard_entries) < 0:
        raise FormatError(f"{source} has no first shard, or one with fewer than no entries: {numbers}")
    return dict(zip(numbers, head.shard_entries, strict=True))


class _Entering:
    """The logs of all shards, filled from tables, and the graph they fold to."""

    def __init__(self, source: Path, logs: Mapping[int, Log], graph: StateGraph) -> None:
        self._source = source
        self._logs = logs
        self.graph = graph
        self._rows: dict[int, int] = {}  # the row of each screen in the log of its shard, by its number there

    def take_screens(self, screens: Iterator[tuple[ScreenRow, list[ElementRow]]]) -> None:
        for row, elements in screens:
            with self._about(f"screen {row.screen}"):
                screen = screen_from_row(row)
                if atoms_key(screen.role_atoms, screen.text_atoms) != screen.key:
                    raise FormatError(f"its key {row.key!r} is not of its atoms")
                log = self._logs.get(shard_of(row.screen))
                if log is None:
                    raise FormatError(f"it is of shard {shard_of(row.screen)}, which is not there")
                document = zlib.compress(encode_observation(observation_from_rows(row, elements)), 1)
                self._rows[row.screen] = log.add_screen(screen, document)
                if not len(self._rows) % _BATCH:
                    log.commit()

    def take_entries(
        self,
        shard: int,
        rows: Iterable[TransitionRow],
        pictures: MovedPictures,
        progress: Callable[[int, int], None],
        expected: int,
    ) -> None:
        """Take the entries of a shard, which follow those of the one before."""
        log = self._logs[shard]
        before = self.graph.sequence - log.last_sequence
        for row in rows:
            with self._about(f"entry {row.sequence}"):
                entry = self._placed(entry_from_row(row), shard, pictures)
                sequence = before + log.append(entry)
                if sequence != row.sequence:
                    raise FormatError(
                        f"it is number {sequence} in the table: one is missing, or out of order"
                    )
                self.graph.apply_entry(sequence, entry)
                if not sequence % _BATCH:
                    log.commit()
                    progress(sequence, expected)

    def _placed(self, entry: Entry, shard: int, pictures: MovedPictures) -> Entry:
        """The entry with its screen and its picture as they are named here."""
        evidence = replace(entry.evidence, screenshot=pictures.move(entry.evidence.screenshot))
        if isinstance(entry, FailedStart):
            return replace(entry, evidence=evidence)
        screen = None
        if entry.screen is not None:
            screen = self._rows.get(entry.screen)
            if screen is None or shard_of(entry.screen) != shard:
                raise FormatError(f"it names screen {entry.screen}, which is not there")
        if isinstance(entry, Arrival):
            assert screen is not None  # an arrival has one
            return replace(entry, evidence=evidence, screen=screen)
        return replace(entry, evidence=evidence, screen=screen)

    def finish(self, head: Head) -> None:
        """See that this is the graph that was exported, and keep it as a checkpoint of the only log."""
        dump = self.graph.dump()
        digest = digest_of([dump])
        if (self.graph.sequence, digest) != (head.entries, head.digest):
            raise FormatError(
                f"{self._source} was changed or damaged: its {self.graph.sequence} entries fold to the graph "
                f"{digest}, but it was written with {head.entries} and {head.digest}; export the run again"
            )
        if self.graph.sequence and len(self._logs) == 1:
            self._logs[0].write_checkpoint(self.graph.sequence, digest, dump)
        for log in self._logs.values():
            log.commit()

    @contextmanager
    def _about(self, what: str) -> Iterator[None]:
        """Name the place of what is wrong."""
        try:
            yield
        except StoreFailed:
            raise
        except ScreenSearchError as problem:
            raise FormatError(f"{what} of {self._source} cannot be taken: {problem}") from problem
