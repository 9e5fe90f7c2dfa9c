"""The conductor of a run: sees to its owners and its workers, and knows when it is enough.

Its process may die: Ray starts it anew, and it finds the owners and workers that are there by their names,
and what it cannot find, such as when the exploration began, in its memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import time
from contextlib import closing
from dataclasses import replace

from screensearch.cluster.account import Account
from screensearch.cluster.engine import (
    actors_of,
    control,
    end,
    is_itself,
    look_up,
    patiently,
    started_anew,
    this_node,
)
from screensearch.cluster.halt import Halt
from screensearch.cluster.keeping import LOOK_SECONDS
from screensearch.cluster.logs import log_for
from screensearch.cluster.memory import Memories, Memory
from screensearch.cluster.metrics import Moment, RunMetrics, serve, url_of
from screensearch.cluster.names import ConductorView, Job, Place, View, conductor_name
from screensearch.cluster.owners import Owners
from screensearch.cluster.workers import Hopeless, Workers
from screensearch.config import settings_from_document
from screensearch.domain.shard import ShardKey
from screensearch.errors import ScreenSearchError, StoreFailed
from screensearch.explore.connection import STOP_SECONDS, patience_seconds
from screensearch.explore.metrics_server import MetricsServer
from screensearch.explore.progress import Figures, Meter, Summary
from screensearch.record.restore import restore_graph
from screensearch.record.stores import PostgresStore

log = logging.getLogger(__name__)

KEEP_SECONDS = 3600.0
"""How long a run that has ended can be asked about, if nobody has come for its summary."""

LINGER_SECONDS = 3.0
"""And for how long after someone has: another who follows it may be about to look."""


NOTE_SECONDS = 10.0
"""How often it is kept how far the logs go: that changes all the time."""


class NotClosed(ScreenSearchError):
    """The run was stopped while its log was out of reach."""


class Conductor:
    """One exploration of one run."""

    def __init__(self, job: Job) -> None:
        log_for(job)
        self._job = job
        self._node = this_node()
        self._halt = Halt()
        self._account = Account(job.workers)
        self._workers = Workers(job, self._halt, self._account)
        self._owners = Owners(job, self._workers.at_work, self._account)
        self._phase = "starting"
        self._found = asyncio.Event()  # the shards that the run has
        self._problem = ""
        self._never_started = False
        self._summary: Summary | None = None
        self._meter = Meter(self._figures)
        self._server: MetricsServer | None = None
        self._memories = Memories()
        self._memory: Memory | None = None
        self._recorded: dict[int, int] = {}  # how far the logs went when that was last kept
        self._noted = -math.inf  # which was then
        self._recalled = asyncio.Event()  # what an earlier life knew, if there was one
        self._collected = asyncio.Event()
        self._running = asyncio.ensure_future(self._run())

    # -- what is asked of it ------------------------------------------------------------------

    async def shard(self, key: ShardKey) -> int | None:
        """The shard of screens like these; None while the shards of the run are being looked for."""
        if not self._found.is_set():
            return None
        number = self._owners.shard(key)
        kept = self._memories.kept
        if kept is None or kept.promised.get(number) != key:
            await self._keep()  # or another life of this conductor might promise it to others
        return number

    async def take_a_turn(self) -> None:
        """Asked by owners whom nobody asks: unlike `view`, this is answered only if the run is seen to."""

    @control
    async def locate(self, shard: int) -> Place | None:
        """Who owns a shard; None while it is between two owners."""
        return self._owners.locate(shard)

    @control
    async def view(self) -> View:
        """The run at this moment."""
        return View(
            run=self._job.run,
            folder=self._job.folder,
            environment=self._job.environment,
            phase=self._phase,
            progress=self._meter.read(),
            workers=self._workers.views(),
            owners=self._owners.views(),
            troubles=self._account.troubles,
            summary=self._summary,
            problem=self._problem,
            never_started=self._never_started,
            conductor=ConductorView(self._node, os.getpid(), self._metrics),
        )

    async def stop(self, why: str) -> None:
        """Let steps under way finish, and take no more. Once this returns, a later life knows it, too."""
        self._stop(why)
        await self._keep()

    async def give_up(self) -> None:
        """End the workers at once; their steps are logged as lost."""
        self._stop("interrupted")
        self._halt.insist("interrupted")
        await self._keep()
        self._workers.end()

    async def collect(self) -> None:
        """Nobody needs the summary any more: the conductor may go."""
        self._collected.set()

    def _stop(self, why: str) -> None:
        if self._phase != "ended":
            self._halt.ask(why)
            self._phase = "stopping"

    def _figures(self) -> Figures:
        """Of the run as last heard of; only the conductor knows the failures of workers over all owners."""
        return replace(self._owners.figures(), worker_failures=self._account.worker_failures)

    # -- what is measured ---------------------------------------------------------------------

    @property
    def _metrics(self) -> str:
        """Where the figures of the run are served; empty if nowhere."""
        return url_of(self._server, self._node)

    async def _serve_metrics(self) -> None:
        before = "" if self._memory is None else self._memory.metrics
        shown = RunMetrics(self._job, self._moment)
        self._server = await asyncio.to_thread(serve, self._job.metrics, shown, before=before)

    def _moment(self) -> Moment:
        """The run now, and of the counts what a later life will go on from: or they would fall again."""
        kept = self._memories.kept or Memory(time.time())
        return Moment(
            counts=kept.counts,
            workers=self._workers.views(),
            figures=self._figures(),
            seconds=self._meter.seconds,
            discovered_at=kept.discovered_at,
        )

    async def _end_metrics(self) -> None:
        if self._server is not None:
            await asyncio.to_thread(self._server.close)
            self._server = None

    # -- the run ------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            try:
                self._memory = await self._memories.recall()
            finally:
                self._recalled.set()  # also of one that cannot be read: whoever waits would wait for ever
            if self._memory is not None:
                self._account.go_on(self._memory.counts)
                self._go_on(self._memory)
            if self._memory is not None and (self._memory.summary is not None or self._memory.problem):
                self._remember_the_end(self._memory)
            else:
                if self._job.metrics:
                    await self._serve_metrics()
                await self._lead()
        except* ScreenSearchError as problems:
            first = problems.exceptions[0]
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            self._problem = str(first)
            self._never_started = isinstance(first, Hopeless) and first.never_started
            out_of_reach = isinstance(first, NotClosed) or self._owners.given_up
            if not out_of_reach:  # or the owner of such a log would be waited for in vain
                await self._conclude_failed()
        except* Exception as problems:
            log.exception("the conductor failed")
            self._problem = f"the conductor failed: {problems.exceptions[0]!r}"
        finally:
            self._workers.end()
            self._owners.end()
            self._phase = "ended"
            self._tell_the_end()
            await self._keep()
            await self._end_metrics()
            await self._leave()

    def _remember_the_end(self, memory: Memory) -> None:
        """It was over before this life began."""
        self._summary, self._problem, self._never_started = (
            memory.summary,
            memory.problem,
            memory.never_started,
        )

    def _tell_the_end(self) -> None:
        why = self._problem or (self._halt.why if self._summary is None else self._summary.ended)
        log.info("the run has ended: %s", why, extra={"figures": {"why": why}})

    async def _lead(self) -> None:
        """Until the run has enough; raises if there is no hope for it."""
        async with asyncio.TaskGroup() as parts:
            beside = [
                parts.create_task(self._owners.despair()),
                parts.create_task(self._lose_patience()),
            ]
            await self._find()
            steps = parts.create_task(self._see_to_steps())
            beside += [parts.create_task(self._watch_rules()), steps]
            await self._workers.tend(self._owners)
            if not self._job.workers:  # they are elsewhere, and find the owners by way of this conductor
                await self._halt.asked.wait()
                await self._drain()
            steps.cancel()  # owners that have closed their logs grant nothing
            await self._conclude()
            for each in beside:
                each.cancel()

    async def _find(self) -> None:
        """Have owners, and the workers that are there; go on with what an earlier life knew."""
        await self._workers.adopt()
        anew = await patiently(started_anew)
        log.info("the conductor %s on %s", "was started anew" if anew else "begins", self._node)
        promised = {} if self._memory is None else self._memory.promised
        recorded = {} if self._memory is None else self._memory.recorded
        limits = {} if self._memory is None else self._memory.limits
        held = self._memory is not None and self._memory.at_start is not None
        async with asyncio.TaskGroup() as parts:
            if self._memory is None or not self._memory.why:  # or no more steps would be granted to them
                parts.create_task(self._workers.prepare())
            parts.create_task(self._owners.find(promised, recorded, limits, held=held))
        self._workers.others_answer()
        memory = self._memory or Memory(time.time())
        if memory.at_start is None:
            memory = replace(memory, at_start=self._owners.figures())
        self._memory = memory
        self._go_on(memory)
        if memory.why:  # a conductor before this one was told to, or had enough
            self._halt.ask(memory.why)
        elif self._owners.figures().stopping:
            self._halt.ask("interrupted")
        self._phase = "stopping" if self._halt.asked.is_set() else "exploring"
        self._found.set()
        if anew:
            await self._workers.miss(self._owners)

    def _go_on(self, memory: Memory) -> None:
        """Count from where the exploration began."""
        seconds = max(0.0, time.time() - memory.begun)
        self._meter = Meter(self._figures, at_start=memory.at_start, seconds=seconds)

    async def _lose_patience(self) -> None:
        """Raise when the run is to end and its log can not be opened, or not be closed; else never return."""
        patience = patience_seconds(settings_from_document(self._job.settings))
        await self._halt.asked.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._found.wait()
        if self._found.is_set():
            await self._halt.insisted.wait()
            await asyncio.sleep(patience)
        trouble = f": {self._account.trouble}" if self._account.trouble else ""
        raise NotClosed(
            f"the log of the run at {self._job.folder} could not be closed when the run was stopped{trouble} "
            "(all that was acknowledged is in it: go on later with --resume)"
        )

    async def _drain(self) -> None:
        """Let workers that are elsewhere finish their steps, and learn that there are no more."""
        await self._owners.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_seconds(settings_from_document(self._job.settings))):
                while True:
                    await self._owners.renew()
                    if not self._owners.under_way:
                        return
                    await asyncio.sleep(LOOK_SECONDS)

    async def _leave(self) -> None:
        """Wait for someone who wants the summary; then end all actors of the run."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS):
                await self._collected.wait()
        await asyncio.sleep(LINGER_SECONDS)
        itself = conductor_name(self._job.run)
        for name in await patiently(actors_of, self._job.run):
            actor = await patiently(look_up, name)
            if actor is not None and name != itself:
                end(actor)
        # Nothing else may be ended from here on: once the name is free, the run may go on with another.
        while (actor := await patiently(look_up, itself)) is not None and is_itself(actor):
            end(actor)
            await asyncio.sleep(LOOK_SECONDS)

    async def _conclude(self) -> None:
        """Close the logs; sum up."""
        identifier = await self._owners.ask(0, "describe")
        await self._owners.renew()
        self._halt.ask("steps")
        await self._keep()
        digests = await self._owners.close()
        self._summary = self._meter.summarise(
            run=self._job.folder,
            environment=self._job.environment,
            digest=digests[0] if len(digests) == 1 else await self._digest(),
            ended=self._halt.why,
            identifier=identifier,
        )

    async def _digest(self) -> str:
        """Of the graph of all shards together; the database may be away."""
        while True:
            try:
                return await asyncio.to_thread(self._fold)
            except StoreFailed as problem:
                self._account.note("the shards cannot be read together", str(problem))
                await asyncio.sleep(LOOK_SECONDS)

    def _fold(self) -> str:
        """The digest of the graph as whoever reads the run sees it."""
        with closing(PostgresStore(self._job.store, self._job.run).open_latest()) as log:
            ambiguity = settings_from_document(self._job.settings).ambiguity
            return restore_graph(log, ambiguity).digest()

    async def _conclude_failed(self) -> None:
        """Keep what there is, as far as that is possible."""
        self._halt.ask("failed starts")
        self._halt.why = "failed starts"  # whatever it was to end for
        if self._found.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await self._conclude()

    async def _watch_rules(self) -> None:
        """Stop when the time is up or the run has what was asked for; owners themselves count steps."""
        rule, memory = self._job.stop, self._memory
        assert memory is not None  # there is one since the owners were found
        states, discovered_at = memory.states, memory.discovered_at or self._figures().steps
        while True:
            figures = self._figures()
            if figures.states > states:
                states, discovered_at = figures.states, figures.steps
            if rule.seconds is not None and self._meter.seconds >= rule.seconds:
                self._stop("seconds")
            if rule.states is not None and figures.states >= rule.states:
                self._stop("states")
            if rule.plateau is not None and figures.steps - discovered_at >= rule.plateau:
                self._stop("plateau")
            self._memory = replace(memory, states=states, discovered_at=discovered_at)
            await self._keep()
            await asyncio.sleep(LOOK_SECONDS)

    async def _see_to_steps(self) -> None:
        """Let owners grant what is left, and no more once the run is to end."""

        async def share() -> None:
            while not self._halt.asked.is_set():
                await self._owners.shares.share()
                await asyncio.sleep(LOOK_SECONDS)

        async with asyncio.TaskGroup() as both:
            both.create_task(share())  # which may wait for an owner: the others are told to stop all the same
            await self._halt.asked.wait()
            while True:
                await self._owners.stop()
                await asyncio.sleep(LOOK_SECONDS)

    async def _keep(self) -> None:
        """Let another life of this conductor know all this."""
        await self._recalled.wait()
        if time.monotonic() - self._noted >= NOTE_SECONDS:
            self._recorded, self._noted = self._owners.recorded(), time.monotonic()
        memory = self._memory or Memory(time.time())
        self._memory = replace(
            memory,
            counts=self._account.counts(),
            # This life may be told to stop before it has found what an earlier one has promised.
            promised=memory.promised | self._owners.promised(),
            recorded=memory.recorded | self._recorded,
            limits=memory.limits | self._owners.limits(),
            metrics=self._metrics or memory.metrics,
            why=self._halt.why,
            summary=self._summary,
            problem=self._problem,
            never_started=self._never_started,
        )
        await self._memories.keep(self._memory)
