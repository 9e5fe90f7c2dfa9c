"""The workers of a run: placed, watched, and given another life when one is gone, silent or has failed.

One that fails again and again is tried more and more seldom. It may be its machine: the run goes on as long
as any worker can do something.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from screensearch.cluster.account import Account
from screensearch.cluster.doubts import Doubts
from screensearch.cluster.engine import (
    Gone,
    actors_of,
    ask,
    end,
    look_up,
    patiently,
    place,
    slot_elsewhere,
    where_placed,
)
from screensearch.cluster.halt import Halt
from screensearch.cluster.keeping import (
    DOUBT_SECONDS,
    LONGEST_START_SECONDS,
    LOOK_SECONDS,
    START_SECONDS,
    AtWork,
)
from screensearch.cluster.names import (
    ENDED,
    RESTS,
    STARTS,
    WAITS,
    WORKS,
    Job,
    Task,
    WorkerReport,
    WorkerView,
    worker_name,
)
from screensearch.cluster.owners import Owners
from screensearch.cluster.start import Start
from screensearch.cluster.worker import ClusterWorker
from screensearch.config import settings_from_document
from screensearch.errors import ScreenSearchError
from screensearch.explore.connection import patience_seconds
from screensearch.explore.wire import Assignment
from screensearch.explore.worker import LONGEST_BACK_OFF_SECONDS, back_off_seconds, too_futile

log = logging.getLogger(__name__)

MISSED = "it was gone when the conductor was started anew"

SILENT_SECONDS = 5.0
"""A worker that does not say how it is for so long is ended: its application may be, too."""

ADOPTED_SECONDS = 2 * SILENT_SECONDS
"""The same for one that was at work before this conductor, since many are asked at the same time. If others
have answered and no more do, it is the former."""

REST_SECONDS = 60.0
"""For so long a worker rests that would only fail again, the first time; then twice as long each time."""

LONGEST_REST_SECONDS = 900.0


class Hopeless(ScreenSearchError):
    """Another life of any worker would go the same way as the last ones."""

    def __init__(self, message: str, *, never_started: bool) -> None:
        super().__init__(message)
        self.never_started = never_started


@dataclass(frozen=True)
class _Ready:
    """A life that has not begun: its process starts while owners are told of the end of the one before."""

    life: int
    actor: Any


@dataclass
class _Worker:
    """A worker over its lives."""

    number: int
    life: int = 0
    actor: Any = None
    ready: _Ready | None = None  # the next life
    avoid: str = ""  # the node on which the latest life became silent
    doubts: Doubts = field(default_factory=Doubts)
    report: WorkerReport | None = None
    state: str = WAITS
    futile: int = 0  # starts in a row without a step, over its lives
    rests: int = 0  # in a row
    slow_starts: int = 0  # likewise: lives whose process was placed and said nothing
    over: bool = True  # its latest life is, or is taken for it
    adopted: bool = False  # it was at work before this conductor
    hearing: asyncio.Future[WorkerReport] | None = None  # of one that is adopted: the first word
    beginning: asyncio.Future[None] | None = None  # of one that is not: its answer to what there is to do

    @property
    def at_work(self) -> bool:
        """Whether its latest life is not over."""
        return self.adopted or self.state == WORKS

    @property
    def has_hope(self) -> bool:
        """Whether it has taken a step since it last had to rest, or has not been tried yet."""
        return self.state != ENDED and (not self.rests or (self.report is not None and self.report.steps > 0))

    @property
    def shown(self) -> str:
        """Its state as others see it: one whose life is over works no more, though owners may not know it."""
        return WAITS if self.over and self.state == WORKS else self.state

    def view(self, failures: int) -> WorkerView:
        node, process = ("", 0) if self.report is None else (self.report.node, self.report.process)
        return WorkerView(self.number, self.life, self.shown, node, process, failures)


class Workers:
    """All workers of a run, each with a life, while there is something to do."""

    def __init__(self, job: Job, halt: Halt, account: Account) -> None:
        self._job = job
        self._settings = settings_from_document(job.settings)
        self._halt = halt
        self._account = account
        self._workers = [_Worker(number) for number in range(job.workers)]
        self._heard = math.inf  # when the latest first word of one that is adopted came

    def views(self) -> tuple[WorkerView, ...]:
        return tuple(each.view(self._account.failures(each.number)) for each in self._workers)

    def at_work(self, shard: int) -> AtWork:
        """The workers as an owner of a shard must know them; at work are those last heard of there."""
        return AtWork(
            lives={each.number: each.life + each.over for each in self._workers if each.life},
            at_work=[
                each.number
                for each in self._workers
                if each.at_work and (each.report is None or each.report.shard == shard)
            ],
        )

    async def adopt(self) -> None:
        """Find those that were at work before this conductor."""
        names = [each for each in await patiently(actors_of, self._job.run) if "/worker/" in each]
        found: dict[int, list[_Ready]] = {}
        for name, actor in zip(
            names, await asyncio.gather(*(patiently(look_up, name) for name in names)), strict=True
        ):
            number, life = map(int, name.split("/")[2:])
            if actor is not None:
                found.setdefault(number, []).append(_Ready(life, actor))
        for number, lives in found.items():
            if number >= len(self._workers):
                for each in lives:
                    end(each.actor)
        at_work = [(each, found[each.number]) for each in self._workers if each.number in found]
        await asyncio.gather(*(self._adopt(worker, lives) for worker, lives in at_work))
        for worker in self._workers:
            if worker.adopted:  # they answer while the owners are looked for
                asked = ask(worker.actor.report.remote(), seconds=ADOPTED_SECONDS)
                worker.hearing = asyncio.ensure_future(asked)
                worker.hearing.add_done_callback(self._hear_first)

    async def _adopt(self, worker: _Worker, lives: list[_Ready]) -> None:
        """Of several lives of one worker the latest that has begun is at work. One after it is a spare.

        Where none says that it has begun, one that says nothing may have.
        """
        lives = sorted(lives, key=lambda each: each.life)
        begun = [1] if len(lives) == 1 else await asyncio.gather(*(_has_begun(each.actor) for each in lives))
        latest = max(range(len(lives)), key=lambda number: (begun[number], number))
        worker.life, worker.actor = lives[latest].life, lives[latest].actor
        worker.adopted, worker.over = True, False
        worker.ready = lives[-1] if lives[-1].life > worker.life else None
        for number, each in enumerate(lives):
            if number != latest and each is not worker.ready:
                end(each.actor)

    def others_answer(self) -> None:
        """Owners were heard of: whoever of the adopted is well would have been, too."""
        self._heard = min(self._heard, time.monotonic())

    def _hear_first(self, hearing: asyncio.Future[WorkerReport]) -> None:
        if not hearing.cancelled() and hearing.exception() is None:
            self._heard = time.monotonic()

    async def prepare(self) -> None:
        """Have the processes of those that are not at work started: they need no owner for that."""
        await asyncio.gather(*(self._make_ready(worker) for worker in self._workers if not worker.adopted))

    async def miss(self, owners: Owners) -> None:
        """Those that went together with the conductor before this one: their steps are lost."""
        gone = [each for each in self._workers if not each.adopted]
        stood = await asyncio.gather(*(self._bury(worker, owners, MISSED) for worker in gone))
        for worker, was_at_work in zip(gone, stood, strict=True):
            if was_at_work:
                self._account.worker_failed(worker.number, MISSED)

    def end(self) -> None:
        """End those at work at once."""
        for worker in self._workers:
            if worker.at_work:
                end(worker.actor)
            _dismiss(worker)

    async def tend(self, owners: Owners) -> None:
        """Give each one life after another while there is work left to do; `Hopeless` when none can."""
        async with asyncio.TaskGroup() as tending:
            for worker in self._workers:
                tending.create_task(self._tend(worker, owners))

    # -- one worker ---------------------------------------------------------------------------

    async def _tend(self, worker: _Worker, owners: Owners) -> None:
        while worker.adopted or not (self._halt.asked.is_set() or owners.shares.out_of_steps):
            why = await self._live(worker, owners)
            worker.over = True
            if why is not None:
                self._account.worker_failed(worker.number, why)
            report = worker.report
            needed = why is not None and not self._halt.asked.is_set()
            if needed and worker.ready is None and (report is None or report.failed is None):
                await self._make_ready(worker)  # it was not its fault: there will be another one at once
            # Whoever was told to end, or found nothing to do, had no step under way.
            owes = report is None or not (report.told_to_end or (report.failed and report.failed.gave_up))
            await self._bury(worker, owners, why if why is not None and owes else "")
            await owners.renew()  # its step is free again
            if why is None:
                worker.state = WAITS
                continue
            await self._pause(worker, why, begun=owners.figures().steps > 0)
            worker.state = WAITS
        _dismiss(worker)
        worker.state = ENDED

    async def _bury(self, worker: _Worker, owners: Owners, why: str) -> bool:
        """No owner listens to this life any more. If it failed (`why`), its step is lost, where it is of.

        Returns whether it was in an episode.
        """
        shards, life = list(owners), worker.life
        if not life:  # then only they know which it was
            begins = await asyncio.gather(*(owners.ask(each, "beginning", worker.number) for each in shards))
            life = max(each.life for each in begins)
        standings = await asyncio.gather(*(owners.ask(each, "bury", worker.number, life) for each in shards))
        stands = {shard: at for shard, at in zip(shards, standings, strict=True) if at is not None}
        lost = shard_of_loss(stands, worker.report) if why else None
        await asyncio.gather(
            *(
                owners.ask(each, "lose", worker.number, life, why)
                if each == lost
                else owners.ask(each, "dismiss", worker.number, life)
                for each in shards
            )
        )
        return bool(stands)

    async def _pause(self, worker: _Worker, why: str, *, begun: bool) -> None:
        """Wait before another life, the longer the less there is to hope for; raise if nobody has hope."""
        report = worker.report
        if report is None and worker.slow_starts:
            return  # it was not even tried: the next life has more time, which is all that can be done
        failed = None if report is None else report.failed
        steps, starts = (0, 0) if report is None else (report.steps, report.starts)
        worker.futile = starts if steps else worker.futile + max(starts, 1)
        if steps:
            worker.rests = 0
        never_started = failed is not None and failed.never_started
        if failed is not None and (failed.store_failed or failed.gave_up):
            problem = failed.message
        elif failed is not None and failed.hopeless:
            problem = f"worker {worker.number} failed: {failed.message}"
        elif too_futile(worker.futile, begun=begun):
            problem = (
                f"the last {worker.futile} starts of worker {worker.number} led to no step; the last: {why}"
            )
        else:
            worker.state = WAITS
            await self._wait(back_off_seconds(worker.futile) if worker.futile else 0.0)
            return
        worker.state = RESTS
        worker.rests += 1
        _dismiss(worker)
        if not any(each.has_hope for each in self._workers):
            raise Hopeless(problem, never_started=never_started)
        await self._wait(min(REST_SECONDS * 2.0 ** (worker.rests - 1), LONGEST_REST_SECONDS))

    async def _wait(self, seconds: float) -> None:
        """So long, unless the run is to end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._halt.asked.wait()

    async def _live(self, worker: _Worker, owners: Owners) -> str | None:
        """One life of a worker; why it failed, if it did."""
        if not worker.adopted:
            begins = await owners.ask_all("beginning", worker.number)
            known = max(worker.life, *(each.life for each in begins))
            worker.report = None
            if worker.ready is not None and worker.ready.life <= known:  # the clock was set back
                _dismiss(worker)
            if worker.ready is None:
                problem = await self._make_ready(worker, beyond=known)
                if worker.ready is None:
                    return problem
            worker.life, worker.actor, worker.ready = worker.ready.life, worker.ready.actor, None
            worker.over, worker.avoid = False, ""
            begin = worker.actor.begin.remote(self._task(worker, max(each.episode for each in begins)))
            worker.beginning = asyncio.ensure_future(ask(begin))
        try:
            return await self._watch(worker, owners)
        finally:
            worker.adopted = False
            if worker.beginning is not None:
                worker.beginning.cancel()
                worker.beginning = None
            end(worker.actor)

    async def _make_ready(self, worker: _Worker, *, beyond: int = 0) -> str:
        """Have the process of another life started, where there is a slot for it; why not, if so."""
        # Beyond all that anyone remembers; by the clock beyond what nobody does.
        life = 1 + max(worker.life, beyond, time.time_ns())
        name = worker_name(self._job.run, worker.number, life)
        try:
            actor = await asyncio.to_thread(place, ClusterWorker, name, takes_slot=True, avoid=worker.avoid)
        except Gone as problem:
            return f"it could not be placed: {_first_line(problem)}"
        worker.ready = _Ready(life, actor)
        return ""

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

    async def _watch(self, worker: _Worker, owners: Owners) -> str | None:
        """Ask a worker how it is until it ends; say why, if it failed."""
        try:
            first = await (self._recognise(worker) if worker.adopted else self._welcome(worker, owners))
            if not isinstance(first, WorkerReport):
                return first
            worker.report = report = first
            worker.state, worker.slow_starts = WORKS, 0
            if worker.adopted and not report.begun:
                return "the conductor was gone before it could begin"
            self._account.worker_started(worker.number, report.node, adopted=worker.adopted)
            while not report.ended:
                if worker.beginning is not None and worker.beginning.done():
                    worker.beginning.result()  # raises if it could not be told: it would wait for ever
                overdue = self._overdue(report)
                if overdue:
                    return overdue
                await asyncio.sleep(LOOK_SECONDS)
                worker.report = report = await self._hear(worker, report.node_id)
        except TimeoutError:
            worker.avoid = worker.avoid if worker.report is None else worker.report.node_id
            return f"it did not say how it was for {SILENT_SECONDS:.0f} s, so it was ended"
        except Gone as problem:
            return _first_line(problem)
        return None if report.failed is None else report.failed.message

    async def _welcome(self, worker: _Worker, owners: Owners) -> WorkerReport | str | None:
        """The first word of a new life; why it is waited for no longer, if so; None if it is not needed."""
        waiting = asyncio.ensure_future(ask(worker.actor.report.remote()))
        start = Start(worker.actor, min(START_SECONDS * 2.0**worker.slow_starts, LONGEST_START_SECONDS))
        try:
            while not (await asyncio.wait({waiting}, timeout=LOOK_SECONDS))[
                0
            ]:  # until there is a slot for it
                if self._halt.asked.is_set() or owners.shares.out_of_steps:
                    return None
                if mute := await start.look():
                    worker.avoid, worker.slow_starts = start.node, worker.slow_starts + 1
                    return mute
                worker.state = STARTS if start.node else WAITS
            report: WorkerReport = await waiting
        finally:
            waiting.cancel()
        return report

    async def _recognise(self, worker: _Worker) -> WorkerReport:
        """The first word of a worker that was at work before this conductor; `TimeoutError` if there is none.

        It was at work, or waits for a slot: in that case another may wait in its place.
        """
        assert worker.hearing is not None  # since it was adopted
        while not (await asyncio.wait({worker.hearing}, timeout=LOOK_SECONDS))[0]:
            if time.monotonic() - self._heard > SILENT_SECONDS:
                worker.hearing.cancel()
                raise TimeoutError
            if worker.ready is None and time.monotonic() - self._heard > DOUBT_SECONDS:
                with contextlib.suppress(Gone):
                    placed = await asyncio.to_thread(where_placed, worker.actor)
                    if placed is not None:
                        await self._doubt(worker, placed[0])
        report = await worker.hearing
        self._no_doubt(worker)
        return report

    async def _hear(self, worker: _Worker, node: str) -> WorkerReport:
        """How a worker on a node is; `TimeoutError` if it does not say. Another life may be ready by then."""
        hearing = asyncio.ensure_future(ask(worker.actor.report.remote(), seconds=SILENT_SECONDS))
        try:
            if not (await asyncio.wait({hearing}, timeout=DOUBT_SECONDS))[0]:
                await self._doubt(worker, node)
            report: WorkerReport = await hearing
        finally:
            hearing.cancel()
        self._no_doubt(worker)
        return report

    def _no_doubt(self, worker: _Worker) -> None:
        """It was heard of: the life that was made ready in its place is not needed."""
        if worker.ready is not None:
            _dismiss(worker)
            worker.avoid = ""
            worker.doubts.were_for_nothing()

    async def _doubt(self, worker: _Worker, node: str) -> None:
        """Make another life ready where there is a slot, in case that this one is gone with its node."""
        if not worker.doubts.may_be:
            return
        with contextlib.suppress(Gone):
            if await asyncio.to_thread(slot_elsewhere, node):
                worker.avoid = node
                await self._make_ready(worker)

    def _overdue(self, report: WorkerReport) -> str:
        """Why a worker should be waited for no longer, if so."""
        if report.waits:
            return ""
        silent, deadline = report.silent_seconds, self._settings.explore.step_deadline_seconds
        if silent > deadline + LONGEST_BACK_OFF_SECONDS:
            return (
                f"nothing was heard of it for {silent:.0f} s (explore.step_deadline_seconds), so it was ended"
            )
        if min(silent, self._halt.seconds) > patience_seconds(self._settings):
            return (
                f"its step was not done {self._halt.seconds:.0f} s after the run was to stop, so it was ended"
            )
        return ""


async def _has_begun(actor: Any) -> float:
    """How likely a life is at work: by what it says, or does not say."""
    try:
        report: WorkerReport = await ask(actor.report.remote(), seconds=DOUBT_SECONDS)
    except (TimeoutError, Gone):
        return 0.5
    return float(report.begun)


def _dismiss(worker: _Worker) -> None:
    """End the life that was to be the next one, if there is one."""
    if worker.ready is not None:
        end(worker.ready.actor)
        worker.ready = None


def shard_of_loss(stands: Mapping[int, tuple[int, int]], report: WorkerReport | None) -> int:
    """The shard of the step that a worker had under way; where it was last heard of, if it stands nowhere.

    Of several it is that of the latest episode. In this one there are two if its step had landed in another
    shard and was not recorded yet: then it is the one where the step began.
    """
    if not stands:
        return 0 if report is None else report.shard
    return min(stands, key=lambda shard: (-stands[shard][0], stands[shard][1]))


def _first_line(problem: BaseException) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
