"""`screensearch replay`: go back to a state, or see whether a failure comes again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from screensearch import Replay, Route, Run, ScreenSearchError, Seen, Verdict, Walk, open_run, replay_route
from screensearch.act.wording import describe_actions
from screensearch.cli.output import as_json_option, console, print_json, run_argument, say, table
from screensearch.cli.status import FOUND_STATUS
from screensearch.cli.texts import plain
from screensearch.cli.walls import warn_of_open_walls
from screensearch.explore.causes import group_by_cause
from screensearch.explore.replay.plan import judge_of, route_as_found, route_to, route_to_finding
from screensearch.explore.replay.route import tell_expected

as_found_option = click.option(
    "--as-found",
    is_flag=True,
    help="Not by the most reliable way to STATE, but as the episode went that discovered it.",
)

lenient_option = click.option(
    "--lenient",
    is_flag=True,
    help="When a step leads to another state, go on as long as the target of the next action is there. The "
    "last state must be right all the same.",
)


@click.command()
@run_argument
@click.argument("state", type=int, required=False)
@click.option(
    "--finding",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Not to a state, but to a finding, as `screensearch findings` counts them: does it come again?",
)
@click.option(
    "--short",
    is_flag=True,
    help="With --finding: not as its episode went, but by the most reliable way to where it happened.",
)
@as_found_option
@click.option(
    "--times", type=click.IntRange(min=1), default=1, show_default=True, help="Walk the way so many times."
)
@lenient_option
@click.option(
    "--rate",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="The share of walks that must come out for status 0.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep a screenshot of every step here."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chance in a synthetic world."
)
@click.option("--unsandboxed", is_flag=True, help="Needed again for a run without a sandbox.")
@click.option("--allow-irreversible", is_flag=True, help="Needed again for a run that was given it.")
@as_json_option
@click.pass_context
def replay(
    context: click.Context,
    run: Path,
    state: int | None,
    finding: int | None,
    short: bool,
    as_found: bool,
    times: int,
    lenient: bool,
    rate: float,
    out: Path | None,
    seed: int,
    unsandboxed: bool,
    allow_irreversible: bool,
    as_json: bool,
) -> None:
    """Walk the most reliable way to a STATE of a RUN again, from a fresh start in a fresh sandbox.

    Targets are found by their signatures, not by their pixels. After each step the screen is identified by
    the run's own rule among the run's own states, and compared with the state that is expected there. A walk
    stops at the first step that does not come out, and says why: its target is missing, another state came
    out, the application crashed, hung, ended or was left. Nothing is written to the run.

    The status is 0 if all walks, or the share of --rate, came out, 3 if not, and 1 if the environment failed,
    which says nothing about the application.
    """
    with open_run(run) as opened:
        route = route_named(opened, state, finding, short=short, as_found=as_found)
        if not route.settings.desktop.sandbox:
            warn_of_open_walls(route.environment, route.settings)
        view = _View(console(stderr=True), route, times)
        if not as_json:
            view.tell_route()
        result = replay_route(
            route,
            times=times,
            lenient=lenient,
            judge=judge_of(opened),
            seed=seed,
            pictures=out,
            on_walk=lambda walk: None if as_json else view.tell_walk(walk),
            on_seen=lambda number, seen: None if as_json else view.tell_seen(number, seen),
            unsandboxed=unsandboxed,
            allow_irreversible=allow_irreversible,
        )
    if as_json:
        print_json({"run": str(run), **describe_replay(result)})
    else:
        print_replay(console(), result)
        strayed = any(walk.verdict is Verdict.STRAYED for walk in result.walks)
        if strayed and not lenient and route.steps:
            say(console(), "[dim]To go on over states that differ: --lenient[/]")
            if finding is None and not as_found:
                say(console(), "[dim]To go there as the episode went that discovered it: --as-found[/]")
        if finding is None:
            options = " --as-found" * as_found + " --lenient" * lenient
            folder = escape(shlex.quote(str(run)))
            say(console(), f"[dim]Keep it as a test: screensearch script {folder} {state}{options}[/]")
    if result.tried and result.rate < rate:
        context.exit(FOUND_STATUS)
    if result.broken:
        context.exit(click.ClickException.exit_code)


def route_named(run: Run, state: int | None, finding: int | None, *, short: bool, as_found: bool) -> Route:
    """The route that a command line names: to a state, or to a finding by its number."""
    if (state is None) == (finding is None):
        raise click.UsageError("name a STATE of the run, or a finding with --finding")
    if finding is None:
        if short:
            raise click.UsageError(
                "--short is for --finding: the way to a state is the most reliable already"
            )
        assert state is not None  # one of the two was given
        return route_as_found(run, state) if as_found else route_to(run, state)
    if as_found:
        raise click.UsageError("--as-found is for a STATE: a finding is walked as it was found already")
    causes = group_by_cause(run.findings())
    if finding > len(causes):
        raise ScreenSearchError(f"{run.path} has no finding {finding}: it has {len(causes)}, counted from 1")
    return route_to_finding(run, causes[finding - 1].oldest, short=short)


class _View:
    """Progress on standard error: a line for each walk, and in a terminal each step as it comes out."""

    def __init__(self, out: Console, route: Route, times: int) -> None:
        self._out = out
        self._route = route
        self._times = times

    def tell_route(self) -> None:
        actions = f"{len(self._route.steps)} action{'' if len(self._route.steps) == 1 else 's'}"
        often = "once" if self._times == 1 else f"{self._times} times"
        where = f"[bold]{escape(self._route.environment)}[/] to {tell_expected(self._route.goal)}"
        say(self._out, f"{where}: {actions}, {often}")

    def tell_seen(self, number: int, seen: Seen) -> None:
        if self._times > 1 and not self._out.is_terminal:
            return
        words = "start" if seen.step == 0 else self._route.words[seen.step - 1]
        came = "a screen that is no known state" if seen.state is None else f"state {seen.state}"
        mark = "[green]✓[/]" if seen.as_expected else "[yellow]≠[/]"
        say(self._out, f"  {mark} {seen.step:>2}  {escape(plain(words))} → {came}")

    def tell_walk(self, walk: Walk) -> None:
        mark = "[green]reached[/]" if walk.reached else f"[red]{walk.verdict.value}[/]"
        note = f": {escape(plain(walk.note))}" if walk.note else ""
        say(self._out, f"walk {walk.number} of {self._times}: {mark} in {walk.seconds:.1f} s{note}")


def describe_replay(result: Replay) -> dict[str, Any]:
    """A replay for machines."""
    route = result.route
    return {
        "environment": route.environment,
        "configuration": route.configuration,
        "goal": route.goal,
        "start": route.start,
        "steps": [
            {"signature": step.signature, "words": words, "expected": step.expected}
            for step, words in zip(route.steps, route.words, strict=True)
        ],
        "walks": result.walks,
        "tried": result.tried,
        "reached": result.reached,
        "broken": result.broken,
        "rate": result.rate if result.tried else None,
        "counts": result.steps,
    }


def print_replay(out: Console, result: Replay) -> None:
    """How often each step came out, and all of it."""
    route = result.route
    rows = table("step", "action", "expected", "came out", right=("step",))
    words = describe_actions(step.signature for step in route.steps)
    for count in result.steps:
        step = route.steps[count.step - 1] if count.step else None
        rows.add_row(
            str(count.step),
            "start" if step is None else escape(plain(words[step.signature])),
            tell_expected(route.start if step is None else step.expected),
            f"{count.as_expected:,} of {count.done:,}" if count.done else "not come to",
        )
    out.print(rows)
    if result.tried:
        say(
            out,
            f"[bold]{result.reached} of {result.tried}[/] walks reached {tell_expected(route.goal)}: "
            f"[bold]{result.rate:.0%}[/]",
        )
    if result.broken:
        say(
            out,
            f"[red]{result.broken} of {len(result.walks)} walks broke off[/] by failures of the environment, "
            "which say nothing about the application and are not counted",
        )
    pictures = [seen.picture for walk in result.walks for seen in walk.seen if seen.picture is not None]
    if pictures:
        say(out, f"screenshots: {escape(str(Path(pictures[0]).parent.parent))}")
