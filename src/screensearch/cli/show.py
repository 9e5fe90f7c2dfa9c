"""`screensearch show`: what a run found."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from screensearch import Outcome, StateGraph, open_run
from screensearch.act.wording import describe_actions
from screensearch.cli.findings import AT_START
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, say_empty, table
from screensearch.cli.states import look, texts_of
from screensearch.record.ambiguity import normalised_entropy
from screensearch.record.log import FAILED_STARTS

TOP = 10
SUCCESSORS = 4


@click.command()
@run_argument
@click.argument("state", type=int, required=False)
@as_json_option
def show(run: Path, state: int | None, as_json: bool) -> None:
    """What a RUN found: its figures, its most ambiguous actions, its failures.

    With a STATE: what that state is, what was tried there, and where it led.
    """
    if state is not None:
        _show_state(run, state, as_json)
        return
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
    if (origin := described["remerged_from"]) is not None:
        say(out, f"remerged from the first {origin.entries:,} entries of {escape(origin.folder)}")
    if not described["entries"]:
        say_empty(out, run)
        return
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in described["outcomes"].items())
    say(
        out,
        f"{described['states']:,} states, {described['edges']:,} edges in {described['entries']:,} entries",
    )
    if described["undecided"]:
        reasons = ", ".join(f"{count:,} {escape(why)}" for why, count in described["undecided"].items())
        outcomes += f"\nundecided, so that nothing was done: {reasons}"
    say(out, f"{outcomes}\n[dim]graph {described['digest']}[/]")
    if ambiguous:
        rows = table("state", "action", "N", "dispersion", "leads to", right=("state", "N"))
        words = describe_actions(action["signature"] for action in ambiguous)
        for action in ambiguous:
            leads = _successors(action["successors"])
            rows.add_row(
                str(action["state"]),
                escape(words[action["signature"]]),
                str(action["visits"]),
                f"{action['dispersion']:.3f}",
                leads,
            )
        say(out, "\n[bold]The same action, different outcomes[/]")
        out.print(rows)
    if failures:
        rows = table("state", "action", "outcome", "count", right=("state", "count"))
        words = describe_actions(failure["signature"] for failure in failures)
        for failure in failures:
            where = "" if failure["state"] is None else str(failure["state"])
            what = escape(words[failure["signature"]])
            rows.add_row(where, what, failure["outcome"], str(failure["count"]))
        say(out, "\n[bold]Failures[/]")
        out.print(rows)
        say(out, f"[dim]What led to them: screensearch findings {escape(shlex.quote(str(run)))}[/]")


def _show_state(run: Path, number: int, as_json: bool) -> None:
    with open_run(run) as opened:
        state = opened.state(number)
        tried: list[dict[str, Any]] = [
            {
                "signature": signature,
                "visits": stats.visits,
                "value": stats.value,
                "dispersion": normalised_entropy(stats.successors.values()),
                "successors": stats.successors,
            }
            for signature, stats in sorted(opened.tried(number).items(), key=lambda item: -item[1].visits)
        ]
        failures = {signature: dict(counts) for signature, counts in opened.graph.failures(number).items()}
        led_to = dict.fromkeys(target for each in tried for target in _often(each["successors"]))
        others = [] if as_json else [target for target in led_to if target != number][:TOP]
        reached = [opened.state(target) for target in others]
        texts = texts_of(opened, [state, *reached])
    if as_json:
        print_json({"run": str(run), "state": state, "tried": tried, "failures": failures})
        return
    out = console()
    say(
        out,
        f"[bold]state {state.id}[/]  {escape(state.window)}  {escape(look(state))}  "
        f"u = {state.ambiguity:.3f}, {state.visits:,} visits",
    )
    say(out, escape(state.text))
    if state.screenshot is not None:
        say(out, f"[dim]{escape(state.screenshot)}[/]")
    rows = table("action", "N", "Q", "dispersion", "leads to", right=("N", "Q"))
    words = describe_actions([*(action["signature"] for action in tried), *failures])
    for action in tried:
        rows.add_row(
            escape(words[action["signature"]]),
            f"{action['visits']:,}",
            f"{action['value']:.3f}",
            f"{action['dispersion']:.3f}",
            _successors(action["successors"]),
        )
    out.print(rows)
    for signature, counts in failures.items():
        ended = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        say(out, f"[bold]failed[/] {escape(words[signature]) or 'before a choice'}: {ended}")
    if reached:
        rows = table("state", "window", "text", right=("state",))
        for each in reached:
            rows.add_row(str(each.id), escape(each.window), texts[each.id])
        say(out, "\n[bold]The states it leads to[/]")
        out.print(rows)


def _successors(counts: dict[int, int]) -> str:
    """The most frequent successors with their counts, and how many there are besides."""
    shown = ", ".join(f"{target} ×{counts[target]}" for target in _often(counts))
    return shown if len(counts) <= SUCCESSORS else f"{shown}, {len(counts) - SUCCESSORS} more"


def _often(counts: dict[int, int]) -> list[int]:
    """The successors that are shown: the most frequent."""
    return sorted(counts, key=lambda target: -counts[target])[:SUCCESSORS]


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
    found: list[dict[str, Any]] = [
        {"state": state, "signature": signature or "before a choice", "outcome": outcome, "count": count}
        for state in graph.iter_states()
        for signature, outcomes in graph.failures(state).items()
        for outcome, count in outcomes.items()
        if outcome != Outcome.UNDECIDED  # no failure of an action, and told by its reasons
    ]
    found += [
        {"state": None, "signature": AT_START, "outcome": outcome, "count": graph.outcomes[each]}
        for each, outcome in FAILED_STARTS.items()
        if each in graph.outcomes
    ]
    found.sort(key=lambda failure: -failure["count"])
    return found[:TOP]
