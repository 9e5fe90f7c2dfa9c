"""What a matched episode came to: one entry per step, and the paper's metrics of it.

Nothing in a trace depends on a clock or on where it was made: the same episode of a synthetic world gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum

from screensearch.domain.screen import StateId
from screensearch.select.policy import Asked
from screensearch.study.metrics import (
    Floats,
    at_budget,
    auc,
    discovery_curve,
    extended,
    high_ambiguity_occupancy,
    loop_stall_rate,
    net_ambiguity_change,
    revisit_rate,
)
from screensearch.study.names import check_name

START = "start"
"""What step 0 is: no action was taken yet."""

NOTHING = "nothing"
"""A step at which nothing could be done: the episode went back to its start instead."""


class Failure(StrEnum):
    """Why an episode tells nothing about its condition."""

    PREFIX = "prefix"  # the start was not reached any more
    ENVIRONMENT = "environment"  # the machinery around the application failed
    WORKER = "worker"  # the process of the episode died
    ENDPOINT = "endpoint"  # where a model was to be asked, there was never an answer


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Which episode of a study this is. Episodes that differ only in the condition are matched."""

    suite: str
    condition: str
    start: int
    replicate: int

    def __post_init__(self) -> None:
        check_name("a suite", self.suite)
        check_name("a condition", self.condition)


@dataclass(slots=True)
class Trace:
    """One matched episode. All lists have one entry per step; entry 0 is the start.

    After a step that left the application (`outcomes` says how) the prefix is walked again, so that every
    episode has all its steps: the state of that step is the start again.
    """

    place: Place
    states: list[StateId] = field(default_factory=list)
    ambiguity: list[float] = field(default_factory=list)  # u of the state, as it was known at that step
    known_states: list[bool] = field(default_factory=list)  # whether the initial graph had it
    signatures: list[str | None] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    known_edges: list[bool] = field(default_factory=list)
    true_states: list[int | str | None] = field(default_factory=list)  # where the environment knows them
    asked: Asked | None = None  # of whoever decided; None for a selector, which asks nobody
    undecided: list[str] = field(default_factory=list)  # why, of each step with that outcome
    returns: int = 0  # how often the prefix was walked again
    failure: Failure | None = None
    note: str = ""  # of a failure

    @property
    def complete(self) -> bool:
        return self.failure is None

    @property
    def known(self) -> set[Hashable]:
        """The states of this episode that the initial graph had: they earn no credit."""
        return {state for state, known in zip(self.states, self.known_states, strict=True) if known}

    @property
    def edges(self) -> list[Hashable]:
        """The edge of each step; None at the start and after a step that did not end `ok`."""
        sources = [None, *self.states]
        return [
            (source, signature, state) if outcome == "ok" else None
            for source, signature, state, outcome in zip(
                sources, self.signatures, self.states, self.outcomes, strict=False
            )
        ]

    def state_curve(self, steps: int) -> Floats:
        """New states beyond the initial graph, up to each step. [steps]"""
        return extended(discovery_curve(self.states, self.known), steps)

    def edge_curve(self, steps: int) -> Floats:
        """New edges beyond the initial graph, up to each step. [steps]"""
        known = {edge for edge, known in zip(self.edges, self.known_edges, strict=True) if known}
        return extended(discovery_curve(self.edges, known), steps)

    def frontier_curve(self, steps: int) -> Floats:
        """States that this episode met beyond its start, known or not: its part of M_V(t), eq. 7. [steps]"""
        return extended(discovery_curve(self.states), steps)

    def ambiguity_curve(self, steps: int) -> Floats:
        """Its part of Δu_t, eq. 7. [steps]"""
        return extended([value - self.ambiguity[0] for value in self.ambiguity], steps)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The paper's metrics of one episode, in the order of its table "Full component metrics"."""

    new_states: float
    state_auc: float
    new_edges: float
    edge_auc: float
    net_ambiguity: float  # final minus initial u
    high_occupancy: float
    revisit: float
    loop_stall: float


def measure(trace: Trace, *, steps: int, high: float) -> Metrics:
    """The metrics of a complete episode of so many steps, start included; `high` is the suite's threshold."""
    states, edges = trace.state_curve(steps), trace.edge_curve(steps)
    return Metrics(
        new_states=at_budget(states, steps),
        state_auc=auc(states, steps),
        new_edges=at_budget(edges, steps),
        edge_auc=auc(edges, steps),
        net_ambiguity=net_ambiguity_change(trace.ambiguity[:steps]),
        high_occupancy=high_ambiguity_occupancy(trace.ambiguity[:steps], high),
        revisit=revisit_rate(trace.states[:steps], trace.known),
        loop_stall=loop_stall_rate(trace.states[:steps]),
    )
