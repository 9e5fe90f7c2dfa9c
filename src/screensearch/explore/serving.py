"""Batches: while one is being made durable, the next one gathers, and its screens are searched for.

With a single worker in the owner's own process there is nothing to gather: `LocalStore`.

The store and its log belong to the event loop, except that a commit, which mostly waits for a disk or a
database, is made in a thread. Until it is done nothing else may touch the log: whoever wants to takes a turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from screensearch.errors import FormatError, StoreFailed
from screensearch.explore.messages import Announce, Begin, BeginFailed, Message, Receipt, Report
from screensearch.explore.store import ShardStore, Submission

TURNS = 4
"""Of the loop between two batches, for what was answered to leave and what waits behind it to arrive. On a
cluster Ray hands calls in by one thread, which at the end of each waits for the loop: twice for a call that
is answered, and once more for the next. With one turn, the work for a batch kept that thread waiting, so
that 100 reports waited outside while batches had two (benchmarks.md, a hot shard)."""

Answer = Callable[[Receipt | FormatError], None]
"""Called in the loop when a message is durable, or refused."""


class Serving:
    """Takes messages for a store and answers each once its batch is durable."""

    def __init__(self, shard: ShardStore) -> None:
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Holds what went wrong once nothing can be answered any more."""
        self._shard = shard
        self._waiting: list[tuple[Submission, Answer]] = []
        self._taken = self._served = 0  # messages, in the same order
        self._log = asyncio.Condition()  # held by whoever uses the log; notified when a batch was served
        self._commits = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many messages wait for the next batch."""
        return len(self._waiting)

    def take(self, message: Message, answer: Answer) -> None:
        """Queue a message; its batch begins once all that has arrived is read and no commit is under way."""
        try:
            submission = self._shard.prepare(message)
        except Exception as problem:
            self._break(problem)
            return
        self._waiting.append((submission, answer))
        self._taken += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._serve())

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The store with its log is the caller's, and all that was taken before is answered."""
        taken = self._taken
        async with self._log:
            await self._log.wait_for(lambda: self._served >= taken)
            try:
                yield
            except StoreFailed as problem:  # then the store can answer nothing any more
                self._break(problem)
                raise

    async def close(self) -> None:
        """Answer what was taken. Then no thread touches the log any more. Safe to call twice."""
        try:
            async with self.turn():
                pass
        finally:
            self._commits.shutdown()  # also waits for a commit that nobody waits for any more
            if not self.broken.cancel() and not self.broken.cancelled():
                self.broken.exception()  # or the loop complains that nobody asked

    async def _serve(self) -> None:
        """Batch after batch, in a task that nobody cancels: a commit has the log until it is done."""
        while self._waiting:
            async with self._log:
                waiting, self._waiting = self._waiting, []
                await self._serve_batch(waiting)
                self._served += len(waiting)
                self._log.notify_all()
            for _ in range(TURNS):
                await asyncio.sleep(0)  # what has arrived since belongs to the next batch

    async def _serve_batch(self, waiting: list[tuple[Submission, Answer]]) -> None:
        try:
            batch = self._shard.take([submission for submission, _ in waiting])
            await asyncio.get_running_loop().run_in_executor(self._commits, self._shard.commit)
            for (_, answer), said in zip(waiting, self._shard.answer(batch), strict=True):
                answer(said)
            self._shard.checkpoint_if_due()  # after the answers: it takes a while
        except Exception as problem:
            self._break(problem)

    def _break(self, problem: Exception) -> None:
        if not self.broken.done():
            self.broken.set_exception(problem)


class LocalStore:
    """The store in the worker's own process (`step.Store`): a batch is one message."""

    def __init__(self, shard: ShardStore) -> None:
        self._shard = shard

    async def begin(self, begin: Begin) -> Receipt:
        return await self._handle(begin)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return await self._handle(failed)

    async def record(self, report: Report) -> Receipt:
        return await self._handle(report)

    async def announce(self, announcement: Announce) -> None:
        self._shard.announce(announcement)

    async def _handle(self, message: Message) -> Receipt:
        (answer,) = self._shard.handle([message])
        self._shard.checkpoint_if_due()
        # A world may never wait: let the clock, the interrupts and the view have a turn.
        await asyncio.sleep(0)
        if isinstance(answer, FormatError):
            raise answer
        return answer
