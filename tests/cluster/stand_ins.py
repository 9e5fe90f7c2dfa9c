"""In the place of a cluster: actors that say what a test lets them say, and what was placed and ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from screensearch.cluster import keeping, owners, shards, workers
from screensearch.cluster.names import Job, OwnerReport, Task, WorkerReport
from screensearch.config import Settings, settings_document
from screensearch.explore.budget import StopRule


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


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is noticed soon."""
    for module in (workers, keeping):
        monkeypatch.setattr(module, "SILENT_SECONDS", 0.5)
    for module in (workers, keeping, owners):
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(keeping, "IDLE_SECONDS", 0.1)


def on(monkeypatch: pytest.MonkeyPatch, *actors: Actor) -> Cluster:
    """A cluster on which these come one after another."""
    cluster = Cluster(*actors)
    for module in (workers, keeping):
        monkeypatch.setattr(module, "place", cluster.place)
    for module in (workers, keeping, owners, shards):
        monkeypatch.setattr(module, "end", cluster.end)
    return cluster


async def until(holds: Callable[[], object]) -> None:
    def wait() -> None:
        until = time.monotonic() + 20
        while not holds() and time.monotonic() < until:
            time.sleep(0.005)

    await asyncio.to_thread(wait)
    assert holds()
