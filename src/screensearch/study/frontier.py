"""Breadth-first and depth-first: the plain systematic ways to explore, as policies of an episode.

A search that can jump back keeps a queue or a stack of what is untried. An application cannot be jumped about
in, so these walk: they remember which actions each state of the episode offered, know from the graph which of
them were never tried, and go along known edges to the state whose turn it is, breadth-first to the one
nearest to the start, depth-first to the latest met. Every step of the way is paid for from the budget. They
read the same visits as every selector, and no rewards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from screensearch.domain.action import Candidate
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Choice
from screensearch.errors import SettingsError
from screensearch.record.graph import StateGraph
from screensearch.select.choose import Chooser, Tried
from screensearch.select.settings import SelectSettings

Turn = Callable[["Frontier", StateId], StateId | None]
"""Which of the states with something untried has its turn, seen from a state; None if there is none."""


class Frontier(Chooser):
    """Chooses for one episode: what is untried where it is its turn, or the way there."""

    def __init__(self, policy: str, settings: SelectSettings, graph: StateGraph) -> None:
        super().__init__(settings)
        if policy not in POLICIES:
            raise SettingsError(f"no policy named {policy!r} (known: {', '.join(POLICIES)})")
        self._turn = POLICIES[policy]
        self._graph = graph
        self._offered: dict[StateId, set[str]] = {}  # in the order in which states were first met
        self._depth: dict[StateId, int] = {}  # the fewest actions from the start of the episode
        self._latest: StateId | None = None
        self.here: StateId = 0
        """Where the episode stands. To be set before each choice."""

    def choose(
        self,
        candidates: Sequence[Candidate],
        tried: Mapping[str, Tried],
        *,
        rng: np.random.Generator,
        snapshot: int,
        vetoed: int = 0,
    ) -> tuple[Candidate, Choice]:
        """One candidate of the state that `here` says."""
        self._meet(self.here, candidates)
        index = self._pick(candidates, rng)
        chosen = candidates[index]
        known = tried.get(chosen.signature)
        return chosen, Choice(
            signature=chosen.signature,
            snapshot=snapshot,
            candidates=len(candidates),
            prior=float(self.prior(candidates, self.settings)[index]),
            value=0.0 if known is None else known.value,
            visits=0 if known is None else known.visits,
            score=0.0,
            vetoed=vetoed,
        )

    def nearest_to_start(self, here: StateId) -> StateId | None:
        """The state with something untried that is nearest to the start; ties to the first met."""
        return min(self._open(), key=lambda state: self._depth[state], default=None)

    def latest_met(self, here: StateId) -> StateId | None:
        """This state, if something is untried here; else the latest met that has something."""
        left = self._open()
        if here in left:
            return here
        return left[-1] if left else None

    def _meet(self, state: StateId, candidates: Sequence[Candidate]) -> None:
        depth = 0 if self._latest is None else self._depth[self._latest] + 1
        self._depth[state] = min(depth, self._depth.get(state, depth))
        self._latest = state
        self._offered.setdefault(state, set()).update(each.signature for each in candidates)

    def _open(self) -> list[StateId]:
        """The states of this episode that offered something which was never tried there."""
        return [state for state, offered in self._offered.items() if offered - self._done(state)]

    def _done(self, state: StateId) -> set[str]:
        """What was tried at a state, also what failed."""
        return {*self._graph.tried(state), *self._graph.failures(state)}

    def _pick(self, candidates: Sequence[Candidate], rng: np.random.Generator) -> int:
        """The place of the candidate: untried here, or the next step to whose turn it is, or any."""
        target = self._turn(self, self.here)
        if target is not None and target != self.here:
            step = self._first_step(target)
            for index, candidate in enumerate(candidates):
                if candidate.signature == step:
                    return index
        done = self._done(self.here)
        untried = [index for index, each in enumerate(candidates) if each.signature not in done]
        among = np.array(untried or range(len(candidates)))
        priors = self.prior(candidates, self.settings)[among]
        best = among[priors == priors.max()]
        return int(best[rng.integers(len(best))])

    def _first_step(self, target: StateId) -> str | None:
        """The first action of a shortest known way; each action counts for where it mostly led."""
        first: dict[StateId, str | None] = {self.here: None}
        queue = deque([self.here])
        while queue:
            state = queue.popleft()
            for signature, tried in self._graph.tried(state).items():
                successors = tried.successors
                reached = max(successors, key=lambda each: successors[each])
                if reached not in first:
                    first[reached] = signature if state == self.here else first[state]
                    if reached == target:
                        return first[reached]
                    queue.append(reached)
        return None


POLICIES: dict[str, Turn] = {
    "breadth-first": Frontier.nearest_to_start,
    "depth-first": Frontier.latest_met,
}
