"""`screensearch findings`: what went wrong, and the way that led there."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.markup import escape

from screensearch import Finding, ScreenSearchError, open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table

AT_START = "at the start"


@click.command()
@run_argument
@click.option(
    "--number",
    type=click.IntRange(min=1),
    help="Only the finding of that number, with all that led there.",
)
@as_json_option
def findings(run: Path, number: int | None, as_json: bool) -> None:
    """The crashes, hangs, exits and captures of a RUN, each kind once.

    With --number, and with --json, each comes with the actions of its episode up to the one that failed,
    and with the files of the last screenshots before it. One at the start came before the first screen: it
    has no state and no actions.
    """
    with open_run(run) as opened:
        found = opened.findings()
    if number is not None:
        if number > len(found):
            raise ScreenSearchError(f"{run} has no finding {number}: it has {len(found)}, counted from 1")
        found = found[number - 1 : number]
    if as_json:
        print_json({"run": str(run), "findings": found})
        return
    out = console()
    if not found:
        say(out, "no crash, no hang, no exit, no capture")
        return
    if number is not None:
        _print_finding(found[0], number)
        return
    rows = table("#", "outcome", "state", "action", "count", "first", "note", right=("#", "state", "count"))
    words = describe_actions(each.signature for each in found)
    for place, each in enumerate(found, start=1):
        rows.add_row(
            str(place),
            each.outcome,
            "" if each.state is None else str(each.state),
            escape(words[each.signature]) or AT_START,
            f"{each.count:,}",
            f"@{each.first}",
            escape(each.note),
        )
    out.print(rows)
    say(
        out,
        f"[dim]What led to the first: screensearch findings {escape(shlex.quote(str(run)))} --number 1[/]",
    )


def _print_finding(finding: Finding, number: int) -> None:
    out = console()
    where = AT_START if finding.at_start else f"at state {finding.state}"
    often = "once" if finding.count == 1 else f"{finding.count:,} times"
    say(
        out,
        f"[bold]{number}: {finding.outcome}[/] {where}, {often}, first @{finding.first} in {finding.episode}",
    )
    if finding.note:
        say(out, escape(finding.note))
    for name, value in finding.configuration.items():
        say(out, escape(f"  {name} = {value}"))
    if not finding.at_start:
        say(out, f"\n[bold]The way there, actions: {len(finding.actions)}[/]")
    words = describe_actions(finding.actions)
    for place, signature in enumerate(finding.actions, start=1):
        say(out, f"{place:>4}  {escape(words[signature])}")
    if finding.screenshots:
        say(out, "\n[bold]The last screens before it[/]")
        for path in finding.screenshots:
            say(out, f"  {escape(path)}")
    if finding.screenshot is not None:
        say(out, f"\n[bold]The screen it ended on[/]\n  {escape(finding.screenshot)}")
