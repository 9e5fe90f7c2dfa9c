"""What `screensearch explore` prints when it has come to its end, and how to go on with it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from click.core import ParameterSource
from rich.markup import escape

from screensearch import Summary
from screensearch.cli.output import console, say, table

_ENDINGS = {
    "steps": "all steps taken",
    "seconds": "time is up",
    "states": "all states found that were asked for",
    "plateau": "no new states any more",
    "interrupted": "interrupted",
    "failed starts": "the application did not start",
    "steps already": "nothing done: it had all steps before",
    "states already": "nothing done: it had all states before",
}

_MORE = {"steps already": ("steps", 2000), "states already": ("states", 100)}
"""For a run that had enough: what it had enough of, and how many more are proposed."""

_CARRIED = frozenset(
    {
        "steps",
        "minutes",
        "seconds",
        "states",
        "plateau",
        "fail_on",
        "workers",
        "unsandboxed",
        "allow_irreversible",
        "cluster",
        "metrics",
        "log_format",
    }
)
"""The options that a resumed run does not know from its own settings."""


def print_summary(summary: Summary, to_go_on: str) -> None:
    """The figures of an exploration, and the commands that come next."""
    out = console()
    say(out, f"[bold]{escape(summary.run)}[/]  {escape(summary.environment)}  ({_ENDINGS[summary.ended]})")
    figures = table(
        "steps", "states", "edges", "captures", "crashes", "hangs", "exits", "missed", "lost", "steps/s"
    )
    figures.add_row(
        *(
            f"{value:,}"
            for value in (
                summary.steps,
                summary.states,
                summary.edges,
                summary.captures,
                summary.crashes,
                summary.hangs,
                summary.exits,
                summary.missed,
                summary.lost,
            )
        ),
        f"{summary.steps_per_second:,.0f}",
    )
    out.print(figures)
    if summary.failed_starts:
        say(out, f"{summary.failed_starts:,} of the episodes failed at the start, before there was a screen")
    if summary.undecided:
        say(
            out,
            f"{summary.undecided:,} of the steps had no action, since the model gave none that could be "
            f"carried out: screensearch show {escape(shlex.quote(summary.run))} says why",
        )
    if summary.worker_failures:
        words = Path(summary.run) / "workers"  # on a cluster they are on the nodes
        where = f"see {escape(str(words))}" if words.is_dir() else "Ray's logs on their nodes say why"
        say(out, f"{summary.worker_failures} workers failed and were replaced: {where}")
    say(out, f"[dim]graph {summary.digest}[/]")
    say(out, f"[dim]identified by {escape(summary.identifier)}[/]")
    if summary.ended in _MORE:
        name, _ = _MORE[summary.ended]
        had = f"{getattr(summary, name):,} {name}"
        say(out, f"The run had {had} before, all that it is asked for: nothing was done. Raise --{name}.")
    if summary.ended in ("interrupted", *_MORE):
        say(out, f"Go on with: {escape(to_go_on)}")
    where = escape(shlex.quote(summary.run))
    say(out, f"Look at it: screensearch view {where} (in a browser), or screensearch show {where}")


def resuming(context: click.Context, summary: Summary) -> str:
    """The command that goes on with a run as it was being explored: with the options that were given.

    Where they asked for no more than the run had before, it asks for more.
    """
    words = ["screensearch", "explore", "--resume", "--out", summary.run]
    raised, more = _MORE.get(summary.ended, ("", 0))
    values = context.params | ({raised: getattr(summary, raised) + more} if raised else {})
    for option in context.command.params:
        name = option.name or ""
        given = name == raised or context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in _CARRIED and given and isinstance(option, click.Option):
            words += [option.opts[0], *([] if option.is_flag else [str(values[name])])]
    return shlex.join(words)
