"""What a conductor must know of an exploration that it cannot find again: kept with the cluster.

It is there for as long as the cluster would start the conductor anew: Ray keeps it where it keeps its actors.
Nobody deletes it: a conductor that dies while it leaves must find that all is over.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import msgspec

from screensearch.cluster.account import Counts
from screensearch.cluster.engine import Gone, patiently, recall, remember
from screensearch.domain.shard import ShardKey
from screensearch.explore.progress import Figures, Summary

log = logging.getLogger(__name__)

WRITE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Memory:
    """An exploration so far."""

    begun: float  # since the epoch, by the clock of the node where the conductor was then
    at_start: Figures | None = None  # of the run then, once its owners were found
    states: int = 0
    discovered_at: int = 0  # steps when the latest state was found
    counts: Counts = field(default_factory=Counts)
    promised: dict[int, ShardKey] = field(default_factory=dict)  # shards, to the screens of a kind
    recorded: dict[int, int] = field(default_factory=dict)  # by shard, the last entry known to be durable
    limits: dict[int, int] = field(default_factory=dict)  # by shard, the steps that it may grant in all
    metrics: str = ""  # where they are served
    why: str = ""  # it is to end
    summary: Summary | None = None  # once it has ended
    problem: str = ""
    never_started: bool = False


class Memories:
    """The memory of one conductor, over its lives."""

    def __init__(self) -> None:
        self.kept: Memory | None = None  # what a later life would find
        self._writing = ThreadPoolExecutor(1)  # one after another: what is newer stays

    async def recall(self) -> Memory | None:
        """What an earlier life of this conductor knew; None in its first."""
        stored = await patiently(recall)
        self.kept = None if stored is None else msgspec.msgpack.decode(stored, type=Memory)
        return self.kept

    async def keep(self, memory: Memory) -> None:
        """Keep this if it is new. Where that fails, an earlier one stays: the run itself needs none."""
        if memory == self.kept:
            return
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                packed = msgspec.msgpack.encode(memory)
                await asyncio.get_running_loop().run_in_executor(self._writing, remember, packed)
        except (TimeoutError, Gone) as problem:
            log.warning("what the conductor knows could not be kept: %r", problem)
        else:
            self.kept = memory
