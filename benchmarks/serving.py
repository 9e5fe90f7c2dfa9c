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
import resource
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import screensearch as ss
from machine import describe_machine
from outcome import parser_for, tell
from rounds import take_turns
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


def measure(store: str, options: argparse.Namespace) -> dict[str, Any]:
    explore("pipelined", store, argparse.Namespace(**vars(options) | {"steps": 200}), 1)  # warms up
    return take_turns(
        KINDS,
        lambda kind, number: explore(kind, store, options, seed=number),
        rounds=options.rounds,
        name=store.partition(":")[0] or "sqlite",
        show=not options.json,
    )


def print_result(result: dict[str, Any]) -> None:
    for store in ("sqlite", "postgresql"):
        for kind in (*KINDS, "ratio"):
            print(f"{store:10} {kind:10} {result[store][kind]}")


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--steps", type=int, default=5_000, help="of a round")
    parser.add_argument("--rounds", type=int, default=6, help="of each kind and store")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--set", action="append", default=[], help="a setting, as NAME=VALUE")
    options = parser.parse_args()
    result: dict[str, Any] = {"steps": options.steps, "rounds": options.rounds, "workers": options.workers}
    result["settings"] = options.set
    result["sqlite"] = measure("", options)
    with postgres_server(durable=True) as server:
        result["postgresql"] = measure(server.url(), options)
    met = {
        f"{store}: steps/s >= {LEAST_RATIO} of the baseline": result[store]["ratio"]["steps_per_second"]
        >= LEAST_RATIO
        for store in ("sqlite", "postgresql")
    }
    result |= {"targets": met, "machine": describe_machine()}
    tell(result, options, print_result)


if __name__ == "__main__":
    main()
