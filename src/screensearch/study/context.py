"""Where the dispersion of repeated actions lies: within a recorded context, or between contexts.

A group is one action at one state that was carried out twice or more with outcome `ok`. Its successors have a
normalised entropy, the pooled dispersion; `record.ambiguity.decompose` splits it into what remains when the
context is known (within) and what knowing it explains (between).

A finer context explains more by itself: where every trial has a context of its own, all is between. So each
group is also split by contexts that mean nothing: the same contexts, shuffled among its trials. What that
explains on average (chance) is computed exactly, and between is to be read against it, as in adjusted mutual
information.
"""

from __future__ import annotations

import enum
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId, FailedStart, Outcome, Transition
from screensearch.record.ambiguity import decompose

Floats = NDArray[np.float64]

DRAWS = 999
"""Shuffles behind a p: with the observed one among them, the smallest is 1 in 1,000."""

_SEED = 20_261_117
_CELLS = 4_000_000  # of an array of shuffles, at most


class Context(enum.StrEnum):
    """What is taken as the recorded context of a trial.

    `RECENT` is finer than the two before it, and `HISTORY` than that.
    """

    CONFIGURATION = "configuration"  # what varied in the episode: display mode, placement, document, …
    PREVIOUS = "previous"  # the step before: its state, its action and its outcome
    RECENT = "recent"  # both
    HISTORY = "history"  # the configuration and all steps since the start of the episode
    EPISODE = "episode"  # the episode itself


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution of a group's action: where it led, and its context by every definition."""

    successor: StateId
    contexts: Mapping[Context, Hashable]


Groups = dict[tuple[StateId, str], list[Trial]]
"""Trials by state and signature."""


@dataclass(frozen=True, slots=True)
class Split:
    """The dispersion of one group under one definition of context."""

    trials: int
    contexts: int
    repeated: bool  # some context has two trials or more: only then can anything be within
    pooled: float
    within: float
    between: float
    chance: float  # what shuffled contexts would explain, on average


def read_groups(entries: Iterable[Entry]) -> Groups:
    """All groups of two trials or more. Entries come in an order that every episode agrees with."""
    groups: defaultdict[tuple[StateId, str], list[Trial]] = defaultdict(list)
    under_way: dict[int, _Episode] = {}  # by worker
    known = _Numbers()
    for entry in entries:
        worker = entry.episode.worker
        if not isinstance(entry, Transition):
            if isinstance(entry, FailedStart) or not entry.step:
                under_way[worker] = _Episode(entry.episode, known.of(entry.configuration))
            continue
        episode = under_way.get(worker)
        if episode is None or episode.id != entry.episode:  # its arrival is not in this log
            episode = under_way[worker] = _Episode(entry.episode, known.of(()))
        if entry.outcome is Outcome.OK and entry.signature is not None and entry.target is not None:
            groups[entry.source, entry.signature].append(Trial(entry.target, episode.contexts()))
        done = known.of((entry.source, entry.signature, entry.outcome))
        episode.previous, episode.history = done, known.of((episode.history, done))
    return {group: trials for group, trials in groups.items() if len(trials) > 1}


class _Numbers:
    """Numbers for whatever is told apart, so that a trial holds a few of them and no history."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, thing: Hashable) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))


@dataclass(slots=True)
class _Episode:
    id: EpisodeId
    configuration: int
    previous: int = -1  # nothing yet
    history: int = -1

    def contexts(self) -> Mapping[Context, Hashable]:
        return {
            Context.CONFIGURATION: self.configuration,
            Context.PREVIOUS: self.previous,
            Context.RECENT: (self.configuration, self.previous),
            Context.HISTORY: (self.configuration, self.history),
            Context.EPISODE: self.id,
        }


def split_group(trials: Sequence[Trial], context: Context) -> Split:
    """Split the dispersion of one group. ``pooled = within + between``, and 0 ≤ chance ≤ pooled."""
    cells: defaultdict[Hashable, Counter[StateId]] = defaultdict(Counter)
    for trial in trials:
        cells[trial.contexts[context]][trial.successor] += 1
    parts = decompose(cells)
    sizes = [counts.total() for counts in cells.values()]
    successors = Counter(trial.successor for trial in trials)
    return Split(
        trials=len(trials),
        contexts=len(cells),
        repeated=max(sizes) > 1,
        pooled=parts.pooled,
        within=parts.within,
        between=parts.between,
        chance=expected_between(sizes, list(successors.values())),
    )


def expected_between(sizes: Sequence[int], successors: Sequence[int]) -> float:
    """What contexts of these sizes explain of these successor counts on average over all shuffles. Exact.

    The number of trials of one successor in one context is then hypergeometric.
    """
    kinds = sum(1 for count in successors if count)
    if kinds <= 1:
        return 0.0
    trials = sum(successors)
    each_kind, each_size = Counter(successors), Counter(sizes)
    agreeing = math.fsum(
        many * often * _expected_xlogx(trials, count, size)
        for count, many in each_kind.items()
        for size, often in each_size.items()
    )
    # Mutual information = Σ x ln x − Σ over both margins of it + n ln n, over n.
    margins = math.fsum(_xlogx(count) for count in (*successors, *sizes))
    explained = (agreeing - margins + _xlogx(trials)) / (trials * math.log(kinds))
    return min(1.0, max(0.0, explained))


def _xlogx(count: int) -> float:
    return count * math.log(count) if count > 1 else 0.0


@cache
def _expected_xlogx(trials: int, count: int, size: int) -> float:
    """E[x ln x], x the members of a class of `count` among `size` drawn of `trials` without putting back."""
    low, high = max(2, size + count - trials), min(size, count)
    whole = _log_choose(trials, size)
    return math.fsum(
        math.exp(_log_choose(count, drawn) + _log_choose(trials - count, size - drawn) - whole)
        * _xlogx(drawn)
        for drawn in range(low, high + 1)
    )


def _log_choose(of: int, drawn: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(drawn + 1) - math.lgamma(of - drawn + 1)


def shuffled_means(groups: Sequence[Sequence[Trial]], context: Context, draws: int = DRAWS) -> Floats:
    """The mean of between over groups, each with its contexts shuffled among its trials. [draws]

    From a fixed seed: the same trials give the same draws.
    """
    rng = np.random.default_rng(_SEED)
    total = np.zeros(draws)
    for trials in groups:
        total += _shuffled(trials, context, draws, rng)
    return total / max(1, len(groups))


def _shuffled(trials: Sequence[Trial], context: Context, draws: int, rng: np.random.Generator) -> Floats:
    """Between of one group for each shuffle. [draws]"""
    within = _numbered([trial.contexts[context] for trial in trials])
    led = _numbered([trial.successor for trial in trials])
    count, contexts, kinds = len(trials), int(within.max()) + 1, int(led.max()) + 1
    if kinds == 1 or contexts == 1:
        return np.zeros(draws)
    xlogx = np.array([_xlogx(each) for each in range(count + 1)])
    margins = xlogx[np.bincount(within)].sum() + xlogx[np.bincount(led)].sum() - xlogx[count]
    found = np.full(draws, -margins)
    if contexts < count:  # else every cell is 0 or 1, whatever the order
        at_once = max(1, _CELLS // (count + contexts * kinds))
        for begin in range(0, draws, at_once):
            some = min(at_once, draws - begin)
            order = rng.permuted(np.tile(led, (some, 1)), axis=1)
            cell = (np.arange(some)[:, None] * contexts + within) * kinds + order
            counts = np.bincount(cell.ravel(), minlength=some * contexts * kinds)
            found[begin : begin + some] += xlogx[counts].reshape(some, -1).sum(axis=1)
    return np.maximum(0.0, found / (count * math.log(kinds)))


def _numbered(things: Sequence[Hashable]) -> NDArray[np.int64]:
    """Equal numbers for equal things, counted from 0."""
    known = _Numbers()
    return np.array([known.of(thing) for thing in things], dtype=np.int64)
