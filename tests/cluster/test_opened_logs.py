"""Whose log is taken, who tries when one cannot be opened, and when that ends a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from owner_stand_ins import SERVING, Opening, answering, owned, owners_of, raised
from stand_ins import Actor, job, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import keeping, owners, shards
from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone
from screensearch.cluster.names import OwnerBroke, Place
from screensearch.errors import (
    NotLetIn,
    RunBusy,
    RunContended,
    ScreenSearchError,
    StoreFailed,
)


async def test_what_may_pass_ends_nothing_and_only_an_owner_that_had_the_log_makes_it_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[tuple[bool, bool]]()
    fails = TimeoutError(), StoreFailed("the connection was lost"), RunContended("at this moment")
    gone = replace(SERVING, failure="the connection was lost")
    opened = Opening(asked, None, SERVING, SERVING, SERVING, gone)
    on(monkeypatch, *(Opening(asked, each) for each in fails), opened, Opening(asked))
    answering(monkeypatch, True, True, True)
    held = owners_of(job(), shards.Shard(0, None, take_over=True))
    despair = asyncio.ensure_future(held.despair())
    await until(lambda: held.locate(0) == Place(0, 5, "run/owner/0/5"))
    held.end()
    assert asked == [(True, False)] * 4 + [(False, True)]  # what was said at the start counts once
    assert not despair.done()
    despair.cancel()


@pytest.mark.parametrize("before", [False, True])
async def test_a_log_that_somebody_else_has_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """Also one that lost the database and finds another exploration at work when it is back."""
    asked = list[tuple[bool, bool]]()
    away, busy = Opening(asked, StoreFailed("it is away")), Opening(asked, RunBusy("it is owned by lab3"))
    on(monkeypatch, away, busy, *(Opening(asked, RunBusy("it is owned by lab3")) for _ in range(1000)))
    held = owners_of(job(), shards.Shard(0, None, held=before))
    with pytest.raises(RunBusy, match="it is owned by lab3"):
        await held.despair()
    held.end()
    assert asked[:2] == [(False, before)] * 2


async def test_a_log_that_may_be_somebody_elses_is_not_taken_because_a_process_started_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[tuple[bool, bool]]()
    on(monkeypatch, Actor(), Opening(asked))
    monkeypatch.setattr(keeping, "START_SECONDS", 0.1)
    held = owners_of(job(), shards.Shard(0, None))
    await until(lambda: held.locate(0) is not None)
    held.end()
    assert asked == [(False, False)]


class Locked:
    """In the place of a database that lets nobody in from here, after it was away."""

    def __init__(self, *before: ScreenSearchError) -> None:
        self._before = list(before)
        self.asked = 0

    def __call__(self, url: str, run: str, shard: int = 0) -> Locked:
        return self

    def latest_shards(self) -> list[int]:
        self.asked += 1
        raise self._before.pop(0) if self._before else NotLetIn("it wants a password")


async def test_a_run_ends_if_its_database_wants_a_password_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is away comes back; but nobody brings a password to a node that has none."""
    away = StoreFailed("it is away")
    locked = Locked(*[away] * 30)
    monkeypatch.setattr(owners, "PostgresStore", locked)
    monkeypatch.setattr(owners, "actors_of", lambda run: [])
    account = Account()
    held = owners.Owners(job(), lambda shard: keeping.AtWork({}, []), account)
    with pytest.raises(NotLetIn, match="wants a password"):
        await held.find({}, {}, {}, held=False)
    assert locked.asked == 30 + keeping.MOST_REFUSALS
    assert account.troubles[0].why == "it is away"


@pytest.mark.parametrize(
    ("problem", "hopeless"), [(NotLetIn("it wants a password"), True), (StoreFailed("it is away"), False)]
)
async def test_owners_that_are_not_let_in_one_after_another_end_the_run(
    monkeypatch: pytest.MonkeyPatch, problem: ScreenSearchError, hopeless: bool
) -> None:
    held = owners.Owners(job(), lambda shard: keeping.AtWork({}, []), Account())
    shard = shards.Shard(0, None)
    given_up = []
    for _ in range(keeping.MOST_REFUSALS):
        held._keeper._lose_hope(shard, problem)
        given_up.append(held.given_up)
    assert given_up == [False] * (keeping.MOST_REFUSALS - 1) + [hopeless]
    if hopeless:
        with pytest.raises(NotLetIn):
            await held.despair()


async def test_who_waits_no_longer_for_a_log_without_hope_has_given_none_up() -> None:
    """A run that ends for another reason closes its logs."""
    held = owners.Owners(job(), lambda shard: keeping.AtWork({}, []), Account())
    despair = asyncio.ensure_future(held.despair())
    await asyncio.sleep(0)
    despair.cancel()
    await asyncio.wait([despair])
    assert not held.given_up


async def test_an_owner_that_could_not_open_its_log_is_followed_by_one_on_another_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class CutOff(Actor):
        async def _open(self, *arguments: Any, **named: Any) -> None:
            raise Gone("cannot connect")

    cut_off = CutOff(SERVING)
    cluster = on(monkeypatch, cut_off, Actor(*[SERVING] * 1000))
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) == Place(0, 2, "run/owner/0/2"))
    assert cluster.avoided == ["", "a"]


async def test_an_owner_that_is_not_done_with_its_log_in_time_is_followed_by_one_that_has_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Folds(Actor):
        async def _open(self, *arguments: Any, **named: Any) -> None:
            await asyncio.sleep(0.15)

    on(monkeypatch, *(Folds(*[SERVING] * 1000) for _ in range(3)))
    monkeypatch.setattr(keeping, "OPEN_SECONDS", 0.05)
    account = Account()
    async with owned(monkeypatch, account) as held:
        await until(lambda: held.locate(0) == Place(0, 3, "run/owner/0/3"))
    assert [each.why for each in account.troubles] == ["not within 0 s", "not within 0 s"]


async def test_while_the_database_is_away_the_third_process_tries_again_and_few_others_are_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries, back = list[int](), asyncio.Event()

    class Trying(Actor):
        def __init__(self, number: int) -> None:
            super().__init__(*[SERVING] * 1000)
            self._number = number

        async def _open(self, *arguments: Any, **named: Any) -> None:
            tries.append(self._number)
            if not back.is_set():
                raise raised(StoreFailed("cannot connect"))

    cluster = on(monkeypatch, *(Trying(number) for number in range(9)))
    answering(monkeypatch)
    async with owned(monkeypatch) as held:
        await until(lambda: len(tries) >= 15)
        back.set()
        await until(lambda: held.locate(0) == Place(0, 6, "run/owner/0/6"))
    assert tries[:13] == [0, 1, *[2] * 8, 3, 4, 5]  # now and then the nodes have their turn again
    assert len(cluster.avoided) == 6


async def test_a_database_that_answers_here_is_tried_from_another_node_however_often_it_was_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The way from there may be what is wrong."""
    there = [Opening([], StoreFailed("cannot connect")) for _ in range(5)]
    cluster = on(monkeypatch, *there, Actor(*[SERVING] * 1000))
    answering(monkeypatch, *[True] * 5)
    async with owned(monkeypatch) as held:
        await until(lambda: held.locate(0) == Place(0, 6, "run/owner/0/6"))
    assert cluster.avoided == ["", *["a"] * 5]


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (lambda: raised(OwnerBroke("KeyError('x')")), r"KeyError\('x'\)"),
        (lambda: Gone("it was killed for want of memory"), "could not open its log, .* want of memory"),
    ],
)
async def test_owners_that_break_over_their_log_one_after_another_end_the_run(
    monkeypatch: pytest.MonkeyPatch, fails: Callable[[], Exception], said: str
) -> None:
    class Breaking(Actor):
        async def _open(self, *arguments: Any, **named: Any) -> None:
            raise fails()

    cluster = on(monkeypatch, *(Breaking(*[SERVING] * 10) for _ in range(1000)))
    monkeypatch.setattr(keeping, "LONGEST_PAUSE_SECONDS", 0.05)
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(StoreFailed, match=said):
        await asyncio.wait_for(held.despair(), 20)
    held.end()
    assert len(cluster.avoided) == keeping.MOST_REFUSALS


async def test_an_owner_that_opens_its_log_when_nobody_needs_it_any_more_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Waiting(Actor):
        opening = False

        async def _open(self, *arguments: Any, **named: Any) -> None:
            self.opening = True
            await asyncio.Event().wait()  # for a database that is away

    waiting = Waiting(*[SERVING] * 1000)
    cluster = on(monkeypatch, waiting)
    async with owned(monkeypatch) as held:
        await until(lambda: waiting.opening)
        held.end()
        await until(lambda: cluster.ended == [waiting])
