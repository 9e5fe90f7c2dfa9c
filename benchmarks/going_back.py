"""How often the most reliable way to a state comes out when it is walked again, over states picked at random.

A run is explored, or a stored one is taken. Its states are picked by a seeded shuffle, not by hand. To each
the most reliable way is walked so many times, strictly and from a fresh start, as `screensearch replay` does
it, and once more leniently. What the way was estimated to come out with stands beside it.

    python benchmarks/going_back.py --app mousepad [--states 20] [--times 1] [--json] [--out FILE]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import screensearch as ss
from explorations import finish, start_explore
from machine import describe_machine
from outcome import parser_of_a_run, tell
from screensearch.explore.replay.plan import judge_of, route_along


@contextmanager
def stored_run(options: argparse.Namespace) -> Iterator[ss.Run]:
    """The run to go back in: a stored one, or one explored now."""
    with tempfile.TemporaryDirectory(prefix="screensearch-back-") as name:
        folder = options.run
        if folder is None:
            folder = Path(name, "run")
            words = ("--steps", str(options.explore_steps), "--seed", str(options.seed))
            finish(start_explore([options.app], *words, "--no-screenshots", "--out", str(folder)))
        with ss.open_run(folder) as run:
            yield run


def measure(options: argparse.Namespace) -> dict[str, Any]:
    walks: list[dict[str, Any]] = []
    with stored_run(options) as run:
        states = list(run.graph.iter_states())
        random.Random(options.seed).shuffle(states)
        judge = judge_of(run)
        for state in states[: options.states]:
            path = run.path_to(state)
            told: dict[str, Any] = {"state": state, "actions": len(path.steps), "estimate": path.estimate}
            for how in ("strict", "lenient"):
                result = ss.replay_route(
                    route_along(run, path), times=options.times, judge=judge, lenient=how == "lenient"
                )
                told[how] = {"tried": result.tried, "reached": result.reached, "broken": result.broken}
                told[f"{how}_ends"] = [f"{each.verdict.value} at {each.step}" for each in result.walks]
            walks.append(told)
            print(told, file=sys.stderr)
        environment, entries, found = run.environment, run.graph.sequence, run.graph.states
    tried = {how: sum(each[how]["tried"] for each in walks) for how in ("strict", "lenient")}
    reached = {how: sum(each[how]["reached"] for each in walks) for how in ("strict", "lenient")}
    return {
        "environment": environment,
        "entries": entries,
        "states": found,
        "picked": len(walks),
        "mean_actions": sum(each["actions"] for each in walks) / len(walks),
        "mean_estimate": sum(each["estimate"] for each in walks) / len(walks),
        "tried": tried,
        "reached": reached,
        "broken": sum(each[how]["broken"] for each in walks for how in ("strict", "lenient")),
        "ends": Counter(end.split()[0] for each in walks for end in each["strict_ends"]),
        "walks": walks,
        "machine": describe_machine(),
    }


def print_result(result: dict[str, Any]) -> None:
    print(f"{result['environment']}: {result['states']} states in {result['entries']} entries")
    print(
        f"{result['picked']} states, {result['mean_actions']:.1f} actions away on average; "
        f"estimated to come out: {result['mean_estimate']:.0%}"
    )
    for how in ("strict", "lenient"):
        tried, reached = result["tried"][how], result["reached"][how]
        print(f"{how:8} {reached} of {tried} walks reached their state ({reached / max(tried, 1):.0%})")
    print(f"broken   {result['broken']}")


def main() -> None:
    parser = parser_of_a_run(__doc__)
    parser.add_argument("--states", type=int, default=20, help="how many states")
    parser.add_argument("--times", type=int, default=1, help="walks to each")
    options = parser.parse_args()
    tell(measure(options), options, print_result)


if __name__ == "__main__":
    main()
