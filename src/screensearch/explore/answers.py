"""What a worker is told of the state it stands at, so that it can choose."""

from __future__ import annotations

from collections.abc import Iterable

from screensearch.config import ExploreSettings
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Outcome
from screensearch.explore.messages import Here, Tried
from screensearch.explore.spent import spent_at
from screensearch.record.graph import StateGraph

NOT_CARRIED_OUT = (Outcome.LOST, Outcome.UNDECIDED)
"""Outcomes that say nothing about an action: nobody knows whether it was executed, or there was none."""


def here_at(
    graph: StateGraph, state: StateId, row: int, *, announced: Iterable[str], settings: ExploreSettings
) -> Here:
    """A state as its next visitor should see it; `row` is its screen's, `announced` was chosen there."""
    return Here(
        state=state,
        row=row,
        ambiguity=graph.ambiguity(state),
        tried=tried_at(graph, state, announced),
        spent=spent_at(graph.failures(state), settings),
    )


def tried_at(graph: StateGraph, state: StateId, announced: Iterable[str]) -> dict[str, Tried]:
    """N and Q as the next choice should see them: every execution counts, and a failure earns nothing.

    The graph's own N and Q hold only what ended `ok`. With those alone, an action that always
    crashes or leaves the application would look untried for ever, and be chosen for ever.
    What was announced and not reported yet counts as a visit.
    """
    tried = {signature: Tried(stats.visits, stats.value) for signature, stats in graph.tried(state).items()}
    for signature, outcomes in graph.failures(state).items():
        failures = sum(count for outcome, count in outcomes.items() if outcome not in NOT_CARRIED_OUT)
        known = tried.get(signature, Tried(0, 0.0))
        visits = known.visits + failures
        if visits:
            tried[signature] = Tried(visits, known.value * known.visits / visits)
    for signature in announced:
        known = tried.get(signature, Tried(0, 0.0))
        tried[signature] = Tried(known.visits + 1, known.value)
    return tried
