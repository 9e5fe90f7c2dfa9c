"""`screensearch states`: the states of a run, each so that a person can tell it from the others."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import click
from rich.markup import escape

from screensearch import Run, State, open_run
from screensearch.cli.alike import tell_apart
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.domain.screen import StateId

SHORT = 60


@click.command()
@run_argument
@click.option(
    "--sort", type=click.Choice(["id", "visits", "ambiguity"]), default="id", show_default=True, help="Order."
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many.")
@as_json_option
def states(run: Path, sort: str, limit: int | None, as_json: bool) -> None:
    """List the states of a RUN."""
    with open_run(run) as opened:
        order = list(opened.graph.iter_states())
        if sort != "id":
            figure = opened.graph.visits if sort == "visits" else opened.graph.ambiguity
            order.sort(key=figure, reverse=True)
        listed = [opened.state(state) for state in order[:limit]]
        texts = {} if as_json else texts_of(opened, listed)
    if as_json:
        print_json({"run": str(run), "states": listed})
        return
    if not listed:
        instead = f"screensearch show {shlex.quote(str(run))}"
        say(console(), f"No state: no screen was seen. What happened instead: {escape(instead)}")
        return
    looks = ("look",) if len({look(state) for state in listed}) > 1 else ()
    numbers = ("state", "visits", "u", "actions")
    rows = table(*numbers, "window", *looks, "text", right=numbers)
    for state in listed:
        rows.add_row(
            str(state.id),
            f"{state.visits:,}",
            f"{state.ambiguity:.3f}",
            str(state.actions),
            escape(state.window),
            *(escape(look(state)) for _ in looks),
            texts[state.id],
        )
    console().print(rows)


def look(state: State) -> str:
    """What a screen looks like apart from what it shows: states that differ in it alone read the same."""
    return f"{state.display_mode or 'any'}, text {state.text_size}"


def texts_of(run: Run, listed: Iterable[State]) -> dict[StateId, str]:
    """The text of each state as a cell of a table: shortened, and where that reads alike, what differs."""
    alike: defaultdict[tuple[str, ...], list[StateId]] = defaultdict(list)
    for state in listed:
        alike[state.window, look(state), _shortened(state.text)].append(state.id)
    texts: dict[StateId, str] = {}
    for (*_, text), group in alike.items():
        screens = {each: run.founding_screen(each) for each in group} if len(group) > 1 else {}
        apart = tell_apart(screens)
        for each in group:
            differs = f"\n[dim]{escape(apart[each])}[/]" if apart.get(each) else ""
            texts[each] = escape(text) + differs
    return texts


def _shortened(text: str) -> str:
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
