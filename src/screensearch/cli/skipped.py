"""`screensearch skipped`: what was kept from being done."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from screensearch import open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table


@click.command()
@run_argument
@as_json_option
def skipped(run: Path, as_json: bool) -> None:
    """What was kept from being done in a RUN, why, and how often.

    The guard keeps an action from being done, or that it hung or crashed too often at its state. It counts
    once for every choice that it was kept out of. The reasons are worked out again from what is stored,
    with the rules that the run was made with.
    """
    with open_run(run) as opened:
        found = opened.skipped()
    if as_json:
        print_json({"run": str(run), "skipped": found})
        return
    out = console()
    if not found:
        say(out, "nothing was skipped")
        return
    rows = table("action", "why", "choices", "screens", right=("choices", "screens"))
    words = describe_actions(each.signature for each in found)
    for each in found:
        rows.add_row(
            escape(words[each.signature]), escape(each.reason), f"{each.choices:,}", f"{each.screens:,}"
        )
    out.print(rows)
