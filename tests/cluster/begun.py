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

SETTINGS = ss.resolve(overrides=["explore.screenshots=none"])


def begin(
    cluster: RayCluster,
    database: PostgresServer,
    folder: Path,
    *,
    steps: int = 1_000_000,
    workers: int = 1,
    environment: str = ENVIRONMENT,
    store: str = "",
    metrics: str = "",
    before_begin: Callable[[], object] = lambda: None,
) -> Attached:
    start_on_cluster(
        cluster.address,
        environment,
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
