"""Applications of any size, computed and never stored: a step costs the same at 10² and at 10⁶ states.

Structure. True states are 0 … n−1. They form a tree (child i of s is s·t + 1 + i), so that every state
can be reached from the start in about log n steps; the other actions lead to pseudo-random states;
Home leads to the start and Back to the parent. Aliasing share a: there are v = n/(1+a) screens, of
which a·v stand for two true states, the *twins*, which differ in a hidden mode. Twins offer the same
actions, and at least one of them, by construction, leads to different screens. All other screens stand
for one state whose actions are certain (unless `races` asks for random ones).

Looks. A screen's number, scrambled by a bijection, is four digits to base 64. Every control shows a
word picked by one digit through a bijection of its own, a quarter of the controls per digit. Two
screens differ in at least one digit, hence in at least a quarter of their words: with m ≥ 36 words and
15 common texts the text overlap is at most (15 + ¾m)/(15 + 1¼m) ≤ 0.70, the score at most 0.85 < 0.93.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from screensearch.domain.transition import Outcome
from screensearch.environments.synthetic.looks import foreign_scene, holds, screen_scene
from screensearch.environments.synthetic.model import Branch, Deed
from screensearch.environments.synthetic.scene import Placement, Scene
from screensearch.environments.synthetic.truth import TruthSummary
from screensearch.errors import SettingsError

MASK = (1 << 64) - 1
MOST_STATES = 10_000_000
MOST_BRANCHES = 32
RACE = 0.4
CAPTURED = -1
"""The state while another application holds the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorSettings:
    """What a generated application is like."""

    states: int = 1_000  # true states, 2 … 10⁷
    branching: int = 8  # actions that lead elsewhere, 2 … 32
    aliasing: float = 0.2  # share of the screens that stand for two true states, [0, 1]
    races: float = 0.0  # share of the screens with one action of random outcome, [0, 1]
    hazards: float = 0.01  # share of the non-tree actions that crash, hang or capture, [0, 1]
    seed: int = 0  # of the structure; episodes have seeds of their own

    def __post_init__(self) -> None:
        for name, least, most in (("states", 2, MOST_STATES), ("branching", 2, MOST_BRANCHES)):
            _within(name, getattr(self, name), least, most)
        for name in ("aliasing", "races", "hazards"):
            _within(name, getattr(self, name), 0.0, 1.0)


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise SettingsError(f"synthetic:generated: {name}={value!r} is not within {least} … {most}")


def mix(*numbers: int) -> int:
    """A 64-bit hash (splitmix64 over its arguments): the same everywhere, and cheap."""
    x = 0
    for number in numbers:
        x = (x ^ number) + 0x9E3779B97F4A7C15 & MASK
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
        x ^= x >> 31
    return x


class Structure:
    """The true graph, one step at a time."""

    def __init__(self, settings: GeneratorSettings) -> None:
        self.settings = settings
        # At least half as many screens as states: a screen stands for two of them at the most.
        self.screens = max(round(settings.states / (1 + settings.aliasing)), math.ceil(settings.states / 2))
        self.twins = settings.states - self.screens
        self._tree = max(2, settings.branching // 2)
        # An affine bijection of the screens spreads the twinned ones: v ↦ a·v + c modulo their number.
        factor = mix(settings.seed, 1) % self.screens | 1
        while math.gcd(factor, self.screens) != 1:
            factor += 2
        self._factor = factor
        self._inverse = pow(factor, -1, self.screens)
        self._offset = mix(settings.seed, 2) % self.screens

    def screen(self, state: int) -> int:
        """The screen that a state shows."""
        if state < self.screens:
            return state
        return ((state - self.screens) * self._factor + self._offset) % self.screens

    def mode(self, state: int) -> int:
        """Which twin it is: the hidden variable."""
        return int(state >= self.screens)

    def twinned(self, screen: int) -> bool:
        return (screen - self._offset) * self._inverse % self.screens < self.twins

    def racing(self, screen: int) -> bool:
        """Whether the last action of this screen has a random outcome."""
        return mix(self.settings.seed, 3, screen) < self.settings.races * MASK

    def aliased(self, screen: int) -> bool:
        return self.twinned(screen) or self.racing(screen)

    def parent(self, state: int) -> int:
        return (state - 1) // self._tree if state else 0

    def telling(self, screen: int) -> int:
        """The action of a twinned screen whose successors are sure to differ."""
        branching, tree = self.settings.branching, self._tree
        draw = mix(self.settings.seed, 4, screen)
        return tree + draw % (branching - tree) if branching > tree else draw % branching

    def successor(self, state: int, action: int) -> int:
        """Where an action leads, hazards and races aside."""
        n, seed = self.settings.states, self.settings.seed
        child = state * self._tree + 1 + action
        if action < self._tree and child < n:
            return child
        screen = self.screen(state)
        common = mix(seed, 5, screen, action) % n
        if state < self.screens or action != self.telling(screen):
            return common
        other = self.screen(self.successor(screen, action))  # the first twin has its screen's number
        return self._elsewhere(mix(seed, 6, state, action) % n, other)

    def rival(self, state: int, action: int) -> int:
        """The other outcome of a race."""
        other = self.screen(self.successor(state, action))
        return self._elsewhere(mix(self.settings.seed, 7, state, action) % self.settings.states, other)

    def hazard(self, screen: int, action: int) -> Outcome | None:
        """Whether this action ends the episode, and how. Tree and telling actions never do."""
        if action < self._tree or not self.settings.hazards:
            return None
        draw = mix(self.settings.seed, 8, screen, action)
        if draw >= self.settings.hazards * MASK or action == self.telling(screen):
            return None
        return (Outcome.CRASH, Outcome.HANG, Outcome.CAPTURE)[draw % 3]

    def _elsewhere(self, state: int, screen: int) -> int:
        """The state itself, or the next one that does not show `screen`."""
        for step in range(self.settings.states):
            candidate = (state + step) % self.settings.states
            if self.screen(candidate) != screen:
                return candidate
        return state

    def summary(self) -> TruthSummary:
        """Exact, except that the number of racing screens is not known without visiting all."""
        return TruthSummary(self.settings.states, self.screens, None if self.settings.races else self.twins)


class GeneratedModel:
    """A generated application as the world's model."""

    application = "workbench"

    def __init__(self, settings: GeneratorSettings) -> None:
        self.structure = Structure(settings)
        self._looks_seed = mix(settings.seed, 9)

    def begin(self, rng: random.Random) -> int:
        return 0

    def configuration(self, state: int) -> dict[str, str]:
        return {"display_mode": "light", "text_scale": "1.0"}

    def outcomes(self, state: int, deed: Deed) -> tuple[Branch[int], ...]:
        structure = self.structure
        screen = structure.screen(state)
        if deed.key and not holds(screen, self._looks_seed, deed.key):
            return (Branch(1.0, state, Outcome.MISSED, "the target is not on this screen"),)
        if deed.template not in ("focus_click", "double_click"):
            return (Branch(1.0, state),)
        kind, _, number = deed.key.partition(".")
        if kind != "slot":
            target = {"home": 0, "back": structure.parent(state)}.get(deed.key, state)
            return (Branch(1.0, target),)
        action = int(number)
        if action >= structure.settings.branching:
            return (Branch(1.0, state),)
        racing = action == structure.settings.branching - 1 and structure.racing(screen)
        if not racing:
            hazard = structure.hazard(screen, action)
            if hazard is Outcome.CAPTURE:
                return (Branch(1.0, CAPTURED, hazard, "visitor took the input"),)
            if hazard is not None:
                return (Branch(1.0, state, hazard, f"generated {hazard}"),)
        target = structure.successor(state, action)
        if racing:
            return (Branch(1 - RACE, target), Branch(RACE, structure.rival(state, action)))
        return (Branch(1.0, target),)

    def scene(self, state: int, placement: Placement) -> Scene:
        if state == CAPTURED:
            return foreign_scene(placement)
        settings = self.structure.settings
        return screen_scene(self.structure.screen(state), self._looks_seed, settings.branching, placement)

    def backdrop(self, state: int, placement: Placement) -> Scene | None:
        return None

    def focused(self, state: int) -> str:
        return ""

    def truth(self, state: int) -> dict[str, Any]:
        if state == CAPTURED:
            return {"state": "captured", "screen": "captured", "aliased": False, "hidden": {}}
        screen = self.structure.screen(state)
        return {
            "state": state,
            "screen": screen,
            "aliased": self.structure.aliased(screen),
            "hidden": {"mode": self.structure.mode(state)},
            "declared_state": state,
            "declared_screen": screen,
        }
