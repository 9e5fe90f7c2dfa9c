"""The reward of one transition (eq. 5), and the objectives of the paper as its weights.

The ablations of the paper's table 5 are not selectors of their own: each is this reward with some
of its terms switched off. "Prior only" is the reward with all of them off. Q then stays 0 and PUCT
tries actions in proportion to their prior and in inverse proportion to their visits. It is not the
greedy selector, which repeats its favourite: the paper's prior-only row finds 36.3 new edges per
episode, its greedy row next to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Reward
from screensearch.errors import SettingsError
from screensearch.record.graph import StateGraph
from screensearch.select.settings import require


class Weights(NamedTuple):
    """λ_state, λ_edge and λ_amb of eq. 5."""

    state: float
    edge: float
    ambiguity: float


OBJECTIVES = {
    "full": Weights(state=1, edge=1, ambiguity=1),
    "novelty": Weights(state=1, edge=1, ambiguity=0),
    "ambiguity": Weights(state=0, edge=0, ambiguity=1),
    "prior": Weights(state=0, edge=0, ambiguity=0),
}
"""Which terms of the reward count, by the name of the ablation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSettings:
    """What a transition is worth. The objective switches terms off; λ weighs those that are left."""

    objective: str = "full"  # one of OBJECTIVES
    state: float = 1.0  # >= 0, λ_state
    edge: float = 1.0  # >= 0, λ_edge
    ambiguity: float = 1.0  # >= 0, λ_amb

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise SettingsError(
                f"reward.objective is {self.objective!r}, but must be one of {', '.join(OBJECTIVES)}"
            )
        for name in Weights._fields:
            weight: float = getattr(self, name)
            require("reward", name, weight, ">= 0", weight >= 0)

    @property
    def weights(self) -> Weights:
        """The weights in force: λ where the objective keeps the term, 0 elsewhere."""
        counts = OBJECTIVES[self.objective]
        return Weights(
            state=self.state * counts.state,
            edge=self.edge * counts.edge,
            ambiguity=self.ambiguity * counts.ambiguity,
        )


def reward(
    *,
    new_state: bool,
    new_edge: bool,
    source_ambiguity: float,
    target_ambiguity: float,
    settings: RewardSettings,
) -> Reward:
    """Reward one transition (eq. 5): novelty, and movement towards lower ambiguity.

    What is new is judged against the snapshot that the selection saw, ambiguity against the graph
    before this transition is counted. The terms of the result are before their weights, so that a
    log can be judged under any objective.
    """
    weights = settings.weights
    gain = max(0.0, source_ambiguity - target_ambiguity)
    total = weights.state * new_state + weights.edge * new_edge + weights.ambiguity * gain
    return Reward(state=new_state, edge=new_edge, ambiguity=gain, total=total)


def reward_on(
    graph: StateGraph,
    source: StateId,
    signature: str,
    target: StateId,
    *,
    snapshot: int,
    settings: RewardSettings,
) -> Reward:
    """Eq. 5 for a transition that the graph has not counted yet, chosen at sequence number `snapshot`."""
    return reward(
        new_state=not graph.state_known(target, at=snapshot),
        new_edge=not graph.edge_known(source, signature, target, at=snapshot),
        source_ambiguity=graph.ambiguity(source),
        target_ambiguity=graph.ambiguity(target),
        settings=settings,
    )
