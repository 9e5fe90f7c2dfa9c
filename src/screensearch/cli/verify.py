"""`screensearch verify`: does a run hold together?"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from rich.markup import escape

from screensearch import open_run
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say


@click.command()
@run_argument
@as_json_option
def verify(run: Path, as_json: bool) -> None:
    """Derive everything in a RUN again from its log and compare, bit for bit."""
    with open_run(run) as opened:
        verification = opened.verify()
    if as_json:
        print_json({"run": str(run), "holds": verification.holds, **msgspec.to_builtins(verification)})
    else:
        out = console()
        say(
            out,
            f"{verification.entries:,} entries fold to {verification.states:,} states and "
            f"{verification.edges:,} edges; "
            f"checkpoints checked: {verification.checkpoints}, "
            f"screenshots: {verification.screenshots:,}\n[dim]graph {verification.digest}[/]",
        )
        for problem in verification.problems:
            say(out, f"[red]✗[/] {escape(problem)}")
        say(out, "[bold]holds[/]" if verification.holds else "[bold red]does not hold[/]")
    if not verification.holds:
        raise SystemExit(1)
