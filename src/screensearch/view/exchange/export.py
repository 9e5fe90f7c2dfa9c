"""A run is written in one of the formats: whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from screensearch.errors import SettingsError
from screensearch.explore.run import Run
from screensearch.record.placing import check_free, placing
from screensearch.view.exchange.document import write_document
from screensearch.view.exchange.graphml import write_graphml
from screensearch.view.exchange.parquet import HEAD, check_parquet, write_tables
from screensearch.view.exchange.pictures import Pictures
from screensearch.view.exchange.rows import Row
from screensearch.view.exchange.source import Leaving

Table = TypeVar("Table", bound=Row)

Progress = Callable[[str, int, int], None]
"""Called with what is written, how much of it is done, and how much there is."""


@dataclass(slots=True)
class Written:
    """What an export came to."""

    out: str
    format: str
    states: int
    edges: int
    entries: int
    rows: dict[str, int]  # by table
    digest: str
    redacted: list[str]  # kinds of secrets that were taken out
    changed_signatures: int  # that held one
    missing_pictures: int = 0  # that the run names and does not have
    withheld_pictures: int = 0  # that may show a secret nobody knows the place of


class _Watch:
    """Counts rows as they go by, and tells of them now and then."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.rows: dict[str, int] = {}

    def tables(self, leaving: Leaving) -> Iterator[tuple[str, Iterable[Row]]]:
        for name, steps, rows in leaving.tables():
            yield name, self.watched(name, steps, rows)

    def watched(self, name: str, steps: int, rows: Iterable[Table]) -> Iterator[Table]:
        """The same rows. `steps` is how many there are, or about how many."""
        count = 0
        for count, row in enumerate(rows, start=1):
            if not count % 500:
                self._progress(name, min(count, steps), steps)
            yield row
        self.rows[name] = count
        self._progress(name, steps, steps)

    def pictures(self, done: int, of: int) -> None:
        self._progress("pictures", done, of)


class Format(NamedTuple):
    """A format: what comes after the run's name, and who writes it."""

    ending: str
    meaning: str
    write: Callable[[Leaving, Path, _Watch, bool], Pictures | None]
    pictures: bool = False  # whether screenshots can go with it
    check: Callable[[], None] = lambda: None  # raises if something is missing to write it


def export_run(
    run: Run,
    out: Path,
    format: str,  # noqa: A002
    *,
    force: bool = False,
    pictures: bool = False,
    progress: Progress = lambda name, done, of: None,
) -> Written:
    """Write a run to a file or a folder, in one of the `FORMATS`, as of this moment.

    An interrupt or a failure leaves nothing behind, and what was there before as it was. With `force`, a file
    or an earlier export is replaced. `pictures` takes the screenshots along, where a format can.
    """
    chosen = FORMATS[format]
    if pictures and not chosen.pictures:
        able = ", ".join(name for name, each in FORMATS.items() if each.pictures)
        raise SettingsError(f"{format} has no room for pictures: leave --pictures out, or choose {able}")
    chosen.check()
    check_free(out, force=force, ours=lambda folder: (folder / HEAD).is_file())
    watch = _Watch(progress)
    with placing(out) as building:
        leaving = Leaving(run)
        stored = chosen.write(leaving, building, watch, pictures)
        head = leaving.head
    return Written(
        out=str(out),
        format=format,
        states=head.states,
        edges=head.edges,
        entries=head.entries,
        rows=watch.rows,
        digest=head.digest,
        redacted=head.redacted,
        changed_signatures=head.changed_signatures,
        missing_pictures=0 if stored is None else stored.missing,
        withheld_pictures=0 if stored is None else stored.withheld,
    )


def _write_graphml(leaving: Leaving, out: Path, watch: _Watch, pictures: bool) -> None:
    head = leaving.head
    states = watch.watched("states", head.states, leaving.states())
    edges = watch.watched("edges", head.edges, leaving.edges())
    with out.open("wb") as file:
        write_graphml(file, head, states, edges)


def _write_json(leaving: Leaving, out: Path, watch: _Watch, pictures: bool) -> None:
    with out.open("wb") as file:
        write_document(file, leaving.head, watch.tables(leaving))


def _write_parquet(leaving: Leaving, out: Path, watch: _Watch, pictures: bool) -> Pictures | None:
    out.mkdir()
    stored: Pictures | None = None
    if pictures:
        stored = Pictures(out)
        leaving.write_pictures(stored, watch.pictures)
    write_tables(out, leaving.head, watch.tables(leaving))
    return stored


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "graphml": Format(".graphml", "a graph for networkx, Gephi and others", _write_graphml),
        "json": Format(".json", "one document with all tables", _write_json),
        "parquet": Format(
            "-tables",
            "a folder of tables for pandas, polars, DuckDB and others",
            _write_parquet,
            pictures=True,
            check=check_parquet,
        ),
    }
)
"""The formats of `export_run` by name."""
