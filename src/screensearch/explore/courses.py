"""How episodes went that began in one way: what an application was started with decides more than it shows.

The graph has no memory. It knows that Escape in a dialog led to one document 6 times and to another 4 times,
but not that this depended on the document that the episode began with. So the outcomes of actions that had
more than one are also counted by the configuration of the episode, and of each state it is known in which
configurations it was ever seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Arrival, Entry, EpisodeId, Outcome, Transition
from screensearch.record.graph import StateGraph

Configuration = tuple[tuple[str, str], ...]


class Courses:
    """What is known of a run's episodes by their configuration."""

    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        self._begun: dict[EpisodeId, Configuration] = {}
        self._seen: defaultdict[StateId, set[Configuration]] = defaultdict(set)
        self._outcomes: defaultdict[tuple[Configuration, StateId, str], Counter[StateId | None]] = (
            defaultdict(Counter)
        )

    @classmethod
    def learn(cls, graph: StateGraph, entries: Iterable[tuple[int, Entry]]) -> Courses:
        """Count over the log that a graph was folded from.

        An episode that goes from one shard to another may be met there before its beginning.
        """
        courses = cls(graph)
        early: list[Entry] = []
        for _, entry in entries:
            courses.follow(entry)
            if isinstance(entry, Transition) and entry.episode not in courses._begun:
                early.append(entry)
        for entry in early:
            courses.follow(entry)
        return courses

    def follow(self, entry: Entry) -> None:
        """Take in an entry. A step of an episode whose beginning was not met says nothing here."""
        if isinstance(entry, Arrival) and not entry.step:
            self._begun[entry.episode] = entry.configuration
            self._seen[entry.decision.state].add(entry.configuration)
        elif isinstance(entry, Transition):
            self.follow_step(entry.episode, entry.source, entry.signature, entry.outcome, entry.target)

    def follow_step(
        self,
        episode: EpisodeId,
        source: StateId,
        signature: str | None,
        outcome: Outcome,
        target: StateId | None,
    ) -> bool:
        """Take in a step by its parts; returns whether the beginning of its episode was met."""
        configuration = self._begun.get(episode)
        if configuration is None:
            return False
        if target is not None:
            self._seen[target].add(configuration)
        if signature is not None and outcome is not Outcome.LOST and self._differs(source, signature):
            led_to = target if outcome is Outcome.OK else None
            self._outcomes[configuration, source, signature][led_to] += 1
        return True

    def configurations(self, state: StateId) -> set[Configuration]:
        """Those of episodes that came to a state."""
        return self._seen.get(state, set())

    def observed(
        self, configuration: Configuration, state: StateId, signature: str, target: StateId
    ) -> tuple[int, int]:
        """How often an action led to a target in such episodes, and how often it was done; 0 of 0 if never.

        Also 0 of 0 for an action that only ever had one outcome: there is nothing to tell apart.
        """
        outcomes = self._outcomes.get((configuration, state, signature))
        return (0, 0) if outcomes is None else (outcomes[target], outcomes.total())

    def _differs(self, state: StateId, signature: str) -> bool:
        """Whether an action had more than one outcome."""
        tried = self._graph.tried(state).get(signature)
        failed = self._graph.failures(state).get(signature, {})
        return tried is not None and (
            len(tried.successors) > 1 or any(each != Outcome.LOST for each in failed)
        )
