"""What the owner makes of what a worker says: its starts without a step, and its time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sightings import ask, begin, open_store, report

from screensearch.config import Settings
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.explore.connection import STOP_SECONDS, Connection, patience_seconds
from screensearch.explore.messages import BeginFailed, Message
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import pack


class Answering:
    """An owner that answers at once."""

    def __init__(self, shard: ShardStore) -> None:
        self.shard = shard

    def take(self, connection: Connection, message: Message) -> None:
        (receipt,) = ask(self.shard, message)
        connection.send(receipt)

    def stopping_seconds(self) -> float:
        return 0.0


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[ShardStore]:
    settings = Settings()
    opened = open_store(tmp_path, replace(settings, explore=replace(settings.explore, episode_steps=2)))
    yield opened
    opened.log.close()


async def test_a_start_that_it_was_about_to_make_counts_whenever_its_episode_is_over(
    shard: ShardStore,
) -> None:
    connection = Connection(Answering(shard), 0)
    assert connection.futile == 1  # its first start

    def tell(message: Message) -> int:
        connection.data_received(pack(message))
        return connection.futile

    first = begin(0, 0, "go")
    assert tell(first) == 1  # it was made, and led to no step yet
    step = report(first, ask(shard, first)[0], "there")
    assert tell(step) == 0
    assert tell(report(step, ask(shard, step)[0], "there")) == 1  # the episode has its full length
    second = begin(0, 1, "go")
    assert tell(second) == 1
    assert tell(report(second, ask(shard, second)[0], outcome=Outcome.CRASH)) == 1  # it ended early
    assert tell(BeginFailed(EpisodeId(0, 2), Outcome.CRASH, Evidence())) == 2  # that one, and the next


class Busy(Answering):
    """An owner that answers when it is told to."""

    def __init__(self, shard: ShardStore) -> None:
        super().__init__(shard)
        self.waiting: list[tuple[Connection, Message]] = []

    def take(self, connection: Connection, message: Message) -> None:
        self.waiting.append((connection, message))

    def answer(self) -> None:
        for connection, message in self.waiting:
            super().take(connection, message)


async def test_a_worker_is_not_overdue_while_it_waits_for_an_answer(
    shard: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, owner = asyncio.get_running_loop(), Busy(shard)
    connection = Connection(owner, 0)
    start = loop.time()
    deadline = shard.settings.explore.step_deadline_seconds
    connection.data_received(pack(begin(0, 0, "go")))
    with monkeypatch.context() as later:
        later.setattr(loop, "time", lambda: start + 10 * deadline)
        assert connection.overdue() is None
        owner.answer()
        assert connection.overdue() is None  # its time begins now
        later.setattr(loop, "time", lambda: start + 20 * deadline)
        overdue = connection.overdue()
    assert overdue is not None
    assert "nothing was heard of it" in overdue


def test_a_step_under_way_is_waited_for_as_long_as_a_hang_takes_to_be_told() -> None:
    settings = Settings()
    slow = replace(settings, desktop=replace(settings.desktop, hang_seconds=30.0, grace_seconds=70.0))
    assert patience_seconds(slow) > 100
    quick = replace(settings, desktop=replace(settings.desktop, hang_seconds=1.0, grace_seconds=0.0))
    assert patience_seconds(quick) == STOP_SECONDS
