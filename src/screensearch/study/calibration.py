"""Is a score of 0.3 right three times in ten? Reliability of u(s), or D(s), as if it were a probability.

It is none: u is a dispersion, pulled to a prior. Read as the chance that a state is truly aliased it is
calibrated if, among the states with a score near x, a share of x is aliased. The base rate is what to beat: a
constant score at the share of aliased states has no error of calibration and tells nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from screensearch.errors import FormatError

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The states whose score is in [low, high); the last bin has 1 as well."""

    low: float
    high: float
    states: int
    score: float  # their mean score; NaN without states
    share: float  # of them that are aliased; NaN without states


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores in [0, 1] compare with how often the label holds. NaN without states."""

    states: int
    brier: float  # mean squared distance of score and label
    base_brier: float  # of a constant score at the share of positives: p (1 − p)
    error: float  # expected calibration error: mean distance of score and share over bins, by states
    bins: tuple[Bin, ...]


def calibrate(scores: Sequence[float], labels: Sequence[bool]) -> Calibration:
    """The reliability of scores, in ten bins of equal width."""
    if len(scores) != len(labels):
        raise FormatError(f"{len(scores)} scores need as many labels, not {len(labels)}")
    outside = [score for score in scores if not 0.0 <= score <= 1.0]
    if outside:
        raise FormatError(
            f"calibration is of scores in [0, 1], and {outside[0]!r} is not: it is no probability"
        )
    held: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for score, label in zip(scores, labels, strict=True):
        held[min(int(score * BINS), BINS - 1)].append((score, label))
    bins = tuple(
        Bin(
            place / BINS,
            (place + 1) / BINS,
            len(inside),
            _mean([score for score, _ in inside]),
            _mean([float(label) for _, label in inside]),
        )
        for place, inside in enumerate(held)
    )
    rate = _mean([float(label) for label in labels])
    return Calibration(
        states=len(scores),
        brier=_mean([(score - label) ** 2 for score, label in zip(scores, labels, strict=True)]),
        base_brier=rate * (1 - rate),
        error=_error(bins),
        bins=bins,
    )


def join(parts: Sequence[Calibration]) -> Calibration:
    """The calibration of all states of several, bin by bin."""
    states = sum(part.states for part in parts)
    bins = tuple(
        Bin(
            alike[0].low,
            alike[0].high,
            sum(each.states for each in alike),
            _weighted([(each.states, each.score) for each in alike]),
            _weighted([(each.states, each.share) for each in alike]),
        )
        for alike in zip(*(part.bins for part in parts), strict=True)
    )
    rate = _weighted([(each.states, each.share) for each in bins])
    return Calibration(
        states=states,
        brier=_weighted([(part.states, part.brier) for part in parts]),
        base_brier=rate * (1 - rate),
        error=_error(bins),
        bins=bins,
    )


def _error(bins: Sequence[Bin]) -> float:
    return _weighted([(each.states, abs(each.score - each.share)) for each in bins])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _weighted(values: Sequence[tuple[int, float]]) -> float:
    """The mean of values by their numbers of states; a value of none is left out."""
    total = sum(weight for weight, _ in values)
    return math.fsum(weight * value for weight, value in values if weight) / total if total else math.nan
