"""What an owner measures about its shard: counts of what is durable, and how long things take.

Nothing here knows Prometheus (`exposition` does) or where it is served (`metrics_server`). Whoever reads is
another thread: it gets figures that belong together, all of one moment between two commits. Counts are of
all that the shard's log has, so that they go on when the run is resumed, except those of worker processes.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from screensearch.domain.transition import START_FAILURES, Arrival, Entry, FailedStart, Outcome, Transition
from screensearch.explore.observer import Observer
from screensearch.explore.store import ShardStore
from screensearch.record.graph import StateGraph
from screensearch.record.log import START, failed_start

DECIDE_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ACT_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
BATCH_BOUNDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


class Kind(StrEnum):
    """What a metric is, in the words of Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name as it is asked for, and what it means.

    Every series has the labels `run` and `shard`, too. On a cluster each owner tells of its shard, by its
    number, and the conductor of what is `of_run`. There, and without a cluster, `shard` is empty, which
    Prometheus takes for absent.
    """

    name: str
    kind: Kind
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    of_run: bool = False  # not of one of its shards


METRICS = (
    Metric(
        "screensearch_run_info",
        Kind.GAUGE,
        "",
        "Always 1: what the run explores, where its folder is, and by which version.",
        ("environment", "folder", "version"),
        of_run=True,
    ),
    Metric(
        "screensearch_steps_total", Kind.COUNTER, "steps", "Steps in the log, by their outcome.", ("outcome",)
    ),
    Metric(
        "screensearch_starts_total",
        Kind.COUNTER,
        "starts",
        "Starts of the application in the log: `ok` if there was a first screen, else how it failed.",
        ("outcome",),
    ),
    Metric("screensearch_states", Kind.GAUGE, "states", "States found."),
    Metric("screensearch_edges", Kind.GAUGE, "edges", "Distinct edges found."),
    Metric(
        "screensearch_decide_seconds",
        Kind.HISTOGRAM,
        "seconds",
        "From having an observation to having chosen an action, the wait for the commit included.",
    ),
    Metric(
        "screensearch_act_seconds",
        Kind.HISTOGRAM,
        "seconds",
        "Performing an action and waiting until the application has settled.",
    ),
    Metric("screensearch_batch_entries", Kind.HISTOGRAM, "entries", "Entries that one commit made durable."),
    Metric("screensearch_commit_seconds", Kind.HISTOGRAM, "seconds", "How long one commit took."),
    Metric(
        "screensearch_last_commit_timestamp_seconds",
        Kind.GAUGE,
        "seconds since 1970",
        "When something was last made durable; absent before the first commit of this exploration.",
    ),
    Metric(
        "screensearch_checkpoint_seconds",
        Kind.HISTOGRAM,
        "seconds",
        "How long it took to write the graph beside the log; its count is the number of checkpoints.",
    ),
    Metric(
        "screensearch_queue_messages",
        Kind.GAUGE,
        "messages",
        "Messages of workers that have arrived and are in no batch yet.",
    ),
    Metric("screensearch_steps_under_way", Kind.GAUGE, "steps", "Steps granted to workers and not recorded."),
    Metric(
        "screensearch_workers",
        Kind.GAUGE,
        "workers",
        "Workers that are `working` now. On a cluster also those that are `waiting` for a slot or for their "
        "next life, that are `starting`, that are `resting` since they only failed, and that have `ended`.",
        ("state",),
        of_run=True,
    ),
    Metric(
        "screensearch_worker_starts_total",
        Kind.COUNTER,
        "starts",
        "Starts of each worker in this exploration: one, and one more for each time it was replaced.",
        ("worker",),
        of_run=True,
    ),
    Metric(
        "screensearch_worker_failures_total",
        Kind.COUNTER,
        "failures",
        "How often each worker died or was given up in this exploration.",
        ("worker",),
        of_run=True,
    ),
    Metric(
        "screensearch_owner_replacements_total",
        Kind.COUNTER,
        "owners",
        "Owners that were replaced in this exploration, since they were gone, silent or shut out; only on a "
        "cluster.",
        of_run=True,
    ),
    Metric(
        "screensearch_budget_left_steps",
        Kind.GAUGE,
        "steps",
        "Steps until the run has those asked for.",
        of_run=True,
    ),
    Metric(
        "screensearch_budget_left_states",
        Kind.GAUGE,
        "states",
        "States until the run has those asked for.",
        of_run=True,
    ),
    Metric(
        "screensearch_budget_left_plateau_steps",
        Kind.GAUGE,
        "steps",
        "Steps until the run ends, if they find no new state.",
        of_run=True,
    ),
    Metric(
        "screensearch_budget_left_seconds",
        Kind.GAUGE,
        "seconds",
        "Time until the exploration stops.",
        of_run=True,
    ),
    Metric(
        "screensearch_stopping", Kind.GAUGE, "", "1 once steps under way are finished and no more are taken."
    ),
    Metric(
        "screensearch_lease_epoch",
        Kind.GAUGE,
        "",
        "The number of the owner's lease, one more for each owner; only for a log in a database.",
    ),
)
"""All of them. The reference page is written from this."""

OF_RUN = frozenset(metric.name for metric in METRICS if metric.of_run)


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution at one moment: how many values were at most each bound, in all, and their sum."""

    bounds: tuple[float, ...]
    at_most: tuple[int, ...]
    count: int
    total: float


Series = Mapping[tuple[str, ...], float] | Spread
"""The values of a metric by the values of its labels; a histogram has one series."""


class Readable(Protocol):
    """Figures that can be served, of a run or of a part of it."""

    run: str
    part: str  # the shard; empty if they are of the run

    def read(self) -> Mapping[str, Series]:
        """Every metric that it knows, by its name. Asked by any thread."""


class Distribution:
    """Counts values by size: an addition to a list, since this is done for every step."""

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)  # the last: over all bounds
        self._total = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def read(self) -> Spread:
        at_most: list[int] = []
        count = 0
        for each in self._counts:
            count += each
            at_most.append(count)
        return Spread(self._bounds, tuple(at_most[:-1]), count, self._total)


@runtime_checkable
class Leased(Protocol):
    """A log whose owner has a number."""

    @property
    def epoch(self) -> int | None: ...


class Metrics(Observer):
    """The figures of one shard. Make it when the store is open, and set it as the store's observer."""

    def __init__(
        self,
        shard: ShardStore,
        *,
        run: str,
        environment: str,
        folder: str,
        version: str,
        seconds: float | None = None,
        part: str = "",
    ) -> None:
        """`seconds` is how long the exploration may take.

        `part` names the shard of a run that may have several: then what is of the run is told elsewhere.
        """
        self.run, self.part = run, part
        self._about = (environment, folder, version)
        self._budget, self._resolver = shard.budget, shard.resolver
        self._epoch = shard.log.epoch if isinstance(shard.log, Leased) else None
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._waiting: Callable[[], int] = lambda: 0
        self._lock = threading.Lock()  # between the one who writes and those who read
        self._pending: deque[tuple[int, Entry, int, int]] = deque()  # appended, but not durable yet
        graph = shard.graph
        counts = graph.outcomes
        self._steps: dict[str, int] = {each: counts.get(each, 0) for each in Outcome}
        self._starts: dict[str, int] = {Outcome.OK: counts.get(START, 0)}
        self._starts.update({each: counts.get(failed_start(each), 0) for each in START_FAILURES})
        self._states, self._edges = self._resolver.states, graph.edges
        self._decide, self._act = Distribution(DECIDE_BOUNDS), Distribution(ACT_BOUNDS)
        self._commit, self._checkpoint = Distribution(DECIDE_BOUNDS), Distribution(DECIDE_BOUNDS)
        self._batch = Distribution(BATCH_BOUNDS)
        self._last_commit: float | None = None
        self._workers: set[int] = set()
        self._worker_starts: dict[int, int] = {}
        self._worker_failures: dict[int, int] = {}

    # -- what the store tells -----------------------------------------------------------------

    def appended(self, sequence: int, entry: Entry, graph: StateGraph) -> None:
        # The graph also has those states of other shards that a step from here has led to.
        self._pending.append((sequence, entry, self._resolver.states, graph.edges))

    def committed(self, sequence: int, seconds: float) -> None:
        pending, entries = self._pending, 0
        with self._lock:
            while pending and pending[0][0] <= sequence:
                _, entry, self._states, self._edges = pending.popleft()
                self._count(entry)
                entries += 1
            if entries:  # a commit of nothing, or of a checkpoint, says nothing about steps
                self._batch.add(entries)
                self._commit.add(seconds)
                self._last_commit = time.time()

    def _count(self, entry: Entry) -> None:
        if isinstance(entry, Transition):
            self._steps[entry.outcome] += 1
            if entry.choice is not None:  # a lost step took no time that anyone measured
                self._decide.add(entry.evidence.decide_seconds)
                self._act.add(entry.evidence.act_seconds)
        elif isinstance(entry, Arrival):
            self._starts[Outcome.OK] += not entry.step  # else it is where a step of another shard has ended
        else:
            assert isinstance(entry, FailedStart)
            self._starts[entry.outcome] += 1

    def checkpointed(self, seconds: float) -> None:
        with self._lock:
            self._checkpoint.add(seconds)

    def worker_started(self, worker: int) -> None:
        with self._lock:
            self._workers.add(worker)
            self._worker_starts[worker] = self._worker_starts.get(worker, 0) + 1
            self._worker_failures.setdefault(worker, 0)  # a rate needs to see it rise from 0

    def worker_ended(self, worker: int) -> None:
        with self._lock:
            self._workers.discard(worker)

    def worker_failed(self, worker: int) -> None:
        with self._lock:
            self._worker_failures[worker] = self._worker_failures.get(worker, 0) + 1

    def watch_queue(self, waiting: Callable[[], int]) -> None:
        self._waiting = waiting

    # -- what a reader gets -------------------------------------------------------------------

    def read(self) -> dict[str, Series]:
        """Every metric, by its name; of a part of a run, those that are not of the run."""
        values = self._read()
        return {name: values[name] for name in values.keys() - OF_RUN} if self.part else values

    def _read(self) -> dict[str, Series]:
        with self._lock:
            return {
                "screensearch_run_info": {self._about: 1.0},
                "screensearch_steps_total": by_label(self._steps),
                "screensearch_starts_total": by_label(self._starts),
                "screensearch_states": alone(self._states),
                "screensearch_edges": alone(self._edges),
                "screensearch_decide_seconds": self._decide.read(),
                "screensearch_act_seconds": self._act.read(),
                "screensearch_batch_entries": self._batch.read(),
                "screensearch_commit_seconds": self._commit.read(),
                "screensearch_last_commit_timestamp_seconds": alone(self._last_commit),
                "screensearch_checkpoint_seconds": self._checkpoint.read(),
                "screensearch_queue_messages": alone(self._waiting()),
                "screensearch_steps_under_way": alone(self._budget.under_way),
                "screensearch_workers": {("working",): float(len(self._workers))},
                "screensearch_worker_starts_total": by_label(self._worker_starts),
                "screensearch_worker_failures_total": by_label(self._worker_failures),
                "screensearch_budget_left_steps": alone(self._budget.left_steps()),
                "screensearch_budget_left_states": alone(self._budget.left_states()),
                "screensearch_budget_left_plateau_steps": alone(self._budget.left_plateau()),
                "screensearch_budget_left_seconds": alone(self._left_seconds()),
                "screensearch_stopping": alone(self._budget.stopping),
                "screensearch_lease_epoch": alone(self._epoch),
            }

    def _left_seconds(self) -> float | None:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())


def alone(value: float | None) -> Series:
    """The one series of a metric without labels of its own; none if it has no value."""
    return {} if value is None else {(): float(value)}


def by_label(values: Mapping[str, int] | Mapping[int, int]) -> Series:
    """A series for each value of the one label of a metric."""
    return {(str(label),): float(value) for label, value in values.items()}
