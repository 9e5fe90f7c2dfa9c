"""What became of the states of a run when its log was decided again: what merged, what split, what it cost.

A state before and a state after belong together if a screen of the one is now a screen of the other. N and Q
are compared action by action in such pairs, and u pair by pair.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from screensearch.domain.screen import StateId
from screensearch.domain.transition import ELSEWHERE, Entry
from screensearch.record.graph import StateGraph

Change = TypeVar("Change")

MOST_CHANGES = 10
"""How many of the largest changes are told of each kind."""


@dataclass(frozen=True, slots=True)
class Group:
    """A state of one graph, and those of the other that have its screens."""

    state: StateId
    others: tuple[StateId, ...]


@dataclass(frozen=True, slots=True)
class ActionChange:
    """An action at a state before and at the state after that has its screens."""

    before: StateId
    after: StateId
    signature: str
    visits_before: int  # N
    visits_after: int
    value_before: float  # Q
    value_after: float


@dataclass(frozen=True, slots=True)
class AmbiguityChange:
    """u of a state before and of the state after that has its screens."""

    before: StateId
    after: StateId
    ambiguity_before: float
    ambiguity_after: float


@dataclass(frozen=True, slots=True)
class Spread:
    """How much a figure changed, over all that were compared."""

    compared: int
    changed: int
    median: float  # of the changes' sizes, among those that changed
    ninth_decile: float
    largest: float


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A run made anew from another one's log, beside that one."""

    run: str  # folder of the new one
    entries: int
    left_out: int  # of a run of several shards: entries that could have no place in one order
    live: bool  # the other one was still being written: it may have gone on since
    states_before: int
    states_after: int
    edges_before: int
    edges_after: int
    digest_before: str
    digest_after: str
    merged: tuple[Group, ...]  # new states that have screens of several old ones
    split: tuple[Group, ...]  # old states whose screens are in several new ones
    visits: Spread  # of N
    values: Spread  # of Q
    ambiguity: Spread  # of u
    largest_visits: tuple[ActionChange, ...]
    largest_values: tuple[ActionChange, ...]
    largest_ambiguity: tuple[AmbiguityChange, ...]

    @property
    def same(self) -> bool:
        """Whether the graph is the same to the bit."""
        return self.digest_before == self.digest_after


class Regrouping:
    """Is shown every entry as it was and as it is now."""

    def __init__(self, before: StateGraph, *, live: bool) -> None:
        self._before = before
        self._live = live
        self._pairs: dict[tuple[StateId, StateId], None] = {}

    def take(self, was: Entry, now: Entry) -> None:
        """Note that a screen of one state is a screen of another now."""
        if was.decision is not None and now.decision is not None and was.decision.how != ELSEWHERE:
            self._pairs[was.decision.state, now.decision.state] = None

    def result(self, after: StateGraph, run: Path, left_out: int) -> Regrouped:
        """What came of it."""
        before, pairs = self._before, sorted(self._pairs)
        actions = list(_actions(before, after, pairs))
        ambiguity = [AmbiguityChange(a, b, before.ambiguity(a), after.ambiguity(b)) for a, b in pairs]
        return Regrouped(
            run=str(run),
            entries=after.sequence,
            left_out=left_out,
            live=self._live,
            states_before=before.states,
            states_after=after.states,
            edges_before=before.edges,
            edges_after=after.edges,
            digest_before=before.digest(),
            digest_after=after.digest(),
            merged=_groups((b, a) for a, b in pairs),
            split=_groups(pairs),
            visits=_spread([_visits(each) for each in actions]),
            values=_spread([_value(each) for each in actions]),
            ambiguity=_spread([_ambiguity(each) for each in ambiguity]),
            largest_visits=tuple(_largest(actions, _visits)),
            largest_values=tuple(_largest(actions, _value)),
            largest_ambiguity=tuple(_largest(ambiguity, _ambiguity)),
        )


def _actions(
    before: StateGraph, after: StateGraph, pairs: Iterable[tuple[StateId, StateId]]
) -> Iterable[ActionChange]:
    for a, b in pairs:
        now = after.tried(b)
        for signature, was in before.tried(a).items():
            is_now = now.get(signature)
            if is_now is not None:
                yield ActionChange(a, b, signature, was.visits, is_now.visits, was.value, is_now.value)


def _visits(change: ActionChange) -> float:
    return abs(change.visits_after - change.visits_before)


def _value(change: ActionChange) -> float:
    return abs(change.value_after - change.value_before)


def _ambiguity(change: AmbiguityChange) -> float:
    return abs(change.ambiguity_after - change.ambiguity_before)


def _largest(changes: Iterable[Change], size: Callable[[Change], float]) -> list[Change]:
    """The largest changes, those first that came first of equal ones."""
    return [each for each in heapq.nlargest(MOST_CHANGES, changes, key=size) if size(each)]


def _spread(sizes: Sequence[float]) -> Spread:
    changed = sorted(size for size in sizes if size)
    if not changed:
        return Spread(len(sizes), 0, 0.0, 0.0, 0.0)
    return Spread(
        compared=len(sizes),
        changed=len(changed),
        median=changed[(len(changed) - 1) // 2],
        ninth_decile=changed[(len(changed) - 1) * 9 // 10],
        largest=changed[-1],
    )


def _groups(pairs: Iterable[tuple[StateId, StateId]]) -> tuple[Group, ...]:
    """The states that have several others, the largest group first."""
    others: defaultdict[StateId, list[StateId]] = defaultdict(list)
    for state, other in pairs:
        others[state].append(other)
    groups = [Group(state, tuple(sorted(found))) for state, found in others.items() if len(found) > 1]
    return tuple(sorted(groups, key=lambda group: (-len(group.others), group.state)))
