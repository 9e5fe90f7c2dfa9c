"""The owners of a run's shards: placed, watched, and replaced when they are gone, silent or shut out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from screensearch.cluster.account import Account
from screensearch.cluster.engine import (
    Gone,
    actors_of,
    ask,
    cause_of,
    end,
    look_up,
    patiently,
    place,
    where_placed,
)
from screensearch.cluster.hearing import NotOpened, heard, opened, silence, told, words
from screensearch.cluster.names import Job, OwnerView, Place, owner_name
from screensearch.cluster.owner import CLOSED, ShardOwner
from screensearch.cluster.shards import Doubt, Ready, Shard
from screensearch.cluster.shares import Shares
from screensearch.domain.shard import ShardKey
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
from screensearch.explore.progress import Figures
from screensearch.record.stores import PostgresStore

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often owners are asked how they are."""

SILENT_SECONDS = 5.0
"""Whoever does not say how it is for so long is replaced; an owner only if it records nothing, either."""

IDLE_SECONDS = 2.0
"""The last of these seconds, in which an owner must have recorded nothing to be taken for gone."""

DOUBT_SECONDS = 2.5
"""Whoever is silent for so long is left alone, but the process that would take its place is started."""

DOUBT_AGAIN_SECONDS = 60.0
"""After that was for nothing it is not done for so long, for the same reason: where much is busy, it would
only add to that."""

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

MOST_REFUSALS = 10
"""So many owners in a row that could not be one, wherever they were placed, end the run."""


_CUT_OFF = "the database does not answer it, and answers others"


class _NotStarted(TimeoutError):
    """The process of an owner took too long to start."""


@dataclass(frozen=True)
class AtWork:
    """What a new owner must know of the workers."""

    lives: dict[int, int]  # by worker, the first that is not over
    at_work: list[int]


class Owners:
    """All shards of a run, each with an owner, always."""

    def __init__(self, job: Job, workers: Callable[[int], AtWork], account: Account) -> None:
        self._job = job
        self._workers = workers
        self._account = account
        self._shards: dict[int, Shard] = {}
        self._stopping = False
        self.shares = Shares(
            self._shards, steps=job.stop.steps, workers=job.workers, ask=self.ask, look=self._look
        )
        self._hopeless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._probing: asyncio.Future[bool] | None = None  # whether the database answers

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._shards))

    async def despair(self) -> None:
        """Raise once a log can not be opened, and no other try could; otherwise never return."""
        await self._hopeless

    @property
    def given_up(self) -> bool:
        """Whether there is such a log."""
        return self._hopeless.done()

    async def find(self, promised: Mapping[int, ShardKey], *, held: bool) -> None:
        """Have owners for the shards that the run has in the database; those that are there may go on.

        Shards that were `promised` to screens may not be there yet, or have none of them. If an earlier life
        of the conductor had them all, this exploration has `held` the logs.
        """
        generations = await self._generations()
        numbers = await self._numbers()
        if not numbers:
            raise RunNotFound(
                f"the database has no log of the run at {self._job.folder}: it was deleted there, or "
                "the backup that was restored is older"
            )
        found: list[Shard] = []
        for number in sorted({*numbers, *promised}):
            steps = self._job.stop.steps if number == 0 else None if self._job.stop.steps is None else 0
            found.append(
                Shard(
                    number,
                    steps,
                    promised.get(number),
                    held=held,
                    take_over=self._job.take_over and number in numbers,
                    latest=max(generations.get(number, []), default=0),
                )
            )
        # Those that are silent are waited for together.
        await asyncio.gather(*(self._adopt(each, generations.get(each.number, [])) for each in found))
        for shard in found:
            if held and shard.number in promised and not shard.serving.is_set():
                self._account.owner_replaced(shard.number, "it was gone when the conductor was started anew")
            self._have(shard)
        for shard in list(self._shards.values()):
            await shard.serving.wait()
        await self.shares.count_once()

    async def _numbers(self) -> list[int]:
        store, refusals = PostgresStore(self._job.store, self._job.run), 0
        while True:
            try:
                return await asyncio.to_thread(store.shards)
            except StoreFailed as problem:  # the database is away, unless it lets us not in
                refusals += isinstance(problem, NotLetIn)
                if refusals == MOST_REFUSALS:
                    raise
                self._account.note("the shards of the run cannot be read", words(problem))
                await asyncio.sleep(LOOK_SECONDS)

    async def _generations(self) -> dict[int, list[int]]:
        """Of each shard the owners that there are."""
        found: dict[int, list[int]] = {}
        for name in await patiently(actors_of, self._job.run):
            match name.split("/")[1:]:
                case ["owner", shard, generation]:
                    found.setdefault(int(shard), []).append(int(generation))
        return found

    async def _adopt(self, shard: Shard, generations: Sequence[int]) -> None:
        """Let the latest owner go on that was at work before, if it can be heard of, and end the others."""
        there: list[Ready] = []
        for generation in sorted(generations, reverse=True):
            name = owner_name(self._job.run, shard.number, generation)
            actor = await patiently(look_up, name)
            if actor is not None:
                there.append(Ready(generation, name, actor))
        hearing = [asyncio.ensure_future(heard(each.actor, SILENT_SECONDS)) for each in there]
        if hearing and not (await asyncio.wait(hearing[:1], timeout=DOUBT_SECONDS))[0]:
            await self._doubt(shard, there[0])
        for owner, report in zip(there, await asyncio.gather(*hearing), strict=True):
            if report is not None and report.lost:
                raise AcknowledgedLost(report.failure)
            shard.held = shard.held or (report is not None and report.epoch > 0)
            if shard.serving.is_set() or report is None or report.failure or not report.epoch:
                end(owner.actor)
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
            shard.ready = await self._place(shard, avoid="" if placed is None else placed[0])

    def _have(self, shard: Shard) -> None:
        self._shards[shard.number] = shard
        shard.watching = asyncio.ensure_future(self._watch(shard))
        shard.watching.add_done_callback(self._watched)

    def _watched(self, watching: asyncio.Task[None]) -> None:
        """A watch ends only when it is cancelled: what else ends it ends the run."""
        problem = None if watching.cancelled() else watching.exception()
        if problem is not None and not self._hopeless.done():
            self._hopeless.set_exception(problem)

    def shard(self, key: ShardKey) -> int:
        """The shard of screens like these, made if there is none."""
        for shard in self._shards.values():
            if shard.key == key:
                return shard.number
        free = next((shard for shard in self._shards.values() if shard.key is None), None)
        if free is None:
            number = max(self._shards, default=-1) + 1
            free = Shard(number, None if self._job.stop.steps is None else 0)
            self._have(free)
        free.key = key
        return free.number

    def locate(self, number: int) -> Place | None:
        """Who owns a shard; None while it is between two owners."""
        shard = self._shards.get(number)
        return shard.place if shard is not None and shard.serving.is_set() else None

    async def ask(self, number: int, method: str, *arguments: object) -> Any:
        """Ask an owner something that it must do: if it goes, the next one is asked."""
        shard = self._shards[number]
        while True:
            await shard.serving.wait()
            try:
                return await ask(getattr(shard.actor, method).remote(*arguments))
            except Gone as problem:
                log.warning("the owner of shard %d did not %s: %s", number, method, words(problem))
                if shard.serving.is_set():  # nobody has found out yet
                    await asyncio.sleep(LOOK_SECONDS)

    async def ask_all(self, method: str, *arguments: object) -> list[Any]:
        """The answers of all owners, in order of their shards."""
        return await asyncio.gather(*(self.ask(number, method, *arguments) for number in self))

    async def stop(self) -> None:
        """Let no more steps be granted, by later owners neither."""
        self._stopping = True
        await self.ask_all("stop")

    @property
    def under_way(self) -> int:
        """How many steps were granted and are not recorded yet."""
        return sum(0 if each.report is None else each.report.under_way for each in self._shards.values())

    def figures(self) -> Figures:
        """Of all shards, as they were last heard of."""
        return sum((shard.figures for shard in self._shards.copy().values()), Figures())

    async def renew(self) -> None:
        """Hear of all of them now."""

        async def hear(shard: Shard) -> None:
            await shard.serving.wait()
            await self._look(shard)

        await asyncio.gather(*map(hear, self._shards.values()))

    async def close(self) -> list[str]:
        """Close all logs; their digests, in order of the shards. An owner that goes meanwhile is replaced."""
        digests = await self.ask_all("close")
        self.end()
        for shard in self._shards.values():  # nobody needs their graphs while the summary waits for someone
            end(shard.actor)
        return digests

    def views(self) -> tuple[OwnerView, ...]:
        return tuple(shard.view() for _, shard in sorted(self._shards.copy().items()))

    def promised(self) -> dict[int, ShardKey]:
        """The shards that screens have, by number."""
        return {number: shard.key for number, shard in self._shards.items() if shard.key is not None}

    def end(self) -> None:
        """Watch over them no more."""
        for shard in self._shards.values():
            if shard.watching is not None:
                shard.watching.cancel()
            shard.dismiss()

    async def records(self, number: int) -> bool:
        """Whether the log of a shard grows: then its owner is alive, and another would be no faster.

        Replaced, it would only leave the same load to one that has to fold the log first.
        """
        store = PostgresStore(self._job.store, self._job.run, number)
        try:
            before = await asyncio.to_thread(store.how_far)
            await asyncio.sleep(IDLE_SECONDS)
            return await asyncio.to_thread(store.how_far) > before
        except ScreenSearchError:
            return False

    # -- one shard ----------------------------------------------------------------------------

    async def _watch(self, shard: Shard) -> None:
        while True:
            if not shard.serving.is_set():
                await self._replace(shard)
                continue
            looking = asyncio.ensure_future(self._look(shard))
            growing = asyncio.ensure_future(self._records_at_last(shard.number))
            try:
                if not (await asyncio.wait({looking}, timeout=DOUBT_SECONDS))[0]:
                    await self._make_ready(shard, Doubt.SILENT)
                trouble = await looking or await self._cut_off(shard)
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
        return await asyncio.shield(self._probing)

    async def _make_ready(self, shard: Shard, doubt: Doubt) -> None:
        """Have the process of another owner started elsewhere, in case that this one is gone for good."""
        again = time.monotonic() - shard.doubted.get(doubt, -math.inf) < DOUBT_AGAIN_SECONDS
        if again or shard.ready is not None or shard.report is None:
            return
        with contextlib.suppress(Gone):  # another one is placed when it is needed
            placed = await self._place(shard, avoid=shard.report.node_id)
            shard.ready = replace(placed, doubt=doubt)

    async def _place(self, shard: Shard, *, avoid: str = "", at_head: bool = False) -> Ready:
        shard.latest += 1
        name = owner_name(self._job.run, shard.number, shard.latest)
        actor = await asyncio.to_thread(place, ShardOwner, name, avoid=avoid, at_head=at_head)
        return Ready(shard.latest, name, actor)

    async def _records_at_last(self, number: int) -> bool:
        """The same at the end of the time in which its owner may be silent, so that it costs no more time."""
        await asyncio.sleep(SILENT_SECONDS - IDLE_SECONDS)
        return await self.records(number)

    async def _look(self, shard: Shard) -> str:
        """Hear of an owner; why it should be replaced, if so."""
        try:
            report = await told(shard.actor, SILENT_SECONDS)
        except (TimeoutError, Gone) as problem:
            return words(problem)
        shard.hear(report)
        return report.failure

    async def _replace(self, shard: Shard) -> None:
        """Another owner for a shard. It takes the log from the one before, if that is of this exploration."""
        if shard.report is None and shard.steps == 0:
            await self.shares.endow(shard)
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
            if self._stopping:
                await ask(owner.actor.stop.remote(), seconds=SILENT_SECONDS)
        except (TimeoutError, Gone) as problem:
            shard.slow_starts += isinstance(problem, _NotStarted)
            shard.slow_openings += isinstance(problem, NotOpened)
            shard.avoid = node  # the way from there to the database may be what is wrong
            self._account.note(
                f"the log of shard {shard.number} could not be opened", words(problem), shard=shard.number
            )
            if owner is not None:
                end(owner.actor)  # it may have opened it all the same: then the next one takes it from there
            self._lose_hope(shard, cause_of(problem))
            await asyncio.sleep(LOOK_SECONDS)
            return
        try:
            shard.check_kept(report)
        except AcknowledgedLost:
            end(owner.actor)
            raise
        shard.hear(report)
        shard.held, shard.steps = True, report.limit
        shard.refusals = shard.slow_starts = shard.slow_openings = 0
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
                look = left if doubted else min(left, LATE_SECONDS * patience)
                done, _ = await asyncio.wait(hearing, timeout=look, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    owner = hearing.pop(each)
                    if each.exception() is None:
                        return owner, each.result().node_id
                    end(owner.actor)
                    if not hearing:
                        await each  # raises what became of it
                others = (each for each in self._shards.values() if each is not shard)
                if not doubted and not done and any(each.serving.is_set() for each in others):
                    doubted = True
                    with contextlib.suppress(Gone):
                        listen(await self._place(shard, at_head=True))
            raise _NotStarted(f"its process did not start within {seconds:g} s")
        finally:
            for each, owner in hearing.items():
                each.cancel()
                end(owner.actor)

    def _lose_hope(self, shard: Shard, problem: BaseException) -> None:
        """End the run if another try would fail as this one did. A database that is away comes back."""
        if isinstance(problem, AcknowledgedLost):
            raise problem  # and no other try is made
        if not isinstance(problem, ScreenSearchError) or isinstance(problem, RunContended):
            return
        same_everywhere = isinstance(problem, RunNotFound | RunBusy | FormatError)
        comes_back = isinstance(problem, StoreFailed) and not isinstance(problem, NotLetIn)
        if comes_back and not same_everywhere:
            return
        shard.refusals += 1
        if (same_everywhere or shard.refusals >= MOST_REFUSALS) and not self._hopeless.done():
            self._hopeless.set_exception(problem)
