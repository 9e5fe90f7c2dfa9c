"""Claim: owners on a cluster carry as many workers as their cores allow, and the thousandth worker's step
costs no more than the first one's.

A real Ray cluster on this machine, a head and beside it nodes in network namespaces of their own, and
PostgreSQL from Debian that waits for the disk. Workers are simulated (`cluster_load.py`): they report steps
at a pace over the same store as real ones, and drive nothing. So what is measured is the machinery: Ray's
calls, the owners, the database; what the simulated workers themselves use is told apart. A decision is timed
by its worker, from the report to the receipt, which comes after the commit; and from when the step was due,
with what it waited for those before it. Steps become due at their pace, whatever the ones before them take.

Three series. The ladder: more and more workers at the same pace against 8 shards, until rungs are saturated
(fewer than 95 % of the offered steps) and the rate has stopped growing; the most workers of all come last in
any case. Then all of these again, so slow that the machine carries them. One hot shard: more and more load on
one owner until the rate stops growing. The baseline of the ratios is the ladder's first two rungs; a rung of
few steps lasts longer. A rate that the pace limits is never called a ceiling. With 15 s a rung it takes
some 8 minutes.

Ctrl-C ends it, with what was measured so far. `--size` prints what the figures mean for a large cluster.

    python benchmarks/cluster.py [--json] [--seconds 30] [--workers 1,10,50,…] [--out FILE]
    python benchmarks/cluster.py --size FILE [--assume NAME=VALUE] [--into PAGE]
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / room) for room in ("record", "cluster")]

from postgres_server import postgres_server
from ray_cluster import RayCluster, ray_cluster

from cluster_figures import ENOUGH_STEPS, conclude, stopped_growing
from cluster_fleet import Database, Fleet
from cluster_load import Mix
from cluster_size import assume, read_measured
from cluster_text import describe, measured_text, put_into
from machine import describe_code, describe_machine
from outcome import parser_for, save, tell
from screensearch.cluster.engine import Gone, connect, disconnect
from screensearch.errors import ScreenSearchError

PACE = 5.0  # steps a second of a worker
SHARDS = 8
COMFORTABLE = 0.6  # of the best rate: what all workers together offer when they shall not saturate it
WEIGHT = Path(__file__).parent / "results" / "weight.json"
LIKE = "desktop:thunar"  # the middle one of the applications that were weighed


class Benchmark:
    """All series, and what has been found so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._begun = time.monotonic()
        self._mix = mix_like(LIKE)
        self.report: dict[str, Any] = {
            "asked": {
                "command": " ".join([".venv/bin/python benchmarks/cluster.py", *sys.argv[1:]]),
                "seconds": options.seconds,
                "workers": options.workers,
                "hot_workers": options.hot_workers,
                "nodes": options.nodes,
            },
            "ladder": [],
            "hot": [],
            "runs": [],
            "problems": [],
            "complete": False,
            "machine": describe_machine(),
            "code": describe_code(),
        }

    def run(self) -> None:
        """Everything. What was measured is in the report, however it ends."""
        obey_signals()
        with ExitStack() as ending:
            folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="screensearch-")))
            self._say("starting PostgreSQL")
            database = Database(ending.enter_context(postgres_server(durable=True)))
            ending.callback(database.close)
            self._say(f"starting a head and {self._options.nodes} nodes")
            cluster = ending.enter_context(ray_cluster(*[1] * self._options.nodes))
            connect(cluster.address)
            ending.callback(disconnect)
            obey_signals()  # Ray has its own way
            self.report["network_namespaces"] = cluster.network.works
            for series, shards in ((self._ladder, SHARDS), (self._hot, 1)):
                self._climb(series, shards, cluster, database, folder / str(shards))
        self.report["complete"] = not self.report["problems"]
        self._keep()

    def _climb(
        self,
        series: Callable[[Fleet], None],
        shards: int,
        cluster: RayCluster,
        database: Database,
        folder: Path,
    ) -> None:
        """One series on a run of its own. If it fails, that is told, and the other one is still measured."""
        self._say(f"starting a run with {shards} shards")
        fleet: Fleet | None = None
        try:
            fleet = Fleet(cluster, database, folder, shards=shards, mix=self._mix, say=self._say)
            series(fleet)
        except (TimeoutError, Gone, ScreenSearchError) as problem:
            if fleet is not None:
                fleet.abandon()  # its workers would have their share of what is measured next
            self.report["problems"].append(f"{shards} shards: {type(problem).__name__}: {problem}")
            self._say(self.report["problems"][-1])

    def _ladder(self, fleet: Fleet) -> None:
        self._idle(fleet, "idle", self._lasting(ENOUGH_STEPS / PACE))  # as exact as the first rung
        rungs: list[dict[str, Any]] = self.report["ladder"]
        *fewer, most = sorted(self._options.workers)
        for workers in fewer:
            if stopped_growing(rungs):
                break
            rungs.append(self._rung(fleet, workers, PACE))
        rungs.append(self._rung(fleet, most, PACE))
        if rungs[-1]["saturated"]:
            best = max(rung["steps_per_second"] for rung in rungs)
            self.report["all_workers"] = self._rung(fleet, most, COMFORTABLE * best / most)
        self._finish(fleet)

    def _hot(self, fleet: Fleet) -> None:
        self._idle(fleet, "hot_idle", self._options.seconds)
        rungs: list[dict[str, Any]] = self.report["hot"]
        for workers in sorted(self._options.hot_workers):
            if stopped_growing(rungs):
                break
            rungs.append(self._rung(fleet, workers, PACE))
        self._finish(fleet)

    def _idle(self, fleet: Fleet, name: str, seconds: float) -> None:
        self._say("nobody works")
        self.report[name] = fleet.idle(seconds)

    def _lasting(self, least: float) -> float:
        """So many seconds, and at least as many as were asked for."""
        return max(least, float(self._options.seconds))

    def _rung(self, fleet: Fleet, workers: int, pace: float) -> dict[str, Any]:
        seconds = self._lasting(ENOUGH_STEPS / (workers * pace))
        rung = fleet.measure(workers=workers, pace=pace, seconds=seconds)
        decision, cost = rung["decision_ms"], rung["cpu_ms_per_step"]
        self._say(
            f"{workers} workers: {rung['steps_per_second']} of {rung['offered_steps_per_second']} steps/s, "
            f"p50 {decision['p50']} p99 {decision['p99']} ms, p99 from when due "
            f"{rung['decision_ms_from_due']['p99']} ms, CPU ms a step {cost}, lost {rung['lost']}, "
            f"{len(rung['failures'])} failures{', saturated' if rung['saturated'] else ''}"
        )
        return rung

    def _finish(self, fleet: Fleet) -> None:
        self._keep()
        self.report["runs"].append(fleet.close())
        self._keep()

    def _keep(self) -> None:
        conclude(self.report)
        if self._options.out is not None:
            save(self.report, self._options.out)

    def _say(self, words: str) -> None:
        print(f"{time.monotonic() - self._begun:6.0f} s  {words}", file=sys.stderr, flush=True)
        self._keep()


def mix_like(environment: str) -> Mix:
    """What workers of an application observed."""
    weighed = next(run for run in json.loads(WEIGHT.read_text())["runs"] if run["environment"] == environment)
    new = weighed["new_screens_per_step"]
    return Mix(
        new, weighed["screens_new_to_their_worker_per_step"] - new, weighed["elements_bytes_of_a_screen"]
    )


def obey_signals() -> None:
    """Let Ctrl-C and a request to end interrupt this process, also if it was started to ignore the former."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def explain(options: argparse.Namespace) -> None:
    """Print what was measured and what it means, or put it into a page."""
    texts = describe(read_measured(options.size), assume(options.assume))
    if options.into is not None:
        put_into(options.into, texts)
    else:
        print(*texts.values(), sep="\n\n")


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement, at least")
    for name, default, words in (
        ("--workers", "1,10,50,75,100,200,400,1000", "of 8 shards, one rung after another, the last always"),
        ("--hot-workers", "50,100,125,150,200,400,800,1600", "of one shard, until it makes no more steps"),
    ):
        parser.add_argument(name, type=numbers, default=default, help=words)
    parser.add_argument("--nodes", type=int, default=3, help="beside the head")
    parser.add_argument("--size", type=Path, metavar="FILE", help="measure nothing; explain these results")
    parser.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="with --size: another price, number of workers, …",
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="with --size: into this page, at its marks")
    options = parser.parse_args()
    if options.size is not None:
        try:
            explain(options)
        except ScreenSearchError as problem:
            raise SystemExit(str(problem)) from problem
        return
    benchmark = Benchmark(options)
    try:
        benchmark.run()
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept", file=sys.stderr)
    tell(benchmark.report, options, lambda report: print(measured_text(report)))


if __name__ == "__main__":
    main()
