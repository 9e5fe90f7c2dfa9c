"""The owner: one store, and worker processes around it.

Messages that arrive while a commit is under way form the next batch (`serving`), so the cost of a durable
commit is shared by all workers that wait. A worker that dies, or lets its deadline pass, is logged as
lost and replaced; one that cannot even take a step ends the run with its own words.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from screensearch.config import settings_document
from screensearch.errors import EnvironmentFailed, FormatError, StoreFailed
from screensearch.explore.connection import Connection
from screensearch.explore.logs import TEXT
from screensearch.explore.messages import Message, Receipt
from screensearch.explore.processes import how_it_ended, kill_group, reap
from screensearch.explore.serving import Serving
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import Assignment, Failed
from screensearch.explore.worker import NoStart, back_off_seconds, too_futile

WATCH_SECONDS = 1.0
"""How often silent workers are looked at."""

_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""Where a user says how many threads numpy has. If none does, workers have one: they multiply no matrices,
and one for each processor, in each of them, is a third of what the start of one costs on two processors."""


class Owner:
    """Serves one shard to worker processes until the run has enough."""

    def __init__(
        self,
        shard: ShardStore,
        *,
        environment: str,
        folder: Path,
        seed: int,
        artifacts: str = "",
        run: str = "",
        log_format: str = TEXT,
    ) -> None:
        self.shard = shard
        self._environment = environment
        self._folder = folder
        self._seed = seed
        self._artifacts = artifacts
        self._run, self._log_format = run, log_format  # what workers write into their logs, and how
        self._settings = settings_document(shard.settings)
        self._serving = Serving(shard)
        self._processes: set[asyncio.subprocess.Process] = set()
        self._stopping_since: float | None = None
        self._news = asyncio.Event()  # a step was recorded, or its worker was lost
        shard.observer.watch_queue(lambda: self._serving.waiting)

    async def run(self, workers: int) -> None:
        """Keep so many workers at it; return when every one of them was told that it is enough."""
        tending = {asyncio.ensure_future(self._tend(worker)) for worker in range(workers)}
        broken = self._serving.broken
        waiting: set[asyncio.Future[None]] = {broken, *tending}
        try:
            while waiting != {broken}:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for each in sorted(done, key=lambda future: future is not broken):
                    each.result()  # a log that failed is raised, not its consequences
        finally:
            for each in tending:
                each.cancel()
            self.kill_workers()
            try:  # what ended the run is told, not how its workers ended
                await asyncio.gather(*tending, return_exceptions=True)
            finally:
                await self._serving.close()

    def stopping_seconds(self) -> float:
        """For how long the run has been about to stop."""
        if not self.shard.budget.stopping:
            return 0.0
        now = asyncio.get_running_loop().time()
        if self._stopping_since is None:
            self._stopping_since = now
        return now - self._stopping_since

    def kill_workers(self) -> None:
        """End the worker processes at once; their steps are logged as lost."""
        for process in self._processes:
            kill_group(process)

    def take(self, connection: Connection, message: Message) -> None:
        """Let a message be recorded, and answer it when it is."""

        def answer(said: Receipt | FormatError) -> None:
            connection.send(Failed(str(said)) if isinstance(said, FormatError) else said)
            self._news.set()

        self._serving.take(message, answer)

    # -- processes ----------------------------------------------------------------------------

    async def _tend(self, worker: int) -> None:
        """Start a worker, and start it again while it dies with work left to do."""
        futile = 0
        while True:
            connection, failure = await self._run_process(worker, futile)
            if connection.told_to_end:  # it owes nothing any more, however it went
                if failure is not None:
                    self.shard.note_failure(worker, failure)
                if await self._enough():
                    return
                continue
            if connection.gave_up:  # nothing is lost: the log says what became of each start
                raise NoStart(failure) if connection.never_started else EnvironmentFailed(failure)
            if connection.store_failed:  # no failure of this worker's: another would fare the same
                async with self._serving.turn():
                    self.shard.abandon(worker, failure or "")
                raise StoreFailed(failure)
            # Shielded: also a run that ends at this moment says what became of this worker.
            await asyncio.shield(self._lose(worker, failure or "it ended without being told to"))
            if connection.hopeless and not self.shard.budget.taken:  # later, it may be a matter of load
                raise EnvironmentFailed(f"worker {worker} failed: {failure}")
            futile = connection.futile + (0 if connection.steps else futile)
            if too_futile(futile, begun=self.shard.budget.taken > 0):
                raise EnvironmentFailed(
                    f"the last {futile} starts of worker {worker} led to no step; the last: {failure}"
                )
            if futile:
                await asyncio.sleep(back_off_seconds(futile))
            if self.shard.budget.exhausted:
                return

    async def _lose(self, worker: int, why: str) -> None:
        async with self._serving.turn():
            self.shard.lose(worker, why)
        self._news.set()

    async def _enough(self) -> bool:
        """Whether a worker that was told to end is needed no more.

        A plateau is sure only once no step is under way: one of those may still find a new state.
        """
        budget = self.shard.budget
        while budget.on_plateau() and budget.under_way and not budget.stopping:
            self._news.clear()
            await self._news.wait()
        return budget.enough(budget.under_way)

    async def _run_process(self, worker: int, futile: int) -> tuple[Connection, str | None]:
        """One life of a worker process, and how it failed if it did."""
        path = _output_path(self._folder, worker)
        async with self._serving.turn():
            first_episode = self.shard.next_episode(worker)
        try:
            path.parent.mkdir(exist_ok=True)
            said_before = path.stat().st_size if path.exists() else 0
            connection, process = await self._start_process(worker, path)
        except OSError as problem:
            raise EnvironmentFailed(f"worker {worker} cannot be started: {problem}") from problem
        connection.send(
            Assignment(
                worker=worker,
                environment=self._environment,
                settings=self._settings,
                folder=str(self._folder),
                seed=self._seed,
                first_episode=first_episode,
                futile=futile,
                artifacts=self._artifacts,
                run=self._run,
                log_format=self._log_format,
            )
        )
        watched = False
        self.shard.observer.worker_started(worker)
        try:
            await self._watch(connection, process)
            async with self._serving.turn():
                watched = True  # and what it said last is answered
        finally:
            connection.close()
            code = await reap(process)
            self._processes.discard(process)
            self.shard.observer.worker_ended(worker)
            if not watched:
                async with self._serving.turn():
                    if not connection.told_to_end:
                        self.shard.abandon(worker, "the run was ended while it was at work")
        if connection.failure is not None:
            return connection, connection.failure
        if code == 0 and connection.told_to_end:
            return connection, None
        return connection, how_it_ended(code, path, said_before)

    async def _start_process(
        self, worker: int, output_path: Path
    ) -> tuple[Connection, asyncio.subprocess.Process]:
        ours, theirs = socket.socketpair()
        one_thread = {} if any(each in os.environ for each in _THREADS) else {_THREADS[0]: "1"}
        try:
            with output_path.open("ab") as output:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",  # what lies in the current folder is none of a worker's modules
                    "-m",
                    "screensearch.explore.worker_process",
                    str(theirs.fileno()),
                    *one_thread,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, **one_thread},
                    start_new_session=True,  # an interrupt from the terminal reaches the owner only
                )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._processes.add(process)
        _, connection = await asyncio.get_running_loop().create_unix_connection(
            lambda: Connection(self, worker), sock=ours
        )
        return connection, process

    async def _watch(self, connection: Connection, process: asyncio.subprocess.Process) -> None:
        """Wait for a worker's connection to end; end a worker that is overdue."""
        while not connection.finished.done():
            await asyncio.wait({connection.finished}, timeout=WATCH_SECONDS)
            overdue = connection.overdue()
            if overdue is not None and not connection.finished.done():
                connection.failure = overdue
                kill_group(process)
                return


def _output_path(folder: Path, worker: int) -> Path:
    return folder / "workers" / f"w{worker}.log"


@contextlib.contextmanager
def interrupts(on_interrupt: Callable[[], None], on_second: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C and SIGTERM call `on_interrupt` in the loop; further ones call `on_second` at once.

    At once means from the signal handler, so that it works while something blocks the loop.
    """
    loop = asyncio.get_running_loop()
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            loop.call_soon_threadsafe(on_interrupt)
        else:
            on_second()

    if threading.current_thread() is not threading.main_thread():  # the caller's signals are its own
        yield
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
