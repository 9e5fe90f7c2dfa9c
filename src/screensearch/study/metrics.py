"""The paper's metrics, as pure functions (section 7 and the appendix "Original Notepad diagnostic").

An episode of T steps is a sequence with one entry per step 0..T-1; entry 0 is where the episode
starts, before any action. The paper's budget of 50 is T = 50: one start and 49 actions. Its figures
fix what its words leave open, and these readings are tested against them:

- Discovery curves count what is found *beyond the start*, so they begin at 0. Equation 7 as printed
  counts the start too and would lift every curve by 1 and every AUC by 50.
- Revisit rate divides by the actions (49): 10.00 new states give 1 - 10/49 = 0.796. Six of the eight
  published rates follow from the published new states to the last digit; File Explorer with PUCT
  (0.9357, from 3.14 new states: 0.9359) and Notepad with the learned prior (0.708, from 14.33: 0.707)
  are off by a unit or two in that digit.
- AUC is the plain sum over steps 0..49, not the trapezoid: 49 new edges in a row give 1,225.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screensearch.errors import FormatError
from screensearch.traces.loops import LONGEST_CYCLE, REPEATS, periodic_runs, short_cycles

Floats = NDArray[np.float64]

STEPS = 50
"""Steps of an episode in the paper's studies: 0 to 49."""


def discovery_curve(items: Sequence[Hashable], known: Collection[Hashable] = ()) -> Floats:
    """How many items beyond `known` and the first were seen up to each step. [steps], never falls.

    Of states, the first is the start. Of edges, give `None` first: at step 0 nothing was done yet.
    `known` is coverage that earns no credit, such as that of an initial replay.
    """
    seen = {*known, *items[:1]}
    fresh = np.zeros(len(items))
    for step, item in enumerate(items):
        if item not in seen:
            seen.add(item)
            fresh[step] = 1
    return np.cumsum(fresh)


def auc(curve: Sequence[float] | Floats, steps: int = STEPS) -> float:
    """The plain sum of a curve over steps 0 to `steps` - 1.

    A discovery curve that ends early keeps its last value: an episode that ended finds no more.
    """
    return float(np.sum(extended(curve, steps)))


def at_budget(curve: Sequence[float] | Floats, steps: int = STEPS) -> float:
    """The value of a curve at the end of the budget: new states or new edges at 50, M_V(49), Δu_49."""
    return float(extended(curve, steps)[-1])


def extended(curve: Sequence[float] | Floats, steps: int) -> Floats:
    """A curve cut or continued at its last value to exactly `steps` entries. [steps]"""
    values = np.asarray(curve, dtype=np.float64)[:steps]
    if len(values) == 0:
        raise FormatError("a curve needs at least the value of step 0")
    return np.pad(values, (0, steps - len(values)), mode="edge")


def frontier_curve(episodes: Sequence[Sequence[Hashable]], steps: int = STEPS) -> Floats:
    """M_V(t) of eq. 7: states found up to step t, mean over episodes. [steps]

    Every episode counts for itself; its start is not counted, as in the published curves.
    """
    return mean_curve([discovery_curve(states) for states in episodes], steps)


def ambiguity_curve(episodes: Sequence[Sequence[float]], steps: int = STEPS) -> Floats:
    """Δu_t of eq. 7: u at step t minus u at the start, mean over episodes. [steps]"""
    return mean_curve([np.asarray(values, dtype=np.float64) - values[0] for values in episodes], steps)


def mean_curve(curves: Sequence[Floats], steps: int = STEPS) -> Floats:
    """The mean of curves, step by step, each of the same weight. [steps]"""
    mean: Floats = np.mean([extended(curve, steps) for curve in curves], axis=0)
    return mean


def net_ambiguity_change(values: Sequence[float]) -> float:
    """The final minus the initial u of an episode."""
    return values[-1] - values[0]


def revisit_rate(states: Sequence[Hashable], known: Collection[Hashable] = ()) -> float:
    """The fraction of actions that led to a state that was visited before; 0 without actions.

    `known` counts as visited: with the coverage of an initial replay there, the rate is 1 - new / actions,
    as in the paper's matched study. Without it, only what this episode itself had visited counts.
    """
    actions = len(states) - 1
    return 0.0 if actions < 1 else 1 - float(discovery_curve(states, known)[-1]) / actions


def high_ambiguity_occupancy(values: Sequence[float], threshold: float) -> float:
    """The fraction of steps, start included, whose state has u above the threshold."""
    return float(np.mean(np.asarray(values) > threshold)) if len(values) else 0.0


def loop_stall_rate(
    states: Sequence[Hashable],
    *,
    longest_cycle: int = LONGEST_CYCLE,
    repeats: int = REPEATS,
    stall: int = 3,
) -> float:
    """The fraction of steps, start included, in a repeated short cycle or a no-progress run.

    The paper names the two but not their sizes; these are ours:

    - a cycle is a block of 2 to `longest_cycle` states, not all equal, that stands at least
      `repeats` times in a row; every step of the repetition counts;
    - a no-progress run is at least `stall` steps in a row in the same state; all of them count.
    """
    marked = np.zeros(len(states), dtype=bool)
    for begin, end in short_cycles(states, longest=longest_cycle, repeats=repeats):
        marked[begin:end] = True
    for begin, end in periodic_runs(states, 1):
        if end - begin >= stall:
            marked[begin:end] = True
    return float(marked.mean()) if len(marked) else 0.0


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The chance that a positive scores above a negative, ties counting half. NaN without both kinds.

    From the rank sum of the positives (Mann-Whitney); tied scores share their mean rank.
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels, dtype=bool)
    if values.shape != positive.shape:
        raise FormatError(f"{len(values)} scores need as many labels, not {len(positive)}")
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if positives == 0 or negatives == 0:
        return float("nan")
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    mean_rank = last - (sizes - 1) / 2  # ranks count from 1
    rank_sum = float(mean_rank[group][positive].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


@dataclass(frozen=True, slots=True)
class PairQuality:
    """How well a clustering finds the true one, over all pairs of items.

    A rate over no pairs at all is perfect: nothing was merged wrongly, nothing was missed.
    """

    joined: int  # pairs that the clustering puts together
    belonging: int  # pairs that truly belong together
    agreed: int  # pairs that are both
    pairs: int

    @property
    def precision(self) -> float:
        return self.agreed / self.joined if self.joined else 1.0

    @property
    def recall(self) -> float:
        return self.agreed / self.belonging if self.belonging else 1.0

    @property
    def f1(self) -> float:
        either = self.joined + self.belonging
        return 2 * self.agreed / either if either else 1.0

    @property
    def false_merge_rate(self) -> float:
        """Of the pairs that truly differ, the fraction put together."""
        differing = self.pairs - self.belonging
        return (self.joined - self.agreed) / differing if differing else 0.0


def pair_quality(found: Sequence[Hashable], truth: Sequence[Hashable]) -> PairQuality:
    """Compare two clusterings of the same items, each given as one label per item.

    Counts come from the sizes of the clusters and of their overlaps: linear, never pair by pair.
    """
    if len(found) != len(truth):
        raise FormatError(f"{len(found)} found labels need as many true ones, not {len(truth)}")
    return PairQuality(
        joined=pairs_within(Counter(found).values()),
        belonging=pairs_within(Counter(truth).values()),
        agreed=pairs_within(Counter(zip(found, truth, strict=True)).values()),
        pairs=pairs_within([len(found)]),
    )


def pairs_within(sizes: Iterable[int]) -> int:
    """How many pairs groups of these sizes hold."""
    return sum(size * (size - 1) // 2 for size in sizes)
