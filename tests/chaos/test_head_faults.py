"""The head of a Ray cluster is killed: with outside storage the run goes on, without it can be resumed.

Only the nightly form does this (see test_cluster_faults.py): each head takes a while to come back.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster_faults import QUICK, at_work
from fault_report import Report
from machine_faults import SLOTS
from nightly import NIGHTLY, RAY_SETTINGS, SEED, WITH_STORAGE, WITHOUT_STORAGE
from outside import Program
from postgres_server import PostgresServer
from ray_cluster import RayCluster, ray_cluster
from refusals import read_refusals
from trial import Trial, watched_database

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="part of the nightly form: SCREENSEARCH_FAULTS=200")

SEVERAL_SHARDS = "synthetic:notepad?modes=light,dark"
WORKERS = 3


def test_a_run_goes_on_when_its_head_comes_back_with_outside_storage(tmp_path: Path) -> None:
    chance, report = random.Random(SEED), Report("head with outside storage", faults=WITH_STORAGE)
    with run_under_way(tmp_path, chance, stored=True) as (trial, _, database):
        for name in (*["kill_head"] * (WITH_STORAGE - 1), "lose_head"):
            trial.inject(report, name)
            trial.check_whole()
        trial.outside.stop()
        assert trial.finish().ended == "interrupted"
        report.note(str(trial.books))
        report.refused(read_refusals(database.log))
    assert report.done == WITH_STORAGE
    assert report.too_long == []


def test_a_run_is_resumed_on_a_new_cluster_when_its_head_took_the_old_one_with_it(tmp_path: Path) -> None:
    """Its nodes are started anew as well; or they are frozen with it, others take their place, and then they
    go on: what their owners and workers do after that must not count.
    """
    chance, report = random.Random(SEED), Report("head without outside storage", faults=WITHOUT_STORAGE)
    with run_under_way(tmp_path, chance, stored=False) as (trial, cluster, database):
        for number in range(WITHOUT_STORAGE // 2):
            frozen = number % 2 == 1
            trial.faults.wait(at_work)
            begun = time.monotonic()
            for node in cluster.nodes if frozen else ():
                node.signal(signal.SIGSTOP)
            cluster.head.kill()
            cluster.restart_head()
            if not frozen:
                cluster.end_those_left()
            for _ in range(2):
                cluster.add_node(SLOTS)
            since = time.monotonic_ns()
            trial.resume()
            trial.faults.wait(at_work, "a new cluster")
            trial.wait_for_all("a new cluster")
            kind = "kill_head, freeze its nodes" if frozen else "kill_head"
            report.add(trial.silence_since(since), kind, spent=time.monotonic() - begun)
            for node in cluster.left:
                node.signal(signal.SIGCONT)
                trial.wait_for_all("a node of the old cluster that goes on")
            cluster.end_those_left()
            trial.check_whole()
            done = report.done
            while report.done == done:
                trial.inject(report, chance.choice(QUICK))
                assert report.too_late < WITHOUT_STORAGE
        trial.outside.stop()
        assert trial.finish().ended == "interrupted"
        report.note(str(trial.books))
        report.refused(read_refusals(database.log))
    assert report.done == WITHOUT_STORAGE
    assert report.too_long == []


@contextmanager
def run_under_way(
    folder: Path, chance: random.Random, *, stored: bool
) -> Iterator[tuple[Trial, RayCluster, PostgresServer]]:
    """A run on a cluster of its own, with a database of its own."""
    with (
        ray_cluster(SLOTS, SLOTS, stored=stored, settings=RAY_SETTINGS) as cluster,
        watched_database(cluster) as database,
        Program(cluster.address) as program,
    ):
        trial = Trial(
            *(cluster, program, database, folder / "run", chance),
            environment=SEVERAL_SHARDS,
            steps=100_000_000,
            workers=WORKERS,
        )
        trial.wait_for_steps(100)
        yield trial, cluster, database
