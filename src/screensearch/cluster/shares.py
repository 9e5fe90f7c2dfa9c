"""The steps of a run, shared out among its shards: together they grant as many as it shall have."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from screensearch.cluster.shards import Shard


class Shares:
    """How many steps each shard may grant. What one is given, another has given away before."""

    def __init__(
        self,
        shards: Mapping[int, Shard],
        *,
        steps: int | None,
        workers: int,
        ask: Callable[..., Awaitable[Any]],
        look: Callable[[Shard], Awaitable[str]],
    ) -> None:
        self._shards = shards
        self._steps = steps  # of the whole run; None without a limit
        self._workers = workers
        self._ask, self._look = ask, look
        self._moving = asyncio.Lock()  # one move at a time

    async def count_once(self) -> None:
        """Together the shards grant as many steps as the run shall have: the first one has what is left."""
        first = self._shards[0]
        if self._steps is None or first.steps is None:
            return
        others = sum(
            max(each.steps or 0, each.figures.steps) for each in self._shards.values() if each != first
        )
        first.steps = await self._ask(0, "allot", max(0, self._steps - others))
        # More than that may have been granted by a move that was under way when the conductor was lost.
        excess = first.steps + others - self._steps
        for each in [each for each in self._shards.values() if each != first and excess > 0]:
            excess -= await self._take(excess, each)
        await self._look(first)

    async def share(self) -> None:
        """Let an owner that soon has no step left to grant have half of what another has more."""
        if self._steps is None or len(self._shards) == 1:
            return
        for shard in [each for each in self._shards.values() if each.left <= self._workers]:
            rich = max(self._shards.values(), key=lambda each: each.left)
            more = (rich.left - shard.left) // 2
            if more and shard.serving.is_set() and rich.serving.is_set():
                await self._move(more, rich, shard)

    async def _move(self, steps: int, source: Shard, target: Shard) -> None:
        """Let one grant fewer steps, then another as many more. Limits are said, not changes: an owner may be
        replaced at any moment, and its successor be told again."""
        async with self._moving:
            target.steps = (target.steps or 0) + await self._take(steps, source)
            target.steps = await self._ask(target.number, "allot", target.steps)
        await self._look(target)
        await self._look(source)

    async def _take(self, steps: int, source: Shard) -> int:
        """Let a shard grant so many steps fewer, or as many as it has not granted yet; how many it is."""
        before = source.steps or 0
        source.steps = await self._ask(source.number, "allot", before - steps)
        return before - source.steps

    async def endow(self, shard: Shard) -> None:
        """Let the first owner of a shard begin with steps to grant.

        Whoever came to one that has none would be sent away, and its process be started anew.
        """
        async with self._moving:
            rich = max(self._shards.values(), key=lambda each: each.left)
            if rich.serving.is_set() and rich.left > 1:
                shard.steps = await self._take(rich.left // 2, rich)
                await self._look(rich)

    @property
    def out_of_steps(self) -> bool:
        """Whether no owner has a step left to grant. Of several, each may keep one that nobody comes for."""
        if self._steps is None:
            return False
        return sum(each.left for each in self._shards.values()) < len(self._shards)
