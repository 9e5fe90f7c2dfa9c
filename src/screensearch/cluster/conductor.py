"""The conductor of a run: places its owners and workers, looks after them, and knows when it is enough.

It holds nothing that it could not find again. Its process may die: Ray starts it anew, and it finds the
owners and workers that are there, by their names. An owner that is gone, silent or not able to write is
replaced by another, whose epoch shuts it out; a worker that is gone or silent is logged as lost, and
another life of it begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass
from typing import Any

from screensearch.cluster.engine import Gone, actors_of, ask, control, end, find_actor, place
from screensearch.cluster.names import (
    Job,
    OwnerReport,
    OwnerView,
    Place,
    Task,
    View,
    WorkerReport,
    WorkerView,
    owner_name,
    worker_name,
)
from screensearch.cluster.owner import ShardOwner
from screensearch.cluster.worker import ClusterWorker
from screensearch.config import settings_from_document
from screensearch.errors import ScreenSearchError
from screensearch.explore.connection import STOP_SECONDS, patience_seconds
from screensearch.explore.progress import Figures, Meter
from screensearch.explore.wire import Assignment
from screensearch.explore.worker import LONGEST_BACK_OFF_SECONDS, back_off_seconds, too_futile
from screensearch.record.stores import PostgresStore

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often owners and workers are asked how they are."""

SILENT_SECONDS = 5.0
"""Whoever does not say how it is for so long is replaced."""

KEEP_SECONDS = 3600.0
"""How long a run that has ended can be asked about, if nobody has come for its summary."""


@dataclass
class _Owner:
    """The owner of a shard, as far as the conductor knows."""

    place: Place
    actor: Any
    report: OwnerReport | None = None
    state: str = "opening"


@dataclass
class _Worker:
    """A worker over its lives."""

    number: int
    life: int = 0
    actor: Any = None
    report: WorkerReport | None = None
    state: str = "waiting for a slot"
    failures: int = 0
    futile: int = 0  # starts in a row without a step, over its lives
    ended: bool = False
    adopted: bool = False  # it was at work before this conductor

    @property
    def at_work(self) -> bool:
        """Whether its latest life is not over."""
        return self.adopted or self.state == "working"


class Conductor:
    """One exploration of one run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._settings = settings_from_document(job.settings)
        self._generation = 0  # of the latest owner
        self._owner: _Owner | None = None
        self._last_figures = Figures()
        self._owned = asyncio.Event()  # set while there is an owner that answers
        self._workers = [_Worker(number) for number in range(job.workers)]
        self._phase = "starting"
        self._stopping_since: float | None = None
        self._ended = ""
        self._trouble = ""
        self._problem = ""
        self._never_started = False
        self._summary: Any = None
        self._meter = Meter(lambda: self._figures())
        self._states = 0
        self._discovered_at = 0  # steps
        self._done = asyncio.Event()
        self._collected = asyncio.Event()
        self._running = asyncio.ensure_future(self._run())

    # -- what is asked of it ------------------------------------------------------------------

    @control
    async def locate(self, shard: int) -> Place | None:
        """Who owns a shard; None while it is between two owners."""
        return None if self._owner is None or not self._owned.is_set() else self._owner.place

    @control
    async def view(self) -> View:
        """The run at this moment."""
        owners = () if self._owner is None else (_owner_view(self._owner),)
        return View(
            run=self._job.run,
            folder=self._job.folder,
            environment=self._job.environment,
            phase=self._phase,
            progress=self._meter.read(),
            workers=tuple(
                WorkerView(each.number, each.life, each.state, *_where(each.report), failures=each.failures)
                for each in self._workers
            ),
            owners=owners,
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
            if worker.actor is not None and not worker.ended:
                end(worker.actor)

    async def wait(self) -> View:
        """The run as it was when it ended."""
        await self._done.wait()
        view: View = await self.view()
        return view

    async def collect(self) -> None:
        """Nobody needs the summary any more: the conductor may go."""
        self._collected.set()

    def _stop(self, why: str) -> None:
        self._ended = self._ended or why
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()
            self._phase = "stopping"

    # -- the run ------------------------------------------------------------------------------

    async def _run(self) -> None:
        await self._adopt()
        watching = asyncio.ensure_future(self._watch_owner())
        try:
            await self._owned.wait()
            self._meter = Meter(self._figures)
            self._phase = "exploring" if self._stopping_since is None else "stopping"
            async with asyncio.TaskGroup() as tending:
                clock = asyncio.ensure_future(self._watch_rules())
                for worker in self._workers:
                    tending.create_task(self._tend(worker))
            clock.cancel()
            await self._conclude()
            watching.cancel()
        except* ScreenSearchError as problems:
            self._problem = "; ".join(str(each) for each in problems.exceptions)
            await self._conclude_failed()
        except* Exception as problems:
            log.exception("the conductor failed")
            self._problem = repr(problems.exceptions[0])
        finally:
            watching.cancel()
            self._phase = "ended"
            self._done.set()
            await self._leave()

    async def _leave(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS):
                await self._collected.wait()
        for name in actors_of(self._job.run):
            actor = find_actor(name)
            if actor is not None and not name.endswith("/conductor"):
                end(actor)
        actor = find_actor(f"{self._job.run}/conductor")
        if actor is not None:
            end(actor)

    async def _conclude(self) -> None:
        """Close the owners' logs; sum up."""
        identifier = await self._of_owner("describe")
        await self._renew_figures()
        digest = await self._of_owner("close")
        self._summary = self._meter.summarise(
            run=self._job.folder,
            environment=self._job.environment,
            digest=digest,
            ended=self._ended or "steps",
            identifier=identifier,
        )

    async def _renew_figures(self) -> None:
        """As of now: the latest look at the owner may have been before the last steps."""
        report = await self._of_owner("report")
        self._last_figures = report.figures
        if self._owner is not None:
            self._owner.report = report

    async def _conclude_failed(self) -> None:
        for worker in self._workers:
            if worker.actor is not None and not worker.ended:
                end(worker.actor)
        with contextlib.suppress(ScreenSearchError, TimeoutError, Gone):
            await self._conclude()

    async def _adopt(self) -> None:
        """Find the owners and workers that were at work before this conductor."""
        generations: list[int] = []
        for name in await asyncio.to_thread(actors_of, self._job.run):
            match name.split("/")[1:]:
                case ["owner", _, generation]:
                    generations.append(int(generation))
                case ["worker", number, life] if int(number) < len(self._workers):
                    worker = self._workers[int(number)]
                    if int(life) > worker.life:
                        worker.life, worker.actor = int(life), await asyncio.to_thread(find_actor, name)
                        worker.adopted = worker.actor is not None
        self._generation = max(generations, default=0)

    # -- owners -------------------------------------------------------------------------------

    async def _watch_owner(self) -> None:
        """Have an owner, always."""
        while True:
            owner = self._owner
            if owner is None:
                await self._replace_owner()
                continue
            trouble = await self._look_at(owner)
            if trouble:
                self._note(f"the owner was replaced: {trouble}")
                self._owned.clear()
                self._owner = None
                end(owner.actor)
            else:
                await asyncio.sleep(LOOK_SECONDS)

    async def _look_at(self, owner: _Owner) -> str:
        """Why this owner should be replaced, if so."""
        try:
            owner.report = await ask(owner.actor.report.remote(), seconds=SILENT_SECONDS)
        except (TimeoutError, Gone) as problem:
            return _words(problem)
        return owner.report.failure

    def _note(self, trouble: str) -> None:
        self._trouble = trouble
        log.warning("%s", trouble)

    async def _replace_owner(self) -> None:
        self._generation += 1
        name = owner_name(self._job.run, 0, self._generation)
        actor = place(ShardOwner, name)
        owner = _Owner(Place(0, self._generation, name), actor)
        at_work = [each.number for each in self._workers if each.at_work]
        lives = {each.number: each.life + (not each.at_work) for each in self._workers if each.life}
        store = PostgresStore(self._job.store, self._job.run)
        try:
            await ask(
                actor.open.remote(
                    store, self._job.settings, self._job.stop.steps, lives=lives, at_work=at_work
                )
            )
            owner.report = await ask(actor.report.remote(), seconds=SILENT_SECONDS)
        except (TimeoutError, Gone) as problem:
            self._note(f"an owner could not open the log: {_words(problem)}")
            end(actor)
            await asyncio.sleep(LOOK_SECONDS)
            return
        owner.state = "serving"
        if self._stopping_since is not None:
            await ask(actor.stop.remote())
        self._owner = owner
        self._owned.set()

    async def _of_owner(self, method: str, *arguments: object) -> Any:
        """Ask the owner something that it must do: if it goes, the next one is asked."""
        while True:
            await self._owned.wait()
            owner = self._owner
            if owner is None:
                continue
            try:
                return await ask(getattr(owner.actor, method).remote(*arguments))
            except Gone as problem:
                log.warning("the owner did not %s: %s", method, _words(problem))
                await asyncio.sleep(LOOK_SECONDS)

    def _figures(self) -> Figures:
        owner = self._owner
        if owner is not None and owner.report is not None:
            self._last_figures = owner.report.figures
        return self._last_figures

    async def _watch_rules(self) -> None:
        """Stop when the time is up or the run has what was asked for; the owner itself counts steps."""
        rule, begun = self._job.stop, time.monotonic()
        while True:
            figures = self._figures()
            if figures.states > self._states:
                self._states, self._discovered_at = figures.states, figures.steps
            if rule.seconds is not None and time.monotonic() - begun >= rule.seconds:
                self._stop("seconds")
            if rule.states is not None and figures.states >= rule.states:
                self._stop("states")
            if rule.plateau is not None and figures.steps - self._discovered_at >= rule.plateau:
                self._stop("plateau")
            if self._stopping_since is not None:
                await self._of_owner("stop")
            await asyncio.sleep(LOOK_SECONDS)

    # -- workers ------------------------------------------------------------------------------

    async def _tend(self, worker: _Worker) -> None:
        """Give a worker one life after another while there is work left to do."""
        while not self._enough():
            why = await self._live(worker)
            if why is None:
                await self._renew_figures()
                if self._enough() or self._out_of_steps():
                    break
                continue
            worker.failures += 1
            worker.state = "waiting for a slot"
            self._note(f"worker {worker.number}: {why}")
            await self._of_owner("lose", worker.number, worker.life, why)
            self._check_hope(worker, why)
            if worker.futile:
                await asyncio.sleep(back_off_seconds(worker.futile))
        worker.state, worker.ended = "ended", True

    def _check_hope(self, worker: _Worker, why: str) -> None:
        """Raise if another life would go the same way."""
        report, begun = worker.report, self._figures().steps > 0
        failed = None if report is None else report.failed
        if failed is not None and failed.gave_up:
            self._never_started = failed.never_started
            raise ScreenSearchError(failed.message)
        if failed is not None and failed.hopeless and not begun:
            raise ScreenSearchError(f"worker {worker.number} failed: {failed.message}")
        if report is not None and report.steps:
            worker.futile = report.starts
        else:
            worker.futile += 1
        if too_futile(worker.futile, begun=begun):
            raise ScreenSearchError(
                f"the last {worker.futile} starts of worker {worker.number} led to no step; the last: {why}"
            )

    def _enough(self) -> bool:
        return self._stopping_since is not None

    def _out_of_steps(self) -> bool:
        steps = self._job.stop.steps
        return steps is not None and self._figures().steps >= steps

    async def _live(self, worker: _Worker) -> str | None:
        """One life of a worker; why it failed, if it did."""
        if not worker.adopted:
            worker.life = max(worker.life + 1, time.time_ns())  # also beyond what is not remembered
            worker.report, worker.state = None, "waiting for a slot"
            first = await self._of_owner("next_episode", worker.number)
            worker.actor = place(
                ClusterWorker,
                worker_name(self._job.run, worker.number, worker.life),
                self._task(worker, first),
                takes_slot=True,
            )
        worker.adopted = False
        try:
            return await self._watch(worker)
        finally:
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
        )
        return Task(job.run, worker.life, assignment, job.version)

    async def _watch(self, worker: _Worker) -> str | None:
        """Ask a worker how it is until it ends; say why, if it failed."""
        waiting = asyncio.ensure_future(ask(worker.actor.report.remote()))
        try:
            while not waiting.done():  # until there is a slot for it
                await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
                if self._enough() and not waiting.done():
                    waiting.cancel()
                    return None
            worker.report = waiting.result()
            worker.state = "working"
            while not worker.report.ended:
                overdue = self._overdue(worker.report)
                if overdue:
                    return overdue
                await asyncio.sleep(LOOK_SECONDS)
                worker.report = await ask(worker.actor.report.remote(), seconds=SILENT_SECONDS)
        except TimeoutError:
            return f"it did not say how it was for {SILENT_SECONDS:.0f} s, so it was ended"
        except Gone as problem:
            return _words(problem)
        failed = worker.report.failed
        return None if failed is None else failed.message

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
        if min(silent, stopping) > patience_seconds(self._settings) + STOP_SECONDS:
            return f"its step was not done {stopping:.0f} s after the run was to stop, so it was ended"
        return ""


def _owner_view(owner: _Owner) -> OwnerView:
    report = owner.report
    if report is None:
        return OwnerView(owner.place.shard, owner.place.generation, owner.state)
    return OwnerView(
        owner.place.shard,
        owner.place.generation,
        owner.state,
        *_where(report),
        report.queue,
        max(report.batch_seconds, report.busy_seconds),
        report.epoch,
    )


def _where(report: OwnerReport | WorkerReport | None) -> tuple[str, int]:
    return ("", 0) if report is None else (report.node, report.process)


def _words(problem: BaseException) -> str:
    """The first line of what was raised, or what it is when it says nothing."""
    if isinstance(problem, TimeoutError):
        return f"it did not answer for {SILENT_SECONDS:.0f} s"
    return next((line for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
