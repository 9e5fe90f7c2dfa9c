"""What a run has done so far, in figures: for the live view, the summary and machines."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from screensearch.domain.transition import START_FAILURES, Outcome
from screensearch.errors import ScreenSearchError
from screensearch.explore.store import ShardStore
from screensearch.record.log import FAILED_STARTS, failed_start

WINDOW_SECONDS = 5.0
"""Rates are taken over so long."""


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
    undecided: int = 0  # steps at which a model gave no action that could be carried out


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
    undecided: int = 0  # steps at which a model gave no action that could be carried out


class NeverStarted(ScreenSearchError):
    """The application failed at its start so often in a row that the run ended; with what it came to."""

    def __init__(self, message: str, summary: Summary) -> None:
        super().__init__(message)
        self.summary = summary


@dataclass(frozen=True, slots=True)
class Figures:
    """What a shard has come to at one moment. Those of several shards add up."""

    steps: int = 0
    states: int = 0
    edges: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)  # entries by outcome, as the graph counts them
    landings: int = 0  # screens identified since the store was opened, and the sum of their u(s)
    landings_ambiguity: float = 0.0
    worker_failures: int = 0
    stopping: bool = False

    def __add__(self, other: Figures) -> Figures:
        names = {*self.outcomes, *other.outcomes}
        return Figures(
            steps=self.steps + other.steps,
            states=self.states + other.states,
            edges=self.edges + other.edges,
            outcomes={name: self.outcomes.get(name, 0) + other.outcomes.get(name, 0) for name in names},
            landings=self.landings + other.landings,
            landings_ambiguity=self.landings_ambiguity + other.landings_ambiguity,
            worker_failures=self.worker_failures + other.worker_failures,
            stopping=self.stopping or other.stopping,
        )


def figures_of(shard: ShardStore) -> Figures:
    """The figures of a shard now. A state that only a step of another shard leads to is that one's."""
    return Figures(
        steps=shard.budget.taken,
        states=shard.resolver.states,
        edges=shard.graph.edges,
        outcomes=dict(shard.graph.outcomes),
        landings=shard.landings,
        landings_ambiguity=shard.landings_ambiguity,
        worker_failures=shard.worker_failures,
        stopping=shard.budget.stopping,
    )


def count_outcome(outcomes: Mapping[str, int], outcome: Outcome) -> int:
    """How often an outcome came up, before the first screen of an episode as well as after an action."""
    at_start = outcomes.get(failed_start(outcome), 0) if outcome in START_FAILURES else 0
    return outcomes.get(outcome, 0) + at_start


class OutcomeCounts(TypedDict):
    """The outcomes that progress and summary tell, by the names of their fields."""

    captures: int
    crashes: int
    hangs: int
    exits: int
    missed: int
    undecided: int
    lost: int


def count_outcomes(outcomes: Mapping[str, int]) -> OutcomeCounts:
    """How often each of them came up, as `count_outcome` counts."""
    return OutcomeCounts(
        captures=count_outcome(outcomes, Outcome.CAPTURE),
        crashes=count_outcome(outcomes, Outcome.CRASH),
        hangs=count_outcome(outcomes, Outcome.HANG),
        exits=count_outcome(outcomes, Outcome.EXIT),
        missed=count_outcome(outcomes, Outcome.MISSED),
        undecided=count_outcome(outcomes, Outcome.UNDECIDED),
        lost=count_outcome(outcomes, Outcome.LOST),
    )


class Meter:
    """Reads figures as they grow; rates are taken between readings, over a short window."""

    def __init__(
        self,
        source: Callable[[], Figures],
        *,
        at_start: Figures | None = None,
        seconds: float = 0.0,
    ) -> None:
        """`at_start` and `seconds` are of an exploration that was begun earlier."""
        self._source = source
        self._begun = time.perf_counter() - seconds
        self._at_start = source() if at_start is None else at_start
        self._readings: deque[tuple[float, Figures]] = deque()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begun

    def read(self) -> Progress:
        now, figures = self.seconds, self._source()
        self._readings.append((now, figures))
        while len(self._readings) > 2 and now - self._readings[0][0] > WINDOW_SECONDS:
            self._readings.popleft()
        then, before = self._readings[0]
        landed = figures.landings - before.landings  # fewer when an owner was replaced in between
        return Progress(
            steps=figures.steps,
            states=figures.states,
            edges=figures.edges,
            seconds=now,
            steps_per_second=(figures.steps - before.steps) / (now - then) if now > then else 0.0,
            revisit_rate=1 - (figures.states - before.states) / landed if landed > 0 else 0.0,
            ambiguity=(figures.landings_ambiguity - before.landings_ambiguity) / landed
            if landed > 0
            else 0.0,
            **count_outcomes(figures.outcomes),
            worker_failures=figures.worker_failures,
            stopping=figures.stopping,
        )

    def summarise(self, *, run: str, environment: str, digest: str, ended: str, identifier: str) -> Summary:
        """What it came to, now that it has ended."""
        figures, seconds = self._source(), self.seconds
        new = {
            each.value: count_outcome(figures.outcomes, each) - count_outcome(self._at_start.outcomes, each)
            for each in Outcome
        }
        return Summary(
            run=run,
            environment=environment,
            steps=figures.steps,
            states=figures.states,
            edges=figures.edges,
            **count_outcomes(figures.outcomes),
            failed_starts=sum(figures.outcomes.get(each, 0) for each in FAILED_STARTS),
            worker_failures=figures.worker_failures,
            seconds=round(seconds, 3),
            steps_per_second=round((figures.steps - self._at_start.steps) / seconds, 1),
            digest=digest,
            ended=ended,
            identifier=identifier,
            new_outcomes={outcome: count for outcome, count in new.items() if count},
        )
