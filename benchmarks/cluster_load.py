"""Simulated workers: they report steps at a pace over the same store as real ones, with nothing to drive.

Many of them share a process. What they report is like what workers of an application report (`simulated.py`):
some screens are new to everybody, some only to the worker, most are known to it and named by their row.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from screensearch.cluster.store import ClusterStore
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import EpisodeId, Outcome
from screensearch.explore.messages import Begin, Receipt, Report, Sighting
from simulated import draw_choice, draw_evidence, draw_note, draw_screen

EPISODE_STEPS = 50
AT_ONCE = 25  # workers of a process that begin together
RECENT = 500
"""So many of the latest screens of a shard are seen again by workers that do not know them."""


@dataclass(frozen=True, slots=True)
class Mix:
    """What is observed: shares of all observations, and the bytes of an element table."""

    new: float
    new_to_worker: float  # known to another one
    elements_bytes: int


class Timed(NamedTuple):
    """A decision: when it was asked for, by the monotonic clock, and how many seconds it took."""

    begun: float
    seconds: float
    seconds_from_due: float  # likewise, from when the step was due: with what it waited for those before


class SimulatedWorker:
    """One worker. It rests until it is sent to work."""

    def __init__(self, run: str, number: int, shard: int, mix: Mix, recent: deque[Screen]) -> None:
        self._store = ClusterStore(run, time.time_ns())
        self._number, self._mix, self._recent = number, mix, recent
        self._random = random.Random(number)
        self._metadata = Metadata("load", f"mode {shard}", "1.0", "main")
        self._elements = self._random.randbytes(mix.elements_bytes)
        self._rows: dict[str, int] = {}  # by key of the screen
        self._known: list[int] = []  # the same rows
        self._due = 0.0
        self._drawn = 0
        self.interval = 0.0
        self.go = asyncio.Event()
        self.begun = asyncio.Event()  # with which it rests again
        self.resting = asyncio.Event()
        self.acknowledged = 0
        self.decisions: list[Timed] = []

    async def work(self) -> None:
        """Take steps while the run wants them."""
        number = 0
        while await self._episode(EpisodeId(self._number, number)):
            number += 1

    async def _episode(self, episode: EpisodeId) -> bool:
        """Whether the run wants more steps."""
        await self._sent()
        sighting = self._see()
        receipt = await self._store.begin(Begin(episode, sighting, draw_evidence(self._random)))
        self._learn(sighting, receipt)
        if not self.begun.is_set():
            self.go.clear()
            self.begun.set()
        for step in range(1, EPISODE_STEPS + 1):
            if not receipt.proceed:
                return False
            await self._turn()
            assert receipt.here is not None  # nothing ever fails here
            sighting = self._see()
            report = Report(
                episode=episode,
                step=step,
                source=receipt.here.state,
                choice=draw_choice(self._random, receipt.snapshot),
                outcome=Outcome.OK,
                sighting=sighting,
                evidence=draw_evidence(self._random),
                note=draw_note(self._random),
            )
            begun = time.monotonic()
            receipt = await self._store.record(report)
            over = time.monotonic()
            self.decisions.append(Timed(begun, over - begun, over - self._due))
            self.acknowledged += 1
            self._learn(sighting, receipt)
        return receipt.proceed

    async def _sent(self) -> bool:
        """Rest until it shall work; whether it rested."""
        if self.go.is_set():
            return False
        self.resting.set()
        await self.go.wait()
        self.resting.clear()
        self._due = time.monotonic() + self._random.random() * self.interval  # not all at once
        return True

    async def _turn(self) -> None:
        """Wait until the next step is due, which does not depend on how long the last one took.

        A late one is taken at once. So whoever waits for a slow decision has more of them due meanwhile, and
        what these wait is seen when they are timed from then.
        """
        if not await self._sent():
            self._due += self.interval
        await asyncio.sleep(max(0.0, self._due - time.monotonic()))

    def _see(self) -> Sighting:
        chance = self._random.random()
        if chance < self._mix.new or not self._known:
            self._drawn += 1
            screen = draw_screen(self._random, self._metadata, self._number << 32 | self._drawn)
            self._recent.append(screen)
        elif chance < self._mix.new + self._mix.new_to_worker:
            screen = self._random.choice(self._recent)
        else:
            return Sighting(row=self._random.choice(self._known))
        row = self._rows.get(screen.key)
        return Sighting(screen=screen, elements=self._elements) if row is None else Sighting(row=row)

    def _learn(self, sighting: Sighting, receipt: Receipt) -> None:
        if sighting.screen is not None and receipt.here is not None:
            self._rows[sighting.screen.key] = receipt.here.row
            self._known.append(receipt.here.row)


class Host:
    """A process full of simulated workers."""

    def __init__(self, run: str, mix: Mix) -> None:
        self._run, self._mix = run, mix
        self._recent: dict[int, deque[Screen]] = {}
        self._workers: dict[int, SimulatedWorker] = {}
        self._working: dict[int, asyncio.Task[None]] = {}

    async def process(self) -> int:
        return os.getpid()

    async def muster(self, numbers: list[int], shards: int) -> None:
        """Have these workers, resting; returns once all have begun their first episode, or have failed.

        Not all at once: each asks the conductor where it belongs, and on a real cluster they come one by one.
        """
        new = [number for number in numbers if number not in self._workers]
        for first in range(0, len(new), AT_ONCE):
            for number in new[first : first + AT_ONCE]:
                shard = number % shards
                recent = self._recent.setdefault(shard, deque(maxlen=RECENT))
                worker = SimulatedWorker(self._run, number, shard, self._mix, recent)
                self._workers[number] = worker
                self._working[number] = asyncio.ensure_future(worker.work())
                worker.go.set()
            for number in new[first : first + AT_ONCE]:
                await self._reach(number, self._workers[number].begun)

    async def employ(self, numbers: list[int], pace: float) -> None:
        """Let workers that have begun take so many steps a second each."""
        for number in numbers:
            self._workers[number].interval = 1 / pace
            self._workers[number].go.set()

    async def rest(self) -> dict[int, int]:
        """Let all finish their step and rest; returns the steps acknowledged since the beginning, of each."""
        for worker in self._workers.values():
            worker.go.clear()
        for number, worker in self._workers.items():
            await self._reach(number, worker.resting)
        return self._acknowledged()

    async def _reach(self, number: int, event: asyncio.Event) -> None:
        """Wait until a worker is that far, or has ended."""
        waiting = asyncio.ensure_future(event.wait())
        await asyncio.wait({waiting, self._working[number]}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def decisions(self, begin: float, until: float) -> list[tuple[float, ...]]:
        """The decisions that began in a span of time. They are forgotten, and so are all others.

        Ask when all rest: those that were under way at its end took the longest of all.
        """
        found = [
            tuple(timed)
            for worker in self._workers.values()
            for timed in worker.decisions
            if begin <= timed.begun < until
        ]
        for worker in self._workers.values():
            worker.decisions.clear()
        return found

    async def failures(self) -> list[str]:
        """Workers that gave up, and why."""
        return [
            f"worker {number}: {working.exception()!r}"
            for number, working in self._working.items()
            if working.done() and not working.cancelled() and working.exception() is not None
        ]

    async def finish(self) -> dict[int, int]:
        """Let all work until the run wants no more; returns what `rest` does."""
        for worker in self._workers.values():
            worker.interval = 1.0  # they hear of it with their next step
            worker.go.set()
        await asyncio.gather(*self._working.values(), return_exceptions=True)
        return self._acknowledged()

    def _acknowledged(self) -> dict[int, int]:
        return {number: worker.acknowledged for number, worker in self._workers.items()}
