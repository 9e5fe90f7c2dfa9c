"""The owner of a shard as an actor: it holds the lease of the shard's log, and answers workers.

Whoever opens the log later in the same exploration takes the lease (`postgres_lease`): the database then
refuses what an earlier owner still tries to write, and that one leaves, also where nobody is left to end it.
So there may be two actors for a moment, and never two owners.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from screensearch.cluster.engine import (
    Gone,
    ask,
    control,
    find_actor,
    leave,
    start_anew,
    this_node,
    this_node_id,
)
from screensearch.cluster.logs import log_for
from screensearch.cluster.metrics import serve, url_of
from screensearch.cluster.names import (
    Beginning,
    Job,
    OwnerBroke,
    OwnerReport,
    check_version,
    conductor_name,
)
from screensearch.config import settings_from_document
from screensearch.domain.shard import ShardKey, shard_key
from screensearch.encode.redact import redacting_text
from screensearch.errors import AcknowledgedLost, FormatError, RunNotFound, ScreenSearchError, StoreFailed
from screensearch.explore.budget import Budget
from screensearch.explore.messages import DECIDED, Announce, Begin, BeginFailed, Land, Receipt, Report
from screensearch.explore.metrics import Metrics
from screensearch.explore.metrics_server import MetricsServer
from screensearch.explore.progress import Figures, figures_of
from screensearch.explore.serving import Serving
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import Failed, pack_body, unpack
from screensearch.record.log import Log
from screensearch.record.stores import PostgresStore

if TYPE_CHECKING:
    from screensearch.record.postgres_log import PostgresLog

log = logging.getLogger(__name__)

CLOSED = "the log is closed"

LINGER_SECONDS = 5.0
"""For so long an owner that can write no more says why: the conductor asks once a second, workers at once."""

LOST_SECONDS = 60.0
"""The same for one whose database lost something: the next life of the conductor is to hear of it, too."""

UNASKED_SECONDS = 10.0
"""A conductor asks once a second. An owner that is not asked for so long asks what has become of it; that of
the second shard after twice as long, and so on: one is enough."""

MOST_TURNS = 6
"""But no longer than so many times that."""

CONDUCTOR_SECONDS = 10.0
"""A conductor that does not answer for so long is stuck."""

LOOK_SECONDS = 1.0
"""How often an owner looks whether it is asked, at the most, and whether it gets to anything."""


class ShardOwner:
    """One shard. How it is can be asked also while it waits for the database."""

    def __init__(self) -> None:
        self._node, self._node_id = this_node(), this_node_id()
        self._number = 0
        self._shard: ShardStore | None = None
        self._records: PostgresLog | None = None  # of that shard
        self._asked = time.monotonic()  # when it last was, how it is
        self._turned: float | None = None  # when its loop last had a turn, once it has opened its log
        self._grown = 0, 0.0  # how far its graph went when it was last asked, and since when
        self._opening = False
        self._watching: asyncio.Future[Any] | None = None
        self._serving: Serving | None = None
        self._epoch = 0
        self._key: ShardKey | None = None
        self._lives: dict[int, int] = {}  # by worker: lives before this one are over
        self._waiting: dict[asyncio.Future[bytes], float] = {}  # since when
        self._answer_seconds = 0.0
        self._server: MetricsServer | None = None
        self._digest: str | None = None  # once it is closed
        self._failure = ""
        self._lost = False
        self._clean: Callable[[str], str] = str

    async def open(
        self,
        job: Job,
        number: int,
        steps: int | None,
        *,
        take_over: bool,
        again: bool = False,
        lives: Mapping[int, int],
        at_work: Sequence[int],
    ) -> None:
        """Become the owner: take the lease, `again` or at first, load the checkpoint, fold the tail.

        `lives` are by worker the first that is not over. Workers `at_work` will go on where they are. If it
        cannot be opened, this may be asked again.
        """
        if self._opening or self._shard is not None:
            raise StoreFailed("this owner has opened its log already, or is about to")
        self._opening = True
        try:
            await self._become_owner(job, number, steps, take_over, again, lives, at_work)
        finally:
            self._opening = False

    async def _become_owner(
        self,
        job: Job,
        number: int,
        steps: int | None,
        take_over: bool,
        again: bool,
        lives: Mapping[int, int],
        at_work: Sequence[int],
    ) -> None:
        log_for(job, number)
        self._number = number
        settings = settings_from_document(job.settings)

        def opening() -> tuple[ShardStore, PostgresLog, ShardKey | None]:
            store = PostgresStore(job.store, job.run, number, job.exploration)
            records = _open_or_create(store, take_over=take_over, again=again)
            try:
                shard = ShardStore(records, settings, Budget(steps=steps), shard=number)
                for worker in at_work:
                    shard.recall(worker)
                return shard, records, _key(records)
            except BaseException:
                records.close()
                raise

        self._lives = dict(lives)
        self._clean = redacting_text(settings.redact)
        try:
            check_version(job.version)
            shard, records, self._key = await asyncio.to_thread(opening)
        except ScreenSearchError as problem:
            self._tell(logging.WARNING, f"cannot be owned: {problem}")
            raise
        except Exception as problem:  # of whatever plugin, which may quote anything
            raise OwnerBroke(self._clean(repr(problem))) from None
        self._records, self._epoch = records, records.epoch or 0
        self._shard, self._serving = shard, Serving(shard)
        self._watching = asyncio.gather(self._watch_conductor(job.run), self._take_turns())
        if job.metrics:
            self._server = serve(job.metrics, _measure(job, number, shard, self._serving))
        self._serving.broken.add_done_callback(self._break)
        self._tell(logging.INFO, f"is owned, with {shard.graph.sequence:,} entries (epoch {self._epoch})")

    def _tell(self, level: int, what: str) -> None:
        """Log what became of the shard in the hands of this owner, whose epoch tells it from others."""
        figures = {"epoch": self._epoch} if self._epoch else {}
        log.log(level, "shard %d %s", self._number, what, extra={"figures": figures})

    def _break(self, broken: asyncio.Future[None]) -> None:
        """Nothing can be written any more: whoever waits is told at once, and asks the next owner.

        Then this one leaves. Mostly the conductor ends it before; but it may be out of reach.
        """
        problem = None if broken.cancelled() else broken.exception()
        foreign = problem is not None and not isinstance(problem, ScreenSearchError)
        words = self._clean(repr(problem)) if foreign else f"{problem or CLOSED}"
        self._failure = self._failure or words
        self._tell(logging.WARNING, f"can be written no more: {self._failure}")
        self._lost = isinstance(problem, AcknowledgedLost)
        said = OwnerBroke(words) if foreign else StoreFailed(self._failure)
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(said)
        seconds = LOST_SECONDS if self._lost else LINGER_SECONDS
        asyncio.get_running_loop().call_later(seconds, leave)

    # -- for workers --------------------------------------------------------------------------

    async def handle(self, life: int, body: bytes) -> bytes:
        """Record one message durably, and answer it."""
        try:
            message = unpack(body)
        except FormatError as problem:
            return pack_body(Failed(str(problem)))
        if not isinstance(message, Begin | BeginFailed | Land | Report):
            return pack_body(Failed(f"a worker sent {type(message).__name__}, which only an owner sends"))
        if not self._alive(message.episode.worker, life):
            return pack_body(Failed("another life of this worker is at work", retired=True))
        serving = self._open()[1]
        key = _key_of(message)
        self._key = self._key or key
        if key not in (None, self._key):  # a conductor that was started anew has given the shard away twice
            return pack_body(Failed("this shard is of screens of another kind", misplaced=True))
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[answer] = since = time.monotonic()
        try:
            serving.take(message, lambda said: _give(answer, said))
            return await answer
        finally:
            del self._waiting[answer]
            self._answer_seconds = time.monotonic() - since

    async def announce(self, life: int, body: bytes) -> None:
        """A worker has chosen."""
        message = unpack(body)
        if isinstance(message, Announce) and self._alive(message.episode.worker, life):
            self._open()[0].announce(message)

    async def leave(self, life: int, worker: int, episode: int) -> None:
        """A worker has begun this episode in another shard: what it had here before is over."""
        if not self._alive(worker, life):
            return
        shard, serving = self._open()
        async with serving.turn():
            stands = shard.standing(worker)
            if stands is None or stands[0] < episode:
                shard.dismiss(worker)

    def _alive(self, worker: int, life: int) -> bool:
        """Whether this life of a worker is not over; a later one ends those before it."""
        if life < self._lives.get(worker, 0):
            return False
        self._lives[worker] = life
        return True

    def _open(self) -> tuple[ShardStore, Serving]:
        if self._failure or self._shard is None or self._serving is None:
            raise StoreFailed(self._failure or "the owner has not opened its log yet")
        return self._shard, self._serving

    # -- for the conductor --------------------------------------------------------------------

    async def _watch_conductor(self, run: str) -> None:
        """Have a conductor started anew that is frozen or stuck: Ray does so only with one that has died."""
        patience = UNASKED_SECONDS * min(self._number + 1, MOST_TURNS)
        while not self._failure:
            await asyncio.sleep(max(LOOK_SECONDS, patience - (time.monotonic() - self._asked)))
            if time.monotonic() - self._asked < patience:
                continue
            conductor = await asyncio.to_thread(find_actor, conductor_name(run))
            if conductor is None:
                continue
            with contextlib.suppress(Gone):  # it has died, and Ray sees to it
                try:
                    await ask(conductor.take_a_turn.remote(), seconds=CONDUCTOR_SECONDS)
                except TimeoutError:
                    self._tell(logging.WARNING, "has a conductor that does not answer: it is started anew")
                    await asyncio.to_thread(start_anew, conductor)
            self._asked = time.monotonic()  # the next one has as much time

    async def _take_turns(self) -> None:
        """Note that the loop gets to things: a plugin that blocks it keeps all workers waiting."""
        while not self._failure:
            self._turned = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)

    @control
    async def report(self) -> OwnerReport:
        """How it is."""
        self._asked = time.monotonic()
        shard, waiting = self._shard, list(self._waiting.values())
        return OwnerReport(
            node=self._node,
            node_id=self._node_id,
            process=os.getpid(),
            figures=Figures() if shard is None else figures_of(shard),
            key=self._key,
            limit=None if shard is None else shard.budget.limit,
            under_way=0 if shard is None else shard.budget.under_way,
            left=None if shard is None else shard.budget.left,
            queue=len(waiting),
            answer_seconds=time.monotonic() - min(waiting) if waiting else self._answer_seconds,
            epoch=self._epoch,
            metrics=url_of(self._server, self._node),
            failure=self._failure,
            recorded=0 if shard is None else shard.durable,
            lost=self._lost,
            silent_seconds=0.0 if self._records is None else self._records.silent_seconds,
            opening=self._opening,
            stuck_seconds=self._stuck_seconds(),
        )

    def _stuck_seconds(self) -> float:
        """For how long its loop had no turn and its graph did not grow: a large batch may take long."""
        if self._shard is None or self._turned is None or self._failure:
            return 0.0
        now, sequence = time.monotonic(), self._shard.graph.sequence
        if sequence != self._grown[0]:
            self._grown = sequence, now
        return now - max(self._turned, self._grown[1])

    async def beginning(self, worker: int) -> Beginning:
        """With what another life of a worker can begin, as far as this shard is concerned."""
        shard, serving = self._open()
        async with serving.turn():
            return Beginning(shard.next_episode(worker), self._lives.get(worker, 0))

    async def bury(self, worker: int, life: int) -> tuple[int, int] | None:
        """A worker's life is over: refuse whatever it may still say. Returns where it stands here."""
        self._lives[worker] = max(life + 1, self._lives.get(worker, 0))
        shard, serving = self._open()
        async with serving.turn():  # what it said before is recorded
            return shard.standing(worker)

    async def lose(self, worker: int, life: int, why: str) -> None:
        """A worker's life is over, and the step that it had under way here is lost."""
        await self.bury(worker, life)
        shard, serving = self._open()
        async with serving.turn():
            shard.lose(worker, why)

    async def dismiss(self, worker: int, life: int) -> None:
        """A worker's life is over, and it owes this shard nothing."""
        await self.bury(worker, life)
        shard, serving = self._open()
        async with serving.turn():
            shard.dismiss(worker)

    async def stop(self) -> None:
        """Grant no more steps."""
        self._open()[0].budget.stopping = True

    async def allot(self, limit: int) -> int:
        """Grant so many steps in all; returns how many it is now."""
        return self._open()[0].budget.allot(limit)

    async def close(self) -> str:
        """Checkpoint, give the lease back, and tell the digest of the graph. May be asked again."""
        if self._digest is None:
            shard, serving = self._open()

            def closing() -> str:
                shard.checkpoint()
                digest = shard.graph.digest()
                shard.log.close()
                return digest

            async with serving.turn():
                self._digest = await asyncio.to_thread(closing)
            self._failure = CLOSED
            self._tell(logging.INFO, "is closed")
            if self._server is not None:  # it would tell for ever of a run that is over
                await asyncio.to_thread(self._server.close)
                self._server = None
        return self._digest

    async def describe(self) -> str:
        """The identifier in use, and what it lacks."""
        return self._open()[0].resolver.describe()


def _measure(job: Job, number: int, shard: ShardStore, serving: Serving) -> Metrics:
    """Have the figures of a shard taken from now on."""
    shard.observer = metrics = Metrics(
        shard,
        run=job.run,
        environment=job.environment,
        folder=job.folder,
        version=job.version,
        part=str(number),
    )
    metrics.watch_queue(lambda: serving.waiting)
    return metrics


def _open_or_create(store: PostgresStore, *, take_over: bool, again: bool) -> PostgresLog:
    """The log of a shard, whose first owner makes it."""
    try:
        return store.open_to_write(take_over=take_over, again=again)
    except RunNotFound:
        if not store.shard:  # the first one is made with the run: without it there is none
            raise
        store.create()
        return store.open_to_write()


def _key(log: Log) -> ShardKey | None:
    """What the screens of a shard have in common, as soon as it has one."""
    first = next(iter(log.known_screens()), None)
    return None if first is None else shard_key(first[1].metadata)


def _key_of(message: Begin | BeginFailed | Land | Report) -> ShardKey | None:
    """The kind of screens whose shard has to decide about this message; None if any of them has."""
    if isinstance(message, BeginFailed) or message.sighting is None or message.sighting.screen is None:
        return None
    if isinstance(message, Report) and message.outcome not in DECIDED:
        return None  # as of another application, seen by chance
    return shard_key(message.sighting.screen.metadata)


def _give(answer: asyncio.Future[bytes], said: Receipt | FormatError) -> None:
    if not answer.done():  # its caller may be gone
        answer.set_result(pack_body(Failed(str(said)) if isinstance(said, FormatError) else said))
