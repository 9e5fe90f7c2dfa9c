"""`screensearch diff`: what became of a map, from one run to another."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.cli.status import FOUND_STATUS
from screensearch.errors import ScreenSearchError, SettingsError
from screensearch.identify.resolve import FILTERS
from screensearch.view.comparisons import Difference, EdgeChange
from screensearch.view.difference import difference
from screensearch.view.messages import StateBrief, Successor
from screensearch.view.reading import Reading

KINDS = ("lost", "gained", "changed")

Folder = click.Path(path_type=Path)


@click.command()
@click.argument("first", metavar="RUN1", type=Folder)
@click.argument("second", metavar="RUN2", type=Folder)
@click.option(
    "--fail-on",
    metavar="KINDS",
    help=f"End with status {FOUND_STATUS} if there is one of these, for which there is evidence: "
    f"{', '.join(KINDS)}. What was merely not seen does not count; if no screen is in both runs, nothing can "
    "be told, and the status is 1.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Match screens at another threshold than that of the first run.",
)
@click.option(
    "--ignore",
    type=click.Choice(FILTERS),
    multiple=True,
    help="Match screens although they differ in this, such as an application that was renamed. "
    "May be repeated.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    help="So many of each kind are listed.",
)
@as_json_option
def diff(
    first: Path,
    second: Path,
    fail_on: str | None,
    threshold: float | None,
    ignore: tuple[str, ...],
    limit: int,
    as_json: bool,
) -> None:
    """What became of a map: states and edges of RUN2 beside those of RUN1.

    Screens are matched by the identity rule of RUN1, actions by their signatures. What only one run has is
    gone or new where there is evidence: the other one did what always led there, often enough. Else it was
    not seen, which tells of the exploration and not of the application. An action has changed if its
    outcomes in the two runs have nothing in common.
    """
    failing = _kinds(fail_on)
    name, other = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    one, two = Reading(first, name), Reading(second, other)
    try:
        one.follow()
        two.follow()
        found = difference(one, two, threshold=threshold, ignore=ignore)
        totals = [(reading.graph.states, reading.graph.edges) for reading in (one, two)]
    finally:
        one.close()
        two.close()
    if as_json:
        print_json(found)
    else:
        _tell(console(), found, totals, limit, (first, second))
    met = [kind for kind in failing if evidence_of(found, kind)]
    if met:
        if not as_json:
            say(console(stderr=True), f"status {FOUND_STATUS}: {', '.join(met)}")
        raise SystemExit(FOUND_STATUS)
    if failing and not found.matched:  # a pipeline must not take this for "nothing has changed"
        raise ScreenSearchError(f"nothing was compared: {_strangers(found)}")


def evidence_of(found: Difference, kind: str) -> int:
    """How many differences of a kind there is evidence for."""
    return {
        "lost": sum(found.lost_gone) + sum(edge.gone for edge in found.lost_edges),
        "gained": sum(found.gained_new) + sum(edge.gone for edge in found.gained_edges),
        "changed": len(found.changed),
    }[kind]


def _kinds(fail_on: str | None) -> list[str]:
    if fail_on is None:
        return []
    kinds = [kind.strip() for kind in fail_on.split(",")]
    for kind in kinds:
        if kind not in KINDS:
            raise SettingsError(f"--fail-on names {kind!r}, which is none of {', '.join(KINDS)}")
    return kinds


def _tell(
    out: Console, found: Difference, totals: list[tuple[int, int]], limit: int, runs: tuple[Path, Path]
) -> None:
    for name, (states, edges) in zip((found.first, found.second), totals, strict=True):
        counts = f"{_counted(states, 'state', 'states')}, {_counted(edges, 'edge', 'edges')}"
        say(out, f"[bold]{escape(name)}[/]  {counts}")
    say(
        out,
        f"{found.matched:,} states of {escape(found.first)} are in both; "
        f"{_counted(found.comparable, 'action was', 'actions were')} done often enough in both to compare "
        "their outcomes",
    )
    if not found.matched:
        say(out, f"\n[bold]Nothing was compared[/]: {escape(_strangers(found))}")
    _tell_changed(out, found, limit)
    _tell_states(out, f"only in {found.first}", "gone", found.lost, found.lost_gone, found.lost_tried, limit)
    _tell_states(
        out, f"only in {found.second}", "new", found.gained, found.gained_new, found.gained_tried, limit
    )
    _tell_edges(out, f"edges only in {found.first}", "gone", found.lost_edges, limit)
    _tell_edges(out, f"edges only in {found.second}", "new", found.gained_edges, limit)
    if not any((found.changed, found.lost, found.gained, found.lost_edges, found.gained_edges)):
        say(out, "\n[bold]no difference[/]")
    say(out, f"\n[dim]{escape(found.note)}[/]")
    beside = shlex.join(["screensearch", "view", *dict.fromkeys(map(str, runs))])
    say(out, f"[dim]Look at {'it' if runs[0] == runs[1] else 'both'}: {escape(beside)}[/]")


def _strangers(found: Difference) -> str:
    """What to think, and to do, when two runs have no screen in common."""
    return (
        f"no screen of {found.second} is a state of {found.first}. Are they runs of the same application? "
        "If it was renamed, try --ignore application, if its windows were, --ignore window; if all its "
        "screens changed a little, a lower --threshold."
    )


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _tell_changed(out: Console, found: Difference, limit: int) -> None:
    if not found.changed:
        return
    say(out, f"\n[bold]changed[/]: {_counted(len(found.changed), 'action', 'actions')} with other outcomes")
    rows = table("state", "what it is", "action", escape(found.first), escape(found.second), right=("state",))
    for each in found.changed[:limit]:
        rows.add_row(
            f"{each.first_state} / {each.second_state}",
            escape(each.title),
            escape(each.words),
            _outcomes(each.first),
            _outcomes(each.second),
        )
    out.print(rows)
    _tell_rest(out, len(found.changed), limit)


def _outcomes(successors: list[Successor]) -> str:
    return "\n".join(
        f"{each.count} × {escape(each.title)}" + ("" if each.state < 0 else f" ({each.state})")
        for each in successors[:4]
    )


def _tell_states(
    out: Console,
    heading: str,
    sure: str,
    states: list[StateBrief],
    surely: list[bool],
    tried: list[int],
    limit: int,
) -> None:
    if not states:
        return
    known = sum(surely)
    say(
        out,
        f"\n[bold]{escape(heading)}[/]: {_counted(len(states), 'state', 'states')}, "
        f"{known:,} of them {sure}, the rest not seen",
    )
    numbers = ("state", "visits", "other tried")
    rows = table(*numbers[:2], "", numbers[2], "what it is", right=numbers)
    for state, is_sure, times in list(zip(states, surely, tried, strict=True))[:limit]:
        verdict = f"[bold]{sure}[/]" if is_sure else "not seen"
        rows.add_row(str(state.id), f"{state.visits:,}", verdict, f"{times:,}", escape(state.title))
    out.print(rows)
    _tell_rest(out, len(states), limit)


def _tell_edges(out: Console, heading: str, sure: str, edges: list[EdgeChange], limit: int) -> None:
    if not edges:
        return
    known = sum(edge.gone for edge in edges)
    tried = sum(edge.tried > 0 for edge in edges)
    say(
        out,
        f"\n[bold]{escape(heading)}[/]: {len(edges):,}, {known:,} of them {sure}; "
        f"the other run tried {tried:,} of these actions at that screen",
    )
    numbers = ("from", "to", "times", "other tried")
    rows = table("from", "action", "to", "", "times", "other tried", right=numbers)
    for edge in edges[:limit]:
        rows.add_row(
            str(edge.source),
            escape(edge.words),
            str(edge.target),
            f"[bold]{sure}[/]" if edge.gone else "not seen",
            f"{edge.count:,}",
            f"{edge.tried:,}",
        )
    out.print(rows)
    _tell_rest(out, len(edges), limit)


def _tell_rest(out: Console, count: int, limit: int) -> None:
    if count > limit:
        say(out, f"[dim]and {count - limit:,} more: --limit, or --json[/]")
