"""What workers see of a store, many at once and whatever breaks, is what one owner would have shown them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from checker import problems_of
from crew import Crew
from history import read_history
from owners import Owners
from postgres_faults import end_connections
from postgres_server import PostgresServer

from screensearch.config import Settings, resolve
from screensearch.domain.transition import Outcome
from screensearch.record.log import Log
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.sqlite_log import SqliteLog

pytest_plugins = ["postgres_fixtures"]

WORLD = "synthetic:generated?states=60&hazards=1.0&races=0.3"
WORKERS = 4
BAD_LINE = {"never_sent": 0.03, "answer_lost": 0.05, "sent_twice": 0.05}


@pytest.fixture
def history(tmp_path: Path) -> Path:
    folder = tmp_path / "history"
    folder.mkdir()
    return folder


@asynccontextmanager
async def at_work(
    open_log: Callable[[], Log], history: Path, settings: Settings, steps: int, **faults: float
) -> AsyncIterator[Crew]:
    """Workers under way; when the body is left, they finish, and the history that they leave is checked."""
    owners = Owners(open_log, settings, steps)
    await owners.replace()
    try:
        crew = Crew(owners, WORLD, settings, history, faults=faults)
        for worker in range(WORKERS):
            crew.start(worker)
        async with asyncio.timeout(120):
            yield crew
            await crew.finish()
        log = owners.present.shard.log
        assert problems_of(history, log, settings) == []
        assert sum(1 for _, entry in log.read() if entry.step) >= steps  # lost ones may come on top
    finally:
        await owners.close()


def postgres_log(url: str) -> Callable[[], Log]:
    """The first owner makes the log; every other one takes it over."""
    made: list[bool] = []

    def open_log() -> Log:
        if made:
            return PostgresLog.open_to_write(url, "run", "", take_over=True)
        made.append(True)
        return PostgresLog.create(url, "run", "")

    return open_log


@pytest.mark.parametrize("in_flight", ["false", "true"])
async def test_workers_over_a_bad_line_see_one_store(tmp_path: Path, history: Path, in_flight: str) -> None:
    settings = resolve(overrides=[f"select.count_in_flight={in_flight}", "explore.episode_steps=20"])
    log = SqliteLog.create(tmp_path / "log.sqlite")
    async with at_work(lambda: log, history, settings, 250, **BAD_LINE) as crew:
        for number in range(5):
            await crew.owners.until(30 * (number + 1))
            await crew.kill(number % WORKERS)
    seen = read_history(history)
    assert len({call.life for call in seen.calls}) == WORKERS + 5
    assert any(call.failure for call in seen.calls)
    assert bool(seen.announced) == (in_flight == "true")
    assert max(crew.owners.present.batches) > 1
    assert crew.owners.present.shard.graph.outcomes[Outcome.LOST] > 0


async def test_a_life_that_was_given_up_but_goes_on_is_refused(tmp_path: Path, history: Path) -> None:
    log = SqliteLog.create(tmp_path / "log.sqlite")
    async with at_work(lambda: log, history, Settings(), 200) as crew:
        for number in range(6):
            await crew.owners.until(25 * (number + 1))
            await crew.give_up(number % WORKERS)
    assert crew.refused > 0


async def test_workers_see_one_store_while_its_server_fails(
    server: PostgresServer, url: str, history: Path
) -> None:
    settings = Settings()
    async with at_work(postgres_log(url), history, settings, 250, **BAD_LINE) as crew:
        for number in range(6):
            await crew.owners.until(30 * (number + 1))
            if number % 3 == 2:
                await asyncio.to_thread(server.stop, "immediate")
                await asyncio.to_thread(server.start)
            else:
                await asyncio.to_thread(end_connections, url)


async def test_workers_see_one_store_through_all_its_owners(url: str, history: Path) -> None:
    settings = Settings()
    async with at_work(postgres_log(url), history, settings, 250, old_address=0.15, **BAD_LINE) as crew:
        for number in range(6):
            await crew.owners.until(30 * (number + 1))
            await crew.owners.replace()
            await crew.kill(number % WORKERS)
    assert len(crew.owners.all) == 7
