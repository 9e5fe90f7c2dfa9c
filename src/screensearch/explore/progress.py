"""What a run has done so far, in figures: for the live view, the summary and machines."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TypedDict

from screensearch.domain.transition import START_FAILURES, Outcome
from screensearch.errors import ScreenSearchError
from screensearch.explore.store import ShardStore
from screensearch.record.graph import StateGraph
from screensearch.record.log import FAILED_STARTS, failed_start


@dataclass(frozen=True, slots=True)
class Progress:
    """A running exploration at one moment. Rates cover the last few seconds."""

    steps: int
    states: int
    edges: int
    seconds: float
    steps_per_second: float
    revisit_rate: float  # share of recent landings on a state that was there before
    ambiguity: float  # mean u(s) of recent landings
    captures: int
    crashes: int
    hangs: int
    exits: int
    missed: int
    lost: int
    worker_failures: int  # workers that died or were given up, in this exploration
    stopping: bool  # steps under way are finished, and no more are taken


@dataclass(frozen=True, slots=True)
class Summary:
    """What an exploration came to: the object that ``--json`` prints.

    Crashes, hangs and exits count those before the first screen; `failed_starts` says how many those are.
    """

    run: str
    environment: str
    steps: int
    states: int
    edges: int
    captures: int
    crashes: int
    hangs: int
    exits: int
    missed: int
    lost: int
    failed_starts: int
    worker_failures: int  # workers that died or were given up, in this exploration
    seconds: float
    steps_per_second: float  # of this exploration, not of earlier ones that it resumed
    digest: str
    ended: str  # steps, seconds, states, plateau, interrupted, failed starts; steps already, states already
    identifier: str
    new_outcomes: dict[str, int]  # how often each outcome came up in this exploration alone


class NeverStarted(ScreenSearchError):
    """The application failed at its start so often in a row that the run ended; with what it came to."""

    def __init__(self, message: str, summary: Summary) -> None:
        super().__init__(message)
        self.summary = summary


def count_outcome(graph: StateGraph, outcome: Outcome) -> int:
    """How often an outcome came up, before the first screen of an episode as well as after an action."""
    at_start = graph.outcomes.get(failed_start(outcome), 0) if outcome in START_FAILURES else 0
    return graph.outcomes.get(outcome, 0) + at_start


class OutcomeCounts(TypedDict):
    """The outcomes that progress and summary tell, by the names of their fields."""

    captures: int
    crashes: int
    hangs: int
    exits: int
    missed: int
    lost: int


def count_outcomes(graph: StateGraph) -> OutcomeCounts:
    """How often each of them came up, as `count_outcome` counts."""
    return OutcomeCounts(
        captures=count_outcome(graph, Outcome.CAPTURE),
        crashes=count_outcome(graph, Outcome.CRASH),
        hangs=count_outcome(graph, Outcome.HANG),
        exits=count_outcome(graph, Outcome.EXIT),
        missed=count_outcome(graph, Outcome.MISSED),
        lost=count_outcome(graph, Outcome.LOST),
    )


def count_failed_starts(graph: StateGraph) -> int:
    """How many episodes ended before their first screen."""
    return sum(graph.outcomes.get(each, 0) for each in FAILED_STARTS)


class Meter:
    """Reads a store's figures; rates are taken between readings, over a short window."""

    def __init__(self, shard: ShardStore, *, window_seconds: float = 5.0) -> None:
        self._shard = shard
        self._window_seconds = window_seconds
        self._begun = time.perf_counter()
        self._steps_at_start = shard.budget.taken
        self._outcomes_at_start = {each: count_outcome(shard.graph, each) for each in Outcome}
        self._readings: deque[tuple[float, int, int, int, float]] = deque()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begun

    @property
    def steps_taken(self) -> int:
        """Steps of this exploration, without those it resumed from."""
        return self._shard.budget.taken - self._steps_at_start

    @property
    def new_outcomes(self) -> dict[str, int]:
        """How often each outcome came up in this exploration; one that did not is left out."""
        graph = self._shard.graph
        new = {each.value: count_outcome(graph, each) - self._outcomes_at_start[each] for each in Outcome}
        return {outcome: count for outcome, count in new.items() if count}

    def read(self) -> Progress:
        now, graph, steps = self.seconds, self._shard.graph, self._shard.budget.taken
        landings, ambiguity = self._shard.landings, self._shard.landings_ambiguity
        self._readings.append((now, steps, graph.states, landings, ambiguity))
        while len(self._readings) > 2 and now - self._readings[0][0] > self._window_seconds:
            self._readings.popleft()
        then, steps_then, states_then, landings_then, ambiguity_then = self._readings[0]
        landed = landings - landings_then
        return Progress(
            steps=steps,
            states=graph.states,
            edges=graph.edges,
            seconds=now,
            steps_per_second=(steps - steps_then) / (now - then) if now > then else 0.0,
            revisit_rate=1 - (graph.states - states_then) / landed if landed else 0.0,
            ambiguity=(ambiguity - ambiguity_then) / landed if landed else 0.0,
            **count_outcomes(graph),
            worker_failures=self._shard.worker_failures,
            stopping=self._shard.budget.stopping,
        )
