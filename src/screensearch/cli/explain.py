"""`screensearch explain`: why two screens are, or are not, one state."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch import Screen, open_run
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.domain.screen import StateId
from screensearch.explore.redaction import Redaction
from screensearch.view.comparisons import DecisionInfo, Explanation, Pool
from screensearch.view.drawing import draw
from screensearch.view.explaining import explain as explain_screens
from screensearch.view.founders import Founders
from screensearch.view.reading import Reading
from screensearch.view.sights import Sights

SHOWN = 12
"""Atoms of each kind that are listed; --all lists them all."""


@click.command()
@run_argument
@click.argument("first")
@click.argument("second", required=False)
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Draw both screenshots side by side, with what they share and what they do not marked, into a file.",
)
@click.option("--all", "everything", is_flag=True, help="List all atoms that differ, not only the first.")
@as_json_option
def explain(
    run: Path, first: str, second: str | None, picture: Path | None, everything: bool, as_json: bool
) -> None:
    """Why two screens of a RUN are, or are not, one state.

    FIRST and SECOND are states (12: the screen that founded state 12) or log entries (@345: the screen
    that entry 345 ended on). One alone is explained by its decision: an entry by the state it joined or
    founded, a state by its founding; with the states that were considered then, and how near they came.
    A state is judged by its founding screen, so two entries of one state need not be alike themselves.
    """
    with open_run(run) as opened:
        sights, redaction = Sights(), Redaction(opened.settings)

        def look(state: StateId, row: int, screen: Screen) -> None:
            sights.add(state, redaction.screen(opened.log, row) if redaction.active else screen)

        founders = Founders.of(opened.log, look)
        explained = explain_screens(opened, first, second, title=sights.title, founders=founders)
    if picture is not None:
        _draw(run, explained, picture)
    if as_json:
        print_json(explained)
        return
    out = console()
    if explained.decision is not None:
        say(out, _decision_in_words(explained, explained.decision))
    for side in (explained.first, explained.second):
        if side.name.startswith("@") and (side is explained.first or explained.decision is None):
            state = "no state" if side.state is None else f"state {side.state}"
            say(out, f"{side.name} is logged as {state}")
    _tell_considered(out, explained)
    _tell_comparison(out, explained, everything=everything)
    if picture is not None:
        say(out, f"\nDrawn side by side: {escape(str(picture))}")


def _draw(run: Path, explained: Explanation, picture: Path) -> None:
    reading = Reading(run, run.name)
    try:
        reading.follow()
        draw(reading, explained, picture)
    finally:
        reading.close()


def _decision_in_words(explained: Explanation, decision: DecisionInfo) -> str:
    name, state = explained.second.name, decision.state
    nearest = "" if explained.considered else ", the first of its kind"
    words = {
        "new": f"founded state {state}: nothing scored over the threshold{nearest}",
        "match": f"joined state {state} with score {decision.score:.4f}",
        "memo": f"has the atoms of an earlier screen, and so its state: {state}",
        "elsewhere": f"landed in state {state} of another shard",
    }[decision.how]
    second = decision.runner_up
    return f"[bold]{name} {words}[/]" + (
        "" if second is None else f"; runner-up: state {second} with {decision.runner_up_score:.4f}"
    )


def _pool_in_words(pool: Pool) -> str:
    """Which of the states that there were a screen was compared with, and why not with the others."""
    if pool.known == 0:
        return "No state was known before it."
    if pool.compared == pool.known:
        which = "the one state" if pool.known == 1 else f"all {pool.known:,} states"
        return f"It was compared with {which} known then."
    *names, last = (name.replace("_", " ") for name in pool.filters)
    others = f"of another {', '.join(names)} or {last}" if names else f"of another {last}"
    if pool.compared == 0 and pool.known == 1:
        return f"It was not compared with the one state known then: that is {others}."
    if pool.compared == 0:
        return f"It was compared with none of the {pool.known:,} states known then: they are {others}."
    compared = f"{pool.compared:,} of the {pool.known:,} states known then"
    return f"It was compared with {compared}; the others are {others}."


def _tell_considered(out: Console, explained: Explanation) -> None:
    """The states that could have been joined, as a table."""
    pool = explained.pool
    if pool is None:
        return
    if not explained.considered:
        say(out, f"\n{_pool_in_words(pool)}")
        return
    numbers = ("state", "score", "cell×role", "cell×text")
    rows = table(*numbers, "", "what it is", right=numbers)
    decision = explained.decision
    assert decision is not None  # only a decision considers anything
    for each in explained.considered:
        verdict = "passes" if each.passes else "below"
        chosen = each.state == decision.state and decision.how != "new"
        rows.add_row(
            str(each.state),
            f"{each.score:.4f}",
            f"{each.role_jaccard:.4f}",
            f"{each.text_jaccard:.4f}",
            "[bold]joined[/]" if chosen else verdict,
            escape(each.title),
        )
    say(out, f"\n{_pool_in_words(pool)} Threshold {explained.threshold:g}; the best:")
    out.print(rows)
    best = explained.considered[0]
    if decision.how != "new" and best.state != decision.state:
        say(
            out,
            "[dim]hybrid takes the highest-ranked that passes, not the best score[/]"
            if explained.identifier == "hybrid"
            else f"[dim]state {best.state} scores as well or better, and was not chosen[/]",
        )
    say(out, "")


def _tell_comparison(out: Console, explained: Explanation, *, everything: bool) -> None:
    first, second = explained.first.name, explained.second.name
    decision = explained.decision
    if decision is not None and decision.how == "new" and first == str(decision.state):
        return  # there was no state of its kind to compare it with
    verdict = "would be one state" if explained.one_state else "would be two states"
    say(
        out,
        f"compared with each other, {first} and {second} [bold]{verdict}[/] by {explained.identifier}:",
    )
    say(
        out,
        f"  score {explained.score:.4f} (threshold {explained.threshold:g}), "
        f"cell×role {explained.role_jaccard:.4f}, cell×text {explained.text_jaccard:.4f}",
    )
    for name in explained.differing_filters:
        one, other = explained.first.metadata[name], explained.second.metadata[name]
        say(out, escape(f"never compared: {name} is {one!r} and {other!r}"))
    say(out, f"{len(explained.shared)} atoms shared")
    for name, atoms in ((first, explained.only_first), (second, explained.only_second)):
        if atoms:
            say(out, f"\n[bold]only in {escape(name)}[/] ({len(atoms)})")
        shown = atoms if everything else atoms[:SHOWN]
        for atom in shown:
            say(out, f"  {escape(atom)}")
        if len(shown) < len(atoms):
            say(out, f"  [dim]and {len(atoms) - len(shown)} more: --all lists them[/]")
