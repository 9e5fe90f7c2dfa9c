"""Batches, one committed while the next gathers: who is answered when, and who has the log."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from sightings import ask, begin, report

from screensearch.config import Settings
from screensearch.domain.screen import Screen
from screensearch.domain.transition import Outcome, Transition
from screensearch.errors import FormatError, StoreFailed
from screensearch.explore.messages import Message, Receipt
from screensearch.explore.serving import Serving
from screensearch.explore.store import ShardStore
from screensearch.identify.resolve import Prepared
from screensearch.record.log import Log
from screensearch.record.sqlite_log import SqliteLog

PATIENCE_SECONDS = 60.0


class GatedLog:
    """A log whose commits wait for leave, and which notes whoever uses it meanwhile."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.committing = threading.Event()
        self.leave = threading.Event()
        self.intruders: list[str] = []
        self.threads: set[str] = set()
        self.commits = 0
        self.failure: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        if self.committing.is_set():
            self.intruders.append(name)
        return getattr(self._log, name)

    def commit(self) -> None:
        self.committing.set()
        try:
            assert self.leave.wait(PATIENCE_SECONDS)
            self.threads.add(threading.current_thread().name)
            if self.failure is not None:
                raise self.failure
            self._log.commit()
            self.commits += 1
        finally:
            self.committing.clear()

    async def under_way(self) -> None:
        """Wait until a commit waits for leave."""
        assert await asyncio.to_thread(self.committing.wait, PATIENCE_SECONDS)


class Desk:
    """A store with a gated log, served, and what was answered in the order it came."""

    def __init__(self, folder: Path) -> None:
        self.gate = GatedLog(SqliteLog.create(folder / "log.sqlite"))
        self.shard = ShardStore(cast("Log", self.gate), Settings())
        self.serving = Serving(self.shard)
        self.answers: list[tuple[Message, Receipt | FormatError]] = []

    def say(self, message: Message) -> None:
        self.serving.take(message, lambda said: self.answers.append((message, said)))

    def receipt(self, message: Message) -> Receipt:
        (said,) = [said for asked, said in self.answers if asked is message]
        assert isinstance(said, Receipt)
        return said

    async def all_answered(self) -> None:
        async with self.serving.turn():
            pass


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.gate.leave.set()
    await made.serving.close()
    made.shard.log.close()


def transitions(shard: ShardStore) -> list[Transition]:
    return [entry for _, entry in shard.log.read() if isinstance(entry, Transition)]


async def test_nobody_is_answered_before_its_commit_and_the_next_batch_gathers_meanwhile(desk: Desk) -> None:
    first, *others = (begin(worker, 0, "go", str(worker)) for worker in range(4))
    desk.say(first)
    await desk.gate.under_way()
    for other in others:
        desk.say(other)
    assert desk.answers == []
    desk.gate.leave.set()
    await desk.all_answered()
    assert [asked for asked, _ in desk.answers] == [first, *others]
    assert desk.receipt(first).snapshot == 1
    assert {desk.receipt(other).snapshot for other in others} == {4}
    assert desk.gate.commits == 2
    assert desk.gate.intruders == []
    assert threading.current_thread().name not in desk.gate.threads


async def test_what_arrives_because_others_were_answered_belongs_to_the_next_batch(desk: Desk) -> None:
    """On a cluster it is handed in some turns of the loop after the answer."""
    first, second, third = (begin(worker, 0, "go", str(worker)) for worker in range(3))
    loop = asyncio.get_running_loop()

    def answered(said: Receipt | FormatError) -> None:
        loop.call_soon(loop.call_soon, loop.call_soon, desk.say, third)

    desk.serving.take(first, answered)
    await desk.gate.under_way()
    desk.say(second)
    desk.gate.leave.set()
    await desk.all_answered()
    assert desk.receipt(second).snapshot == desk.receipt(third).snapshot == 3
    assert desk.gate.commits == 2


async def test_screens_are_searched_for_while_a_commit_is_under_way(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[tuple[Prepared | None, bool]] = []
    prepare = desk.shard.resolver.prepare

    def noting(screen: Screen) -> Prepared | None:
        prepared.append((prepare(screen), desk.gate.committing.is_set()))
        return prepared[-1][0]

    monkeypatch.setattr(desk.shard.resolver, "prepare", noting)
    desk.say(begin(0, 0, "go"))
    await desk.gate.under_way()
    again, other = begin(1, 0, "go"), begin(2, 0, "stay", "here")
    desk.say(again)
    desk.say(other)
    desk.gate.leave.set()
    await desk.all_answered()
    assert [during for _, during in prepared] == [False, True, True]
    assert prepared[1][0] is None  # the memo has it
    assert prepared[2][0] is not None
    assert prepared[2][0].among == 1
    here = desk.receipt(other).here
    assert here is not None
    assert here.state == 1


async def test_whoever_wants_the_log_waits_for_the_commit_and_for_all_that_was_said_before(
    desk: Desk,
) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask_at_once(desk, start)
    desk.say(begin(1, 0, "go"))
    await desk.gate.under_way()
    desk.say(report(start, receipt, "there", "now"))

    async def lose() -> None:
        async with desk.serving.turn():
            desk.shard.lose(0, "killed")

    losing = asyncio.ensure_future(lose())
    desk.gate.leave.set()
    await losing
    assert desk.gate.intruders == []
    assert [(each.step, each.outcome) for each in transitions(desk.shard)] == [
        (1, Outcome.OK),
        (2, Outcome.LOST),
    ]


async def test_a_turn_that_is_not_waited_for_any_more_leaves_the_commit_alone(desk: Desk) -> None:
    start = begin(0, 0, "go")
    desk.say(start)
    await desk.gate.under_way()
    turn = asyncio.ensure_future(desk.all_answered())
    await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    desk.gate.leave.set()
    await desk.all_answered()
    assert desk.receipt(start).proceed
    assert desk.gate.intruders == []


async def test_closing_waits_for_the_commit_and_answers_what_was_said(desk: Desk) -> None:
    first, second = begin(0, 0, "go"), begin(1, 0, "go")
    desk.say(first)
    await desk.gate.under_way()
    desk.say(second)
    closing = asyncio.ensure_future(desk.serving.close())
    desk.gate.leave.set()
    await closing
    assert [asked for asked, _ in desk.answers] == [first, second]
    assert not desk.gate.committing.is_set()


async def test_a_closing_that_is_interrupted_still_gives_the_log_back(desk: Desk) -> None:
    desk.say(begin(0, 0, "go"))
    await desk.gate.under_way()
    closing = asyncio.ensure_future(desk.serving.close())
    await asyncio.sleep(0)
    closing.cancel()
    desk.gate.leave.set()
    with contextlib.suppress(asyncio.CancelledError):
        await closing
    assert not desk.gate.committing.is_set()


async def test_a_commit_that_fails_answers_nobody_and_is_told(desk: Desk) -> None:
    desk.say(begin(0, 0, "go"))
    await desk.gate.under_way()
    desk.say(begin(1, 0, "go"))
    desk.gate.failure = StoreFailed("no space left")
    desk.gate.leave.set()
    await desk.all_answered()  # which nobody is, nor ever will be
    assert desk.answers == []
    with pytest.raises(StoreFailed, match="no space left"):
        desk.serving.broken.result()
    async with desk.serving.turn():
        with pytest.raises(StoreFailed, match="the log could not be written: no space left"):
            desk.shard.lose(0, "killed")


async def test_a_bad_message_is_refused_alone(desk: Desk) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask_at_once(desk, start)
    good, bad = begin(1, 0, "go"), report(start, receipt)
    desk.say(bad)
    desk.say(good)
    desk.gate.leave.set()
    await desk.all_answered()
    assert isinstance(desk.answers[0][1], FormatError)
    assert desk.receipt(good).proceed


async def test_a_search_ahead_that_fails_ends_the_run_with_its_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(screen: Screen) -> None:
        raise ZeroDivisionError("an identifier of somebody else's")

    monkeypatch.setattr(desk.shard.resolver, "prepare", fail)
    desk.say(begin(0, 0, "go"))
    with pytest.raises(ZeroDivisionError, match="somebody else"):
        desk.serving.broken.result()
    await desk.all_answered()
    assert desk.answers == []
    assert desk.shard.log.last_sequence == 0


def ask_at_once(desk: Desk, message: Message) -> list[Receipt]:
    """The same store, unpipelined: commits need no leave."""
    desk.gate.leave.set()
    try:
        return ask(desk.shard, message)
    finally:
        desk.gate.leave.clear()
        desk.gate.threads.clear()
