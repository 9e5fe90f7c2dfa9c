"""`screensearch findings`: what went wrong, and the way that led there."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from screensearch import Finding, ScreenSearchError, open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.explore.causes import Cause, group_by_cause

AT_START = "at the start"
MOST_STATES = 4


@click.command()
@run_argument
@click.option(
    "--number",
    type=click.IntRange(min=1),
    help="Only the cause of that number, with all that led there.",
)
@as_json_option
def findings(run: Path, number: int | None, as_json: bool) -> None:
    """The crashes, hangs, exits and captures of a RUN, each cause once.

    What ended in the same way, by an action that is called the same, is one cause, whatever state it was
    done at. With --number, it comes with the actions of its first episode up to the one that failed, with
    the files of the last screenshots before it, and with its other places. With --json, every place comes
    with all of that. One at the start came before the first screen: it has no state and no actions.
    """
    with open_run(run) as opened:
        found = opened.findings()
    causes = group_by_cause(found)
    if number is not None:
        if number > len(causes):
            raise ScreenSearchError(f"{run} has no finding {number}: it has {len(causes)}, counted from 1")
        causes = causes[number - 1 : number]
        chosen = {each.first for each in causes[0].findings}  # no two findings begin at one entry
        found = [each for each in found if each.first in chosen]
    if as_json:
        places = {each.first: place for place, each in enumerate(found)}
        told = [_told(cause, places) for cause in causes]
        print_json({"run": str(run), "findings": found, "causes": told})
        return
    out = console()
    if not causes:
        say(out, "no crash, no hang, no exit, no capture")
        return
    if number is not None:
        _print_cause(causes[0], number)
        return
    rows = table("#", "outcome", "states", "action", "count", "first", "note", right=("#", "count"))
    for place, cause in enumerate(causes, start=1):
        rows.add_row(
            str(place),
            cause.outcome,
            _states_of(cause),
            escape(cause.action) or AT_START,
            f"{cause.count:,}",
            f"@{cause.oldest.first}",
            escape(cause.oldest.note),
        )
    out.print(rows)
    say(
        out,
        f"[dim]What led to the first: screensearch findings {escape(shlex.quote(str(run)))} --number 1[/]",
    )


def _told(cause: Cause, places: dict[int, int]) -> dict[str, Any]:
    """A cause for machines: its findings by their places in the list of all, counted from 0."""
    return {
        "outcome": cause.outcome,
        "how": cause.how,
        "action": cause.action,
        "count": cause.count,
        "findings": [places[each.first] for each in cause.findings],
    }


def _states_of(cause: Cause) -> str:
    """The states it came up at, the most frequent first, and how many there are besides."""
    states = dict.fromkeys(str(each.state) for each in cause.findings if not each.at_start)
    more = f" and {len(states) - MOST_STATES:,} more" if len(states) > MOST_STATES else ""
    return ", ".join([*states][:MOST_STATES]) + more


def _print_cause(cause: Cause, number: int) -> None:
    _print_finding(cause.oldest, number)
    others = [each for each in cause.findings if each is not cause.oldest]
    if not others:
        return
    out = console()
    say(out, f"\n[bold]The same elsewhere, places: {len(others)}[/]")
    rows = table("state", "action", "count", "first", right=("state", "count"))
    words = describe_actions(each.signature for each in others)
    for each in others:
        rows.add_row(str(each.state), escape(words[each.signature]), f"{each.count:,}", f"@{each.first}")
    out.print(rows)


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
