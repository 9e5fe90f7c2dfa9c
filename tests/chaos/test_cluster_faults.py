"""Whatever dies or freezes on a cluster, and whenever: nothing acknowledged is lost, nothing counts twice.

``SCREENSEARCH_FAULTS=200`` is the nightly form.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

from cluster_faults import KINDS, SLOTS, SLOW, Faults
from postgres_server import PostgresServer
from ray_cluster import ray_cluster

import screensearch as ss
from screensearch.cluster.engine import disconnect
from screensearch.cluster.launch import Attached, start_on_cluster
from screensearch.domain.transition import Outcome
from screensearch.explore.store import make_resolver

pytest_plugins = ["cluster_fixtures"]

FAULTS = int(os.environ.get("SCREENSEARCH_FAULTS", "20"))
WORKERS = 2


def chosen(number: int, random: random.Random, *, networks: bool) -> list[str]:
    """So many faults: each kind at least once if there is room, those that take long no more than needed."""
    slow = [kind for kind in SLOW if networks or kind != "cut_off_node"]
    quick = [kind for kind in KINDS if kind not in SLOW]
    every = 20  # of so many, one is slow
    faults = [*slow, *quick]
    faults += [
        random.choice(slow if place % every == 0 else quick) for place in range(1, number - len(faults) + 1)
    ]
    faults = faults[:number]
    random.shuffle(faults)
    return faults


def test_a_run_outlasts_everything_that_may_happen_to_its_parts(
    database: PostgresServer, tmp_path: Path
) -> None:
    chance = random.Random(7)
    folder = tmp_path / "run"
    with ray_cluster(SLOTS, SLOTS) as cluster:
        try:
            start_on_cluster(
                cluster.address,
                "synthetic:generated?states=100000",
                folder,
                settings=ss.resolve(overrides=["explore.screenshots=none"]),
                stop=ss.StopRule(steps=100_000_000),
                workers=WORKERS,
                seed=1,
                store=database.url(),
            )
            attached = Attached(cluster.address, folder)
            faults = Faults(attached, cluster, database, chance)
            faults.wait(lambda view: view.progress.steps > 20)
            for name in chosen(FAULTS, chance, networks=cluster.network.works):
                faults.inject(name)
            attached.stop("interrupted")
            summary = attached.follow(lambda view: None)
        finally:
            disconnect()
    print(faults.seconds)
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()  # no gap, each step once and after the one before, refolded alike
        assert run.graph.digest() == summary.digest
        done = Counter(entry.outcome for entry in run.transitions())
        assert sum(done.values()) - done[Outcome.LOST] == summary.steps
        assert all(entry.note for entry in run.transitions() if entry.outcome is Outcome.LOST)
        alone = make_resolver(run.settings)  # one owner, to whom nothing has ever happened
        for (_, state, _), screen in run.log.known_screens():
            assert alone.resolve(screen).state == state
