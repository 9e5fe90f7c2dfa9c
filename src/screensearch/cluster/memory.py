"""What a conductor must know of an exploration that it cannot find again: kept with the cluster.

It is there for as long as the cluster would start the conductor anew: Ray keeps it where it keeps its actors.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import msgspec

from screensearch.cluster.engine import Gone, forget, recall, remember
from screensearch.explore.progress import Figures, Summary

log = logging.getLogger(__name__)

KEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Memory:
    """An exploration so far."""

    begun: float  # since the epoch, by the clock of the node where the conductor was then
    at_start: Figures | None = None  # of the run then, once its owners were found
    states: int = 0
    discovered_at: int = 0  # steps when the latest state was found
    failures: int = 0  # of workers
    why: str = ""  # it is to end
    summary: Summary | None = None  # once it has ended
    problem: str = ""
    never_started: bool = False


class Memories:
    """The memory of one conductor, over its lives."""

    def __init__(self) -> None:
        self._kept: Memory | None = None

    async def recall(self) -> Memory | None:
        """What an earlier life of this conductor knew; None in its first."""
        stored = await asyncio.to_thread(recall)
        self._kept = None if stored is None else msgspec.msgpack.decode(stored, type=Memory)
        return self._kept

    async def keep(self, memory: Memory) -> None:
        """Keep this if it is new. Where that fails, an earlier one stays: the run itself needs none."""
        if memory == self._kept:
            return
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                await asyncio.to_thread(remember, msgspec.msgpack.encode(memory))
        except (TimeoutError, Gone) as problem:
            log.warning("what the conductor knows could not be kept: %r", problem)
        else:
            self._kept = memory

    async def forget(self) -> None:
        await asyncio.to_thread(forget)
