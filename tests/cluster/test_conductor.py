"""What a conductor keeps for its next life and serves again, and that it ends whatever it finds there."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from stand_ins import job, until

from screensearch.cluster import conductor
from screensearch.cluster.account import Counts
from screensearch.cluster.conductor import Conductor
from screensearch.cluster.halt import Halt
from screensearch.cluster.memory import Memory
from screensearch.cluster.owners import Owners
from screensearch.cluster.workers import Hopeless, Workers
from screensearch.domain.screen import Metadata
from screensearch.domain.shard import shard_key
from screensearch.errors import AcknowledgedLost

LIGHT = shard_key(Metadata("app", "light", "1.0", "main"))
DARK = shard_key(Metadata("app", "dark", "1.0", "main"))


class Memories:
    """In the place of what the cluster keeps."""

    def __init__(self, recalled: Memory | Exception) -> None:
        self._recalled = recalled
        self.kept: Memory | None = None

    async def recall(self) -> Memory:
        if isinstance(self._recalled, Exception):
            raise self._recalled
        self.kept = self._recalled
        return self._recalled

    async def keep(self, memory: Memory) -> None:
        self.kept = memory


async def never(*arguments: object, **named: object) -> None:
    await asyncio.Event().wait()


async def at_once(*arguments: object) -> None:
    """There is nothing to find."""


@asynccontextmanager
async def started_anew(
    monkeypatch: pytest.MonkeyPatch, memories: Memories, *, metrics: str = ""
) -> AsyncIterator[Conductor]:
    """A conductor that still looks for its shards; it leaves when it is told to."""
    monkeypatch.setattr(conductor, "log_for", lambda job: None)
    monkeypatch.setattr(conductor, "this_node", lambda: "127.0.0.1")
    monkeypatch.setattr(conductor, "Memories", lambda: memories)
    monkeypatch.setattr(conductor, "started_anew", lambda: True)
    monkeypatch.setattr(Owners, "find", never)
    monkeypatch.setattr(Workers, "adopt", at_once)
    monkeypatch.setattr(Workers, "prepare", at_once)
    monkeypatch.setattr(Conductor, "_leave", lambda self: self._collected.wait())
    started = Conductor(replace(job(), metrics=metrics))
    try:
        yield started
    finally:
        await started.collect()
        started._running.cancel()
        await asyncio.wait([started._running])


async def test_a_stop_while_shards_are_looked_for_forgets_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = Counts(starts={0: 4}, failures={0: 3}, replacements=2)
    memories = Memories(Memory(1.0, counts=counts, promised={0: LIGHT, 1: DARK}))
    async with started_anew(monkeypatch, memories) as started:
        await started.stop("interrupted")
        kept = memories.kept
    assert kept is not None
    assert kept.promised == {0: LIGHT, 1: DARK}
    assert (kept.why, kept.begun, kept.counts) == ("interrupted", 1.0, counts)


async def test_how_far_the_logs_went_and_how_far_they_may_go_is_known_to_the_next_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, told = Memory(1.0, recorded={0: 5, 1: 7}, limits={0: 20, 1: 10}), list[object]()
    memories = Memories(memory)
    monkeypatch.setattr(Owners, "recorded", lambda self: {0: 9})
    monkeypatch.setattr(Owners, "limits", lambda self: {0: 30})
    async with started_anew(monkeypatch, memories) as started:

        async def find(
            self: Owners, promised: object, recorded: object, limits: object, *, held: bool
        ) -> None:
            told.append((recorded, limits))
            await asyncio.Event().wait()

        monkeypatch.setattr(Owners, "find", find)
        await until(lambda: told)
        await started.stop("interrupted")
        kept = memories.kept
    assert told == [(memory.recorded, memory.limits)]
    assert kept is not None
    assert (kept.recorded, kept.limits) == ({0: 9, 1: 7}, {0: 30, 1: 10})


async def test_a_shard_is_promised_for_ever_once_and_then_only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand workers that begin together ask for the same one."""
    memories, keeps = Memories(Memory(1.0)), list[Memory]()
    keep = memories.keep

    async def counted(memory: Memory) -> None:
        keeps.append(memory)
        await keep(memory)

    monkeypatch.setattr(memories, "keep", counted)
    monkeypatch.setattr(Owners, "shard", lambda self, key: 0)
    monkeypatch.setattr(Owners, "promised", lambda self: {0: LIGHT})
    async with started_anew(monkeypatch, memories) as started:
        started._found.set()
        assert [await started.shard(LIGHT) for _ in range(3)] == [0, 0, 0]
        assert [memory.promised for memory in keeps] == [{0: LIGHT}]


async def test_a_conductor_whose_memory_cannot_be_read_says_so_and_lets_itself_be_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with started_anew(monkeypatch, Memories(ValueError("of another version"))) as started:
        await asyncio.wait_for(started.stop("interrupted"), 20)  # it does not wait for what never comes
        await started.collect()
        await asyncio.wait_for(started._running, 20)
        view = await started.view()
    assert view.phase == "ended"
    assert "of another version" in view.problem


@pytest.mark.parametrize("lost", [False, True])
async def test_a_run_that_ends_badly_closes_its_logs_unless_one_of_them_cannot_be_opened(
    lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = (
        AcknowledgedLost("entries are lost") if lost else Hopeless("it said goodbye", never_started=False)
    )
    concluded: list[str] = []

    async def conclude(self: Conductor) -> None:
        concluded.append(self._halt.why)

    async def tend(self: Workers, owners: Owners) -> None:
        if lost:
            owners._despair(problem)
            await asyncio.Event().wait()
        for _ in range(10):  # until all that is beside it waits
            await asyncio.sleep(0)
        raise problem

    async def find(self: Conductor) -> None:
        self._memory = Memory(1.0)
        self._found.set()

    monkeypatch.setattr(Conductor, "_conclude", conclude)
    async with started_anew(monkeypatch, Memories(Memory(1.0))) as started:
        monkeypatch.setattr(Conductor, "_find", find)
        monkeypatch.setattr(Workers, "tend", tend)
        await until(lambda: started._phase == "ended")
        assert (await started.view()).problem == str(problem)
    assert concluded == ([] if lost else ["failed starts"])


async def test_a_conductor_that_is_started_anew_serves_what_was_counted_where_it_was_served_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = Memories(Memory(1.0))
    async with started_anew(monkeypatch, first, metrics="0.0.0.0:0") as started:
        await until(lambda: started._metrics)
        started._account.worker_failed(0, "it was killed")
        assert 'worker_failures_total{run="run",shard="",worker="0"}' not in await page(started)
        await started.stop("interrupted")  # from now on, a later life knows it
        assert 'worker_failures_total{run="run",shard="",worker="0"} 1.0' in await page(started)
        before = (await started.view()).conductor
    served = await asyncio.to_thread(answers, before.metrics)
    assert first.kept is not None
    assert before.metrics == first.kept.metrics
    assert before.metrics.startswith("http://127.0.0.1:")
    assert not served  # the run is over
    died = Memories(replace(first.kept, summary=None, problem=""))
    async with started_anew(monkeypatch, died, metrics="0.0.0.0:0") as again:
        await until(lambda: again._metrics)
        assert (await again.view()).conductor.metrics == before.metrics
        assert 'worker_failures_total{run="run",shard="",worker="0"} 1.0' in await page(again)


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url).close()
    except urllib.error.URLError:
        return False
    return True


async def page(started: Conductor) -> str:
    def read() -> str:
        with urllib.request.urlopen(started._metrics) as reply:
            text: str = reply.read().decode()
        return text

    return await asyncio.to_thread(read)


async def test_owners_are_told_to_stop_also_while_steps_are_moved_from_one_that_does_not_answer() -> None:
    told, halt, moving = list[str](), Halt(), asyncio.Event()

    async def stop() -> None:
        told.append("stop")

    async def share() -> None:
        moving.set()
        await never()

    owners = SimpleNamespace(stop=stop, shares=SimpleNamespace(share=share))
    run = cast(Conductor, SimpleNamespace(_halt=halt, _owners=owners))
    seeing = asyncio.ensure_future(Conductor._see_to_steps(run))
    await moving.wait()
    halt.ask("interrupted")
    await until(lambda: told)
    seeing.cancel()
    await asyncio.wait([seeing])
