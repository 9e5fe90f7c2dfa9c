"""How commands print: tables for people, one JSON object for machines."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)


run_argument = click.argument("run", type=click.Path(path_type=Path))


def print_json(value: Any) -> None:
    """One JSON object on standard output; dataclasses are objects."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, highlight=False)


def say(out: Console, line: str) -> None:
    """Print a line as it is: a path or a command that is cut in two cannot be copied."""
    out.print(line, soft_wrap=True)


def say_empty(out: Console, run: Path) -> None:
    """Say of a run without an entry that it is one, and what fills it."""
    command = f"screensearch explore --resume --out {shlex.quote(str(run))} --steps 2000"
    say(
        out,
        "Nothing is recorded in this run yet: no start, no step. If no exploration of it is under way, "
        f"begin with: {escape(command)}",
    )


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> Table:
    """A plain table; the columns named in `right` are figures."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made
