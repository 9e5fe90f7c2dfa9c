"""The conductor of a run: places its workers, looks after them, and knows when it is enough.

It holds nothing that it could not find again. Its process may die: Ray starts it anew, and it finds the
owners and workers that are there, by their names. A worker that is gone or silent is logged as lost, and
another life of it begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
from dataclasses import dataclass
from typing import Any

from screensearch.cluster.engine import Gone, actors_of, ask, control, end, find_actor, place
from screensearch.cluster.names import Job, Place, Task, View, WorkerReport, WorkerView, worker_name
from screensearch.cluster.owners import LOOK_SECONDS, SILENT_SECONDS, AtWork, Owners
from screensearch.cluster.worker import ClusterWorker
from screensearch.config import settings_from_document
from screensearch.domain.shard import ShardKey
from screensearch.errors import ScreenSearchError
from screensearch.explore.connection import STOP_SECONDS, patience_seconds
from screensearch.explore.progress import Meter, Summary
from screensearch.explore.wire import Assignment
from screensearch.explore.worker import LONGEST_BACK_OFF_SECONDS, back_off_seconds, too_futile

log = logging.getLogger(__name__)

KEEP_SECONDS = 3600.0
"""How long a run that has ended can be asked about, if nobody has come for its summary."""

LINGER_SECONDS = 3.0
"""And for how long after that: another who follows it may be about to look."""

WAITS = "waiting for a slot"
WORKS = "working"


class Hopeless(ScreenSearchError):
    """Another life of a worker would go the same way as this one."""


@dataclass
class _Worker:
    """A worker over its lives."""

    number: int
    life: int = 0
    actor: Any = None
    report: WorkerReport | None = None
    state: str = WAITS
    failures: int = 0
    futile: int = 0  # starts in a row without a step, over its lives
    adopted: bool = False  # it was at work before this conductor

    @property
    def at_work(self) -> bool:
        """Whether its latest life is not over."""
        return self.adopted or self.state == WORKS

    def view(self) -> WorkerView:
        node, process = ("", 0) if self.report is None else (self.report.node, self.report.process)
        return WorkerView(self.number, self.life, self.state, node, process, self.failures)


class Conductor:
    """One exploration of one run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._settings = settings_from_document(job.settings)
        self._owners = Owners(job, self._at_work, self._note)
        self._workers = [_Worker(number) for number in range(job.workers)]
        self._phase = "starting"
        self._stopping_since: float | None = None
        self._stopped = asyncio.Event()
        self._ended = ""
        self._trouble = ""
        self._problem = ""
        self._never_started = False
        self._summary: Summary | None = None
        self._meter = Meter(self._owners.figures)
        self._collected = asyncio.Event()
        self._running = asyncio.ensure_future(self._run())

    # -- what is asked of it ------------------------------------------------------------------

    async def shard(self, key: ShardKey) -> int | None:
        """The shard of screens like these; None while the shards of the run are being looked for."""
        return await self._owners.shard(key) if self._phase != "starting" else None

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
            workers=tuple(each.view() for each in self._workers),
            owners=self._owners.views(),
            trouble=self._trouble,
            summary=self._summary,
            problem=self._problem,
            never_started=self._never_started,
        )

    async def stop(self, why: str) -> None:
        """Let steps under way finish, and take no more."""
        self._stop(why)

    async def give_up(self) -> None:
        """End the workers at once; their steps are logged as lost."""
        self._stop("interrupted")
        for worker in self._workers:
            if worker.at_work:
                end(worker.actor)

    async def collect(self) -> None:
        """Nobody needs the summary any more: the conductor may go."""
        self._collected.set()

    def _stop(self, why: str) -> None:
        if self._phase == "ended":
            return
        self._ended = self._ended or why
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()
            self._stopped.set()
            self._phase = "stopping"

    def _note(self, trouble: str) -> None:
        self._trouble = trouble
        log.warning("%s", trouble)

    def _at_work(self, shard: int) -> AtWork:
        """The workers as an owner of a shard must know them; at work are those last heard of there."""
        return AtWork(
            lives={each.number: each.life + (not each.at_work) for each in self._workers if each.life},
            at_work=[
                each.number
                for each in self._workers
                if each.at_work and (each.report is None or each.report.shard == shard)
            ],
        )

    # -- the run ------------------------------------------------------------------------------

    async def _run(self) -> None:
        watching: asyncio.Task[None] | None = None
        try:
            await self._owners.find(await self._adopt())
            self._meter = Meter(self._owners.figures)
            if self._owners.figures().stopping:  # a conductor before this one was told to
                self._stop("interrupted")
            self._phase = "exploring" if self._stopping_since is None else "stopping"
            watching = asyncio.ensure_future(self._watch_rules())
            async with asyncio.TaskGroup() as tending:
                for worker in self._workers:
                    tending.create_task(self._tend(worker))
                if not self._workers:  # they are elsewhere, and find the owners by way of this conductor
                    await self._stopped.wait()
                    await self._drain()
            await self._conclude()
        except* ScreenSearchError as problems:
            self._problem = str(problems.exceptions[0])
            await self._conclude_failed()
        except* Exception as problems:
            log.exception("the conductor failed")
            self._problem = f"the conductor failed: {problems.exceptions[0]!r}"
        finally:
            if watching is not None:
                watching.cancel()
            self._owners.end()
            self._phase = "ended"
            await self._leave()

    async def _drain(self) -> None:
        """Let workers that are elsewhere finish their steps, and learn that there are no more."""
        await self._owners.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_seconds(self._settings)):
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
        names = await asyncio.to_thread(actors_of, self._job.run)
        for name in sorted(names, key=lambda name: name.endswith("/conductor")):  # itself last
            actor = await asyncio.to_thread(find_actor, name)
            if actor is not None:
                end(actor)

    async def _conclude(self) -> None:
        """Close the logs; sum up."""
        identifier = await self._owners.ask(0, "describe")
        await self._owners.renew()
        if not self._ended:
            self._ended = "steps"
        digests = await self._owners.close()
        self._summary = self._meter.summarise(
            run=self._job.folder,
            environment=self._job.environment,
            digest=digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest(),
            ended=self._ended,
            identifier=identifier,
        )

    async def _conclude_failed(self) -> None:
        for worker in self._workers:
            if worker.at_work:
                end(worker.actor)
        self._ended = "failed starts"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._conclude()

    async def _adopt(self) -> dict[int, int]:
        """Find the workers that were at work before this conductor; and the owners, by their generation."""
        generations: dict[int, int] = {}
        for name in await asyncio.to_thread(actors_of, self._job.run):
            match name.split("/")[1:]:
                case ["owner", shard, generation]:
                    generations[int(shard)] = max(generations.get(int(shard), 0), int(generation))
                case ["worker", number, life] if int(number) < len(self._workers):
                    worker = self._workers[int(number)]
                    actor = await asyncio.to_thread(find_actor, name)
                    if int(life) > worker.life and actor is not None:
                        worker.life, worker.actor, worker.adopted = int(life), actor, True
        return generations

    async def _watch_rules(self) -> None:
        """Stop when the time is up or the run has what was asked for; owners themselves count steps."""
        rule, begun = self._job.stop, time.monotonic()
        states, discovered_at = 0, self._owners.figures().steps
        while True:
            figures = self._owners.figures()
            if figures.states > states:
                states, discovered_at = figures.states, figures.steps
            if rule.seconds is not None and time.monotonic() - begun >= rule.seconds:
                self._stop("seconds")
            if rule.states is not None and figures.states >= rule.states:
                self._stop("states")
            if rule.plateau is not None and figures.steps - discovered_at >= rule.plateau:
                self._stop("plateau")
            if self._stopping_since is not None:
                await self._owners.stop()
            else:
                await self._owners.share_steps()
            await asyncio.sleep(LOOK_SECONDS)

    # -- workers ------------------------------------------------------------------------------

    async def _tend(self, worker: _Worker) -> None:
        """Give a worker one life after another while there is work left to do."""
        while worker.adopted or (self._stopping_since is None and not self._owners.out_of_steps):
            why = await self._live(worker)
            if why is None:
                await self._owners.ask_all("lose", worker.number, worker.life, "", False)
                worker.state = WAITS
                await self._owners.renew()
                continue
            worker.failures += 1
            self._note(f"worker {worker.number}: {why}")
            await self._owners.ask_all("lose", worker.number, worker.life, why, True)
            worker.state = WAITS
            await self._owners.renew()  # its step is free again
            self._check_hope(worker, why)
            if worker.futile:
                await asyncio.sleep(back_off_seconds(worker.futile))
        worker.state = "ended"

    def _check_hope(self, worker: _Worker, why: str) -> None:
        """Raise if another life would go the same way."""
        report, begun = worker.report, self._owners.figures().steps > 0
        failed = None if report is None else report.failed
        if failed is not None and failed.store_failed:
            raise Hopeless(failed.message)
        if failed is not None and failed.gave_up:
            self._never_started = failed.never_started
            raise Hopeless(failed.message)
        if failed is not None and failed.hopeless and not begun:
            raise Hopeless(f"worker {worker.number} failed: {failed.message}")
        steps, starts = (0, 0) if report is None else (report.steps, report.starts)
        worker.futile = starts if steps else worker.futile + max(starts, 1)
        if too_futile(worker.futile, begun=begun):
            raise Hopeless(
                f"the last {worker.futile} starts of worker {worker.number} led to no step; the last: {why}"
            )

    async def _live(self, worker: _Worker) -> str | None:
        """One life of a worker; why it failed, if it did."""
        if not worker.adopted:
            worker.life = max(worker.life + 1, time.time_ns())  # also beyond what is not remembered
            worker.report = None
            first = max(await self._owners.ask_all("next_episode", worker.number))
            name = worker_name(self._job.run, worker.number, worker.life)
            worker.actor = place(ClusterWorker, name, self._task(worker, first), takes_slot=True)
        try:
            return await self._watch(worker)
        finally:
            worker.adopted = False
            end(worker.actor)

    def _task(self, worker: _Worker, first_episode: int) -> Task:
        job = self._job
        assignment = Assignment(
            worker=worker.number,
            environment=job.environment,
            settings=job.settings,
            folder=job.folder,
            seed=job.seed,
            first_episode=first_episode,
            futile=worker.futile,
            artifacts=job.artifacts,
            run=job.run,
            log_format=job.log_format,
        )
        return Task(job.run, worker.life, assignment, job.version)

    async def _watch(self, worker: _Worker) -> str | None:
        """Ask a worker how it is until it ends; say why, if it failed."""
        waiting = asyncio.ensure_future(ask(worker.actor.report.remote()))
        try:
            while not waiting.done():  # until there is a slot for it
                await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
                needless = self._stopping_since is not None or self._owners.out_of_steps
                if needless and not waiting.done() and not worker.adopted:
                    waiting.cancel()
                    return None
            report: WorkerReport = waiting.result()
            worker.report, worker.state = report, WORKS
            while not report.ended:
                overdue = self._overdue(report)
                if overdue:
                    return overdue
                await asyncio.sleep(LOOK_SECONDS)
                worker.report = report = await ask(worker.actor.report.remote(), seconds=SILENT_SECONDS)
        except TimeoutError:
            return f"it did not say how it was for {SILENT_SECONDS:.0f} s, so it was ended"
        except Gone as problem:
            return str(problem).partition("\n")[0] or type(problem).__name__
        return None if report.failed is None else report.failed.message

    def _overdue(self, report: WorkerReport) -> str:
        """Why a worker should be waited for no longer, if so."""
        if report.waits:
            return ""
        silent, deadline = report.silent_seconds, self._settings.explore.step_deadline_seconds
        if silent > deadline + LONGEST_BACK_OFF_SECONDS:
            return (
                f"nothing was heard of it for {silent:.0f} s (explore.step_deadline_seconds), so it was ended"
            )
        stopping = 0.0 if self._stopping_since is None else time.monotonic() - self._stopping_since
        if min(silent, stopping) > patience_seconds(self._settings):
            return f"its step was not done {stopping:.0f} s after the run was to stop, so it was ended"
        return ""
