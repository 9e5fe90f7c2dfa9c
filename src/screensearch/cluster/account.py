"""What happened to the parts of a run, as its conductor knows it: counted, logged, and told to who looks."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from screensearch.cluster.names import Trouble

log = logging.getLogger(__name__)

MOST_TROUBLES = 30
"""So many of the latest are kept for whoever looks."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often something happened in an exploration, over all lives of its conductor."""

    starts: Mapping[int, int] = field(default_factory=dict)  # by worker
    failures: Mapping[int, int] = field(default_factory=dict)  # by worker
    replacements: int = 0  # of owners


class Account:
    """Written by the conductor's loop. Others may read the troubles and the failures at any time."""

    def __init__(self, workers: int = 0) -> None:
        self._starts = dict.fromkeys(range(workers), 0)  # a rate needs to see them rise from 0
        self._failures = dict.fromkeys(range(workers), 0)
        self._replacements = 0
        self.troubles: tuple[Trouble, ...] = ()

    def go_on(self, counts: Counts) -> None:
        """Count on from where an earlier life of the conductor was."""
        self._starts.update(counts.starts)
        self._failures.update(counts.failures)
        self._replacements = counts.replacements

    def counts(self) -> Counts:
        return Counts(dict(self._starts), dict(self._failures), self._replacements)

    def failures(self, worker: int) -> int:
        return self._failures.get(worker, 0)

    @property
    def worker_failures(self) -> int:
        """Of all workers."""
        return sum(self._failures.values())

    @property
    def trouble(self) -> str:
        """The latest, in words."""
        return self.troubles[-1].what if self.troubles else ""

    def worker_started(self, worker: int, node: str, *, adopted: bool) -> None:
        """A worker is at work. One that was so before this conductor was counted then, if there was time."""
        if not (adopted and self._starts.get(worker)):
            self._starts[worker] = self._starts.get(worker, 0) + 1
        fields = {"worker": worker, "figures": {"node": node}}
        log.info("worker %d %s on %s", worker, "goes on" if adopted else "begins", node, extra=fields)

    def worker_failed(self, worker: int, why: str) -> None:
        """A worker died or was given up: it is replaced, if there is anything left to do."""
        self._failures[worker] = self._failures.get(worker, 0) + 1
        self.note(f"worker {worker} failed", why, worker=worker)

    def owner_replaced(self, shard: int, why: str) -> None:
        """An owner is gone, or cannot go on."""
        self._replacements += 1
        self.note(f"the owner of shard {shard} was replaced", why, shard=shard)

    def note(self, what: str, why: str = "", *, worker: int | None = None, shard: int | None = None) -> None:
        """Something went wrong, and is being dealt with."""
        before = self.troubles[-1].time if self.troubles else 0.0
        when = max(time.time(), math.nextafter(before, math.inf))
        trouble = Trouble(when, f"{what}: {why}" if why else what, why, worker, shard)
        self.troubles = (*self.troubles, trouble)[-MOST_TROUBLES:]
        log.warning("%s", trouble.what, extra=trouble.fields())
