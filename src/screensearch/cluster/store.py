"""The store of a run as its workers on a cluster see it: whoever owns the shard at the moment.

An owner may die, hang or be replaced at any time. Then the conductor says who has taken its place, and
the last message is sent again: an owner answers a message that it knows as it was answered before.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from screensearch.cluster.engine import Gone, ask, find_actor
from screensearch.cluster.names import Place, conductor_name
from screensearch.errors import FormatError, ScreenSearchError, StoreFailed
from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report
from screensearch.explore.wire import Failed, pack_body, unpack

ANSWER_SECONDS = 5.0
"""An owner that needs longer is asked after: it may wait for the database, or be gone."""

AGAIN_SECONDS = 0.2
"""Between two tries."""

ALONE_SECONDS = 900.0
"""A worker that nobody has answered for so long ends: its run is over, or its cluster is."""


class Retired(ScreenSearchError):
    """Another worker has taken the place of this one."""


class ClusterStore:
    """The owners of one run, found by way of its conductor. One worker has one message under way."""

    def __init__(self, run: str, life: int) -> None:
        self._run = run
        self._life = life
        self._owners: dict[int, tuple[Place, Any]] = {}  # by shard
        self.heard = time.monotonic()  # when an owner last answered
        self.waits = False
        self.steps = 0
        self.starts = 0  # since the last of them

    async def begin(self, begin: Begin) -> Receipt:
        self.starts += 1
        return await self._ask(0, begin)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        self.starts += 1
        return await self._ask(0, failed)

    async def record(self, report: Report) -> Receipt:
        receipt = await self._ask(0, report)
        self.steps += 1
        self.starts = 0
        return receipt

    async def announce(self, announcement: Announce) -> None:
        """Nothing waits for this, and nothing depends on its arrival."""
        if 0 in self._owners:
            self._owners[0][1].announce.remote(self._life, pack_body(announcement))

    async def _ask(self, shard: int, message: Begin | BeginFailed | Report) -> Receipt:
        body = pack_body(message)
        self.waits = True
        try:
            answer = unpack(await self._answer(shard, body))
        finally:
            self.waits = False
            self.heard = time.monotonic()
        if isinstance(answer, Failed):
            raise Retired(answer.message) if answer.retired else FormatError(answer.message)
        if not isinstance(answer, Receipt):
            raise FormatError(f"the owner answered with {type(answer).__name__}, not with a receipt")
        return answer

    async def _answer(self, shard: int, body: bytes) -> bytes:
        """Whatever it takes: ask the owner, ask who has taken its place, ask that one."""
        asked = time.monotonic()
        while time.monotonic() - asked < ALONE_SECONDS:
            place, owner = self._owners.pop(shard, (None, None))
            if owner is None:
                place, owner = await self._locate(shard)
            if place is not None and owner is not None:
                answering = asyncio.ensure_future(ask(owner.handle.remote(self._life, body)))
                try:
                    answer = await self._patiently(answering, place)
                except (StoreFailed, Gone):
                    answer = None  # it is not the owner any more
                if isinstance(answer, bytes):
                    self._owners[shard] = (place, owner)
                    return answer
            await asyncio.sleep(AGAIN_SECONDS)
        raise StoreFailed(f"no owner of run {self._run} answered for {ALONE_SECONDS:.0f} s")

    async def _patiently(self, answering: asyncio.Future[Any], place: Place) -> object:
        """The answer of an owner; None once another has taken its place."""
        while True:
            done, _ = await asyncio.wait({answering}, timeout=ANSWER_SECONDS)
            if done:
                return answering.result()
            now, _ = await self._locate(place.shard)
            if now is not None and now != place:
                answering.cancel()
                return None

    async def _locate(self, shard: int) -> tuple[Place | None, Any]:
        """Who owns a shard, if anyone does at the moment."""
        try:
            conductor = await asyncio.to_thread(find_actor, conductor_name(self._run))
            if conductor is None:
                return None, None
            place = await ask(conductor.locate.remote(shard), seconds=ANSWER_SECONDS)
            if place is None:
                return None, None
            return place, await asyncio.to_thread(find_actor, place.name)
        except (TimeoutError, Gone):
            return None, None
