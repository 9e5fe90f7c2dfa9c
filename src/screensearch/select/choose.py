"""From candidates and what is known about them to one choice: prior, then selector."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

import numpy as np

from screensearch.domain.action import Candidate
from screensearch.domain.transition import Choice
from screensearch.errors import PluginMisbehaved, ScreenSearchError
from screensearch.select.policy import Policy
from screensearch.select.priors import PRIORS, Prior
from screensearch.select.selectors import SELECTORS, Selection, Selector, Situation
from screensearch.select.settings import SelectSettings

TOLERANCE = 1e-6
"""How far from 1 the sum of a prior may be: more than rounding, less than a mistake."""


class Tried(Protocol):
    """What is known about one signature in one state: N and Q."""

    @property
    def visits(self) -> int: ...

    @property
    def value(self) -> float: ...


def policy_named(name: str) -> type[Policy] | None:
    """The selector of that name if it is a policy; None if it is a function of the statistics."""
    plugin = SELECTORS.get(name)
    return plugin if isinstance(plugin, type) and issubclass(plugin, Policy) else None


class Chooser:
    """A selector and a prior, looked up once, that choose on every step.

    An unknown plugin is refused here, before any step is taken. If the selector is a `policy`, that is to be
    asked, and there is nothing to choose here.
    """

    def __init__(self, settings: SelectSettings) -> None:
        self.settings = settings
        policy = policy_named(settings.selector)
        self.policy: Policy | None = None if policy is None else policy(settings)
        self.selector = cast(Selector, SELECTORS.get(settings.selector))
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
        if self.policy is not None:
            raise ScreenSearchError(
                f"selector {self.settings.selector!r} is a policy, which decides on what the screen shows: "
                "await its `decide`"
            )
        if not candidates:
            raise ScreenSearchError(
                f"there is no candidate to choose from ({vetoed} vetoed by the guard): "
                "end the episode, or widen `candidates` or `guard`"
            )
        known = [tried.get(candidate.signature) for candidate in candidates]
        values = np.array([0.0 if one is None else one.value for one in known])
        visits = np.array([0 if one is None else one.visits for one in known])
        priors = self.prior(candidates, self.settings)
        self._check_priors(priors, len(candidates))
        selection = self.selector(Situation(values, priors, visits, rng, self.settings))
        self._check_selection(selection, len(candidates))
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

    def _check_priors(self, priors: object, count: int) -> None:
        """Refuse what is no distribution: a NaN would only show much later, as a choice of nothing."""
        if (
            isinstance(priors, np.ndarray)
            and priors.dtype == np.float64
            and priors.shape == (count,)
            and priors.min() >= 0  # false for NaN
            and abs(priors.sum() - 1) <= TOLERANCE
        ):
            return
        raise PluginMisbehaved(
            f"prior {self.settings.prior!r} returned {_shown(priors)} for {count} candidates, but must "
            "return one 64-bit float for each, none negative, with sum 1; correct it with "
            "screensearch.testing.check_prior, or choose another with select.prior"
        )

    def _check_selection(self, selection: object, count: int) -> None:
        """Refuse a choice that names no candidate, or that the log could not keep."""
        if (
            isinstance(selection, Selection)
            and type(selection.index) is int
            and 0 <= selection.index < count
            and type(selection.score) is float
            and math.isfinite(selection.score)
        ):
            return
        raise PluginMisbehaved(
            f"selector {self.settings.selector!r} returned {_shown(selection)} for {count} candidates, but "
            f"must return a Selection with an `int` index in [0, {count - 1}] and a finite `float` score; "
            "correct it with screensearch.testing.check_selector, or choose another with select.selector"
        )


def _shown(value: object) -> str:
    """A value for a message: one line, not a long one."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}…"
