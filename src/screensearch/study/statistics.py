"""Paired statistics: how far two conditions differ at the same starts, and whether that stands.

Differences come in groups, one per application: the figure is the mean over applications of the mean over
starts, the paper's macro-average, and starts are drawn, or their signs turned, within each application. One
group is the plain paired case. Everything random comes from a fixed seed: the same differences give the same
interval and the same p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screensearch.errors import FormatError

Floats = NDArray[np.float64]

RESAMPLES = 10_000
"""Draws of the bootstrap, and of the permutation test where not all signs can be tried."""

LEVEL = 0.95
SIGNIFICANT = 1 - LEVEL

_EXACT = 14
"""Up to so many pairs, all 2^n signs are tried."""

_SEED = 20_261_116


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval. The interval is NaN for fewer than two starts in an application."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of paired differences, its interval, and how rare it is if the two conditions are alike."""

    difference: Estimate
    p: float
    pairs: int

    def stands(self, p: float | None = None) -> bool:
        """Whether the interval leaves out 0 and p, corrected if one is given, is below 0.05."""
        outside = self.difference.low > 0 or self.difference.high < 0
        return outside and (self.p if p is None else p) < SIGNIFICANT


def estimate(groups: Sequence[Sequence[float]]) -> Estimate:
    """The mean over groups of their means, with the percentile interval of a bootstrap within each group."""
    values = _checked(groups)
    mean = _mean_of_means(values)
    if min(map(len, values)) < 2:
        return Estimate(mean, math.nan, math.nan)
    rng = np.random.default_rng(_SEED)
    drawn = np.zeros(RESAMPLES)
    for group in values:
        drawn += group[rng.integers(len(group), size=(RESAMPLES, len(group)))].mean(axis=1)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn / len(values), [tail, 1 - tail])
    return Estimate(mean, float(low), float(high))


def compare(groups: Sequence[Sequence[float]]) -> Comparison:
    """Paired differences, one group per application: estimate, and the two-sided sign-flip test."""
    return Comparison(estimate(groups), permutation_p(groups), sum(map(len, groups)))


def permutation_p(groups: Sequence[Sequence[float]]) -> float:
    """How often the mean is as far from 0 as it is, when every difference may as well have the other sign.

    Exact for up to 14 pairs; beyond, by random signs, the observed ones counted among them, so never 0.
    """
    values = _checked(groups)
    # The mean of means is a weighted sum of all differences.
    weighted = np.concatenate([group / len(group) for group in values]) / len(values)
    observed = abs(weighted.sum())
    slack = 1e-12 * max(1.0, float(np.abs(weighted).sum()))  # sums in another order round otherwise
    count = len(weighted)
    if count <= _EXACT:
        bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
        sums = np.abs((1 - 2 * bits) @ weighted)
        return float(np.mean(sums >= observed - slack))
    rng = np.random.default_rng(_SEED)
    signs = rng.integers(0, 2, size=(RESAMPLES, count)) * 2 - 1
    as_far = int(np.sum(np.abs(signs @ weighted) >= observed - slack))
    return (as_far + 1) / (RESAMPLES + 1)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction of several tests that are read together. In the order given, never above 1."""
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    corrected = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = highest
    return corrected


def _checked(groups: Sequence[Sequence[float]]) -> list[Floats]:
    values = [np.asarray(group, dtype=np.float64) for group in groups]
    if not values or any(len(group) == 0 for group in values):
        raise FormatError("a comparison needs at least one pair in every application")
    return values


def _mean_of_means(groups: Sequence[Floats]) -> float:
    return float(np.mean([group.mean() for group in groups]))
