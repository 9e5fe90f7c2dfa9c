"""Who is told what a store does, as it does it: metrics, or no one."""

from __future__ import annotations

from collections.abc import Callable

from screensearch.domain.transition import Entry
from screensearch.record.graph import StateGraph


class Observer:
    """Is told what happens to a shard. This one makes nothing of it; others override what they want.

    A method is called by the thread that writes, for every step: it must be quick and must not raise.
    """

    def appended(self, sequence: int, entry: Entry, graph: StateGraph) -> None:
        """An entry is in the open batch, and in the graph. Whether it will count is not known yet."""

    def committed(self, sequence: int, seconds: float) -> None:
        """Every entry up to this one is durable now; the commit took so long."""

    def checkpointed(self, seconds: float) -> None:
        """The graph was written beside the log; to dump and commit it took so long."""

    def worker_started(self, worker: int) -> None:
        """A worker begins its work, for the first time or again."""

    def worker_ended(self, worker: int) -> None:
        """A worker that had begun is gone, however it went."""

    def worker_failed(self, worker: int) -> None:
        """A worker died or was given up."""

    def watch_queue(self, waiting: Callable[[], int]) -> None:
        """Ask this whenever the number of messages that wait for a batch is wanted, from any thread."""
