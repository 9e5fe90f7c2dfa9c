"""Where dispersion comes from: merged screens, hidden state, timing, or a successor that identity has split.

All trials of one signature in one state are one group. What is true of each trial is told in steps, each
finer than the one before, and each step explains a part of the group's dispersion: that by which the
normalised entropy of the successors falls once it is known.

1. The true screen the action was done on: what it explains comes of **merging** screens that differ.
2. The true state behind it: what it explains on top is **hidden state**.
3. The true screen that followed: the same action in the same true state went two ways, which only **timing**
   can do in these worlds: an event that landed in between, a race, a chance.
4. What is left: the same true state, action and true successor, and yet two states. Identity has **split**
   it.

Each part is divided by the log k of the group's own successors, as `decompose` does it, so the four add up to
the dispersion of the group; weighted by trials, to the mean of D(s) over all trials.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from screensearch.record.ambiguity import decompose

SHUFFLES = 20
"""How often the labels are dealt out anew, to see what they explain by chance."""

_SEED = 20_261_117


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution that ended `ok`: what the graph has of it, and what was true."""

    state: Hashable
    signature: str
    successor: Hashable
    true_screen: Hashable  # that the action was done on
    true_state: Hashable
    true_successor: Hashable  # the true screen that followed


@dataclass(frozen=True, slots=True)
class Sources:
    """The dispersion of all trials and its parts: ``pooled = merged + hidden + timing + split``."""

    trials: int
    repeated: int  # trials of a signature that was tried more than once in its state: only they can disperse
    dispersed: int  # groups with more than one successor
    pooled: float  # the mean of D(s) over trials
    merged: float
    hidden: float
    timing: float
    split: float
    merged_by_chance: float  # what true screens explain when they are dealt out anew within each group
    hidden_by_chance: float  # what true states explain when dealt out anew among trials of one true screen


def find_sources(trials: Iterable[Trial]) -> Sources:
    """Split the dispersion of trials. The same trials in the same order give the same figures."""
    groups: defaultdict[tuple[Hashable, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[trial.state, trial.signature].append(trial)
    total = sum(map(len, groups.values()))
    repeated = sum(len(group) for group in groups.values() if len(group) > 1)
    dispersed = [group for group in groups.values() if len({trial.successor for trial in group}) > 1]
    shuffler = random.Random(_SEED)  # noqa: S311 - a permutation test, not a secret
    sums = [0.0] * 7
    for group in dispersed:
        for place, part in enumerate((*_parts(group), *_by_chance(group, shuffler))):
            sums[place] += len(group) * part
    return Sources(total, repeated, len(dispersed), *(each / total if total else 0.0 for each in sums))


def _parts(group: Sequence[Trial]) -> tuple[float, float, float, float, float]:
    """Pooled, merged, hidden, timing, split."""
    pooled = decompose({None: Counter(trial.successor for trial in group)}).pooled
    left = [pooled, *(_left(group, known) for known in (_screen, _state, _followed))]
    left.append(0.0)
    # A finer condition never explains less; sums in another order round otherwise.
    for place in range(1, len(left)):
        left[place] = min(left[place], left[place - 1])
    merged, hidden, timing, split = (before - after for before, after in pairwise(left))
    return pooled, merged, hidden, timing, split


def _by_chance(group: Sequence[Trial], shuffler: random.Random) -> tuple[float, float]:
    """What as many labels would explain that have nothing to do with the successors: merged, hidden."""
    screens = [trial.true_screen for trial in group]
    states = [trial.true_state for trial in group]
    successors = [trial.successor for trial in group]
    together: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, screen in enumerate(screens):
        together[screen].append(place)
    merged = hidden = 0.0
    if len(together) > 1:
        for _ in range(SHUFFLES):
            dealt = shuffler.sample(screens, len(screens))
            merged += decompose(_counted(dealt, successors)).between
    mixed = [places for places in together.values() if len({states[place] for place in places}) > 1]
    if mixed:
        known = decompose(_counted(screens, successors)).within
        for _ in range(SHUFFLES):
            for places in mixed:  # each label stays among the trials of its true screen
                labels = shuffler.sample([states[place] for place in places], len(places))
                for place, label in zip(places, labels, strict=True):
                    states[place] = label
            pairs = list(zip(screens, states, strict=True))
            hidden += known - decompose(_counted(pairs, successors)).within
    return merged / SHUFFLES, max(0.0, hidden / SHUFFLES)


def _screen(trial: Trial) -> Hashable:
    return trial.true_screen


def _state(trial: Trial) -> Hashable:
    return trial.true_screen, trial.true_state


def _followed(trial: Trial) -> Hashable:
    return trial.true_screen, trial.true_state, trial.true_successor


def _left(group: Sequence[Trial], known: Callable[[Trial], Hashable]) -> float:
    """The dispersion that is left once something is known."""
    return decompose(_counted([known(trial) for trial in group], [trial.successor for trial in group])).within


def _counted(labels: Sequence[Hashable], successors: Sequence[Hashable]) -> dict[Hashable, Counter[Hashable]]:
    counts: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for label, successor in zip(labels, successors, strict=True):
        counts[label][successor] += 1
    return dict(counts)
