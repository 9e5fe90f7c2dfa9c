"""`screensearch coverage`: how much of an application's code an exploration has run."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from screensearch import open_run
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.study.coverage import at_most, measure_coverage

FILES = 15
POINTS = 9


@click.command()
@run_argument
@as_json_option
def coverage(run: Path, as_json: bool) -> None:
    """The lines of an application's code that a RUN has run, beside the states it found.

    For an application written in Python that was explored with `app.coverage`. Lines that it runs at its
    start are told apart: they need no exploration.
    """
    with open_run(run) as opened:
        report = measure_coverage(opened)
    if as_json:
        print_json(report)
        return
    out = console()
    say(
        out,
        f"[bold]{report.lines:,} lines[/] run, {report.at_start:,} of them before the first action; "
        f"{report.states:,} states in {report.steps:,} steps",
    )
    rows = table("steps", "states", "lines", right=("steps", "states", "lines"))
    for point in at_most(report.curve, POINTS):
        rows.add_row(f"{point.steps:,}", f"{point.states:,}", f"{point.lines:,}")
    out.print(rows)
    rows = table("file", "lines", right=("lines",))
    for name, count in list(report.files.items())[:FILES]:
        rows.add_row(escape(name), f"{count:,}")
    out.print(rows)
    if len(report.files) > FILES:
        say(out, f"[dim]and {len(report.files) - FILES} more files: --json tells all[/]")
