"""A server for each module of tests, and in it a database and a log for each test. A plugin of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from postgres_faults import SCREEN, arrival
from postgres_server import PostgresServer, postgres_server

from screensearch.record.postgres_log import PostgresLog


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def url(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """A database of the test's own."""
    name = f"test_{abs(hash(request.node.name))}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.url(name)


@pytest.fixture
def log(url: str) -> Iterator[PostgresLog]:
    with closing(PostgresLog.create(url, "run", "")) as log:
        log.add_screen(SCREEN, b"[]")
        log.append(arrival(0))
        log.commit()
        yield log
