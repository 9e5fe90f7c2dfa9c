"""What takes the place of a worker or an owner that went silent, and when it is started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from screensearch.cluster import owners, shards, workers
from screensearch.cluster.engine import Gone
from screensearch.cluster.halt import Halt
from screensearch.cluster.names import Beginning, Job, OwnerReport, Place, Task, WorkerReport
from screensearch.config import Settings, settings_document
from screensearch.domain.screen import Metadata
from screensearch.domain.shard import shard_key
from screensearch.errors import NotLetIn, RunBusy, ScreenSearchError, StoreFailed
from screensearch.explore.budget import StopRule
from screensearch.explore.progress import Figures
from screensearch.explore.wire import Failed

AT_WORK = WorkerReport(
    node="10.0.0.2",
    node_id="a",
    process=1,
    silent_seconds=0.0,
    waits=False,
    shard=0,
    steps=7,
    starts=0,
    told_to_end=False,
)
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


def job() -> Job:
    return Job(
        run="run",
        folder="/nowhere",
        environment="synthetic:notepad",
        seed=1,
        settings=settings_document(Settings()),
        store="",
        artifacts="",
        log_format="text",
        metrics="",
        version="",
        workers=1,
        stop=StopRule(seconds=3600.0),
    )


class Method:
    """Of an actor: what it answers."""

    def __init__(self, answer: Callable[..., Awaitable[Any]]) -> None:
        self._answer = answer

    def remote(self, *arguments: Any, **named: Any) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._answer(*arguments, **named))


class Actor:
    """In the place of a worker or an owner: it says these things, one after another, and then no more."""

    def __init__(self, *says: WorkerReport | OwnerReport) -> None:
        self._says, self._saying = list(says), asyncio.Event()
        self.tasks: list[Task] = []
        self.report, self.begin, self.open = Method(self._report), Method(self._begin), Method(self._open)

    async def _report(self) -> WorkerReport | OwnerReport:
        while not self._says:
            self._saying.clear()
            await self._saying.wait()
        return self._says.pop(0)

    def say(self, *says: WorkerReport | OwnerReport) -> None:
        self._says += says
        self._saying.set()

    async def _begin(self, task: Task) -> None:
        self.tasks.append(task)

    async def _open(self, *arguments: Any, **named: Any) -> None:
        """It has nothing to open."""


class Cluster:
    """In the place of Ray: what was placed there, where not, and what was ended."""

    def __init__(self, *actors: Actor) -> None:
        self._actors: Iterator[Actor] = iter(actors)
        self.avoided: list[str] = []
        self.at_head: list[str] = []
        self.ended: list[Actor] = []

    def place(
        self, kind: type, name: str, *, avoid: str, takes_slot: bool = False, at_head: bool = False
    ) -> Actor:
        actor = next(self._actors)
        self.avoided.append(avoid)
        if at_head:
            self.at_head.append(name)
        return actor

    def end(self, actor: Actor) -> None:
        self.ended.append(actor)


class Told:
    """In the place of the owners: they can be told that a life is over only once there is one again."""

    def __init__(self) -> None:
        self.there = asyncio.Event()
        self.shares = SimpleNamespace(out_of_steps=False)

    def __iter__(self) -> Iterator[int]:
        return iter([0])

    def figures(self) -> Figures:
        return Figures()

    async def renew(self) -> None:
        """They are as they were."""

    async def ask(self, number: int, method: str, *arguments: object) -> Beginning | None:
        if method == "beginning":
            return Beginning(episode=3, life=0)
        await self.there.wait()
        return None

    async def ask_all(self, method: str, *arguments: object) -> list[Any]:
        return [await self.ask(0, method, *arguments)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is noticed soon."""
    for module in (workers, owners):
        monkeypatch.setattr(module, "SILENT_SECONDS", 0.5)
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(owners, "IDLE_SECONDS", 0.1)


def on(monkeypatch: pytest.MonkeyPatch, *actors: Actor) -> Cluster:
    """A cluster on which these come one after another."""
    cluster = Cluster(*actors)
    for module in (workers, owners):
        monkeypatch.setattr(module, "place", cluster.place)
        monkeypatch.setattr(module, "end", cluster.end)
    monkeypatch.setattr(shards, "end", cluster.end)
    return cluster


async def until(holds: Callable[[], object]) -> None:
    def wait() -> None:
        until = time.monotonic() + 20
        while not holds() and time.monotonic() < until:
            time.sleep(0.005)

    await asyncio.to_thread(wait)
    assert holds()


@asynccontextmanager
async def tended(told: Told, halt: Halt) -> AsyncIterator[asyncio.Future[None]]:
    crew = workers.Workers(job(), halt, lambda trouble: None)
    await crew.adopt()
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    try:
        yield tending
    finally:
        tending.cancel()


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """No life is there before the first one, and no slot but for those at work."""
    monkeypatch.setattr(workers, "actors_of", lambda run: [])
    monkeypatch.setattr(workers, "slot_elsewhere", lambda node: False)


async def test_first_lives_are_started_before_there_are_owners_to_tell_them_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only = Actor(AT_WORK)
    cluster, told = on(monkeypatch, only), Told()
    crew = workers.Workers(job(), Halt(), lambda trouble: None)
    await crew.prepare()
    assert cluster.avoided == [""]
    assert not only.tasks
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: only.tasks)
    assert cluster.avoided == [""]  # nobody else was placed
    tending.cancel()


async def test_the_next_life_of_a_silent_worker_starts_elsewhere_while_owners_are_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = Actor(AT_WORK), Actor()
    cluster, told = on(monkeypatch, first, second), Told()
    async with tended(told, Halt()):
        await until(lambda: len(cluster.avoided) == 2)
        assert cluster.avoided == ["", "a"]
        assert first in cluster.ended
        assert not second.tasks  # the life before is not over for the owners yet
        told.there.set()
        await until(lambda: second.tasks)
    assert second.tasks[0].life > first.tasks[0].life
    assert second.tasks[0].assignment.first_episode == 3


async def test_a_life_that_was_made_ready_ends_unused_when_the_run_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    second, halt = Actor(), Halt()
    cluster, told = on(monkeypatch, Actor(AT_WORK), second), Told()
    async with tended(told, halt) as tending:
        await until(lambda: len(cluster.avoided) == 2)
        halt.ask("steps")
        told.there.set()
        await tending
    assert second in cluster.ended
    assert not second.tasks


async def test_a_worker_that_is_silent_for_a_while_is_left_alone_though_another_life_was_made_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy, second, asked = Actor(AT_WORK), Actor(), list[str]()
    cluster, told, halt = on(monkeypatch, busy, second), Told(), Halt()
    monkeypatch.setattr(workers, "SILENT_SECONDS", 60.0)
    monkeypatch.setattr(workers, "DOUBT_SECONDS", 0.05)

    def slot_elsewhere(node: str) -> bool:
        asked.append(node)
        return True

    monkeypatch.setattr(workers, "slot_elsewhere", slot_elsewhere)
    told.there.set()
    async with tended(told, halt) as tending:
        await until(lambda: len(cluster.avoided) == 2)
        assert cluster.avoided == ["", "a"]
        assert not cluster.ended
        busy.say(replace(AT_WORK, steps=8), replace(AT_WORK, steps=9, told_to_end=True, ended=True))
        halt.ask("steps")
        await tending
    assert cluster.ended == [second, busy]  # it ended when there was nothing left to do
    assert not second.tasks
    assert asked == ["a"]


async def test_nothing_is_made_ready_for_a_worker_that_failed_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broke = replace(AT_WORK, ended=True, failed=Failed("the application cannot be driven"))
    second = Actor()
    cluster, told = on(monkeypatch, Actor(broke), second), Told()
    async with tended(told, Halt()):
        await until(lambda: cluster.ended)
        assert cluster.avoided == [""]
        told.there.set()
        await until(lambda: second.tasks)
    assert cluster.avoided == ["", ""]


async def test_a_life_that_a_conductor_left_before_it_could_begin_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, second = Actor(replace(AT_WORK, begun=False, steps=0)), Actor()
    cluster, told = on(monkeypatch, second), Told()
    monkeypatch.setattr(workers, "actors_of", lambda run: [f"{run}/worker/0/41"])
    monkeypatch.setattr(workers, "find_actor", lambda name: left)
    told.there.set()
    async with tended(told, Halt()):
        await until(lambda: second.tasks)
    assert cluster.ended[0] is left
    assert not left.tasks
    assert second.tasks[0].life > 41


@asynccontextmanager
async def owned(monkeypatch: pytest.MonkeyPatch, troubles: list[str]) -> AsyncIterator[owners.Owners]:
    """The owners of one shard, whose log does not grow."""
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), troubles.append)

    async def records(number: int) -> bool:
        return False

    monkeypatch.setattr(held, "records", records)
    held.shard(shard_key(Metadata("app", "light", "1.0", "main")))
    try:
        yield held
    finally:
        held.end()


async def test_the_next_owner_after_a_silent_one_is_placed_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    first, troubles = Actor(SERVING, SERVING, SERVING), list[str]()
    cluster = on(monkeypatch, first, Actor(*[SERVING] * 1000))
    async with owned(monkeypatch, troubles) as held:
        await until(lambda: len(cluster.avoided) == 2 and held.locate(0) is not None)
    assert cluster.avoided == ["", "a"]
    assert cluster.ended == [first]
    assert "did not answer" in troubles[0]


async def test_the_process_of_the_next_owner_starts_before_a_silent_one_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, third = Actor(SERVING, SERVING), Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, first, second, third)
    monkeypatch.setattr(owners, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(owners, "SILENT_SECONDS", 60.0)
    async with owned(monkeypatch, []) as held:
        await until(lambda: len(cluster.avoided) == 2)
        assert not cluster.ended
        monkeypatch.setattr(owners, "SILENT_SECONDS", 0.5)
        monkeypatch.setattr(owners, "DOUBT_AGAIN_SECONDS", 0.0)
        first.say(SERVING)  # it was busy
        await until(lambda: cluster.ended == [second])
        await until(lambda: held.locate(0) == Place(0, 3, "run/owner/0/3"))
    assert cluster.ended[:2] == [second, first]
    assert cluster.avoided == ["", "a", "a"]


async def test_an_owner_has_longer_to_start_after_one_that_was_too_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a machine on which none starts in that time, one after another would be started for nothing."""
    on(monkeypatch, Actor(), Actor(), Actor(), Actor(*[SERVING] * 1000))
    monkeypatch.setattr(owners, "START_SECONDS", 0.1)
    monkeypatch.setattr(owners, "LONGEST_START_SECONDS", 0.2)
    troubles = list[str]()
    async with owned(monkeypatch, troubles) as held:
        await until(lambda: held.locate(0) is not None)
    waited = [trouble.rpartition("its process did not start within ")[2] for trouble in troubles]
    assert waited == ["0.1 s", "0.2 s", "0.2 s"]


DARK = shard_key(Metadata("app", "dark", "1.0", "main"))


async def test_an_owner_that_does_not_start_while_others_are_at_work_gets_company_beside_the_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its node may have been cut off a moment ago."""
    first, cut_off, beside = Actor(*[SERVING] * 1000), Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, first, cut_off, beside)
    monkeypatch.setattr(owners, "LATE_SECONDS", 0.05)
    async with owned(monkeypatch, []) as held:
        await until(lambda: held.locate(0) is not None)
        assert held.shard(DARK) == 1
        await until(lambda: held.locate(1) is not None)
        assert held.locate(1) == Place(1, 2, "run/owner/1/2")
        assert cluster.at_head == ["run/owner/1/2"]
        assert cluster.ended == [cut_off]


async def test_of_two_that_start_the_first_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    late, beside = Actor(), Actor()
    cluster = on(monkeypatch, Actor(*[SERVING] * 1000), late, beside)
    monkeypatch.setattr(owners, "LATE_SECONDS", 0.05)
    async with owned(monkeypatch, []) as held:
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
    monkeypatch.setattr(owners, "LATE_SECONDS", 0.01)
    looks, wait = 0, asyncio.wait

    async def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal looks
        looks += 1
        return await wait(*arguments, **named)

    monkeypatch.setattr(asyncio, "wait", counted)
    async with owned(monkeypatch, []) as held:
        await until(lambda: looks > 5)
        slow.say(*[SERVING] * 1000)
        await until(lambda: held.locate(0) == Place(0, 1, "run/owner/0/1"))
    assert not cluster.at_head
    assert not cluster.ended


class Opening(Actor):
    """An owner that opens its log, or says why not."""

    def __init__(self, asked: list[bool], fails: Exception | None = None) -> None:
        super().__init__(*[SERVING] * 1000)
        self._asked, self._fails = asked, fails

    async def _open(self, *arguments: Any, **named: Any) -> None:
        self._asked.append(named["take_over"])
        if self._fails is not None:
            raise raised(self._fails)


def raised(cause: Exception) -> Gone:
    """As Ray raises what was raised in an actor."""
    problem = Gone(str(cause))
    problem.cause = cause  # type: ignore[attr-defined]
    return problem


@pytest.mark.parametrize(
    ("fails", "takes"),
    [
        ([TimeoutError()], [False, True]),
        ([StoreFailed("the connection was lost"), RunBusy("it seems to be owned")], [False, False, False]),
    ],
)
async def test_a_log_is_taken_only_from_an_owner_that_may_have_opened_it_and_a_lost_connection_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, fails: list[Exception], takes: list[bool]
) -> None:
    asked = list[bool]()
    on(monkeypatch, *(Opening(asked, each) for each in fails), Opening(asked))
    monkeypatch.setattr(owners, "LOOK_SECONDS", 0.01)
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), lambda trouble: None)
    held._have(shards.Shard(0, None, ours=False))
    despair = asyncio.ensure_future(held.despair())
    await until(lambda: held.locate(0) is not None)
    held.end()
    assert asked == takes
    assert not despair.done()
    despair.cancel()


async def test_a_log_that_somebody_else_has_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, Opening([], RunBusy("it is owned")), Opening([]))
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), lambda trouble: None)
    held._have(shards.Shard(0, None, ours=False))
    with pytest.raises(RunBusy, match="it is owned"):
        await held.despair()
    held.end()


async def test_of_several_owners_that_are_there_the_latest_that_has_the_log_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unopened = replace(SERVING, epoch=0)
    there = {f"run/owner/0/{number}": Actor(*[each] * 1000) for number, each in ((1, SERVING), (2, unopened))}
    cluster = on(monkeypatch)
    monkeypatch.setattr(owners, "actors_of", lambda run: list(there))
    monkeypatch.setattr(owners, "find_actor", there.get)
    monkeypatch.setattr(owners, "PostgresStore", lambda *place: SimpleNamespace(shards=lambda: [0]))
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), lambda trouble: None)
    await held.find({}, anew=True)
    assert held.locate(0) == Place(0, 1, "run/owner/0/1")
    assert cluster.ended == [there["run/owner/0/2"]]
    held.end()


async def test_a_log_that_may_be_somebody_elses_is_not_taken_because_a_process_started_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[bool]()
    on(monkeypatch, Actor(), Opening(asked))
    monkeypatch.setattr(owners, "START_SECONDS", 0.1)
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), lambda trouble: None)
    held._have(shards.Shard(0, None, ours=False))
    await until(lambda: held.locate(0) is not None)
    held.end()
    assert asked == [False]


class Locked:
    """In the place of a database that lets nobody in from here, after it was away."""

    def __init__(self, *before: ScreenSearchError) -> None:
        self._before = list(before)
        self.asked = 0

    def __call__(self, url: str, run: str, shard: int = 0) -> Locked:
        return self

    def shards(self) -> list[int]:
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
    troubles = list[str]()
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), troubles.append)
    with pytest.raises(NotLetIn, match="wants a password"):
        await held.find({}, anew=False)
    assert locked.asked == 30 + owners.MOST_REFUSALS
    assert "it is away" in troubles[0]


@pytest.mark.parametrize(
    ("problem", "hopeless"), [(NotLetIn("it wants a password"), True), (StoreFailed("it is away"), False)]
)
async def test_owners_that_are_not_let_in_one_after_another_end_the_run(
    monkeypatch: pytest.MonkeyPatch, problem: ScreenSearchError, hopeless: bool
) -> None:
    held = owners.Owners(job(), lambda shard: owners.AtWork({}, []), lambda trouble: None)
    shard = shards.Shard(0, None, ours=True)
    for _ in range(owners.MOST_REFUSALS - 1):
        held._lose_hope(shard, problem, may_be_ours=True)
    despair = asyncio.ensure_future(held.despair())
    await asyncio.sleep(0)
    assert not despair.done()
    held._lose_hope(shard, problem, may_be_ours=True)
    await asyncio.sleep(0)
    assert despair.done() == hopeless
    if hopeless:
        assert despair.exception() is problem
    despair.cancel()
