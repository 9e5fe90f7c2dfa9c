"""Looking at a run: `show`, `states`, `explain`, `verify`; and `plugins`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from screensearch import Decision, IdentifySettings, Run, Screen, State, open_run
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.config import presets
from screensearch.errors import ScreenSearchError
from screensearch.identify.resolve import Resolver
from screensearch.record.ambiguity import normalised_entropy
from screensearch.record.graph import StateGraph
from screensearch.registry import KINDS, Registry

run_argument = click.argument("run", type=click.Path(path_type=Path))

TOP = 10
SHORT = 60
SUCCESSORS = 4


@click.command()
@run_argument
@as_json_option
def show(run: Path, as_json: bool) -> None:
    """What a RUN found: its figures, its most ambiguous actions, its failures."""
    with open_run(run) as opened:
        described = opened.describe()
        ambiguous = _ambiguous_actions(opened.graph)
        failures = _failures(opened.graph)
    if as_json:
        print_json({**described, "ambiguous_actions": ambiguous, "failures": failures})
        return
    out = console()
    say(
        out,
        f"[bold]{escape(described['run'])}[/]  {escape(described['environment'])}  seed {described['seed']}",
    )
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in described["outcomes"].items())
    say(
        out,
        f"{described['states']:,} states, {described['edges']:,} edges in {described['entries']:,} entries",
    )
    say(out, f"{outcomes}\n[dim]graph {described['digest']}[/]")
    if ambiguous:
        rows = table("state", "action", "N", "dispersion", "leads to", right=("state", "N"))
        for action in ambiguous:
            often = sorted(action["successors"].items(), key=lambda pair: -pair[1])
            leads = ", ".join(f"{target} ×{count}" for target, count in often[:SUCCESSORS])
            if len(often) > SUCCESSORS:
                leads += f", {len(often) - SUCCESSORS} more"
            rows.add_row(
                str(action["state"]),
                escape(action["signature"]),
                str(action["visits"]),
                f"{action['dispersion']:.3f}",
                leads,
            )
        say(out, "\n[bold]The same action, different outcomes[/]")
        out.print(rows)
    if failures:
        rows = table("state", "action", "outcome", "count", right=("state", "count"))
        for failure in failures:
            rows.add_row(
                str(failure["state"]), escape(failure["signature"]), failure["outcome"], str(failure["count"])
            )
        say(out, "\n[bold]Failures[/]")
        out.print(rows)


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
        listed: list[State] = [opened.state(state) for state in order[:limit]]
    if as_json:
        print_json({"run": str(run), "states": listed})
        return
    rows = table(
        "state", "visits", "u", "actions", "window", "text", right=("state", "visits", "u", "actions")
    )
    for state in listed:
        rows.add_row(
            str(state.id),
            f"{state.visits:,}",
            f"{state.ambiguity:.3f}",
            str(state.actions),
            escape(state.window),
            escape(_shortened(state.text)),
        )
    console().print(rows)


@click.command()
@run_argument
@click.argument("first")
@click.argument("second", required=False)
@as_json_option
def explain(run: Path, first: str, second: str | None, as_json: bool) -> None:
    """Why two screens of a RUN are, or are not, one state.

    FIRST and SECOND are states (12: the screen that founded state 12) or log entries (@345: the screen
    that entry 345 ended on). An entry alone is explained by the decision that was logged for it.
    """
    with open_run(run) as opened:
        decision: Decision | None = None
        if second is None:
            decision = _logged_decision(opened, first)
            first, second = str(decision.state), first
        a, b = _named_screen(opened, first), _named_screen(opened, second)
        comparison, one_state = opened.explain(a, b), opened.joins(a, b)
        settings = opened.settings.identify
    apart = [name for name in settings.filters if getattr(a.metadata, name) != getattr(b.metadata, name)]
    if as_json:
        print_json(
            {
                "run": str(run),
                "first": first,
                "second": second,
                "decision": decision,
                "one_state": one_state,
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
    say(
        out,
        f"{first} and {second} are [bold]{'one state' if one_state else 'two states'}[/] by "
        f"{settings.identifier}: score {comparison.score:.4f} (threshold {settings.merge.threshold}), "
        f"cell×role {comparison.role_jaccard:.4f}, cell×text {comparison.text_jaccard:.4f}",
    )
    for name in apart:
        say(out, f"never compared: {name} is {getattr(a.metadata, name)!r} and {getattr(b.metadata, name)!r}")
    say(out, f"{len(comparison.shared)} atoms shared")
    for name, atoms in ((first, comparison.only_a), (second, comparison.only_b)):
        say(out, f"\n[bold]only in {escape(name)}[/] ({len(atoms)})")
        for atom in atoms:
            say(out, f"  {escape(atom)}")


@click.command()
@run_argument
@as_json_option
def verify(run: Path, as_json: bool) -> None:
    """Derive everything in a RUN again from its log and compare, bit for bit."""
    with open_run(run) as opened:
        verification = opened.verify()
    if as_json:
        print_json({"run": str(run), "holds": verification.holds, **_fields(verification)})
    else:
        out = console()
        say(
            out,
            f"{verification.entries:,} entries fold to {verification.states:,} states and "
            f"{verification.edges:,} edges; "
            f"checkpoints checked: {verification.checkpoints}, "
            f"screenshots: {verification.screenshots:,}\n[dim]graph {verification.digest}[/]",
        )
        for problem in verification.problems:
            say(out, f"[red]✗[/] {escape(problem)}")
        say(out, "[bold]holds[/]" if verification.holds else "[bold red]does not hold[/]")
    if not verification.holds:
        raise SystemExit(1)


@click.command()
@as_json_option
def plugins(as_json: bool) -> None:
    """List every plugin by kind, where it comes from, and the presets."""
    found: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        registry: Registry[object] = Registry(kind)
        found[kind] = {name: registry.origin(name) for name in registry.names()}
    exact = Resolver(IdentifySettings(identifier="exact")).describe()
    if as_json:
        print_json({"plugins": found, "presets": presets(), "exact": exact})
        return
    rows = table("kind", "name", "from")
    for kind, named in found.items():
        for name, origin in named.items():
            rows.add_row(kind, name, origin)
    out = console()
    out.print(rows)
    say(out, f"\npresets: {', '.join(presets())}\nthe identifier exact is: {exact}")


def _logged_decision(run: Run, name: str) -> Decision:
    if not name.startswith("@") or not name[1:].isdecimal():
        raise ScreenSearchError(f"{name!r} alone is not a log entry (@345); name a second screen to compare")
    decision = run.entry(int(name[1:])).decision
    if decision is None:
        raise ScreenSearchError(f"entry {name[1:]} of {run.path} has no decision: it reached no state")
    return decision


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


def _named_screen(run: Run, name: str) -> Screen:
    number = name.removeprefix("@")
    if not number.isdecimal():
        raise ScreenSearchError(f"{name!r} is neither a state (12) nor a log entry (@345)")
    return run.screen_of_entry(int(number)) if name.startswith("@") else run.founding_screen(int(number))


def _ambiguous_actions(graph: StateGraph) -> list[dict[str, Any]]:
    """The actions whose outcomes differ most, weighed by how often they were tried (a term of eq. 1)."""
    found = [
        (normalised_entropy(tried.successors.values()), state, signature, tried)
        for state in graph.iter_states()
        for signature, tried in graph.tried(state).items()
        if len(tried.successors) > 1
    ]
    found.sort(key=lambda each: (-each[0] * each[3].visits, each[1], each[2]))
    return [
        {
            "state": state,
            "signature": signature,
            "visits": tried.visits,
            "dispersion": dispersion,
            "successors": tried.successors,
        }
        for dispersion, state, signature, tried in found[:TOP]
    ]


def _failures(graph: StateGraph) -> list[dict[str, Any]]:
    found = [
        {"state": state, "signature": signature, "outcome": outcome, "count": count}
        for state in graph.iter_states()
        for signature, outcomes in graph.failures(state).items()
        for outcome, count in outcomes.items()
    ]
    found.sort(key=lambda failure: -failure["count"])  # type: ignore[operator]
    return found[:TOP]


def _fields(value: object) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}  # type: ignore[attr-defined]


def _shortened(text: str) -> str:
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
