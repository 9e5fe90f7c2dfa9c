"""What two explorations can tell of an action that both did at the same screen, and what they cannot.

An exploration tries most actions a few times only, and much of what decides an outcome does not show: Escape
in a dialog leads back to wherever one came from. How often an outcome came up therefore depends on what the
exploration did before, and shares are no evidence of anything. What is: the outcomes in one run and those in
the other have nothing in common.

That may be chance, too, where an action has many outcomes or was done a few times. So it counts only if it
would come about rarely in trials that were dealt to the two runs at random. A trial is an episode, by what
came of the action the first time: what is done again in an episode meets what the episode began with, and
what was done in it, and tells little more. And since many actions are compared, each has to be rarer by
their number (`level`): that anything is told at all, if nothing has changed, is then as rare as `CHANCE`.

A failure counts sooner: explorations do not repeat what has failed, and whoever compares two versions wants
to hear of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping
from itertools import count
from typing import Generic, TypeVar

Kind = TypeVar("Kind", bound=Hashable)

CHANCE = 0.05
"""How rare it has to be, if nothing has changed, that any action at all is told as changed."""

ENOUGH = 3
"""In how many episodes an action must have gone well in one run for its failure in the other to be told."""

_COUNTED = 20  # trials of the lesser run: more make a chance rarer than any number of actions could ask for


class Trials(Generic[Kind]):
    """What came of one action at one screen, in one run."""

    __slots__ = ("_known", "episodes", "outcomes")

    def __init__(self) -> None:
        self.outcomes: Counter[Kind] = Counter()  # executions
        self.episodes: Counter[Kind] = Counter()  # by what came of it first
        self._known: set[Hashable] = set()

    def add(self, outcome: Kind, episode: Hashable) -> None:
        """Take in an execution. Those of an episode come in order."""
        self.outcomes[outcome] += 1
        if episode not in self._known:
            self._known.add(episode)
            self.episodes[outcome] += 1


def chance_of_nothing_in_common(first: Mapping[Kind, int], second: Mapping[Kind, int]) -> float:
    """How likely two runs share no outcome, if all their trials are dealt to them at random.

    They share none if every outcome is dealt whole to one run: what is counted is the sets of outcomes that
    make up exactly the first run's trials.
    """
    outcomes = [first.get(each, 0) + second.get(each, 0) for each in first.keys() | second.keys()]
    trials = sum(first.values())
    ways = [1] + [0] * trials
    for number in outcomes:
        for size in range(trials, number - 1, -1):
            ways[size] += ways[size - number]
    return ways[trials] / math.comb(sum(outcomes), trials)


def rarest(first: int, second: int) -> float:
    """The chance of the plainest difference that so many trials could show; 1 if they can show none."""
    fewest = min(first, second, _COUNTED)
    return 1 / math.comb(first + second, fewest)


def level(trials: Iterable[tuple[int, int]]) -> float:
    """How rare a difference has to be in one of these actions, given by their trials in the two runs.

    `CHANCE` divided by how many of them could come out so rare (Tarone's way to correct for many tests): an
    action that could not, whatever came of it, cannot give a false alarm either.
    """
    chances = sorted(rarest(*each) for each in trials)
    return next(CHANCE / k for k in count(1) if bisect_right(chances, CHANCE / k) <= k)


def comparable(first: Trials[Kind], second: Trials[Kind], rare: float) -> bool:
    """Whether the trials in two runs could tell anything, if they were as different as can be."""
    return rarest(first.episodes.total(), second.episodes.total()) <= rare


def differ(first: Trials[Kind], second: Trials[Kind], rare: float) -> bool:
    """Whether the outcomes of two runs have nothing in common, and not by chance."""
    if first.outcomes.keys() & second.outcomes.keys() or not comparable(first, second, rare):
        return False
    return chance_of_nothing_in_common(first.episodes, second.episodes) <= rare


def began_to_fail(first: Trials[Kind], second: Trials[Kind], failures: Container[Kind]) -> bool:
    """Whether an action only failed in one run, and in the other never did, in `ENOUGH` episodes."""
    for failing, other in ((first, second), (second, first)):
        if failing.outcomes and all(each in failures for each in failing.outcomes):
            well = not any(each in failures for each in other.outcomes)
            return well and other.episodes.total() >= ENOUGH
    return False


def gone(first: Trials[Kind], outcome: Kind, second: Trials[Kind], rare: float) -> bool:
    """Whether an outcome that always came about in the first run surely does not in the second."""
    return list(first.outcomes) == [outcome] and differ(first, second, rare)
