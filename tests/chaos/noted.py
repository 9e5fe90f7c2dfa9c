"""Workers on a cluster that write down what they were told, and a reader of what they wrote.

`NotedConductor` leads a run as any conductor does, but its workers note each receipt in a file of their own,
on this machine, in one write that outlives a SIGKILL, before they do anything else. So the notes are what
was acknowledged, told by those it was acknowledged to and by nobody else: neither the owners nor the
database have a hand in them.

Times are nanoseconds of the machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nightly import NIGHTLY

from screensearch.cluster import workers
from screensearch.cluster.conductor import Conductor
from screensearch.cluster.names import Job, Task
from screensearch.cluster.store import ClusterStore, Retired
from screensearch.cluster.worker import ClusterWorker
from screensearch.explore.messages import Begin, BeginFailed, Receipt, Report
from screensearch.record.log import START, failed_start

STEP_SECONDS = 0.03 if NIGHTLY else 0.1
"""How long an action takes: an application would need more, and a world that needs nothing leaves the
processor to nobody else."""


@dataclass(frozen=True, slots=True)
class Told:
    """One receipt: which step it was for, and what the log must therefore hold."""

    life: int
    worker: int
    episode: int
    step: int
    outcome: str  # as the log names it
    source: int | None
    snapshot: int | None  # that the choice was made from
    state: int | None  # that the worker was told it is in
    asked: int
    at: int

    @property
    def place(self) -> tuple[int, int, int]:
        return self.worker, self.episode, self.step


def notes_of(folder: Path) -> Path:
    """Where the workers of a run write."""
    return folder.with_name(f"{folder.name}-told")


class NotingStore(ClusterStore):
    """The store of a worker that notes what it is told."""

    def __init__(self, task: Task) -> None:
        super().__init__(task.run, task.life)
        self._task = task
        notes = notes_of(Path(task.assignment.folder))
        notes.mkdir(exist_ok=True)
        self._path = notes / f"{task.assignment.worker}-{task.life}.jsonl"
        self._file = self._path.open("ab", buffering=0)

    async def begin(self, begin: Begin) -> Receipt:
        return await self._note(super().begin(begin), begin.episode.number, outcome=START)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        outcome = failed_start(failed.outcome)
        return await self._note(super().begin_failed(failed), failed.episode.number, outcome=outcome)

    async def record(self, report: Report) -> Receipt:
        await asyncio.sleep(STEP_SECONDS)
        assert report.choice is not None  # no worker here asks a model
        return await self._note(
            super().record(report),
            report.episode.number,
            report.step,
            outcome=report.outcome.value,
            source=report.source,
            snapshot=report.choice.snapshot,
        )

    async def _note(
        self,
        answering: Awaitable[Receipt],
        episode: int,
        step: int = 0,
        *,
        outcome: str,
        source: int | None = None,
        snapshot: int | None = None,
    ) -> Receipt:
        asked = time.monotonic_ns()
        try:
            receipt = await answering
        except Retired:  # a zombie was told so
            self._path.with_suffix(".refused").touch()
            raise
        told = Told(
            life=self._task.life,
            worker=self._task.assignment.worker,
            episode=episode,
            step=step,
            outcome=outcome,
            source=source,
            snapshot=snapshot,
            state=None if receipt.here is None else receipt.here.state,
            asked=asked,
            at=time.monotonic_ns(),
        )
        os.write(self._file.fileno(), msgspec.json.encode(told) + b"\n")
        return receipt


class NotedWorker(ClusterWorker):
    """A worker whose store notes."""

    def open_store(self, task: Task) -> ClusterStore:
        return NotingStore(task)


class NotedConductor(Conductor):
    """A conductor that places such workers."""

    def __init__(self, job: Job) -> None:
        setattr(workers, "ClusterWorker", NotedWorker)  # noqa: B010 (it is a class to the type checker)
        super().__init__(job)


class Notes:
    """Reads what the workers of a run have written since it was last asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = notes_of(folder)
        self._read: dict[Path, int] = {}

    @property
    def refused(self) -> int:
        """How many lives were told that they are over."""
        return len(list(self._folder.glob("*.refused")))

    def news(self) -> list[Told]:
        """By the time at which it was noted. A line that a kill cut short was not acted upon."""
        return sorted(self._lines(), key=lambda told: told.at)

    def _lines(self) -> Iterator[Told]:
        for path in sorted(self._folder.glob("*.jsonl")):
            begin = self._read.get(path, 0)
            with path.open("rb") as file:
                file.seek(begin)
                *whole, _ = file.read().split(b"\n")
            self._read[path] = begin + sum(len(line) + 1 for line in whole)
            yield from map(msgspec.json.Decoder(Told).decode, whole)
