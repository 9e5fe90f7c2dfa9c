"""`screensearch path`: the most reliable way to a state."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from screensearch import Run, Screen, StatePath, open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.cli.texts import plain
from screensearch.explore.landmarks import describe_screen


@click.command()
@run_argument
@click.argument("state", type=int)
@click.option("--from", "origin", type=int, metavar="STATE", help="Begin at this state, not at a start.")
@as_json_option
def path(run: Path, state: int, origin: int | None, as_json: bool) -> None:
    """The most reliable way to a STATE of a RUN, by what was observed.

    It begins with a start of the application, or with the state of --from, and is told action by action,
    with how often each led where it should and how often it was done. The way with the greatest product of
    these shares is taken, each by Laplace's rule, (k+1)/(n+2) for k of n times, so that one lucky execution
    does not beat many; where outcomes differed, what happened after such a start counts more. If nothing
    observed leads there, the status is 1.
    """
    with open_run(run) as opened:
        found = opened.path_to(state, origin)
        if as_json:
            print_json({"run": str(run), **describe_path(found)})
            return
        print_path(console(), opened, found)
    if found.start is not None:
        folder = shlex.quote(str(run))
        say(console(), f"[dim]Go there: screensearch replay {escape(folder)} {state}[/]")
        say(console(), f"[dim]Keep it as a test: screensearch script {escape(folder)} {state}[/]")


def describe_path(found: StatePath) -> dict[str, Any]:
    """A way for machines."""
    words = describe_actions(step.signature for step in found.steps)
    start = found.start
    return {
        "state": found.state,
        "origin": found.origin,
        "configuration": found.configuration,
        "start": None if start is None else {"count": start.count, "tries": start.tries},
        "reliability": found.reliability,
        "estimate": found.estimate,
        "steps": [
            {
                "source": step.source,
                "signature": step.signature,
                "words": words[step.signature],
                "target": step.target,
                "count": step.count,
                "tries": step.tries,
                "share": step.share,
                "estimate": step.estimate,
            }
            for step in found.steps
        ],
    }


def print_path(out: Console, run: Run, found: StatePath) -> None:
    """A way for people: how to begin, then each action with what it leads to."""
    screens = {each: run.founding_screen(each) for each in (found.origin, *(s.target for s in found.steps))}
    if found.start is None:
        say(out, f"From state {found.origin} to [bold]state {found.state}[/]:")
    else:
        start = found.start
        say(
            out,
            f"To [bold]state {found.state}[/] from a start, which led to state {found.origin} "
            f"{start.count:,} of {start.tries:,} times:",
        )
        for name, value in start.configuration:
            say(out, escape(f"  {name} = {value}"))
    rows = table("step", "action", "came out", "leads to", "which shows", right=("step", "leads to"))
    begin = "be there" if found.start is None else "start"
    rows.add_row("0", begin, "", str(found.origin), _shown(screens[found.origin]))
    words = describe_actions(step.signature for step in found.steps)
    for number, step in enumerate(found.steps, start=1):
        rows.add_row(
            str(number),
            escape(plain(words[step.signature])),
            f"{step.count:,} of {step.tries:,}",
            str(step.target),
            _shown(screens[step.target], screens[step.source]),
        )
    out.print(rows)
    actions = f"{len(found.steps)} action{'' if len(found.steps) == 1 else 's'}"
    say(
        out,
        f"{actions}; estimated to come out: {found.estimate:.0%} "
        f"(product of the shares above: {found.reliability:.0%})",
    )


def _shown(screen: Screen, before: Screen | None = None) -> str:
    return escape(plain(describe_screen(screen, before)))
