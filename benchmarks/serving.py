"""Claim: with few workers, reading and identifying while a commit is under way makes a run no slower.

The baseline is the same owner with everything in one thread: read, then identify, record, commit and
answer a batch, then read again. The two take turns, a round each, on a log in SQLite and on one in
PostgreSQL (a server of the benchmark's own, over a Unix socket, which syncs its disk). Everything of a
step counts, as in `explore.py`; a decision is measured by its worker, the wait for the commit included.
Read the ratios: they compare neighbours in time. What it gains with many workers: `serving_simulated.py`.

    python benchmarks/serving.py [--json] [--steps 5000] [--rounds 6] [--workers 8] [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

import screensearch as ss
from machine import describe_machine
from screensearch.explore.messages import Message
from screensearch.explore.serving import Answer, Serving
from screensearch.explore.store import Submission

sys.path.append(str(Path(__file__).parent.parent / "tests" / "record"))

from postgres_server import postgres_server

ENVIRONMENT = "synthetic:generated?states=1000000"
LEAST_RATIO = 0.95


class AtOnce(Serving):
    """The baseline: nothing is read or searched for while a commit is under way."""

    scheduled = False

    def take(self, message: Message, answer: Answer) -> None:
        self._waiting.append((Submission(message), answer))
        if not self.scheduled:
            self.scheduled = True
            asyncio.get_running_loop().call_soon(self._handle)

    def _handle(self) -> None:
        waiting, self._waiting, self.scheduled = self._waiting, [], False
        try:
            said = self._shard.handle([submission.message for submission, _ in waiting])
            for (_, answer), each in zip(waiting, said, strict=True):
                answer(each)
            self._shard.checkpoint_if_due()
        except Exception as problem:
            self._break(problem)


KINDS: dict[str, type[Serving]] = {"at once": AtOnce, "pipelined": Serving}


def owner_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def explore(kind: str, store: str, options: argparse.Namespace, seed: int) -> dict[str, float]:
    """One round; times in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="screensearch-") as name:
        used = owner_seconds()
        with mock.patch("screensearch.explore.owner.Serving", KINDS[kind]):
            summary = ss.start_exploration(
                ENVIRONMENT,
                Path(name) / "run",
                stop=ss.StopRule(steps=options.steps),
                settings=ss.resolve(overrides=["explore.screenshots=none", *options.set]),
                workers=options.workers,
                seed=seed,
                store=store,
            )
        used = owner_seconds() - used
        with ss.open_run(Path(name) / "run") as run:
            seconds = [transition.evidence.decide_seconds for transition in run.transitions()]
            if problems := run.verify().problems:
                raise SystemExit(f"{kind}: {problems}")
    percentiles = statistics.quantiles(seconds, n=100)
    return {
        "steps_per_second": summary.steps_per_second,
        "decision_ms_p50": round(1_000 * percentiles[49], 2),
        "decision_ms_p99": round(1_000 * percentiles[98], 2),
        "owner_cpu_ms_a_step": round(1_000 * used / summary.steps, 3),
    }


def measure(store: str, options: argparse.Namespace, *, show: bool) -> dict[str, Any]:
    explore("pipelined", store, argparse.Namespace(**vars(options) | {"steps": 200}), 1)  # warms up
    rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(options.rounds):
        # Who goes first alternates, so that what the machine does beside us favours neither.
        for kind in list(KINDS)[:: -1 if number % 2 else 1]:
            rounds[kind].append(explore(kind, store, options, seed=number))
            if show:
                print(
                    f"{store.partition(':')[0] or 'sqlite':10} {kind:10} {rounds[kind][-1]}", file=sys.stderr
                )
    figures = list(rounds["pipelined"][0])
    ratios = {
        name: [
            round(after[name] / before[name], 3)
            for before, after in zip(rounds["at once"], rounds["pipelined"], strict=True)
        ]
        for name in figures
    }
    return {
        **{
            kind: {name: statistics.median(each[name] for each in rounds[kind]) for name in figures}
            for kind in KINDS
        },
        "ratio": {name: round(statistics.median(each), 3) for name, each in ratios.items()},
        "ratio_by_round": ratios,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--steps", type=int, default=5_000, help="of a round")
    parser.add_argument("--rounds", type=int, default=6, help="of each kind and store")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--set", action="append", default=[], help="a setting, as NAME=VALUE")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    options = parser.parse_args()
    result: dict[str, Any] = {"steps": options.steps, "rounds": options.rounds, "workers": options.workers}
    result["settings"] = options.set
    result["sqlite"] = measure("", options, show=not options.json)
    with postgres_server() as server:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = on")
            connection.execute("SELECT pg_reload_conf()")
        result["postgresql"] = measure(server.url(), options, show=not options.json)
    met = {
        f"{store}: steps/s >= {LEAST_RATIO} of the baseline": result[store]["ratio"]["steps_per_second"]
        >= LEAST_RATIO
        for store in ("sqlite", "postgresql")
    }
    result |= {"targets": met, "machine": describe_machine()}
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for store in ("sqlite", "postgresql"):
        for kind in (*KINDS, "ratio"):
            print(f"{store:10} {kind:10} {result[store][kind]}")
    for target, holds in met.items():
        print(f"{'met' if holds else 'NOT MET':8} {target}")


if __name__ == "__main__":
    main()
