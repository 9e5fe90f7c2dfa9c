"""What takes the place of a worker that went silent, and when it is started."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from stand_ins import Actor, job, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import start, workers
from screensearch.cluster.account import Account, Counts
from screensearch.cluster.engine import Gone
from screensearch.cluster.halt import Halt
from screensearch.cluster.names import STARTS, WAITS, WORKS, Beginning, Task, WorkerReport
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


@asynccontextmanager
async def tended(told: Told, halt: Halt) -> AsyncIterator[asyncio.Future[None]]:
    crew = workers.Workers(job(), halt, Account())
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
    crew = workers.Workers(job(), Halt(), Account())
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
    monkeypatch.setattr(workers, "look_up", lambda name: left)
    told.there.set()
    async with tended(told, Halt()):
        await until(lambda: second.tasks)
    assert cluster.ended[0] is left
    assert not left.tasks
    assert second.tasks[0].life > 41


SPARE = replace(AT_WORK, begun=False, steps=0)


@pytest.mark.parametrize("starting", [False, True])
async def test_of_two_lives_that_a_conductor_left_the_one_at_work_goes_on_and_its_spare_is_not_needed(
    monkeypatch: pytest.MonkeyPatch, starting: bool
) -> None:
    """It was made ready in doubt, and may not have said a word yet."""
    at_work, spare = Actor(*[AT_WORK] * 1000), Actor(*([] if starting else [SPARE]))
    cluster, told = on(monkeypatch), Told()
    there = {"run/worker/0/41": at_work, "run/worker/0/42": spare}
    monkeypatch.setattr(workers, "actors_of", lambda run: list(there))
    monkeypatch.setattr(workers, "look_up", there.get)
    async with tended(told, Halt()):
        await until(lambda: cluster.ended)
        assert cluster.ended == [spare]
    assert not spare.tasks


async def test_the_spare_takes_the_place_of_a_life_that_stays_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    silent, spare = Actor(), Actor(SPARE, *[AT_WORK] * 1000)
    cluster, told = on(monkeypatch), Told()
    told.there.set()
    monkeypatch.setattr(workers, "DOUBT_SECONDS", 0.5)
    there = {"run/worker/0/41": silent, "run/worker/0/42": spare}
    monkeypatch.setattr(workers, "actors_of", lambda run: list(there))
    monkeypatch.setattr(workers, "look_up", there.get)
    crew = workers.Workers(job(), Halt(), Account())
    await crew.adopt()
    crew.others_answer()
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: spare.tasks)
    tending.cancel()
    assert cluster.ended == [silent]
    assert spare.tasks[0].life == 42


async def test_a_worker_that_could_not_be_told_what_to_do_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(Actor):
        async def _begin(self, task: Task) -> None:
            raise Gone("it cannot be read there")

    deaf, second = Deaf(*[SPARE] * 10_000), Actor()
    cluster, told = on(monkeypatch, deaf, second), Told()
    told.there.set()
    async with tended(told, Halt()):
        await until(lambda: second.tasks)
    assert cluster.ended == [deaf]


async def test_a_worker_that_was_placed_and_is_mute_is_replaced_elsewhere_and_the_next_has_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mute, mute_too, third = Actor(), Actor(), Actor(AT_WORK)
    cluster, told = on(monkeypatch, mute, mute_too, third), Told()
    told.there.set()
    monkeypatch.setattr(workers, "START_SECONDS", 0.02)
    places = {mute: ("a", "10.0.0.2"), mute_too: ("b", "10.0.0.3")}
    monkeypatch.setattr(start, "where_placed", lambda actor: places.get(actor))
    account = Account(1)
    crew = workers.Workers(job(), Halt(), account)
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: crew.views()[0].state == WORKS)
    assert cluster.avoided == ["", "a", "b"]
    assert [mute in cluster.ended, mute_too in cluster.ended, third in cluster.ended] == [True, True, False]
    assert [trouble.what for trouble in account.troubles] == [
        "worker 0 failed: its process on 10.0.0.2 did not say a word for 0.02 s, so it was ended",
        "worker 0 failed: its process on 10.0.0.3 did not say a word for 0.04 s, so it was ended",
    ]
    tending.cancel()


async def test_a_worker_is_waited_for_while_it_has_no_slot_or_its_process_is_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only, nodes, looks = Actor(), itertools.count(), list[str]()
    cluster, told, waits = on(monkeypatch, only), Told(), True

    def where_placed(actor: Actor) -> tuple[str, str] | None:
        looks.append("" if waits else f"{next(nodes)}")
        return None if waits else (looks[-1], "10.0.0.2")

    monkeypatch.setattr(workers, "START_SECONDS", 0.01)
    monkeypatch.setattr(start, "where_placed", where_placed)
    crew = workers.Workers(job(), Halt(), Account(1))
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: len(looks) > 3)
    assert crew.views()[0].state == WAITS
    waits = False
    await until(lambda: looks.count("") < len(looks) - 3)
    assert crew.views()[0].state == STARTS
    only.say(AT_WORK)
    await until(lambda: crew.views()[0].state == WORKS)
    assert not cluster.ended
    tending.cancel()


async def test_lives_that_never_said_a_word_do_not_end_a_run_that_has_no_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mute = [Actor() for _ in range(6)]
    cluster, told = on(monkeypatch, *mute), Told()
    told.there.set()
    monkeypatch.setattr(workers, "START_SECONDS", 0.01)
    monkeypatch.setattr(workers, "LONGEST_START_SECONDS", 0.02)
    monkeypatch.setattr(start, "where_placed", lambda actor: ("a", "10.0.0.2"))
    async with tended(told, Halt()) as tending:
        await until(lambda: len(cluster.avoided) == 6)
        assert not tending.done()


async def test_a_worker_whose_life_is_over_is_counted_as_failed_and_works_again_only_in_its_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broke = replace(AT_WORK, ended=True, failed=Failed("the application cannot be driven", gave_up=True))
    first, second, account = Actor(AT_WORK, broke), Actor(*[AT_WORK] * 1000), Account(1)
    on(monkeypatch, first, second)
    monkeypatch.setattr(workers, "REST_SECONDS", 0.01)
    crew, told = workers.Workers(job(), Halt(), account), Told()
    seen = [crew.views()[0].state]
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: account.troubles)
    assert account.counts() == Counts({0: 1}, {0: 1}, 0)  # though it owes no step, and no owner knows it yet
    assert account.trouble == "worker 0 failed: the application cannot be driven"
    seen.append(crew.views()[0].state)
    told.there.set()
    await until(lambda: crew.views()[0].state == WORKS)
    tending.cancel()
    assert seen == [WAITS, WAITS]
    assert account.counts() == Counts({0: 2}, {0: 1}, 0)
    assert crew.views()[0].failures == 1


class Standing(Told):
    """Owners with whom a worker is in the middle of an episode, or is not."""

    def __init__(self, stands: tuple[int, int] | None) -> None:
        super().__init__()
        self._stands = stands

    async def ask(self, number: int, method: str, *arguments: object) -> Any:
        return self._stands if method == "bury" else Beginning(episode=3, life=0)


@pytest.mark.parametrize(("stands", "failures"), [((2, 7), 1), (None, 0)])
async def test_a_worker_that_went_with_the_conductor_has_failed_if_it_was_at_work(
    stands: tuple[int, int] | None, failures: int
) -> None:
    account = Account(1)
    crew = workers.Workers(job(), Halt(), account)
    await crew.adopt()
    await crew.miss(Standing(stands))  # type: ignore[arg-type]  # all of it that is asked
    assert account.worker_failures == failures


def adopted(monkeypatch: pytest.MonkeyPatch, *there: Actor) -> workers.Workers:
    """Workers that were at work before this conductor."""
    names = {f"run/worker/{number}/41": actor for number, actor in enumerate(there)}
    monkeypatch.setattr(workers, "actors_of", lambda run: list(names))
    monkeypatch.setattr(workers, "look_up", names.get)
    monkeypatch.setattr(workers, "where_placed", lambda actor: ("b", "10.0.0.3"))
    monkeypatch.setattr(workers, "ADOPTED_SECONDS", 3600.0)
    return workers.Workers(replace(job(), workers=len(there)), Halt(), Account(len(there)))


async def test_of_those_that_were_at_work_before_the_conductor_a_silent_one_is_waited_for_as_long_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once some have answered, it is not for want of time that another does not."""
    well, silent, next_life = Actor(*[AT_WORK] * 1000), Actor(), Actor(*[AT_WORK] * 1000)
    cluster, told = on(monkeypatch, next_life), Told()
    told.there.set()
    monkeypatch.setattr(workers, "DOUBT_SECONDS", 0.1)
    monkeypatch.setattr(workers, "slot_elsewhere", lambda node: True)
    crew = adopted(monkeypatch, well, silent)
    await crew.adopt()
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: next_life.tasks)
    tending.cancel()
    assert cluster.ended == [silent]
    assert cluster.avoided == ["b"]  # its process was started meanwhile


async def test_if_none_of_them_answers_they_are_waited_for_until_the_owners_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent, next_life = Actor(), Actor(AT_WORK)
    cluster, told = on(monkeypatch, next_life), Told()
    told.there.set()
    crew = adopted(monkeypatch, silent)
    await crew.adopt()
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await asyncio.sleep(3 * workers.SILENT_SECONDS)
    assert not cluster.ended
    crew.others_answer()
    await until(lambda: next_life.tasks)
    tending.cancel()
    assert cluster.ended == [silent]


async def test_one_that_answers_late_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    well, late, spare = Actor(*[AT_WORK] * 1000), Actor(), Actor()
    cluster, told = on(monkeypatch, spare), Told()
    monkeypatch.setattr(workers, "SILENT_SECONDS", 3600.0)
    monkeypatch.setattr(workers, "DOUBT_SECONDS", 0.1)
    monkeypatch.setattr(workers, "slot_elsewhere", lambda node: True)
    crew = adopted(monkeypatch, well, late)
    await crew.adopt()
    tending = asyncio.ensure_future(crew.tend(told))  # type: ignore[arg-type]  # all of it that is asked
    await until(lambda: cluster.avoided)
    late.say(*[AT_WORK] * 1000)
    await until(lambda: cluster.ended)
    tending.cancel()
    assert cluster.ended == [spare]
