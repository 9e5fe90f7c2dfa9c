"""What takes the place of an owner that went silent or does not start, and when; and whose log is taken."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from stand_ins import Actor, Method, job, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import doubts, keeping, owners, shards
from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone
from screensearch.cluster.names import Job, OwnerBroke, OwnerReport, Place
from screensearch.domain.screen import Metadata
from screensearch.domain.shard import shard_key
from screensearch.errors import (
    AcknowledgedLost,
    NotLetIn,
    RunBusy,
    RunContended,
    ScreenSearchError,
    StoreFailed,
)
from screensearch.explore.budget import StopRule
from screensearch.explore.progress import Figures

SERVING = OwnerReport(
    node="10.0.0.2",
    node_id="a",
    process=1,
    figures=Figures(),
    key=None,
    limit=None,
    left=None,
    under_way=0,
    queue=0,
    answer_seconds=0.0,
    epoch=1,
    metrics="",
)


@asynccontextmanager
async def owned(
    monkeypatch: pytest.MonkeyPatch, account: Account | None = None
) -> AsyncIterator[owners.Owners]:
    """The owners of one shard, whose log does not grow."""
    held = owners.Owners(job(), lambda shard: keeping.AtWork({}, []), account or Account())

    async def records(shard: int, epoch: int) -> bool:
        return False

    monkeypatch.setattr(held._keeper, "records", records)
    held.shard(shard_key(Metadata("app", "light", "1.0", "main")))
    try:
        yield held
    finally:
        held.end()


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


DARK = shard_key(Metadata("app", "dark", "1.0", "main"))
LIGHT = shard_key(Metadata("app", "light", "1.0", "main"))


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


class Opening(Actor):
    """An owner that opens its log, or says why not; then it says how it is."""

    def __init__(
        self, asked: list[tuple[bool, bool]], fails: Exception | None = None, *says: OwnerReport
    ) -> None:
        super().__init__(*says or [SERVING] * 1000)
        self._asked, self._fails = asked, fails

    async def _open(self, *arguments: Any, **named: Any) -> None:
        self._asked.append((named["take_over"], named["again"]))
        if self._fails is not None:
            raise raised(self._fails)


def raised(cause: Exception) -> Gone:
    """As Ray raises what was raised in an actor."""
    problem = Gone(str(cause))
    problem.cause = cause  # type: ignore[attr-defined]
    return problem


def owners_of(wanted: Job, *existing: shards.Shard) -> owners.Owners:
    """The owners of these shards."""
    held = owners.Owners(wanted, lambda shard: keeping.AtWork({}, []), Account())
    for shard in existing:
        held._have(shard)
    return held


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


# -- what the database has lost -------------------------------------------------------------------

LOST = replace(SERVING, recorded=7, failure="the server lost acknowledged entries 5..7", lost=True)


async def test_what_an_owner_says_is_lost_ends_the_run_and_nobody_writes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = on(monkeypatch, first := Actor(SERVING, SERVING, LOST), Actor(*[SERVING] * 1000))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match=r"lost acknowledged entries 5\.\.7"):
        await held.despair()
    assert held.locate(0) is None
    assert cluster.ended == [first]
    assert cluster.avoided == [""]  # no other was placed
    held.end()


async def test_what_is_lost_is_found_though_the_owner_dies_before_it_can_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = replace(SERVING, recorded=7)
    gone = replace(SERVING, recorded=7, failure="the connection was lost")
    first, second = Actor(SERVING, told, gone), Actor(*[replace(SERVING, recorded=4)] * 1000)
    cluster = on(monkeypatch, first, second, Actor(*[SERVING] * 1000))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match=r"entries 5\.\.7 are lost: .* Nothing more is written"):
        await held.despair()
    assert held.locate(0) is None
    assert cluster.ended == [first, second]
    held.end()


async def test_an_owner_that_finds_the_loss_while_it_opens_the_log_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = on(monkeypatch, Opening([], AcknowledgedLost("lost entries 5..7")), Opening([]))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match="lost entries"):
        await held.despair()
    assert cluster.avoided == [""]
    held.end()


async def test_the_next_life_of_a_conductor_hears_what_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"run/owner/0/1": Actor(LOST)}
    on(monkeypatch)
    stand_in(monkeypatch, there)
    with pytest.raises(AcknowledgedLost, match="lost acknowledged entries"):
        await owners_of(job()).find({}, {}, {}, held=True)


@pytest.mark.parametrize("shard", [0, 1])
async def test_the_next_life_of_a_conductor_finds_what_is_lost_though_no_owner_is_there(
    shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a shard that the database has no more: it is not explored anew as if it had been empty."""
    on(monkeypatch, *(Actor(*[replace(SERVING, recorded=4)] * 1000) for _ in range(2)))
    stand_in(monkeypatch, {})
    held = owners_of(job())
    finding = asyncio.ensure_future(held.find({}, {shard: 7}, {}, held=True))
    with pytest.raises(AcknowledgedLost, match=rf"the log of shard {shard} ends with entry 4, .* 5\.\.7"):
        await asyncio.wait_for(held.despair(), 20)
    finding.cancel()
    held.end()


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


# -- those that are there -------------------------------------------------------------------------


def stand_in(monkeypatch: pytest.MonkeyPatch, there: dict[str, Actor]) -> None:
    """Let these be there, and a database with one shard."""
    monkeypatch.setattr(owners, "actors_of", lambda run: list(there))
    monkeypatch.setattr(keeping, "look_up", there.get)
    monkeypatch.setattr(owners, "PostgresStore", lambda *place: SimpleNamespace(latest_shards=lambda: [0]))


@pytest.mark.parametrize(
    ("held", "report", "asked"),
    [
        (False, None, (True, False)),
        (False, replace(SERVING, epoch=0), (True, False)),
        (False, replace(SERVING, failure="the connection was lost"), (False, True)),
        (True, None, (False, True)),
    ],
)
async def test_a_conductor_that_is_started_anew_takes_a_log_by_force_only_if_it_was_not_held_yet(
    monkeypatch: pytest.MonkeyPatch, held: bool, report: OwnerReport | None, asked: tuple[bool, bool]
) -> None:
    tries = list[tuple[bool, bool]]()
    on(monkeypatch, Opening(tries))
    monkeypatch.setattr(keeping, "START_SECONDS", 0.2)  # the spare says no more
    stand_in(monkeypatch, {} if report is None else {"run/owner/0/1": Actor(report)})
    found = owners_of(replace(job(), take_over=True))
    await found.find({}, {}, {}, held=held)
    found.end()
    assert tries == [asked]


async def test_of_several_owners_that_are_there_the_latest_that_has_the_log_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unopened = replace(SERVING, epoch=0)
    there = {f"run/owner/0/{number}": Actor(*[each] * 1000) for number, each in ((1, SERVING), (2, unopened))}
    cluster = on(monkeypatch)
    stand_in(monkeypatch, there)
    held = owners_of(job())
    await held.find({}, {}, {}, held=True)
    assert held.locate(0) == Place(0, 1, "run/owner/0/1")
    assert cluster.ended == [there["run/owner/0/2"]]
    held.end()


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


# -- those that are cut off from the database -----------------------------------------------------


def answering(monkeypatch: pytest.MonkeyPatch, *answers: bool) -> list[bool]:
    """A database that answers the conductor, or not, each time it is asked; what is left of that."""
    left = list(answers)
    monkeypatch.setattr(
        keeping,
        "PostgresStore",
        lambda *place: SimpleNamespace(answers=lambda: left.pop(0) if left else False),
    )
    return left


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


async def test_an_owner_that_opens_its_log_for_a_conductor_that_is_gone_is_not_asked_to_open_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening, tries = Opening([], None, replace(SERVING, epoch=0, opening=True)), list[tuple[bool, bool]]()
    cluster = on(monkeypatch, Opening(tries))
    stand_in(monkeypatch, {"run/owner/0/1": opening})
    held = owners_of(job())
    await held.find({}, {}, {}, held=True)
    held.end()
    assert cluster.ended == [opening]
    assert len(tries) == 1


@pytest.mark.parametrize("limits", [{0: 60, 1: 40}, {0: 60, 1: 80}])
async def test_owners_that_are_gone_with_their_conductor_are_followed_by_some_that_may_grant_as_much(
    limits: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the conductor was lost in the middle of a move: together they grant what the run shall have."""
    granted, allotted = dict[int, int](), dict[int, int]()

    class Granting(Actor):
        """It has granted 40 steps already."""

        def __init__(self) -> None:
            super().__init__()
            self.allot, self._number = Method(self._allot), 0

        async def _open(self, job: Job, number: int, steps: int, **named: Any) -> None:
            self._number, granted[number], allotted[number] = number, steps, steps

        async def _allot(self, limit: int) -> int:
            allotted[self._number] = max(limit, 40)
            return allotted[self._number]

        async def _report(self) -> OwnerReport:
            return replace(SERVING, limit=allotted.get(self._number))

    on(monkeypatch, Granting(), Granting())
    stand_in(monkeypatch, {})
    held = owners_of(replace(job(), stop=StopRule(steps=100)))
    await held.find({0: DARK, 1: LIGHT}, {}, limits, held=True)
    held.end()
    assert granted == limits
    assert sum(allotted.values()) == 100


async def test_the_next_owner_starts_while_one_from_before_the_conductor_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent, spare = Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, spare)
    stand_in(monkeypatch, {"run/owner/0/1": silent})
    monkeypatch.setattr(keeping, "where_placed", lambda actor: ("b", "10.0.0.3"))
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    found = owners_of(job())
    finding = asyncio.ensure_future(found.find({}, {}, {}, held=True))
    await until(lambda: cluster.avoided == ["b"])
    assert not cluster.ended
    silent.say(replace(SERVING, failure="the connection was lost"))  # as good as gone
    await finding
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [silent]


async def test_of_an_owner_from_before_the_conductor_that_stays_silent_the_spare_takes_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent, unopened = Actor(), Actor(*[replace(SERVING, epoch=0)] * 2, *[SERVING] * 1000)
    cluster = on(monkeypatch)  # nobody else is needed
    stand_in(monkeypatch, {"run/owner/0/1": silent, "run/owner/0/2": unopened})
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    found = owners_of(job())
    await found.find({}, {}, {}, held=True)
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [silent]


async def test_an_owner_from_before_the_conductor_whose_log_was_longer_does_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Either it is a former one and does not know it, or the database has lost something: the next tells."""
    former = Actor(replace(SERVING, recorded=4))
    cluster = on(monkeypatch, Actor(*[replace(SERVING, recorded=7)] * 1000))
    stand_in(monkeypatch, {"run/owner/0/1": former})
    found = owners_of(job())
    await found.find({}, {0: 7}, {}, held=True)
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [former]


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


async def test_one_from_before_the_conductor_that_answers_late_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late, spare = Actor(), Actor()
    cluster = on(monkeypatch, spare)
    stand_in(monkeypatch, {"run/owner/0/1": late})
    monkeypatch.setattr(keeping, "where_placed", lambda actor: None)
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    found = owners_of(job())
    finding = asyncio.ensure_future(found.find({}, {}, {}, held=True))
    await until(lambda: cluster.avoided == [""])
    late.say(*[SERVING] * 1000)
    await finding
    found.end()
    assert found.locate(0) == Place(0, 1, "run/owner/0/1")
    assert cluster.ended == [spare]
