"""What takes the place of an owner that went silent, is cut off or does not start, and when."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from owner_stand_ins import DARK, SERVING, answering, owned
from stand_ins import Actor, Method, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import doubts, keeping, shards
from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone
from screensearch.cluster.names import OwnerReport, Place


async def test_the_next_owner_after_a_silent_one_is_placed_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    first, account = Actor(SERVING, SERVING, SERVING), Account()
    cluster = on(monkeypatch, first, Actor(*[SERVING] * 1000))
    async with owned(monkeypatch, account) as held:
        await until(lambda: len(cluster.avoided) == 2 and held.locate(0) is not None)
    assert cluster.avoided == ["", "a"]
    assert cluster.ended == [first]
    (trouble,) = account.troubles
    assert trouble.what == f"the owner of shard 0 was replaced: {trouble.why}"
    assert "did not answer" in trouble.why
    assert trouble.shard == 0
    assert account.counts().replacements == 1


async def test_the_process_of_the_next_owner_starts_before_a_silent_one_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, third = Actor(SERVING, SERVING), Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, first, second, third)
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    async with owned(monkeypatch) as held:
        await until(lambda: len(cluster.avoided) == 2)
        assert not cluster.ended
        monkeypatch.setattr(keeping, "SILENT_SECONDS", 0.5)
        monkeypatch.setattr(doubts, "FIRST_PAUSE_SECONDS", 0.0)
        first.say(SERVING)  # it was busy
        await until(lambda: cluster.ended == [second])
        await until(lambda: held.locate(0) == Place(0, 3, "run/owner/0/3"))
    assert cluster.ended[:2] == [second, first]
    assert cluster.avoided == ["", "a", "a"]


async def test_a_spare_that_is_gone_as_well_is_followed_by_another_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Lost(Actor):
        async def _report(self) -> OwnerReport:
            await super()._report()
            raise Gone("its node died")

    first, spare, third = Actor(SERVING, SERVING), Lost(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, first, spare, third)
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    account = Account()
    async with owned(monkeypatch, account) as held:
        await until(lambda: len(cluster.avoided) == 2)
        await until(lambda: account.troubles)
        spare.say(SERVING)
        await until(lambda: held.locate(0) == Place(0, 3, "run/owner/0/3"))
    assert cluster.avoided == ["", "a", "a"]
    assert len(account.troubles) == 1  # the first was silent; that no log was opened meanwhile is none


async def test_a_node_whose_owner_was_silent_is_avoided_until_there_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, unstarted = Actor(SERVING, SERVING), Actor()
    cluster = on(monkeypatch, first, unstarted, Actor(*[SERVING] * 1000))
    monkeypatch.setattr(keeping, "START_SECONDS", 0.1)
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) == Place(0, 3, "run/owner/0/3"))
    assert cluster.avoided == ["", "a", "a"]


async def test_an_owner_has_longer_to_start_after_one_that_was_too_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a machine on which none starts in that time, one after another would be started for nothing."""
    on(monkeypatch, Actor(), Actor(), Actor(), Actor(*[SERVING] * 1000))
    monkeypatch.setattr(keeping, "START_SECONDS", 0.1)
    monkeypatch.setattr(keeping, "LONGEST_START_SECONDS", 0.2)
    account = Account()
    async with owned(monkeypatch, account) as held:
        await until(lambda: held.locate(0) is not None)
    waited = [each.why.rpartition("its process did not start within ")[2] for each in account.troubles]
    assert waited == ["0.1 s", "0.2 s", "0.2 s"]


async def test_an_owner_that_does_not_start_while_others_are_at_work_gets_company_beside_the_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its node may have been cut off a moment ago."""
    first, cut_off, beside = Actor(*[SERVING] * 1000), Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, first, cut_off, beside)
    monkeypatch.setattr(keeping, "LATE_SECONDS", 0.05)
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) is not None)
        assert held.shard(DARK) == 1
        await until(lambda: held.locate(1) is not None)
        assert held.locate(1) == Place(1, 2, "run/owner/1/2")
        assert cluster.at_head == ["run/owner/1/2"]
        assert cluster.ended == [cut_off]


async def test_of_two_that_start_the_first_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    late, beside = Actor(), Actor()
    cluster = on(monkeypatch, Actor(*[SERVING] * 1000), late, beside)
    monkeypatch.setattr(keeping, "LATE_SECONDS", 0.05)
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) is not None)
        held.shard(DARK)
        await until(lambda: cluster.at_head == ["run/owner/1/2"])
        late.say(*[SERVING] * 1000)
        await until(lambda: held.locate(1) == Place(1, 1, "run/owner/1/1"))
        assert cluster.ended == [beside]


async def test_where_nobody_is_at_work_yet_a_slow_start_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that starts everything at once is not to start more."""
    slow = Actor()
    cluster = on(monkeypatch, slow, Actor(*[SERVING] * 1000))
    monkeypatch.setattr(keeping, "LATE_SECONDS", 0.01)
    looks, wait = 0, asyncio.wait

    async def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal looks
        looks += 1
        return await wait(*arguments, **named)

    monkeypatch.setattr(asyncio, "wait", counted)
    async with owned(monkeypatch) as held:
        await until(lambda: looks > 5)
        slow.say(*[SERVING] * 1000)
        await until(lambda: held.locate(0) == Place(0, 1, "run/owner/0/1"))
    assert not cluster.at_head
    assert not cluster.ended


async def test_what_an_owner_says_after_it_was_replaced_is_not_so_any_more() -> None:
    late = Actor()
    shard = shards.Shard(0, None, actor=late)
    looking = asyncio.ensure_future(keeping.look(shard))
    await asyncio.sleep(0)
    shard.actor = Actor()
    late.say(replace(SERVING, recorded=7))
    await looking
    assert shard.recorded == 0


async def test_an_owner_that_dies_after_it_closed_its_log_has_no_successor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would take a log that nobody needs, and be ended with the lease in its hands."""
    closing = asyncio.Event()

    class Closing(Actor):
        def __init__(self, waits: bool) -> None:
            super().__init__(*[SERVING] * 1000)
            self._waits = waits
            self.close = Method(self._close)

        async def _close(self) -> str:
            if self._waits:
                await closing.wait()
            return "digest"

        async def _report(self) -> OwnerReport:
            if not self._waits and first.closed:
                raise Gone("it died")
            return SERVING

        closed = False

    first, second = Closing(waits=False), Closing(waits=True)
    cluster = on(monkeypatch, first, second, Actor(*[SERVING] * 1000))
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) is not None)
        held.shard(DARK)
        await until(lambda: held.locate(1) is not None)
        closed = asyncio.ensure_future(held.close())
        await asyncio.sleep(0.05)
        first.closed = True
        await asyncio.sleep(0.2)  # some looks
        closing.set()
        assert await closed == ["digest", "digest"]
    assert len(cluster.avoided) == 2


async def test_an_owner_whose_database_answers_others_is_replaced_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = replace(SERVING, silent_seconds=4.0)
    first, second, account = Actor(SERVING, SERVING, *[waits] * 1000), Actor(*[SERVING] * 1000), Account()
    cluster = on(monkeypatch, first, second)
    answering(monkeypatch, False, False, True)  # it was busy
    async with owned(monkeypatch, account) as held:
        await until(lambda: held.locate(0) == Place(0, 2, "run/owner/0/2"))
    assert cluster.avoided == ["", "a"]
    assert cluster.ended == [first]
    assert "the database does not answer it" in account.trouble


async def test_an_owner_that_waits_for_a_database_that_answers_nobody_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = replace(SERVING, silent_seconds=4.0)
    first, spare = Actor(SERVING, SERVING, *[waits] * 20, *[SERVING] * 1000), Actor()
    cluster = on(monkeypatch, first, spare)
    left = answering(monkeypatch, *[False] * 20)
    async with owned(monkeypatch) as held:
        await until(lambda: not left)
        await until(lambda: cluster.ended)
        assert cluster.ended == [spare]  # which was made ready, and is not needed
        assert held.locate(0) == Place(0, 1, "run/owner/0/1")


async def test_a_database_that_was_away_does_not_keep_the_next_owner_from_starting_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = replace(SERVING, silent_seconds=2.0)
    first, spare, second = Actor(SERVING, SERVING, waits, SERVING), Actor(), Actor()
    cluster = on(monkeypatch, first, spare, second)
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    async with owned(monkeypatch):
        await until(lambda: cluster.ended == [spare])  # the database was back
        await until(lambda: len(cluster.avoided) == 3)  # and now the owner is silent
    assert cluster.avoided == ["", "a", "a"]


async def test_an_owner_that_goes_is_replaced_though_the_database_keeps_the_conductor_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()
    monkeypatch.setattr(
        keeping, "PostgresStore", lambda *place: SimpleNamespace(answers=lambda: answered.wait(30))
    )
    monkeypatch.setattr(keeping, "ANSWER_SECONDS", 0.05)
    waits = replace(SERVING, silent_seconds=4.0)
    gone = replace(SERVING, failure="it was told to end")
    on(monkeypatch, Actor(SERVING, SERVING, waits, waits, gone), Actor(*[SERVING] * 1000))
    try:
        async with owned(monkeypatch) as held:
            await until(lambda: held.locate(0) == Place(0, 2, "run/owner/0/2"))
    finally:
        answered.set()


async def test_an_owner_that_says_it_is_well_and_gets_to_nothing_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stuck = replace(SERVING, stuck_seconds=keeping.STUCK_SECONDS)
    first, account = Actor(SERVING, SERVING, *[stuck] * 1000), Account()
    cluster = on(monkeypatch, first, Actor(*[SERVING] * 1000))
    async with owned(monkeypatch, account) as held:
        await until(lambda: held.locate(0) == Place(0, 2, "run/owner/0/2"))
    assert cluster.ended == [first]
    assert "it got to nothing for 300 s" in account.trouble
