"""What workers see of owners that come and go is what a single owner would have shown them."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import closing
from pathlib import Path

from checker import problems_of
from cluster_faults import Faults
from history import Recorded, read_history
from nightly import HISTORY
from postgres_server import PostgresServer
from ray_cluster import RayCluster

import screensearch as ss
from screensearch.cluster.engine import nodes_alive
from screensearch.cluster.launch import Attached, start_on_cluster
from screensearch.cluster.store import ClusterStore
from screensearch.environments.protocol import Means
from screensearch.environments.specification import open_environment
from screensearch.explore.messages import Receipt, Report
from screensearch.explore.worker import work

pytest_plugins = ["cluster_fixtures"]

ENVIRONMENT = "synthetic:generated?states=2000"  # one shard: the model knows no others
WORKERS = 3
SETTINGS = ss.resolve(overrides=["explore.screenshots=none"])
STEP_SECONDS = 0.05
"""How long an action takes: workers that need nothing for it leave the processor to nobody else, and have
the model a history to replay that is no better for being longer."""


class Joined(Attached):
    """The run, seen from a program that belongs to the cluster."""

    def nodes_alive(self) -> set[str]:
        return nodes_alive()


class Paced(Recorded):
    """The store of a worker whose actions take a while."""

    async def record(self, report: Report) -> Receipt:
        await asyncio.sleep(STEP_SECONDS)
        return await super().record(report)


async def drive(run: str, worker: int, history: Path) -> None:
    """A worker of this process, whose calls are noted."""
    world = open_environment(ENVIRONMENT, Means(screenshots=False))
    with closing(Paced(ClusterStore(run, time.time_ns()), history)) as store:
        await work(world, store, SETTINGS, folder=history, worker=worker, seed=3, first_episode=0)


async def test_a_history_with_owners_that_come_and_go_is_one_of_a_single_owner(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder, history = tmp_path / "run", tmp_path / "history"
    (history / "truth").mkdir(parents=True)
    run = await asyncio.to_thread(
        start_on_cluster,
        cluster.address,
        ENVIRONMENT,
        folder,
        settings=SETTINGS,
        stop=ss.StopRule(steps=1_000_000),
        workers=0,  # ours are here
        seed=3,
        store=database.url(),
    )
    attached = await asyncio.to_thread(Joined, cluster.address, folder)
    faults = Faults(attached, cluster, database, random.Random(3))
    at_work = [asyncio.ensure_future(drive(run, worker, history)) for worker in range(WORKERS)]
    await asyncio.to_thread(faults.wait, lambda view: view.progress.steps > 50)
    for name in HISTORY:
        await asyncio.to_thread(faults.inject, name)
    await asyncio.to_thread(attached.stop, "interrupted")
    await asyncio.gather(*at_work)
    summary = await asyncio.to_thread(attached.follow, lambda view: None)
    with ss.open_run(folder) as opened:
        assert opened.verify().problems == ()
        assert problems_of(history, opened.log, opened.settings) == []
        assert opened.graph.digest() == summary.digest
    assert len(read_history(history).calls) > summary.steps  # arrivals, too
