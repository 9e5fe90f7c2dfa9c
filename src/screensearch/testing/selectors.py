"""The contract of a selector."""

from __future__ import annotations

import math

import numpy as np

from screensearch.select.selectors import Floats, Ints, Selection, Selector, Situation
from screensearch.select.settings import SelectSettings
from screensearch.testing.contract import require, unbroken


def check_selector(
    selector: Selector, *, settings: SelectSettings | None = None, situations: int = 300, seed: int = 7
) -> None:
    """Let a selector choose in many situations and raise `ContractBroken` on the first broken clause.

    Clauses: it chooses in every situation; the index is an `int` within the candidates and the score a
    finite `float`, because numpy's numbers cannot be written to the log; the situation, its generator
    included, fixes the choice; it leaves the statistics as they are.
    """
    chosen = SelectSettings() if settings is None else settings
    rng = np.random.default_rng(seed)
    for number in range(situations):
        state = rng.integers(2**63)
        drawn = _draw(np.random.default_rng(state), number, chosen)
        first = _ask(selector, drawn)
        again = _ask(selector, _draw(np.random.default_rng(state), number, chosen))
        require(first == again, "equal situations with equal generators give equal choices", (first, again))


def _ask(selector: Selector, situation: Situation) -> Selection:
    before = [array.copy() for array in _statistics(situation)]
    with unbroken("a selector chooses in every situation"):
        selection = selector(situation)
    index, score = selection.index, selection.score
    count = len(situation.priors)
    require(
        type(index) is int and 0 <= index < count,
        f"the index is an `int` that names one of {count} candidates",
        index,
    )
    require(type(score) is float and math.isfinite(score), "the score is a finite `float`", score)
    for name, old, new in zip(("values", "priors", "visits"), before, _statistics(situation), strict=True):
        require(np.array_equal(old, new), f"a selector leaves `{name}` as they are", (old, new))
    return selection


def _statistics(situation: Situation) -> tuple[Floats, Floats, Ints]:
    return situation.values, situation.priors, situation.visits


def _draw(rng: np.random.Generator, number: int, settings: SelectSettings) -> Situation:
    """One candidate or many; nothing tried, some tried or all; ties; priors that leave some out."""
    count = 1 if number % 10 == 0 else int(rng.integers(2, 21))
    visits = rng.integers(0, 40, count) * (rng.random(count) < rng.choice([0.0, 0.5, 1.0]))
    weights = rng.choice([0.0, 0.5, 1.0], count) if rng.random() < 0.5 else rng.random(count)
    weights[rng.integers(count)] += 1.0  # never all zero
    return Situation(
        values=np.where(visits > 0, rng.random(count) * 3, 0.0),
        priors=weights / weights.sum(),
        visits=visits.astype(np.int64),
        rng=rng,
        settings=settings,
    )
