"""`screensearch export` and `screensearch import`: a run for other programs, and back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from screensearch import open_run
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say
from screensearch.view.exchange.entering import Imported, import_run
from screensearch.view.exchange.export import FORMATS, Progress, Written, export_run
from screensearch.view.report import Report, write_report

HTML = "html"
_MEANINGS = {
    **{name: each.meaning for name, each in FORMATS.items()},
    HTML: "a report for people, which opens from disk",
}


@click.command()
@run_argument
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(_MEANINGS)),
    required=True,
    help=f"{'; '.join(f'{name}: {meaning}' for name, meaning in _MEANINGS.items())}.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Where to; by default beside the run.")
@click.option("--force", is_flag=True, help="Replace a file, or an earlier export, that is there.")
@click.option("--pictures", is_flag=True, help="Take the screenshots along, where the format can.")
@as_json_option
def export(run: Path, format_: str, out: Path | None, force: bool, pictures: bool, as_json: bool) -> None:
    """Write a RUN for other programs or for people: whole or not at all, also while it is still going.

    What its settings call secret is taken out on the way, also where the log keeps it. A report of a large
    run is a folder, with index.html in it; it always has pictures.
    """
    if format_ == HTML:
        _export_report(run, out, force=force, as_json=as_json)
        return
    if out is None:
        out = run.resolve().with_name(f"{run.resolve().name}{FORMATS[format_].ending}")
    with open_run(run) as opened, _progress(as_json) as progress:
        written = export_run(opened, out, format_, force=force, pictures=pictures, progress=progress)
    if as_json:
        print_json({"run": str(run), **_fields(written)})
    else:
        _tell_written(written)


def _export_report(run: Path, out: Path | None, *, force: bool, as_json: bool) -> None:
    if out is None:
        out = run.resolve().with_name(f"{run.resolve().name}-report")
    with _progress(as_json) as progress:
        written = write_report(run, out, force=force, progress=partial(progress, "pictures"))
    if as_json:
        print_json({"run": str(run), "format": HTML, **_fields(written), "path": str(written.path)})
    else:
        _tell_report(written)


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE|FOLDER")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the new run.")
@as_json_option
def import_(source: Path, out: Path, as_json: bool) -> None:
    """Make a run of a JSON document or a folder of Parquet tables that `screensearch export` wrote."""
    with _progress(as_json) as progress:
        imported = import_run(source, out, progress)
    if as_json:
        print_json({"source": str(source), **_fields(imported)})
    else:
        _tell_imported(imported)


def _tell_written(written: Written) -> None:
    out = console()
    rows = ", ".join(f"{count:,} {table}" for table, count in written.rows.items())
    say(out, f"{escape(written.out)}: {rows}")
    if written.redacted:
        say(
            out,
            f"Secrets ({', '.join(written.redacted)}) were taken out; "
            f"{written.changed_signatures} signatures held one.",
        )
    for count, why in (
        (written.missing_pictures, "are not where the run keeps them"),
        (written.withheld_pictures, "may show a secret whose place nobody knows"),
    ):
        if count:
            say(out, f"{count:,} screenshots stayed behind: they {why}.")
    if written.format != "graphml":
        command = f"screensearch import {shlex.quote(written.out)} --out RUN"
        say(out, f"[dim]It can be made a run again: {escape(command)}[/]")


def _tell_report(written: Report) -> None:
    out = console()
    say(
        out,
        f"{escape(str(written.path))}: {written.states:,} states and {written.edges:,} arrows with a page, "
        f"{written.pictures:,} pictures, {written.bytes / 1e6:.1f} MB",
    )
    if written.folder is not None:
        say(out, f"Its folder belongs together: {escape(str(written.folder))}")
    say(out, "[dim]Open it in a browser; it needs no server and no network, and says what it leaves out.[/]")


def _tell_imported(imported: Imported) -> None:
    out = console()
    where = shlex.quote(imported.out)
    say(
        out,
        f"{escape(imported.out)}: {imported.entries:,} entries, {imported.states:,} states, "
        f"{imported.edges:,} edges, {imported.pictures:,} screenshots",
    )
    if imported.digest == imported.original:
        say(out, "The graph is that of the run it came from, to the bit.")
    else:
        say(
            out,
            f"{imported.changed_signatures} signatures had lost a secret ({', '.join(imported.redacted)}): "
            "states, edges and figures are those of the run it came from, those names are not.",
        )
    if imported.without_pictures:
        say(
            out,
            f"{imported.without_pictures:,} screenshots are not in the export "
            "(they are with --format parquet --pictures).",
        )
    say(out, f"[dim]Next: screensearch show {escape(where)}, screensearch verify {escape(where)}[/]")


def _fields(value: Written | Imported | Report) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """A bar for each table, on a terminal; nothing elsewhere."""
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console(stderr=True),
        transient=True,
        disable=quiet or not console(stderr=True).is_terminal,
    )
    tasks: dict[str, int] = {}

    def tell(name: str, done: int, of: int) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=of)
        bars.update(tasks[name], completed=done)  # type: ignore[arg-type]

    with bars:
        yield tell
