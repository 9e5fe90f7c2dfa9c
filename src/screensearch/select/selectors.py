"""The choice of one action among those that can be executed now (paper, section 5).

A selector is a function from a `Situation` to a `Selection`, registered by name. All arrays are
[candidates], in the order of the candidates. Ties go to the highest prior, then to the random
generator of the situation, so that a seed fixes every choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from screensearch.registry import Registry
from screensearch.select.policy import Policy
from screensearch.select.settings import SelectSettings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a selector sees at one state: Q, P and N of each candidate. Never empty.

    `values` and `visits` are 0 for what was never tried; `priors` sum to 1.
    """

    values: Floats
    priors: Floats
    visits: Ints
    rng: np.random.Generator
    settings: SelectSettings


@dataclass(frozen=True, slots=True)
class Selection:
    """The place of the chosen candidate and the score that won."""

    index: int
    score: float


class Selector(Protocol):
    """A selector plugin. ``screensearch.testing.check_selector`` is the contract as a test."""

    def __call__(self, situation: Situation, /) -> Selection: ...


SELECTORS: Registry[Selector | type[Policy]] = Registry("selector")
"""Selector plugins: functions of the statistics, or classes that decide on what the screen shows."""


def puct_scores(values: Floats, priors: Floats, visits: Ints, *, c_puct: float) -> Floats:
    """Score every candidate (eq. 4). All arrays are [candidates]; untried values are 0.

    The sum of visits runs over the candidates at hand: signatures that were tried in this state
    but cannot be executed now take no part. With no visits the bonus is 0 for all.
    """
    return values + (c_puct * math.sqrt(visits.sum())) * priors / (1 + visits)


def puct(situation: Situation) -> Selection:
    """The highest PUCT score (eq. 4): what paid off, plus what is plausible and little tried."""
    scores = puct_scores(
        situation.values, situation.priors, situation.visits, c_puct=situation.settings.c_puct
    )
    return best(scores, situation)


def greedy(situation: Situation) -> Selection:
    """The highest prior, whatever was tried before (the greedy rows of the paper's table 4)."""
    return best(situation.priors, situation)


def uniformly_random(situation: Situation) -> Selection:
    """Any candidate with the same probability; statistics and prior are ignored."""
    count = len(situation.priors)
    return Selection(int(situation.rng.integers(count)), 1 / count)


def best(scores: Floats, situation: Situation) -> Selection:
    """The highest score; ties to the highest prior, then to the generator.

    The generator is drawn from only when candidates are still tied.
    """
    top = scores.max()
    tied = (scores == top).nonzero()[0]
    if len(tied) > 1:
        priors = situation.priors[tied]
        tied = tied[priors == priors.max()]
    place = int(situation.rng.integers(len(tied))) if len(tied) > 1 else 0
    return Selection(int(tied[place]), float(top))
