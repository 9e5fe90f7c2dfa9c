"""Workers that explore a synthetic world over a bad line, die and are replaced; what they saw is kept."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from history import Message, Recorded
from owners import Owner, Owners

from screensearch.config import Settings
from screensearch.environments.protocol import Means
from screensearch.environments.specification import open_environment
from screensearch.errors import FormatError, StoreFailed
from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report
from screensearch.explore.worker import work

MOST_TRIES = 200
"""So often a worker sends a message before it gives up: a fault that lasts would else hang the test."""


class NoAnswer(Exception):
    """The line failed: whether the message arrived is not known."""


@dataclass(slots=True)
class Line:
    """One try to reach an owner. The chances say how often something goes wrong with it."""

    owners: Owners
    chance: random.Random
    never_sent: float = 0.0
    answer_lost: float = 0.0
    sent_twice: float = 0.0
    old_address: float = 0.0  # it reaches an owner that was replaced
    reached: Owner | None = field(default=None, init=False)

    async def begin(self, begin: Begin) -> Receipt:
        return await self._ask(begin)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return await self._ask(failed)

    async def record(self, report: Report) -> Receipt:
        return await self._ask(report)

    async def announce(self, announcement: Announce) -> None:
        self.owners.present.announce(announcement)

    async def _ask(self, message: Message) -> Receipt:
        former = self.owners.all[:-1]
        old = bool(former) and self.chance.random() < self.old_address
        owner = self.reached = self.chance.choice(former) if old else self.owners.present
        if self.chance.random() < self.never_sent:
            raise NoAnswer
        if self.chance.random() < self.sent_twice:
            answer, _ = await asyncio.gather(owner.ask(message), owner.ask(message))
        else:
            answer = await owner.ask(message)
        if self.chance.random() < self.answer_lost:
            raise NoAnswer
        return answer


@dataclass(frozen=True, slots=True)
class Persistent:
    """Says the same again until it is answered, and sees to it that there is an owner who can."""

    line: Line
    recorded: Recorded

    async def begin(self, begin: Begin) -> Receipt:
        return await self._ask(lambda: self.recorded.begin(begin))

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return await self._ask(lambda: self.recorded.begin_failed(failed))

    async def record(self, report: Report) -> Receipt:
        return await self._ask(lambda: self.recorded.record(report))

    async def announce(self, announcement: Announce) -> None:
        await self.recorded.announce(announcement)

    async def _ask(self, ask: Callable[[], Awaitable[Receipt]]) -> Receipt:
        for _ in range(MOST_TRIES):
            try:
                return await ask()
            except NoAnswer:
                continue
            except StoreFailed:
                await self.line.owners.replace(self.line.reached)
        raise NoAnswer


@dataclass(slots=True)
class Crew:
    """So many workers, each with one life at a time."""

    owners: Owners
    world: str
    settings: Settings
    history: Path  # a folder
    seed: int = 0
    faults: Mapping[str, float] = field(default_factory=dict)  # chances of a `Line`
    lives: dict[int, asyncio.Task[None]] = field(default_factory=dict, init=False)
    refused: int = field(default=0, init=False)  # lives
    given_up: list[asyncio.Task[None]] = field(default_factory=list, init=False)

    def start(self, worker: int, first_episode: int = 0) -> None:
        """A new life of a worker."""
        self.lives[worker] = asyncio.ensure_future(self._live(worker, first_episode))

    async def kill(self, worker: int) -> None:
        """End a life wherever it is, have it logged as lost, and begin the next one."""
        self.lives[worker].cancel()
        with suppress(asyncio.CancelledError):
            await self.lives[worker]
        self.start(worker, await self.owners.present.lose(worker))

    async def give_up(self, worker: int) -> None:
        """Have a life logged as lost that is not, and begin the next one beside it."""
        self.given_up.append(self.lives[worker])
        self.start(worker, await self.owners.present.lose(worker))

    async def finish(self) -> None:
        """Until all have been told that it is enough, or that they are not needed any more."""
        while not all(life.done() for life in self.lives.values()):
            await asyncio.gather(*self.lives.values())
        await asyncio.gather(*self.given_up)

    async def _live(self, worker: int, first_episode: int) -> None:
        """Work, unless another life of this worker does. If it is this one that should, it begins anew."""
        try:
            await self._work(worker, first_episode)
        except FormatError:
            self.refused += 1
            if self.lives[worker] is asyncio.current_task():
                await self.give_up(worker)

    async def _work(self, worker: int, first_episode: int) -> None:
        line = Line(self.owners, random.Random(f"{self.seed} {worker} {first_episode}"), **self.faults)
        recorded = Recorded(line, self.history)
        world = open_environment(self.world, Means(screenshots=False))
        try:
            await work(
                world,
                Persistent(line, recorded),
                self.settings,
                folder=self.history,
                worker=worker,
                seed=self.seed,
                first_episode=first_episode,
            )
        finally:
            await world.close()
            recorded.close()
