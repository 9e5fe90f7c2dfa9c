"""`screensearch explain`: why two screens are, or are not, one state."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from screensearch import Decision, Run, Screen, ScreenSearchError, open_run
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say


@click.command()
@run_argument
@click.argument("first")
@click.argument("second", required=False)
@as_json_option
def explain(run: Path, first: str, second: str | None, as_json: bool) -> None:
    """Why two screens of a RUN are, or are not, one state.

    FIRST and SECOND are states (12: the screen that founded state 12) or log entries (@345: the screen
    that entry 345 ended on). An entry alone is explained by the decision that was logged for it. A state
    is judged by its founding screen, so two entries of one state need not be alike themselves.
    """
    with open_run(run) as opened:
        decision: Decision | None = None
        if second is None:
            decision = _logged_decision(opened, first)
            first, second = str(decision.state), first
        a, b = _named_screen(opened, first), _named_screen(opened, second)
        comparison, one_state = opened.explain(a, b), opened.joins(a, b)
        states = [_state_of(opened, name) for name in (first, second)]
        settings = opened.settings.identify
    apart = [name for name in settings.filters if getattr(a.metadata, name) != getattr(b.metadata, name)]
    if as_json:
        print_json(
            {
                "run": str(run),
                "first": first,
                "second": second,
                "decision": decision,
                "states": states,
                "would_merge": one_state,
                "identifier": settings.identifier,
                "threshold": settings.merge.threshold,
                "differing_filters": apart,
                "comparison": comparison,
            }
        )
        return
    out = console()
    if decision is not None:
        say(out, _told(decision, second))
    for name, state in zip((first, second), states, strict=True):
        if name.startswith("@"):
            say(out, f"{name} is logged as {'no state' if state is None else f'state {state}'}")
    verdict = "would be one state" if one_state else "would be two states"
    say(out, f"compared with each other, {first} and {second} [bold]{verdict}[/] by {settings.identifier}:")
    say(
        out,
        f"  score {comparison.score:.4f} (threshold {settings.merge.threshold}), "
        f"cell×role {comparison.role_jaccard:.4f}, cell×text {comparison.text_jaccard:.4f}",
    )
    for name in apart:
        one, other = getattr(a.metadata, name), getattr(b.metadata, name)
        say(out, escape(f"never compared: {name} is {one!r} and {other!r}"))
    say(out, f"{len(comparison.shared)} atoms shared")
    for name, atoms in ((first, comparison.only_a), (second, comparison.only_b)):
        if atoms:
            say(out, f"\n[bold]only in {escape(name)}[/] ({len(atoms)})")
        for atom in atoms:
            say(out, f"  {escape(atom)}")


def _named_screen(run: Run, name: str) -> Screen:
    number = name.removeprefix("@")
    if not number.isdecimal():
        raise ScreenSearchError(f"{name!r} is neither a state (12) nor a log entry (@345)")
    return run.screen_of_entry(int(number)) if name.startswith("@") else run.founding_screen(int(number))


def _logged_decision(run: Run, name: str) -> Decision:
    if not name.startswith("@") or not name[1:].isdecimal():
        raise ScreenSearchError(f"{name!r} alone is not a log entry (@345); name a second screen to compare")
    decision = run.entry(int(name[1:])).decision
    if decision is None:
        raise ScreenSearchError(f"entry {name[1:]} of {run.path} has no decision: it reached no state")
    return decision


def _state_of(run: Run, name: str) -> int | None:
    """The state that a name stands for: its own number, or what the log says of the entry."""
    if not name.startswith("@"):
        return int(name)
    decision = run.entry(int(name[1:])).decision
    return None if decision is None else decision.state


def _told(decision: Decision, name: str) -> str:
    how = {
        "new": f"founded state {decision.state}: nothing scored over the threshold",
        "match": f"joined state {decision.state} with score {decision.score:.4f}",
        "memo": f"has the atoms of an earlier screen of state {decision.state}",
    }[decision.how]
    runner_up = decision.runner_up
    return f"{name} {how}" + (
        "" if runner_up is None else f"; runner-up: state {runner_up.state} with {runner_up.score:.4f}"
    )
