"""The owners of a run's shards, asked as one: each shard has one, and `keeping` sees to that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone, actors_of, ask, end, patiently
from screensearch.cluster.hearing import words
from screensearch.cluster.keeping import LOOK_SECONDS, MOST_REFUSALS, AtWork, Keeper, look
from screensearch.cluster.names import Job, OwnerView, Place
from screensearch.cluster.shards import Shard
from screensearch.cluster.shares import Shares
from screensearch.domain.shard import ShardKey
from screensearch.errors import NotLetIn, RunNotFound, StoreFailed
from screensearch.explore.progress import Figures
from screensearch.record.stores import PostgresStore

log = logging.getLogger(__name__)


class Owners:
    """All shards of a run, each with an owner, always."""

    def __init__(self, job: Job, workers: Callable[[int], AtWork], account: Account) -> None:
        self._job = job
        self._account = account
        self._shards: dict[int, Shard] = {}
        self.shares = Shares(self._shards, steps=job.stop.steps, workers=job.workers, ask=self.ask, look=look)
        self._hopeless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = Keeper(
            *(job, workers, account),
            endow=self.shares.endow,
            others_serve=self._others_serve,
            despair=self._despair,
        )

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._shards))

    async def despair(self) -> None:
        """Raise once there is no hope for a log, and no other try could help; otherwise never return."""
        await asyncio.shield(self._hopeless)  # whoever waits for it may be cancelled for another reason

    @property
    def given_up(self) -> bool:
        """Whether there is such a log: one that cannot be opened, or lost entries, or was taken."""
        return self._hopeless.done()

    async def find(
        self,
        promised: Mapping[int, ShardKey],
        recorded: Mapping[int, int],
        limits: Mapping[int, int],
        *,
        held: bool,
    ) -> None:
        """Have owners for the shards that the run has in the database; those that are there may go on.

        Shards that were `promised` to screens may not be there yet, or have none of them; those that had
        `recorded` something must be. Where there are no `limits` yet, the first shard has all steps of the
        run to grant until the others are counted. If an earlier life of the conductor had them all, this
        exploration has `held` the logs.
        """
        generations = await self._generations()
        numbers = await self._numbers()
        if not numbers:
            raise RunNotFound(
                f"the database has no log of the run at {self._job.folder}: it was deleted there, or "
                "the backup that was restored is older"
            )
        found: list[Shard] = []
        for number in sorted({*numbers, *promised, *recorded}):
            steps = self._job.stop.steps
            if steps is not None:
                steps = limits.get(number, 0 if number else steps)
            found.append(
                Shard(
                    number,
                    steps,
                    promised.get(number),
                    held=held,
                    take_over=self._job.take_over and number in numbers,
                    latest=max(generations.get(number, []), default=0),
                    recorded=recorded.get(number, 0),
                )
            )
        # Those that are silent are waited for together.
        await asyncio.gather(*(self._keeper.adopt(each, generations.get(each.number, [])) for each in found))
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
                return await asyncio.to_thread(store.latest_shards)
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

    def _have(self, shard: Shard) -> None:
        self._shards[shard.number] = shard
        shard.watching = asyncio.ensure_future(self._keeper.watch(shard))
        shard.watching.add_done_callback(self._watched)

    def _watched(self, watching: asyncio.Task[None]) -> None:
        """A watch ends only when it is cancelled: what else ends it ends the run."""
        problem = None if watching.cancelled() else watching.exception()
        if problem is not None:
            self._despair(problem)

    def _despair(self, problem: BaseException) -> None:
        if not self._hopeless.done():
            self._hopeless.set_exception(problem)

    def _others_serve(self, shard: Shard) -> bool:
        return any(each.serving.is_set() for each in self._shards.values() if each is not shard)

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
        self._keeper.stopping = True
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
            await look(shard)

        await asyncio.gather(*map(hear, self._shards.values()))

    async def close(self) -> list[str]:
        """Close all logs; their digests, in order of the shards. An owner that goes before is replaced."""

        async def close(shard: Shard) -> str:
            digest: str = await self.ask(shard.number, "close")
            shard.end_watch()  # its log is nobody's now: another owner would take it for nothing
            return digest

        digests = await asyncio.gather(*(close(self._shards[number]) for number in self))
        for shard in self._shards.values():  # nobody needs their graphs while the summary waits for someone
            end(shard.actor)
        return digests

    def views(self) -> tuple[OwnerView, ...]:
        return tuple(shard.view() for _, shard in sorted(self._shards.copy().items()))

    def promised(self) -> dict[int, ShardKey]:
        """The shards that screens have, by number."""
        return {number: shard.key for number, shard in self._shards.items() if shard.key is not None}

    def recorded(self) -> dict[int, int]:
        """By shard the number of the last entry that is durable, as far as was heard."""
        return {number: shard.recorded for number, shard in self._shards.items() if shard.recorded}

    def limits(self) -> dict[int, int]:
        """By shard the steps that it may grant in all, if the run has a limit."""
        return {number: shard.steps for number, shard in self._shards.items() if shard.steps is not None}

    def end(self) -> None:
        """Watch over them no more."""
        for shard in self._shards.values():
            shard.end_watch()
