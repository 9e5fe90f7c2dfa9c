"""The most reliable way to a state, by what was observed. Pure: a graph, the starts and courses of episodes.

A way is a start and then actions. How likely each comes out is estimated by Laplace's rule of succession,
``p = (k + 1) / (n + 2)`` for k of n times: what came out 1 time of 1 counts as 0.67, 98 times of 100 as 0.97,
so that one lucky execution does not beat many. n counts every execution of the action at the state, also
those that crashed, hung, left the application or missed their target; only those that were lost with their
worker say nothing. The way with the greatest product is taken, ties to fewer actions, then to the one whose
newest edge is the oldest.

The start is part of it. What an application shows first depends on how it was started, so a start is a
configuration (display mode, text scale, document, …) with the state that it led to, k of n times. And it
decides what is not shown: a way begins with a configuration that the state was seen in, if there is one, and
an action that had several outcomes is judged by those in episodes of that configuration, too:
``(k' + 2p) / (n' + 2)``.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Arrival, Entry, EpisodeId, FailedStart, Outcome
from screensearch.errors import ScreenSearchError
from screensearch.explore.courses import Configuration, Courses
from screensearch.record.graph import StateGraph

MOST_EPISODES = 20
"""How many episodes are named that began in a certain way."""

_DIGITS = 9
"""Ways whose −log₂ agree in so many decimals tie: the rest is how floats were rounded."""


class Unreachable(ScreenSearchError):
    """No observed sequence of actions leads to that state."""


@dataclass(frozen=True, slots=True)
class PathStart:
    """How to begin: a configuration that led to a state, how often it did, and in which episodes."""

    state: StateId
    configuration: Configuration
    count: int  # episodes with this configuration that began at this state
    tries: int  # episodes with this configuration, those that failed at their start included
    episodes: tuple[EpisodeId, ...]  # the first of them
    first: int  # sequence number of the first of them

    @property
    def share(self) -> float:
        return self.count / self.tries


@dataclass(frozen=True, slots=True)
class PathStep:
    """One action of a way, and how often it led where it should."""

    source: StateId
    signature: str
    target: StateId
    count: int  # times it led there
    tries: int  # times it was done there
    since: int  # sequence number of the first time it led there
    estimate: float  # how likely it is to lead there on this way

    @property
    def share(self) -> float:
        return self.count / self.tries


@dataclass(frozen=True, slots=True)
class StatePath:
    """The most reliable way to a state: from a start, or from a state that was named (`start` is None)."""

    state: StateId
    origin: StateId
    start: PathStart | None
    steps: tuple[PathStep, ...]

    @property
    def configuration(self) -> dict[str, str]:
        """How the application is started for this; empty if the way begins at a state that was named."""
        return {} if self.start is None else dict(self.start.configuration)

    @property
    def reliability(self) -> float:
        """The product of the shares as they were observed, the start's included."""
        begun = 1.0 if self.start is None else self.start.share
        return begun * math.prod(step.share for step in self.steps)

    @property
    def estimate(self) -> float:
        """How likely it is to come out: the product that was maximised."""
        begun = 1.0 if self.start is None else estimate(self.start.count, self.start.tries)
        return begun * math.prod(step.estimate for step in self.steps)


def estimate(count: int, tries: int) -> float:
    """How likely something is that came out `count` of so many times (Laplace's rule of succession)."""
    return (count + 1) / (tries + 2)


def find_starts(entries: Iterable[tuple[int, Entry]]) -> list[PathStart]:
    """How the episodes of a log began, each (configuration, state) once, in order of the first time."""
    tries: Counter[Configuration] = Counter()
    begun: defaultdict[tuple[Configuration, StateId], list[tuple[int, EpisodeId]]] = defaultdict(list)
    for sequence, entry in entries:
        if entry.step:
            continue
        if isinstance(entry, Arrival):
            begun[entry.configuration, entry.decision.state].append((sequence, entry.episode))
        if isinstance(entry, Arrival | FailedStart):
            tries[entry.configuration] += 1
    return [
        PathStart(
            state=state,
            configuration=configuration,
            count=len(episodes),
            tries=tries[configuration],
            episodes=tuple(episode for _, episode in episodes[:MOST_EPISODES]),
            first=episodes[0][0],
        )
        for (configuration, state), episodes in begun.items()
    ]


class _Cost(NamedTuple):
    """What ways are compared by, the first first."""

    unlikely: float  # −log₂ of the product of estimates, rounded
    actions: int
    newest: int  # sequence number of the newest edge


class _Reached(NamedTuple):
    """The best way to a state: its cost, and its last step, or its start."""

    cost: _Cost
    unlikely: float  # as in the cost, not rounded
    step: PathStep | None
    start: PathStart | None


class _Tree:
    """The best ways from some origins, found as far as they were asked for (Dijkstra's algorithm)."""

    def __init__(
        self,
        graph: StateGraph,
        origins: Mapping[StateId, _Reached],
        observed: Callable[[StateId, str, StateId], tuple[int, int]],
    ) -> None:
        self._graph = graph
        self._observed = observed
        self._best = dict(origins)
        self._done: set[StateId] = set()
        self._queue = [(reached.cost, state) for state, reached in origins.items()]
        heapq.heapify(self._queue)

    def cost_of(self, state: StateId) -> _Cost | None:
        """The cost of the best way to a state; None if there is none."""
        while state not in self._done and self._queue:
            self._settle_next()
        return self._best[state].cost if state in self._done else None

    def walked(self, state: StateId) -> StatePath:
        """The best way to a state that has one."""
        steps: list[PathStep] = []
        here = self._best[state]
        while here.step is not None:
            steps.append(here.step)
            here = self._best[here.step.source]
        origin = steps[-1].source if steps else state
        return StatePath(state, origin, here.start, tuple(reversed(steps)))

    def _settle_next(self) -> None:
        cost, state = heapq.heappop(self._queue)
        if state in self._done:
            return
        self._done.add(state)
        here = self._best[state]
        for step in self._steps(state):
            if step.target in self._done:
                continue
            unlikely = here.unlikely - math.log2(step.estimate)
            further = _Cost(round(unlikely, _DIGITS), cost.actions + 1, max(cost.newest, step.since))
            known = self._best.get(step.target)
            if known is None or further < known.cost:
                self._best[step.target] = _Reached(further, unlikely, step, None)
                heapq.heappush(self._queue, (further, step.target))

    def _steps(self, state: StateId) -> Iterator[PathStep]:
        """What may be done at a state and where it leads, in order of discovery."""
        failures = self._graph.failures(state)
        for signature, tried in self._graph.tried(state).items():
            failed = failures.get(signature, {})
            tries = tried.visits + sum(count for what, count in failed.items() if what != Outcome.LOST)
            for target, count in tried.successors.items():
                if target != state:
                    here = self._observed(state, signature, target)
                    likely = _refined(estimate(count, tries), *here)
                    since = tried.since(target) or 0
                    yield PathStep(state, signature, target, count, tries, since, likely)


class Paths:
    """The most reliable ways of a graph. What was found on the way to one state serves the next.

    Without `courses`, configurations are not told apart but for their starts.
    """

    def __init__(
        self, graph: StateGraph, starts: Iterable[PathStart], courses: Courses | None = None
    ) -> None:
        self._graph = graph
        self._courses = courses
        self._starts: defaultdict[Configuration | None, list[PathStart]] = defaultdict(list)
        for start in starts:
            self._starts[None if courses is None else start.configuration].append(start)
        self._trees: dict[Configuration | None, _Tree] = {}

    def to(self, state: StateId) -> StatePath:
        """The way from a start. Raises `Unreachable` when no observed actions lead there from one."""
        self._check(state)
        seen = set() if self._courses is None else self._courses.configurations(state)
        for among in ([each for each in self._starts if each in seen], list(self._starts)):
            costs = [(cost, each) for each in among if (cost := self._tree(each).cost_of(state)) is not None]
            if costs:
                _, best = min(costs, key=lambda pair: pair[0])
                return self._tree(best).walked(state)
        raise Unreachable(
            f"no start leads to state {state} by actions that were observed to come out: it was only "
            "ever reached across an entry that is no step of this application, such as a lost one"
        )

    def between(self, origin: StateId, state: StateId) -> StatePath:
        """The way from one state to another. Raises `Unreachable` when there is none."""
        self._check(origin)
        self._check(state)
        tree = _Tree(self._graph, {origin: _Reached(_Cost(0, 0, 0), 0, None, None)}, _nothing_more)
        if tree.cost_of(state) is None:
            raise Unreachable(f"no observed actions lead from state {origin} to state {state}")
        return tree.walked(state)

    def _check(self, state: StateId) -> None:
        if self._graph.first_seen(state) is None:
            raise ScreenSearchError(f"there is no state {state}: there are {self._graph.states}")

    def _tree(self, configuration: Configuration | None) -> _Tree:
        tree = self._trees.get(configuration)
        if tree is None:
            observed = _nothing_more
            if self._courses is not None and configuration is not None:
                observed = partial(self._courses.observed, configuration)
            origins = _best_starts(self._starts[configuration])
            tree = self._trees[configuration] = _Tree(self._graph, origins, observed)
        return tree


def _nothing_more(state: StateId, signature: str, target: StateId) -> tuple[int, int]:
    return 0, 0


def _best_starts(starts: Iterable[PathStart]) -> dict[StateId, _Reached]:
    """The most reliable start at each state where episodes began; ties to the oldest."""
    best: dict[StateId, _Reached] = {}
    for start in starts:
        unlikely = -math.log2(estimate(start.count, start.tries))
        cost = _Cost(round(unlikely, _DIGITS), 0, start.first)
        if start.state not in best or cost < best[start.state].cost:
            best[start.state] = _Reached(cost, unlikely, None, start)
    return best


def _refined(likely: float, count: int, tries: int) -> float:
    """An estimate with the counts of some of the executions, in which it weighs as much as two more."""
    return (count + 2 * likely) / (tries + 2)
