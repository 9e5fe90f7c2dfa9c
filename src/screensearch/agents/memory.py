"""What an agent has been through: its own states and edges, counted as a run counts them."""

from __future__ import annotations

from screensearch.config import Settings
from screensearch.domain.screen import Screen, StateId
from screensearch.domain.transition import Outcome, Reward
from screensearch.explore.messages import DECIDED
from screensearch.explore.store import make_resolver
from screensearch.record.graph import StateGraph
from screensearch.record.log import START, Row
from screensearch.select.reward import reward_on


class Memory:
    """A graph that grows by one row a step, and the rule that tells its states apart. Nothing is stored."""

    def __init__(self, settings: Settings) -> None:
        self._reward = settings.reward
        self._resolver = make_resolver(settings)
        self.graph = StateGraph(settings.ambiguity)

    def begin(self, screen: Screen) -> StateId:
        """An episode begins on this screen."""
        state = self._resolver.resolve(screen).state
        self._add(START, target=state)
        return state

    def step(
        self, source: StateId, signature: str, outcome: Outcome, screen: Screen | None
    ) -> tuple[StateId | None, Reward | None]:
        """An action was done: the state it led to, if to one, and what eq. 5 gives for it.

        Only `ok` is rewarded. What is new is judged by what was known before this step.
        """
        if screen is None or outcome not in DECIDED:
            self._add(outcome, source, signature)
            return None, None
        target = self._resolver.resolve(screen).state
        earned = None
        if outcome is Outcome.OK:
            before = self.graph.sequence
            earned = reward_on(self.graph, source, signature, target, snapshot=before, settings=self._reward)
        self._add(outcome, source, signature, target, None if earned is None else earned.total)
        return target, earned

    def _add(
        self,
        outcome: str,
        source: StateId | None = None,
        signature: str | None = None,
        target: StateId | None = None,
        reward: float | None = None,
    ) -> None:
        self.graph.apply(Row(self.graph.sequence + 1, str(outcome), source, signature, target, reward))
