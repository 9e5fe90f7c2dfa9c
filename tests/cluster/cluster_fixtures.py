"""One real cluster and one real database for all tests of this folder: both take a while to start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import paced_world
import pytest
from postgres_server import PostgresServer, postgres_server
from ray_cluster import PASSWORD, RayCluster, ray_cluster


@pytest.fixture(scope="session")
def database() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin of the paced world."""
    folder = tmp_path_factory.mktemp("paced")
    paced_world.install(folder)
    return folder


@pytest.fixture(scope="session")
def started_cluster(paced: Path) -> Iterator[RayCluster]:
    """A head and a node with four slots."""
    settings = {"PGPASSWORD": PASSWORD, **paced_world.python_path(paced)}
    with ray_cluster(4, settings=settings) as started:
        yield started
        from screensearch.cluster.engine import disconnect

        disconnect()


@pytest.fixture
def cluster(started_cluster: RayCluster, paced: Path, monkeypatch: pytest.MonkeyPatch) -> RayCluster:
    """That cluster, for a test whose own processes know the paced world too. Other tests do not."""
    for name, value in paced_world.python_path(paced).items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(paced)
    return started_cluster
