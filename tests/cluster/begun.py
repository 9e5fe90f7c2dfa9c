"""Runs that are begun on the cluster of the tests."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from postgres_server import PostgresServer
from ray_cluster import RayCluster

import screensearch as ss
from screensearch.cluster.launch import Attached, start_on_cluster
from screensearch.cluster.names import View

ENVIRONMENT = "synthetic:generated?states=500"
"""Of one look and one text size, so of one shard."""

PACED = "paced:generated?states=500"
"""The same at a pace, for runs that a test ends and that leave it the processor until then."""

ENDLESS = 1_000_000
"""More steps than are ever taken."""

SETTINGS = ss.resolve(overrides=["explore.screenshots=none"])


def begin(
    cluster: RayCluster,
    database: PostgresServer,
    folder: Path,
    *,
    steps: int = ENDLESS,
    workers: int = 1,
    environment: str = "",
    store: str = "",
    metrics: str = "",
    before_begin: Callable[[], object] = lambda: None,
) -> Attached:
    """Start a run; without an end, it goes at a pace."""
    start_on_cluster(
        cluster.address,
        environment or (PACED if steps == ENDLESS else ENVIRONMENT),
        folder,
        settings=SETTINGS,
        stop=ss.StopRule(steps=steps),
        workers=workers,
        seed=5,
        store=store or database.url(),
        metrics=metrics,
        before_begin=before_begin,
    )
    return Attached(cluster.address, folder)


def command(*arguments: str | Path, within: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """What a command of ours says; `within` comes before it."""
    return subprocess.run(
        [*within, sys.executable, "-m", "screensearch", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def nothing(view: View) -> None:
    """The run is followed, and nobody looks."""


def wait_until(condition: Callable[[], object]) -> None:
    while not condition():
        time.sleep(0.1)
