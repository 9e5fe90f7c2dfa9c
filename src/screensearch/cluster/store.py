"""The store of a run as its workers on a cluster see it: whoever owns the shard at the moment.

An owner may die, hang or be replaced at any time. Then the conductor says who has taken its place, and
the last message is sent again: an owner answers a message that it knows as it was answered before.

Rows of the screen table carry the number of their shard here, as states do everywhere.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

from screensearch.cluster.engine import Gone, ask, cause_of, find_actor
from screensearch.cluster.names import OwnerBroke, Place, conductor_name
from screensearch.domain.shard import ShardKey, first_of, shard_key, shard_of, within
from screensearch.errors import FormatError, ScreenSearchError, StoreFailed
from screensearch.explore.messages import (
    DECIDED,
    Announce,
    Begin,
    BeginFailed,
    Land,
    Receipt,
    Report,
    Sighting,
)
from screensearch.explore.wire import Failed, pack_body, unpack

ANSWER_SECONDS = 5.0
"""An owner that needs longer is asked after: it may wait for the database, or be gone."""

AGAIN_SECONDS = 0.2
"""Between two tries, the first time; then twice as long each time."""

BETWEEN_SECONDS = 1.0
"""But no longer than this: so often an owner is asked after while it is being replaced."""

ALONE_SECONDS = 900.0
"""A worker that nobody has answered for so long ends: its run is over, or its cluster is."""


MOST_BREAKDOWNS = 3
"""So many owners in a row may fail over a message: then whoever sends it gives up, so that others go on."""


class Alone(ScreenSearchError):
    """Nobody answers any more: the run is over, or out of reach."""


class Retired(ScreenSearchError):
    """Another worker has taken the place of this one."""


class Poisonous(FormatError):
    """One owner after another has failed over a message."""


class Misplaced(ScreenSearchError):
    """A shard is of screens of another kind than the conductor has said."""


class ClusterStore:
    """The owners of one run, found by way of its conductor. One worker has one message under way."""

    def __init__(self, run: str, life: int) -> None:
        self._run = run
        self._life = life
        self._owners: dict[int, tuple[Place, Any]] = {}  # by shard
        self._shards: dict[ShardKey, int] = {}
        self.shard = 0  # that the episode is in
        self._configuration: tuple[tuple[str, str], ...] = ()  # of the episode
        self.heard = time.monotonic()  # when an owner last answered
        self.waits = False
        self.steps = 0
        self.starts = 0  # since the last of them
        self.told_to_end = False

    async def begin(self, begin: Begin) -> Receipt:
        self.starts += 1
        return await self._well_placed(begin.sighting, lambda: self._begin(begin))

    async def _begin(self, begin: Begin) -> Receipt:
        before, self.shard = self.shard, await self._shard(begin.sighting)
        if (
            before != self.shard and before in self._owners
        ):  # nothing waits for this: it frees what was granted
            self._owners[before][1].leave.remote(self._life, begin.episode.worker, begin.episode.number)
        self._configuration = begin.configuration
        return await self._ask(self.shard, replace(begin, sighting=_inside(begin.sighting)))

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        self.starts += 1
        return await self._ask(0, failed)

    async def record(self, report: Report) -> Receipt:
        """Record a step where it began. If it ended in another shard, that one says in which state, first."""
        if report.sighting is None:
            return await self._record(report)
        return await self._well_placed(report.sighting, lambda: self._record(report))

    async def _record(self, report: Report) -> Receipt:
        landed: Receipt | None = None
        sighting, source = report.sighting, shard_of(report.source)
        if sighting is not None and report.outcome in DECIDED:
            self.shard = await self._shard(sighting)
            if self.shard != source:
                landing = Land(
                    report.episode, report.step, _inside(sighting), report.evidence, self._configuration
                )
                landed = await self._ask(self.shard, landing)
                assert landed.here is not None  # an arrival has a state
                report = replace(report, sighting=None, landed=landed.here.state)
        elif sighting is not None and sighting.row is not None and shard_of(sighting.row) != source:
            report = replace(report, sighting=None)  # it is in no table over there
        if report.sighting is not None:
            report = replace(report, sighting=_inside(report.sighting))
        receipt = await self._ask(source, report)
        self.steps += 1
        self.starts = 0
        return receipt if landed is None else landed

    async def announce(self, announcement: Announce) -> None:
        """Nothing waits for this, and nothing depends on its arrival."""
        if self.shard in self._owners:
            self._owners[self.shard][1].announce.remote(self._life, pack_body(announcement))

    async def _well_placed(
        self, sighting: Sighting, attempt: Callable[[], Coroutine[None, None, Receipt]]
    ) -> Receipt:
        """Try again if the shard that was meant for this screen turns out to be of others."""
        asked, pauses = time.monotonic(), _pauses()
        while True:
            try:
                return await attempt()
            except Misplaced as problem:
                if sighting.screen is not None:
                    self._shards.pop(shard_key(sighting.screen.metadata), None)
                if time.monotonic() - asked > ALONE_SECONDS:
                    raise Alone(f"no shard of run {self._run} takes this screen: {problem}") from problem
            await asyncio.sleep(next(pauses))

    async def _shard(self, sighting: Sighting) -> int:
        """Where a screen belongs."""
        if sighting.row is not None:
            return shard_of(sighting.row)
        assert sighting.screen is not None  # one of the two is there
        key = shard_key(sighting.screen.metadata)
        asked, pauses = time.monotonic(), _pauses()
        while key not in self._shards:
            self.waits = True
            number = await self._conductor_says("shard", key)
            if number is not None:
                self._shards[key] = int(number)
            elif time.monotonic() - asked > ALONE_SECONDS:
                raise Alone(f"no conductor of run {self._run} answered for {ALONE_SECONDS:.0f} s")
            else:
                await asyncio.sleep(next(pauses))
        self.waits = False
        return self._shards[key]

    async def _ask(self, shard: int, message: Begin | BeginFailed | Land | Report) -> Receipt:
        body = pack_body(message)
        self.waits = True
        try:
            answer = unpack(await self._answer(shard, body))
        finally:
            self.waits = False
            self.heard = time.monotonic()
        if isinstance(answer, Failed) and answer.misplaced:
            raise Misplaced(answer.message)
        if isinstance(answer, Failed):
            raise Retired(answer.message) if answer.retired else FormatError(answer.message)
        if not isinstance(answer, Receipt):
            raise FormatError(f"the owner answered with {type(answer).__name__}, not with a receipt")
        self.told_to_end = not answer.proceed
        if answer.here is None:
            return answer
        return replace(answer, here=replace(answer.here, row=first_of(shard) + answer.here.row))

    async def _answer(self, shard: int, body: bytes) -> bytes:
        """Whatever it takes: ask the owner, ask who has taken its place, ask that one."""
        asked, broke, pauses = time.monotonic(), 0, _pauses()
        while time.monotonic() - asked < ALONE_SECONDS:
            place, owner = self._owners.pop(shard, (None, None))
            if owner is None:
                place, owner = await self._locate(shard)
            if place is not None and owner is not None:
                answering = asyncio.ensure_future(ask(owner.handle.remote(self._life, body)))
                try:
                    answer = await self._patiently(answering, place, asked + ALONE_SECONDS)
                except (StoreFailed, Gone) as problem:
                    answer = None  # it is not the owner any more
                    broke += isinstance(cause_of(problem), OwnerBroke)
                    if broke == MOST_BREAKDOWNS:
                        raise Poisonous(
                            f"{broke} owners failed over its message: {cause_of(problem)}"
                        ) from problem
                if isinstance(answer, bytes):
                    self._owners[shard] = (place, owner)
                    return answer
            await asyncio.sleep(next(pauses))
        raise Alone(f"no owner of run {self._run} answered for {ALONE_SECONDS:.0f} s")

    async def _patiently(self, answering: asyncio.Future[Any], place: Place, until: float) -> object:
        """The answer of an owner; None once another has taken its place."""
        patience = ANSWER_SECONDS
        while time.monotonic() < until:
            done, _ = await asyncio.wait({answering}, timeout=patience)
            if done:
                return answering.result()
            now, _ = await self._locate(place.shard)
            if now is not None and now != place:
                break
            patience = BETWEEN_SECONDS if now is None else ANSWER_SECONDS
        answering.cancel()
        return None

    async def _locate(self, shard: int) -> tuple[Place | None, Any]:
        """Who owns a shard, if anyone does at the moment."""
        place = await self._conductor_says("locate", shard)
        if not isinstance(place, Place):
            return None, None
        return place, await asyncio.to_thread(find_actor, place.name)

    async def _conductor_says(self, method: str, about: object) -> Any:
        """What the conductor answers; None when it does not know, or is itself between two lives."""
        conductor = await asyncio.to_thread(find_actor, conductor_name(self._run))
        if conductor is None:
            return None
        try:
            return await ask(getattr(conductor, method).remote(about), seconds=ANSWER_SECONDS)
        except (TimeoutError, Gone):
            return None


def _pauses() -> Iterator[float]:
    """Between tries. A thousand workers that lost their owner together must not ask at the same moments."""
    longest = AGAIN_SECONDS
    while True:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 (nobody has to be kept from guessing it)
        longest = min(2 * longest, BETWEEN_SECONDS)


def _inside(sighting: Sighting) -> Sighting:
    """A sighting as the owner of its shard knows it."""
    return sighting if sighting.row is None else replace(sighting, row=within(sighting.row))
