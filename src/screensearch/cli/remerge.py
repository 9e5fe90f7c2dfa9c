"""`screensearch remerge`: a run made anew from its log, under another identity rule."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from screensearch import open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.config import changed
from screensearch.explore.regrouped import Group, Regrouped, Spread
from screensearch.explore.remerge import REMADE
from screensearch.explore.remerge import remerge as remerge_run

SHOWN = 10
"""Groups of states that are listed of each kind."""


@click.command()
@run_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="RUN2",
    help="Folder of the new run; it must not exist, or be empty.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Screens that score at least so much are one state: identify.merge.threshold.",
)
@click.option("--identifier", help="exact, hybrid, identical, content_free or a plugin: identify.identifier.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help=f"Change one more setting of {', '.join(REMADE)}, e.g. ambiguity.kappa=10. May be repeated.",
)
@as_json_option
def remerge(
    run: Path,
    out: Path,
    threshold: float | None,
    identifier: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a RUN anew from its log under another identity rule, into another folder.

    What was done stays: screens, actions, outcomes, choices. Which screens are one state is decided again,
    and with it edges, rewards, N, Q and u. The new run is like any other: show it, verify it, compare it,
    even go on with it. RUN itself is only read. With no change at all the graph comes out the same.
    """
    asked = list(overrides)
    if threshold is not None:
        asked.insert(0, f"identify.merge.threshold={threshold!r}")
    if identifier is not None:
        asked.insert(0, f"identify.identifier={identifier}")
    with open_run(run) as opened, _progress() as progress:
        task = progress.add_task("deciding again", total=None)
        regrouped = remerge_run(
            opened,
            changed(opened.settings, asked),
            out,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    if as_json:
        print_json({"source": str(run), "same": regrouped.same, **_fields(regrouped)})
        return
    _tell(console(), run, regrouped)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("entries"),
        console=console(stderr=True),
        transient=True,
    )


def _fields(regrouped: Regrouped) -> dict[str, object]:
    return {name: getattr(regrouped, name) for name in Regrouped.__slots__}


def _tell(out: Console, run: Path, regrouped: Regrouped) -> None:
    new = regrouped.run
    if regrouped.live:
        say(
            out, f"[bold]{escape(str(run))} is still being written[/]: read up to entry {regrouped.entries:,}"
        )
    say(
        out,
        f"[bold]{escape(new)}[/]  {regrouped.entries:,} entries decided again: "
        f"{regrouped.states_before:,} → {regrouped.states_after:,} states, "
        f"{regrouped.edges_before:,} → {regrouped.edges_after:,} edges",
    )
    if regrouped.left_out:
        say(
            out,
            f"[bold]{regrouped.left_out:,} entries of its shards were left out[/]: they follow a step "
            "that is not there, or tell one half of a step from one shard into another",
        )
    if regrouped.same:
        say(out, "The graph is the same to the bit: this rule decides as the other did.")
    else:
        _tell_groups(out, "now one state", regrouped.merged, ("new state", "was"))
        _tell_groups(out, "no longer one state", regrouped.split, ("old state", "is now"))
        _tell_figures(out, regrouped)
        _tell_largest(out, regrouped)
    quoted = shlex.quote(new)
    say(
        out,
        f"\n[dim]Look at it: screensearch show {escape(quoted)}; why: screensearch explain {escape(quoted)} "
        f"STATE; beside the other: screensearch diff {escape(shlex.quote(str(run)))} {escape(quoted)}[/]",
    )


def _tell_groups(out: Console, what: str, groups: tuple[Group, ...], columns: tuple[str, str]) -> None:
    if not groups:
        return
    involved = sum(len(group.others) for group in groups)
    many = "1 group" if len(groups) == 1 else f"{len(groups):,} groups"
    say(out, f"\n[bold]{what}[/]: {many} of together {involved:,} states; the largest:")
    rows = table(*columns, right=columns[:1])
    for group in groups[:SHOWN]:
        listed = ", ".join(map(str, group.others[:20]))
        more = f" and {len(group.others) - 20} more" if len(group.others) > 20 else ""
        rows.add_row(str(group.state), listed + more)
    out.print(rows)
    if len(groups) > SHOWN:
        say(out, f"[dim]and {len(groups) - SHOWN:,} more: --json has them all[/]")


def _tell_figures(out: Console, regrouped: Regrouped) -> None:
    numbers = ("compared", "changed", "median change", "9 of 10 below", "largest")
    rows = table("", *numbers, right=numbers)
    spreads: tuple[tuple[str, Spread, str], ...] = (
        ("N of an action", regrouped.visits, ".0f"),
        ("Q of an action", regrouped.values, ".3f"),
        ("u of a state", regrouped.ambiguity, ".3f"),
    )
    for name, spread, form in spreads:
        figures = (format(each, form) for each in (spread.median, spread.ninth_decile, spread.largest))
        rows.add_row(name, f"{spread.compared:,}", f"{spread.changed:,}", *figures)
    say(out, "\n[bold]what it changed[/], a state before beside the state after that has its screens:")
    out.print(rows)


def _tell_largest(out: Console, regrouped: Regrouped) -> None:
    if regrouped.largest_ambiguity:
        numbers = ("old state", "new state", "u before", "u after")
        rows = table(*numbers, right=numbers)
        for change in regrouped.largest_ambiguity[:5]:
            figures = f"{change.ambiguity_before:.3f}", f"{change.ambiguity_after:.3f}"
            rows.add_row(str(change.before), str(change.after), *figures)
        say(out, "\n[bold]u changed most[/]")
        out.print(rows)
    if regrouped.largest_values:
        numbers = ("old state", "new state", "N", "Q")
        rows = table(*numbers, "action", right=numbers[:2])
        words = describe_actions(each.signature for each in regrouped.largest_values)
        for action in regrouped.largest_values[:5]:
            rows.add_row(
                str(action.before),
                str(action.after),
                f"{action.visits_before} → {action.visits_after}",
                f"{action.value_before:.3f} → {action.value_after:.3f}",
                escape(words[action.signature]),
            )
        say(out, "\n[bold]Q changed most[/]")
        out.print(rows)
