"""The owner of a shard as an actor: it holds the lease of the shard's log, and answers workers.

Whoever opens the log later takes the lease (`PostgresLog.open_to_write`, `take_over`): the database then
refuses what an earlier owner still tries to write, and that one ends. So there may be two actors for a
moment, and never two owners.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from screensearch.cluster.engine import control, this_node
from screensearch.cluster.names import OwnerReport
from screensearch.config import settings_from_document
from screensearch.errors import FormatError, ScreenSearchError, StoreFailed
from screensearch.explore.budget import Budget
from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report
from screensearch.explore.progress import Figures, figures_of
from screensearch.explore.store import Message, ShardStore
from screensearch.explore.wire import Failed, Frame, pack_body, unpack
from screensearch.record.stores import PostgresStore

T = TypeVar("T")


class ShardOwner:
    """One shard. Batches are recorded in a thread, so that questions about it are answered meanwhile."""

    def __init__(self) -> None:
        self._node = this_node()
        self._shard: ShardStore | None = None
        self._epoch = 0
        self._lives: dict[int, int] = {}  # by worker: lives before this one are over
        self._pending: list[tuple[Message, asyncio.Future[bytes]]] = []
        self._serving: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # the shard is used by one thread at a time
        self._busy_since: float | None = None
        self._batch_seconds = 0.0
        self._failure = ""

    async def open(
        self,
        store: PostgresStore,
        settings: dict[str, Any],
        steps: int | None,
        *,
        lives: Mapping[int, int],
        at_work: Sequence[int],
    ) -> int:
        """Become the owner: take the lease, load the checkpoint, fold the tail. Returns the epoch.

        `lives` are by worker the first that is not over. Workers `at_work` will go on where they are.
        """

        def opening() -> tuple[ShardStore, int]:
            log = store.open_to_write(take_over=True)
            try:
                shard = ShardStore(log, settings_from_document(settings), Budget(steps=steps))
                for worker in at_work:
                    shard.recall(worker)
            except BaseException:
                log.close()
                raise
            return shard, log.epoch or 0

        self._lives = dict(lives)
        async with self._turn:
            self._shard, self._epoch = await asyncio.to_thread(opening)
        return self._epoch

    # -- for workers --------------------------------------------------------------------------

    async def handle(self, life: int, body: bytes) -> bytes:
        """Record one message durably, and answer it."""
        message = unpack(body)
        if not isinstance(message, Begin | BeginFailed | Report):
            return pack_body(Failed(f"a worker sent {type(message).__name__}, which only an owner sends"))
        if not self._alive(message.episode.worker, life):
            return pack_body(Failed("another life of this worker is at work", retired=True))
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._pending.append((message, answer))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.ensure_future(self._serve())
        return await answer

    async def announce(self, life: int, body: bytes) -> None:
        """A worker has chosen."""
        message = unpack(body)
        if isinstance(message, Announce) and self._alive(message.episode.worker, life):
            self._opened().announce(message)

    def _alive(self, worker: int, life: int) -> bool:
        """Whether this life of a worker is not over; a later one ends those before it."""
        if life < self._lives.get(worker, 0):
            return False
        self._lives[worker] = life
        return True

    async def _serve(self) -> None:
        """Record what has arrived, batch after batch, until nothing is left."""
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                answers = await self._in_turn(partial(self._opened().handle, [each for each, _ in batch]))
            except ScreenSearchError as problem:
                for _, waiting in batch:
                    if not waiting.done():
                        waiting.set_exception(problem)
                continue
            for (_, waiting), answer in zip(batch, answers, strict=True):
                if not waiting.done():  # its caller may be gone
                    waiting.set_result(_packed(answer))
            with contextlib.suppress(StoreFailed):  # the next batch will meet it
                await self._in_turn(self._opened().checkpoint_if_due)

    async def _in_turn(self, job: Callable[[], T]) -> T:
        """Use the shard in a thread. What it cannot write ends this owner."""
        async with self._turn:
            self._busy_since = time.monotonic()
            try:
                return await asyncio.to_thread(job)
            except StoreFailed as problem:
                self._failure = str(problem)
                raise
            finally:
                self._batch_seconds = time.monotonic() - self._busy_since
                self._busy_since = None

    def _opened(self) -> ShardStore:
        if self._shard is None:
            raise StoreFailed("the owner has not opened its log yet")
        if self._failure:
            raise StoreFailed(self._failure)
        return self._shard

    # -- for the conductor --------------------------------------------------------------------

    @control
    async def report(self) -> OwnerReport:
        """How it is. Answered also while a batch is under way."""
        shard, busy = self._shard, self._busy_since
        return OwnerReport(
            node=self._node,
            process=os.getpid(),
            figures=Figures() if shard is None else figures_of(shard),
            under_way=0 if shard is None else shard.budget.under_way,
            queue=len(self._pending),
            batch_seconds=self._batch_seconds,
            busy_seconds=0.0 if busy is None else time.monotonic() - busy,
            epoch=self._epoch,
            failure=self._failure,
        )

    async def next_episode(self, worker: int) -> int:
        """The first episode number that this worker has not used."""
        shard = self._opened()
        return await self._in_turn(lambda: shard.next_episode(worker))

    async def lose(self, worker: int, life: int, why: str) -> None:
        """A worker's life is over: log its step as lost, and refuse whatever it may still say."""
        if not self._alive(worker, life):
            return  # a later one is at work already
        self._lives[worker] = life + 1
        shard = self._opened()
        await self._in_turn(lambda: shard.lose(worker, why))

    async def abandon(self, worker: int, life: int, why: str) -> None:
        """The same, when the worker did not fail but was ended."""
        self._lives[worker] = life + 1
        shard = self._opened()
        await self._in_turn(lambda: shard.abandon(worker, why))

    async def stop(self) -> None:
        """Grant no more steps."""
        self._opened().budget.stopping = True

    async def close(self) -> str:
        """Checkpoint, give the lease back, and tell the digest of the graph."""
        shard = self._opened()

        def closing() -> str:
            shard.checkpoint()
            shard.log.close()
            return shard.graph.digest()

        digest = await self._in_turn(closing)
        self._failure = "the log is closed"
        return digest

    async def describe(self) -> str:
        """The identifier in use, and what it lacks."""
        return self._opened().resolver.describe()


def _packed(answer: Receipt | FormatError) -> bytes:
    frame: Frame = Failed(str(answer)) if isinstance(answer, FormatError) else answer
    return pack_body(frame)
