"""Claim: owners on a cluster carry as many workers as the cores they have allow, and a step costs the same
for the first worker as for the thousandth.

A real Ray cluster on this machine, a head and nodes with addresses of their own, and PostgreSQL from Debian
that waits for the disk. Workers are simulated: each walks at random over the screens of its shard and reports
a step at its pace, over the same store as a real worker, with an application that costs nothing. So all that
is measured is the machinery: Ray's calls, the owners, the database. A decision is timed by its worker, from
the report to the receipt, which comes after the commit.

    python benchmarks/cluster.py [--json] [--seconds 20] [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / room) for room in ("record", "cluster")]

import numpy as np
from postgres_server import PostgresServer, postgres_server
from ray_cluster import RayCluster, ray_cluster

import screensearch as ss
from machine import describe_machine
from processes import TICKS, below
from screensearch.cluster.engine import answer, connect, end, place
from screensearch.cluster.launch import Attached, start_on_cluster
from screensearch.cluster.store import ClusterStore
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import Choice, EpisodeId, Evidence, Outcome
from screensearch.explore.messages import Begin, Report, Sighting

SCREENS = 300  # of each shard
ACTIONS = 20  # of each screen
EPISODE_STEPS = 50
HOSTS = 4  # processes that the simulated workers live in


def screen_of(shard: int, number: int) -> Screen:
    """One of the screens of a shard: no two of them are alike."""
    atoms = tuple(sorted(f"{number}-{place}" for place in range(30)))
    return Screen(f"{shard}-{number}", atoms, atoms, "", Metadata("load", f"mode {shard}", "1.0", "main"))


class Worker:
    """One simulated worker."""

    def __init__(self, run: str, number: int, shard: int, interval: float) -> None:
        self._store = ClusterStore(run, time.time_ns())
        self._number, self._shard, self._interval = number, shard, interval
        self._random = random.Random(number)
        self._rows: dict[int, int] = {}
        self.seconds: list[float] = []

    async def work(self, until: float) -> None:
        """Report steps at the pace, if the owners keep up with it."""
        await asyncio.sleep(self._random.random() * self._interval)
        episode = 0
        while time.time() < until:
            await self._episode(EpisodeId(self._number, episode), until)
            episode += 1

    async def _episode(self, episode: EpisodeId, until: float) -> None:
        seen, sighting = self._see()
        receipt = await self._store.begin(Begin(episode, sighting, Evidence()))
        for step in range(1, EPISODE_STEPS + 1):
            assert receipt.here is not None  # nothing ever fails here
            self._rows[seen] = receipt.here.row
            due = time.time() + self._interval
            if due > until:
                return
            source, snapshot = receipt.here.state, receipt.snapshot
            seen, sighting = self._see()
            choice = Choice(f"action {self._random.randrange(ACTIONS)}", snapshot, ACTIONS, 0.05, 0.0, 0, 0.0)
            begun = time.perf_counter()
            receipt = await self._store.record(
                Report(episode, step, source, choice, Outcome.OK, sighting, Evidence())
            )
            self.seconds.append(time.perf_counter() - begun)
            await asyncio.sleep(max(0.0, due - time.time()))

    def _see(self) -> tuple[int, Sighting]:
        number = self._random.randrange(SCREENS)
        row = self._rows.get(number)
        if row is not None:
            return number, Sighting(row=row)
        return number, Sighting(screen=screen_of(self._shard, number), elements=b"{}")


class Host:
    """A process full of simulated workers."""

    async def work(
        self, run: str, numbers: list[int], shards: int, interval: float, begin: float, until: float
    ) -> list[float]:
        workers = [Worker(run, number, number % shards, interval) for number in numbers]
        await asyncio.sleep(max(0.0, begin - time.time()))
        await asyncio.gather(*(worker.work(until) for worker in workers))
        return [seconds for worker in workers for seconds in worker.seconds]

    async def ready(self) -> bool:
        return True


def measure(
    cluster: RayCluster,
    database: PostgresServer,
    folder: Path,
    *,
    workers: int,
    shards: int,
    pace: float,
    seconds: float,
) -> dict[str, Any]:
    """So many workers, each at so many steps a second (0: as fast as it can)."""
    run = start_on_cluster(
        cluster.address,
        "synthetic:notepad",
        folder,
        settings=ss.resolve(overrides=["explore.screenshots=none"]),
        stop=ss.StopRule(steps=1_000_000_000),
        workers=0,
        seed=0,
        store=database.url(),
    )
    attached = Attached(cluster.address, folder)
    hosts = [place(Host, f"{run}/host/{number}") for number in range(min(HOSTS, workers))]
    answer([host.ready.remote() for host in hosts], seconds=120)
    begin = time.time() + 1
    before = cpu(cluster, database)
    calls = [
        host.work.remote(
            *(run, list(range(number, workers, len(hosts))), shards, 1 / pace if pace else 0.0),
            *(begin, begin + seconds),
        )
        for number, host in enumerate(hosts)
    ]
    times = np.array([each for some in answer(calls, seconds=seconds + 300) for each in some])
    after = cpu(cluster, database)
    for host in hosts:
        end(host)
    attached.stop("interrupted")
    summary = attached.follow(lambda view: None)
    with ss.open_run(folder) as opened:
        holds = opened.verify().holds
    taken = len(times)
    return {
        "workers": workers,
        "shards": shards,
        "asked_steps_per_second": workers * pace or None,
        "steps_per_second": round(taken / seconds, 1),
        "decision_ms": {
            f"p{each}": round(1000 * float(np.percentile(times, each)), 1) for each in (50, 90, 99)
        },
        "cpu_ms_per_step": {
            part: round(1000 * (after[part] - before.get(part, 0.0)) / max(taken, 1), 3) for part in after
        },
        "steps": summary.steps,
        "verifies": holds,
    }


def cpu(cluster: RayCluster, database: PostgresServer) -> dict[str, float]:
    """CPU seconds so far, by part."""
    used = {"owners": 0.0, "simulated workers": 0.0, "ray": 0.0, "database": 0.0}
    for node in (cluster.head, *cluster.nodes):
        for process in below(node.process.pid):
            name = process.name
            part = "owners" if "Owner" in name else "simulated workers" if "Host" in name else "ray"
            used[part] += process.cpu_seconds
    used["database"] += sum(process.cpu_seconds for process in below(database.process))
    return used


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--workers", default="1,10,50,100,200,400,1000", help="how many, one after another")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    options = parser.parse_args()
    ladder = [int(each) for each in options.workers.split(",")]
    results: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(durable=True) as database,
        ray_cluster(1, 1) as cluster,
    ):
        connect(cluster.address)
        for number, (workers, shards, pace) in enumerate(
            [*((each, min(8, each), 5.0) for each in ladder), (200, 1, 0.0)]
        ):
            result = measure(
                cluster,
                database,
                Path(folder, str(number)),
                workers=workers,
                shards=shards,
                pace=pace,
                seconds=options.seconds,
            )
            results.append(result)
            print(json.dumps(result), file=sys.stderr)
    report = {"measured": results, "machine": describe_machine(), "ticks": TICKS, "cores": os.cpu_count()}
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=2) + "\n")
    if options.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
