"""How a shard is kept in the hands of an owner: one placed, watched, and replaced when it is of no use.

It is of no use when it is gone, silent, shut out of its log or cut off from the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone, ask, cause_of, end, look_up, patiently, place, where_placed
from screensearch.cluster.hearing import NotOpened, heard, opened, silence, told, words
from screensearch.cluster.names import Job, OwnerBroke, Place, owner_name
from screensearch.cluster.owner import CLOSED, ShardOwner
from screensearch.cluster.shards import Doubt, Ready, Shard
from screensearch.errors import (
    AcknowledgedLost,
    FormatError,
    NotLetIn,
    RunBusy,
    RunContended,
    RunNotFound,
    ScreenSearchError,
    StoreFailed,
)
from screensearch.record.stores import PostgresStore

LOOK_SECONDS = 1.0
"""How often owners are asked how they are."""

SILENT_SECONDS = 5.0
"""Whoever does not say how it is for so long is replaced; an owner only if it records nothing, either."""

IDLE_SECONDS = 2.0
"""The last of these seconds, in which an owner must have recorded nothing to be taken for gone."""

DOUBT_SECONDS = 2.5
"""Whoever is silent for so long is left alone, but the process that would take its place is started."""

START_SECONDS = 30.0
"""For so long the process of an owner may take to start; each one after another that took longer, twice as
long: where all is that busy, none of them would ever be done."""

LONGEST_START_SECONDS = 480.0

LATE_SECONDS = 3.5
"""After so long another one is started beside it, if owners of other shards are at work: it may be on a node
that is gone."""

OPEN_SECONDS = 600.0
"""For so long an owner may fold a log before it is taken for stuck; each one after another that was not
done, twice as long."""

CUT_OFF_SECONDS = 3.0
"""An owner that the database owes an answer for so long is replaced, if it answers the conductor."""

CUT_OFF_DOUBT_SECONDS = 1.5
"""After so long the process that would take its place is started."""

ANSWER_SECONDS = 1.5
"""For so long the conductor waits until the database answers it: meanwhile it hears nothing of the owner."""

NEW_PROCESSES = 3
"""So many owners in a row are new processes, on one node after another, when a log cannot be opened. While
the database is away the last one then tries again: a process every few seconds, for a night, is no help."""

TRIES = 10
"""But after so many tries the nodes have their turn again: it may be away for some of them only."""

LONGEST_PAUSE_SECONDS = 60.0
"""Before another owner opens a log over which processes ended, as for want of memory; at first a second."""

STUCK_SECONDS = 300.0
"""An owner that got to nothing for so long is replaced: a plugin blocks it. A checkpoint takes seconds, and
an embedder that asks a service, with all its patience, less than three minutes."""

MOST_REFUSALS = 10
"""So many owners in a row that could not be one, wherever they were placed, end the run."""


_CUT_OFF = "the database does not answer it, and answers others"
_STUCK = f"it got to nothing for {STUCK_SECONDS:.0f} s"


class _NotStarted(TimeoutError):
    """The process of an owner took too long to start."""


@dataclass(frozen=True)
class AtWork:
    """What a new owner must know of the workers."""

    lives: dict[int, int]  # by worker, the first that is not over
    at_work: list[int]


class Keeper:
    """Keeps any shard of a run, each by a `watch` of its own."""

    def __init__(
        self,
        job: Job,
        workers: Callable[[int], AtWork],
        account: Account,
        *,
        endow: Callable[[Shard], Awaitable[None]],
        others_serve: Callable[[Shard], bool],
        despair: Callable[[BaseException], None],
    ) -> None:
        self._job = job
        self._workers = workers
        self._account = account
        self._endow = endow
        self._others_serve = others_serve
        self._despair = despair
        self.stopping = False  # no more steps are to be granted, by later owners neither
        self._probing: asyncio.Future[bool] | None = None  # whether the database answers

    async def adopt(self, shard: Shard, generations: Sequence[int]) -> None:
        """Let the latest owner go on that was at work before, if it can be heard of, and end the others."""
        there: list[Ready] = []
        for generation in sorted(generations, reverse=True):
            name = owner_name(self._job.run, shard.number, generation)
            actor = await patiently(look_up, name)
            if actor is not None:
                there.append(Ready(generation, name, actor))
        hearing = [asyncio.ensure_future(heard(each.actor, SILENT_SECONDS)) for each in there]
        if hearing:
            await asyncio.wait(hearing, timeout=DOUBT_SECONDS)
            answers = [each.result() for each in hearing if each.done()]
            # If one has answered, it is the owner, or was made ready in case that the owner is gone.
            if len(answers) < len(hearing) and not any(each and not each.failure for each in answers):
                await self._doubt(shard, there[0])
        for owner, report in zip(there, await asyncio.gather(*hearing), strict=True):
            if report is not None and report.lost:
                raise AcknowledgedLost(report.failure)
            shard.held = shard.held or (report is not None and report.epoch > 0)
            if shard.serving.is_set() or report is None or report.failure or report.opening:
                end(owner.actor)  # one that is opening its log cannot be told what workers do since
                continue
            if not report.epoch:
                shard.dismiss()
                shard.ready = replace(owner, doubt=Doubt.SILENT)
                continue
            if report.recorded < shard.recorded:  # it may have opened a log that has lost something
                end(owner.actor)  # or was replaced and does not know it: the next one will find out
                continue
            shard.actor, shard.place = owner.actor, Place(shard.number, owner.generation, owner.name)
            shard.hear(report)
            shard.steps = report.limit
            shard.serving.set()
            shard.dismiss()

    async def _doubt(self, shard: Shard, silent: Ready) -> None:
        """Have the process of the next owner started elsewhere, in case that one from before is gone."""
        with contextlib.suppress(Gone):  # another one is placed when it is needed
            placed = await asyncio.to_thread(where_placed, silent.actor)
            shard.avoid = "" if placed is None else placed[0]
            shard.ready = replace(await self._place(shard, avoid=shard.avoid), doubt=Doubt.SILENT)

    async def watch(self, shard: Shard) -> None:
        """Until it is cancelled; raises if the log has lost what was acknowledged."""
        while True:
            if not shard.serving.is_set():
                await self._replace(shard)
                continue
            looking = asyncio.ensure_future(look(shard))
            growing = asyncio.ensure_future(self._records_at_last(shard))
            try:
                if not (await asyncio.wait({looking}, timeout=DOUBT_SECONDS))[0]:
                    await self._make_ready(shard, Doubt.SILENT)
                trouble = await looking or _stuck(shard) or await self._cut_off(shard)
                silent = trouble == silence(SILENT_SECONDS)
                busy = silent and await growing
            finally:
                looking.cancel()
                growing.cancel()
            if shard.report is not None and shard.report.lost:
                # Another owner would write on as if what is lost had never been.
                shard.serving.clear()
                end(shard.actor)
                raise AcknowledgedLost(shard.report.failure)
            if busy:
                self._account.note(
                    f"the owner of shard {shard.number} has more to do than its machine can bear",
                    shard=shard.number,
                )
            elif trouble and trouble != CLOSED:
                self._account.owner_replaced(shard.number, trouble)
                report = shard.report if silent or trouble == _CUT_OFF else None
                shard.avoid = "" if report is None else report.node_id
                shard.serving.clear()
                end(shard.actor)
            else:
                if shard.silent_seconds < CUT_OFF_DOUBT_SECONDS:
                    shard.dismiss_for_now()
                await asyncio.sleep(LOOK_SECONDS)

    async def _cut_off(self, shard: Shard) -> str:
        """Why an owner that is well should be replaced, if so: the database answers here, but not there.

        If it answers nobody, or slowly, another owner would only wait for it as well.
        """
        if shard.silent_seconds >= CUT_OFF_DOUBT_SECONDS:
            await self._make_ready(shard, Doubt.CUT_OFF)
        cut_off = shard.silent_seconds >= CUT_OFF_SECONDS and await self._database_answers()
        return _CUT_OFF if cut_off else ""

    async def _database_answers(self) -> bool:
        """Whether the database answers this conductor. All shards that ask at the same time ask once."""
        if self._probing is None or self._probing.done():
            store = PostgresStore(self._job.store, self._job.run)
            self._probing = asyncio.ensure_future(asyncio.to_thread(store.answers))
        probing = self._probing  # the watch of another shard may begin the next one at any moment
        await asyncio.wait({probing}, timeout=ANSWER_SECONDS)
        return probing.done() and probing.result()

    async def _make_ready(self, shard: Shard, doubt: Doubt) -> None:
        """Have the process of another owner started elsewhere, in case that this one is gone for good."""
        if not shard.doubts[doubt].may_be or shard.ready is not None or shard.report is None:
            return
        with contextlib.suppress(Gone):  # another one is placed when it is needed
            placed = await self._place(shard, avoid=shard.report.node_id)
            shard.ready = replace(placed, doubt=doubt)

    async def _place(self, shard: Shard, *, avoid: str = "", at_head: bool = False) -> Ready:
        shard.latest += 1
        name = owner_name(self._job.run, shard.number, shard.latest)
        actor = await asyncio.to_thread(place, ShardOwner, name, avoid=avoid, at_head=at_head)
        return Ready(shard.latest, name, actor)

    async def records(self, shard: int, epoch: int) -> bool:
        """Whether the log of a shard grows by an owner: then it is alive, and another would be no faster.

        Replaced, it would only leave the same load to one that has to fold the log first.
        """
        store = PostgresStore(self._job.store, self._job.run, shard)
        try:
            before = await asyncio.to_thread(store.how_far)
            await asyncio.sleep(IDLE_SECONDS)
            after = await asyncio.to_thread(store.how_far)
        except ScreenSearchError:
            return False
        return before.epoch == after.epoch == epoch and after.entries > before.entries

    async def _records_at_last(self, shard: Shard) -> bool:
        """The same at the end of the time in which its owner may be silent, so that it costs no more time."""
        await asyncio.sleep(SILENT_SECONDS - IDLE_SECONDS)
        return await self.records(shard.number, 0 if shard.report is None else shard.report.epoch)

    async def _replace(self, shard: Shard) -> None:
        """Another owner for a shard. It takes the log from the one before, if that is of this exploration."""
        if shard.report is None and shard.steps == 0:
            await self._endow(shard)
        owner: Ready | None = None
        node = ""
        try:
            owner, node = await self._started(shard)
            workers = self._workers(shard.number)
            opening = owner.actor.open.remote(
                self._job,
                shard.number,
                shard.steps,
                take_over=shard.take_over and not shard.held,
                again=shard.held,
                lives=workers.lives,
                at_work=workers.at_work,
            )
            await opened(
                *(owner.actor, opening),
                look_seconds=LOOK_SECONDS,
                silent_seconds=SILENT_SECONDS,
                seconds=OPEN_SECONDS * 2.0**shard.slow_openings,
            )
            report = await told(owner.actor, SILENT_SECONDS)
            if self.stopping:
                await ask(owner.actor.stop.remote(), seconds=SILENT_SECONDS)
        except (TimeoutError, Gone) as problem:
            shard.slow_starts += isinstance(problem, _NotStarted)
            shard.slow_openings += isinstance(problem, NotOpened)
            shard.avoid = node or shard.avoid  # the way from there to the database may be what is wrong
            self._account.note(
                f"the log of shard {shard.number} could not be opened", words(problem), shard=shard.number
            )
            cause = cause_of(problem)
            shard.in_vain += 1
            shard.ready = owner
            again = shard.in_vain % TRIES >= NEW_PROCESSES and _comes_back(cause)
            if not again or await self._database_answers():
                shard.dismiss()  # it may have opened it all the same: then the next one takes it from there
            ended = owner is not None and isinstance(cause, Gone)
            self._lose_hope(shard, cause, ended=ended)
            pause = LOOK_SECONDS * 2.0**shard.refusals if ended else LOOK_SECONDS
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS))
            return
        except asyncio.CancelledError:
            if owner is not None:
                end(owner.actor)  # or it might open the log when nobody knows of it any more
            raise
        try:
            shard.check_kept(report)
        except AcknowledgedLost:
            end(owner.actor)
            raise
        shard.hear(report)
        shard.held, shard.steps = True, report.limit
        shard.in_vain = shard.refusals = shard.slow_starts = shard.slow_openings = 0
        shard.actor, shard.place = owner.actor, Place(shard.number, owner.generation, owner.name)
        shard.serving.set()

    async def _started(self, shard: Shard) -> tuple[Ready, str]:
        """The next owner of a shard, as soon as its process says how it is, and the node that it is on.

        If it keeps silent while owners of other shards are at work, its node may be gone and Ray may not know
        it yet. Then one more is started beside this conductor, where there is a node for certain, and whoever
        is first is taken.
        """
        patience = 2.0**shard.slow_starts  # where all is that busy, more processes would only add to it
        seconds = min(START_SECONDS * patience, LONGEST_START_SECONDS)
        hearing: dict[asyncio.Future[Any], Ready] = {}

        def listen(to: Ready) -> None:
            hearing[asyncio.ensure_future(ask(to.actor.report.remote()))] = to

        ready, shard.ready = shard.ready, None
        listen(ready or await self._place(shard, avoid=shard.avoid))
        until, doubted = time.monotonic() + seconds, False
        try:
            while (left := until - time.monotonic()) > 0:
                soon = left if doubted else min(left, LATE_SECONDS * patience)
                done, _ = await asyncio.wait(hearing, timeout=soon, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    owner = hearing.pop(each)
                    if each.exception() is None:
                        return owner, each.result().node_id
                    end(owner.actor)
                    if hearing:
                        continue
                    if ready is None:
                        await each  # raises what became of it
                    ready = None  # it was made ready in doubt, and is gone as well
                    listen(await self._place(shard, avoid=shard.avoid))
                if not doubted and not done and self._others_serve(shard):
                    doubted = True
                    with contextlib.suppress(Gone):
                        listen(await self._place(shard, at_head=True))
            raise _NotStarted(f"its process did not start within {seconds:g} s")
        finally:
            for each, owner in hearing.items():
                each.cancel()
                end(owner.actor)

    def _lose_hope(self, shard: Shard, problem: BaseException, *, ended: bool = False) -> None:
        """End the run if another try would fail as this one did. A database that is away comes back.

        An owner whose process `ended` while it opened its log may have had too little memory for it.
        """
        if isinstance(problem, AcknowledgedLost):
            raise problem  # and no other try is made
        if _comes_back(problem):
            shard.refusals = 0
            return
        if not (ended or isinstance(problem, ScreenSearchError)):
            return
        shard.refusals += 1
        if isinstance(problem, _SAME_EVERYWHERE):
            self._despair(problem)
        elif shard.refusals >= MOST_REFUSALS:
            self._despair(
                problem if isinstance(problem, ScreenSearchError) else _never_opened(shard, problem)
            )


_SAME_EVERYWHERE = (RunNotFound, RunBusy, FormatError)


def _comes_back(problem: BaseException) -> bool:
    """Whether the next try may go well by itself: a database is away, or somebody else is about to write."""
    if isinstance(problem, RunContended):
        return True
    return isinstance(problem, StoreFailed) and not isinstance(
        problem, (NotLetIn, OwnerBroke, *_SAME_EVERYWHERE)
    )


def _never_opened(shard: Shard, problem: BaseException) -> StoreFailed:
    return StoreFailed(
        f"{shard.refusals} owners of shard {shard.number} in a row could not open its log, and the last one "
        f"ended at it: {words(problem)} (its graph may need more memory than a node has)"
    )


def _stuck(shard: Shard) -> str:
    """Why an owner that says that it is well should be replaced all the same, if so."""
    return _STUCK if shard.report is not None and shard.report.stuck_seconds >= STUCK_SECONDS else ""


async def look(shard: Shard) -> str:
    """Hear of an owner; why it should be replaced, if so."""
    asked = shard.actor
    try:
        report = await told(asked, SILENT_SECONDS)
    except (TimeoutError, Gone) as problem:
        return words(problem)
    if shard.actor is asked:  # or it was replaced meanwhile, and what it said late is not so any more
        shard.hear(report)
    return report.failure
