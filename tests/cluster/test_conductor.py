"""What a conductor keeps for its next life, and that it ends whatever it finds there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from stand_ins import job

from screensearch.cluster import conductor
from screensearch.cluster.conductor import Conductor
from screensearch.cluster.memory import Memory
from screensearch.cluster.owners import Owners
from screensearch.cluster.workers import Workers
from screensearch.domain.screen import Metadata
from screensearch.domain.shard import shard_key

LIGHT = shard_key(Metadata("app", "light", "1.0", "main"))
DARK = shard_key(Metadata("app", "dark", "1.0", "main"))


class Memories:
    """In the place of what the cluster keeps."""

    def __init__(self, recalled: Memory | Exception) -> None:
        self._recalled = recalled
        self.kept: list[Memory] = []

    async def recall(self) -> Memory:
        if isinstance(self._recalled, Exception):
            raise self._recalled
        return self._recalled

    async def keep(self, memory: Memory) -> None:
        self.kept.append(memory)


async def never(*arguments: object, **named: object) -> None:
    await asyncio.Event().wait()


async def at_once(*arguments: object) -> None:
    """There is nothing to find."""


@asynccontextmanager
async def started_anew(monkeypatch: pytest.MonkeyPatch, memories: Memories) -> AsyncIterator[Conductor]:
    """A conductor that still looks for its shards; it leaves when it is told to."""
    monkeypatch.setattr(conductor, "Memories", lambda: memories)
    monkeypatch.setattr(conductor, "started_anew", lambda: True)
    monkeypatch.setattr(Owners, "find", never)
    monkeypatch.setattr(Workers, "adopt", at_once)
    monkeypatch.setattr(Workers, "prepare", at_once)
    monkeypatch.setattr(Conductor, "_leave", lambda self: self._collected.wait())
    started = Conductor(job())
    try:
        yield started
    finally:
        await started.collect()
        started._running.cancel()
        await asyncio.wait([started._running])


async def test_a_stop_while_shards_are_looked_for_forgets_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memories = Memories(Memory(1.0, failures=3, promised={0: LIGHT, 1: DARK}))
    async with started_anew(monkeypatch, memories) as started:
        await started.stop("interrupted")
        kept = memories.kept[-1]
    assert kept.promised == {0: LIGHT, 1: DARK}
    assert (kept.why, kept.begun, kept.failures) == ("interrupted", 1.0, 3)


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
