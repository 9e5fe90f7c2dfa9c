"""One real cluster and one real database for all tests of this folder: both take a while to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import PostgresServer, postgres_server
from ray_cluster import PASSWORD, RayCluster, ray_cluster


@pytest.fixture(scope="session")
def database() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    """A head and a node with four slots."""
    with ray_cluster(4, settings={"PGPASSWORD": PASSWORD}) as started:
        yield started
        from screensearch.cluster.engine import disconnect

        disconnect()
