"""From candidates and what is known about them to one choice: prior, then selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from screensearch.domain.action import Candidate
from screensearch.domain.transition import Choice
from screensearch.errors import ScreenSearchError
from screensearch.select.priors import PRIORS, Prior
from screensearch.select.selectors import SELECTORS, Selector, Situation
from screensearch.select.settings import SelectSettings


class Tried(Protocol):
    """What is known about one signature in one state: N and Q."""

    @property
    def visits(self) -> int: ...

    @property
    def value(self) -> float: ...


class Chooser:
    """A selector and a prior, looked up once, that choose on every step.

    An unknown plugin is refused here, before any step is taken.
    """

    def __init__(self, settings: SelectSettings) -> None:
        self.settings = settings
        self.selector: Selector = SELECTORS.get(settings.selector)
        self.prior: Prior = PRIORS.get(settings.prior)

    def choose(
        self,
        candidates: Sequence[Candidate],
        tried: Mapping[str, Tried],
        *,
        rng: np.random.Generator,
        snapshot: int,
        vetoed: int = 0,
    ) -> tuple[Candidate, Choice]:
        """Choose one candidate at the current state.

        `tried` maps signatures of this state to N and Q as of `snapshot`; what it lacks was never
        tried and has N = Q = 0.
        """
        if not candidates:
            raise ScreenSearchError(
                f"there is no candidate to choose from ({vetoed} vetoed by the guard): "
                "end the episode, or widen `candidates` or `guard`"
            )
        known = [tried.get(candidate.signature) for candidate in candidates]
        values = np.array([0.0 if one is None else one.value for one in known])
        visits = np.array([0 if one is None else one.visits for one in known])
        priors = self.prior(candidates, self.settings)
        selection = self.selector(Situation(values, priors, visits, rng, self.settings))
        index = selection.index
        chosen = candidates[index]
        return chosen, Choice(
            signature=chosen.signature,
            snapshot=snapshot,
            candidates=len(candidates),
            prior=float(priors[index]),
            value=float(values[index]),
            visits=int(visits[index]),
            score=selection.score,
            vetoed=vetoed,
        )
