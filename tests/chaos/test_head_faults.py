"""The head of a Ray cluster is killed: with outside storage the run goes on, without it can be resumed.

Only the nightly form does this (see test_cluster_faults.py): each head takes a while to come back.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from books import note_writers
from cluster_faults import QUICK, SLOTS, at_work
from fault_report import Report
from nightly import NIGHTLY, SEED, WITH_STORAGE, WITHOUT_STORAGE
from postgres_server import postgres_server
from ray_cluster import ray_cluster
from redis_server import PROGRAM
from trial import Trial

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="part of the nightly form: SCREENSEARCH_FAULTS=200")

TWO_SHARDS = "synthetic:notepad?modes=light,dark"
WORKERS = 3
SECONDS = 10.0


@pytest.mark.skipif(PROGRAM is None, reason="redis-server is not installed: apt-get install redis-server")
def test_a_run_goes_on_when_its_head_comes_back_with_outside_storage(tmp_path: Path) -> None:
    chance, report = random.Random(SEED), Report("head with outside storage", faults=WITH_STORAGE)
    with postgres_server() as database, ray_cluster(SLOTS, SLOTS, stored=True) as cluster:
        note_writers(database.url())
        with Trial(
            *(cluster, database, tmp_path / "run", chance),
            environment=TWO_SHARDS,
            steps=100_000_000,
            workers=WORKERS,
        ) as trial:
            trial.wait_for_steps(100)
            for _ in range(WITH_STORAGE):
                report.add("kill_head", trial.inject("kill_head"))
                trial.check_whole()
            trial.outside.stop()
            assert trial.finish().ended == "interrupted"


def test_a_run_is_resumed_on_a_new_cluster_when_its_head_took_the_old_one_with_it(tmp_path: Path) -> None:
    """Owners and workers of the old cluster go on for a while: what they do counts until then."""
    chance, report = random.Random(SEED), Report("head without outside storage", faults=WITHOUT_STORAGE)
    with postgres_server() as database, ray_cluster(SLOTS, SLOTS) as cluster:
        note_writers(database.url())
        with Trial(
            *(cluster, database, tmp_path / "run", chance),
            environment=TWO_SHARDS,
            steps=100_000_000,
            workers=WORKERS,
        ) as trial:
            trial.wait_for_steps(100)
            for _ in range(WITHOUT_STORAGE // 2):
                trial.faults.wait(at_work)
                cluster.head.kill()
                cluster.restart_head()
                for _ in range(2):
                    cluster.add_node(SLOTS)
                since = time.monotonic_ns()
                trial.resume()
                trial.faults.wait(at_work, "a new cluster")
                trial.wait_for_all("a new cluster")
                report.add("kill_head", trial.silence_since(since))
                trial.check_whole()
                name = chance.choice(QUICK)
                report.add(f"{name} on a new cluster", trial.inject(name))
            trial.outside.stop()
            assert trial.finish().ended == "interrupted"
