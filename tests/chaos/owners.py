"""The owners of one shard, one after another: each may be replaced at any moment, and live on unawares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from history import Message

from screensearch.config import Settings
from screensearch.errors import FormatError, RunBusy, ScreenSearchError
from screensearch.explore.budget import Budget
from screensearch.explore.messages import Announce, Receipt
from screensearch.explore.store import ShardStore
from screensearch.record.log import Log

T = TypeVar("T")

MOST_TRIES = 50
"""So often a new owner tries to take the shard over from one that is at work."""


class Owner:
    """A store in a thread of its own: what arrives while a batch is committed forms the next one."""

    def __init__(self, shard: ShardStore, thread: ThreadPoolExecutor, news: asyncio.Event) -> None:
        self.shard = shard
        self.batches: list[int] = []  # how many messages each had that was served
        self._news = news
        self._thread = thread
        self._asked = 0
        self._waiting: list[tuple[Message, asyncio.Future[Receipt]]] = []
        self._serving: asyncio.Task[None] | None = None

    async def ask(self, message: Message) -> Receipt:
        """The receipt, once it is durable. Who is cancelled here has sent its message all the same."""
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._asked += 1
        self._waiting.append((message, answer))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.ensure_future(self._serve())
        return await answer

    async def _serve(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            messages = [message for message, _ in batch]
            answers: list[Receipt | FormatError] | list[ScreenSearchError]
            try:
                answers = await self.call(partial(self.shard.handle, messages))
            except ScreenSearchError as problem:
                answers = [problem] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():  # who asked is gone
                    continue
                if isinstance(answer, Receipt):
                    future.set_result(answer)
                else:
                    future.set_exception(answer)
            self.batches.append(len(batch))
            self._news.set()

    async def lose(self, worker: int) -> int:
        """Give a worker up, after all that it has said; returns the number of its next episode."""
        so_far = self._asked
        while sum(self.batches) < so_far:
            self._news.clear()
            await self._news.wait()

        def lose() -> int:
            self.shard.lose(worker, "it was killed")
            return self.shard.next_episode(worker)

        return await self.call(lose)

    async def call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def announce(self, announcement: Announce) -> None:
        self._thread.submit(self.shard.announce, announcement)

    async def close(self) -> None:
        await self.call(self.shard.log.close)
        self._thread.shutdown()


class Owners:
    """Who owns the shard now, and who did before: those still answer, as far as the log lets them."""

    def __init__(self, open_log: Callable[[], Log], settings: Settings, steps: int) -> None:
        self._open_log = open_log
        self._settings = settings
        self._steps = steps
        self._replacing = asyncio.Lock()
        self._news = asyncio.Event()  # a batch was served
        self.all: list[Owner] = []

    @property
    def present(self) -> Owner:
        return self.all[-1]

    async def replace(self, owner: Owner | None = None) -> None:
        """Put another owner in the place of this one, or of whoever is there; not of one that is gone."""
        async with self._replacing:
            if owner is None or owner is self.present:
                self.all.append(await self._start())

    async def _start(self) -> Owner:
        """As a process that comes up: open the log, fold it, serve."""
        thread = ThreadPoolExecutor(1)

        def open_shard() -> ShardStore:
            return ShardStore(self._open_log(), self._settings, Budget(steps=self._steps))

        for _ in range(MOST_TRIES):
            try:
                shard = await asyncio.get_running_loop().run_in_executor(thread, open_shard)
            except RunBusy:  # the owner to be replaced was quicker to connect again
                continue
            return Owner(shard, thread, self._news)
        raise RunBusy(f"the shard was not to be had in {MOST_TRIES} tries")

    async def until(self, entries: int) -> None:
        """Wait until the log has so many entries."""
        while self.present.shard.graph.sequence < entries:
            self._news.clear()
            await self._news.wait()

    async def close(self) -> None:
        for owner in reversed(self.all):
            await owner.close()
