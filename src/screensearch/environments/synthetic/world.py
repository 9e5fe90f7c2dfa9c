"""The synthetic environment: samples from a model, adds noise, paints screenshots, knows the truth."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from screensearch.domain.action import Action
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import Result, Start
from screensearch.environments.synthetic.model import UNIT_HEIGHT, UNIT_WIDTH, Branch, Deed
from screensearch.environments.synthetic.noise import Noise
from screensearch.environments.synthetic.render import render
from screensearch.environments.synthetic.scene import Placement, Scene
from screensearch.errors import EnvironmentFailed, SettingsError

S = TypeVar("S")

TEMPLATES = (
    "focus_click@1",
    "double_click@1",
    "right_click@1",
    "focus_type@1",
    "scroll@1",
    "wait@1",
    "key@1",
)
"""What `World.perform` executes. Arguments: ``text``; ``direction`` (and ``amount``); ``key``."""

CORNERS = ((0, 0), (20, 16), (44, 32), (72, 52))
"""Where the main window may stand on the desktop, in pixels."""


MOST_LOOKS = 20_000
"""How many seeds are looked at for one that gives a certain configuration: there are far fewer of those."""


class Model(Protocol[S]):
    """What the world needs to know about an application: a declared one, or a generated one."""

    application: str

    def begin(self, rng: random.Random) -> S:
        """An initial state."""
        ...

    def configuration(self, state: S) -> dict[str, str]:
        """What varied at the start of this episode."""
        ...

    def outcomes(self, state: S, deed: Deed) -> Sequence[Branch[S]]:
        """Everything that may follow; probabilities sum to 1."""
        ...

    def scene(self, state: S, placement: Placement) -> Scene:
        """How the state looks, without noise."""
        ...

    def backdrop(self, state: S, placement: Placement) -> Scene | None:
        """The window behind, for the screenshot."""
        ...

    def focused(self, state: S) -> str:
        """Which focusable control has the focus."""
        ...

    def truth(self, state: S) -> dict[str, Any]:
        """``state``, ``screen``, ``aliased`` and ``hidden``, as JSON values."""
        ...


class World(Generic[S]):
    """One instance of a synthetic application (an `Environment` and a `TruthTeller`).

    Everything follows from the seed given to `reset` and the actions since: what happens and what
    noise adds draw from two generators of their own.
    """

    def __init__(
        self, model: Model[S], *, screenshots: bool, noise: float, scales: tuple[float, ...] = (1.0,)
    ) -> None:
        self.application = model.application
        self._model = model
        self._screenshots = screenshots
        self._level = noise
        self._scales = scales
        self._state: S | None = None
        self._ended: Outcome | None = None
        self._closed = False

    async def reset(self, seed: int) -> Start:
        """Begin an episode: initial state, placement, clock and all chances come from the seed."""
        configuration = self._begin(seed)
        assert self._state is not None  # it has begun
        return Start(self._observe(self._state), configuration)

    async def reset_as(self, configuration: Mapping[str, str], seed: int) -> Start:
        """Begin with this configuration: the seed decides the chances after it."""
        seeds = random.Random(f"{seed}/configured")  # noqa: S311 - a simulation, not a secret
        for _ in range(MOST_LOOKS):
            if self._begin(seeds.getrandbits(63)) == configuration:
                assert self._state is not None  # it has begun
                return Start(self._observe(self._state), configuration)
        raise SettingsError(
            f"the {self.application} world as it is opened here never begins with {dict(configuration)}"
        )

    def _begin(self, seed: int) -> dict[str, str]:
        """Draw an initial state; says what varied in it."""
        if self._closed:
            raise EnvironmentFailed(f"the {self.application} world is closed; open a new one")
        self._rng = random.Random(f"{seed}/events")  # noqa: S311 - a simulation, not a secret
        self._noise = Noise(self._level, f"{seed}/noise")
        scale = self._rng.choice(self._scales)
        corner = self._rng.choice(CORNERS)
        self._placement = Placement(round(corner[0] * scale), round(corner[1] * scale), scale)
        self._state = self._model.begin(self._rng)
        self._ended = None
        return {
            **self._model.configuration(self._state),
            "window_place": f"{self._placement.x},{self._placement.y}",
            "window_size": f"{round(30 * UNIT_WIDTH * scale)}x{round(30 * UNIT_HEIGHT * scale)}",
        }

    async def perform(self, action: Action) -> Result:
        """Execute one action (see `TEMPLATES`); after anything but `OK` and `MISSED`, reset."""
        state = self._running()
        branches = self._model.outcomes(state, _deed(action))
        branch = branches[0] if len(branches) == 1 else self._pick(branches)
        self._state = branch.state
        if branch.outcome is Outcome.OK or branch.outcome is Outcome.MISSED:
            return Result(branch.outcome, self._observe(branch.state), branch.note)
        self._ended = branch.outcome
        seen = self._observe(branch.state) if branch.outcome is Outcome.CAPTURE else None
        return Result(branch.outcome, seen, branch.note)

    async def close(self) -> None:
        """Forget the episode. Safe to call twice."""
        self._closed = True
        self._state = None

    def truth(self) -> Mapping[str, Any]:
        """The truth about the latest observation; `screen` is absent when nothing could be seen.

        ``state`` is the true state, ``screen`` the true screen (equal iff a careful human would call
        it the same screen), ``aliased`` whether some action on this screen has several possible
        successor screens, ``hidden`` the hidden variables. ``declared_state`` and ``declared_screen`` are
        the ones that `declared` counts it as: without seeded content, and with sample texts.
        """
        if self._state is None:
            raise EnvironmentFailed(f"the {self.application} world has no episode; call reset first")
        truth = self._model.truth(self._state)
        if self._ended in (Outcome.CRASH, Outcome.HANG):
            return {**truth, "screen": None, "aliased": False}
        return truth

    def _running(self) -> S:
        if self._state is None or self._ended is not None:
            why = f"the episode ended with {self._ended}" if self._ended else "there is no episode"
            raise EnvironmentFailed(f"cannot act on {self.application}: {why}; call reset first")
        return self._state

    def _pick(self, branches: Sequence[Branch[S]]) -> Branch[S]:
        left = self._rng.random()
        for branch in branches:
            left -= branch.probability
            if left < 0:
                return branch
        return branches[-1]

    def _observe(self, state: S) -> Observation:
        scene = self._model.scene(state, self._placement)
        elements = self._noise.shown(scene, self._model.focused(state))
        screenshot = None
        if self._screenshots:
            behind = self._model.backdrop(state, self._placement)
            screenshot = render(scene, elements, behind, self._placement.scale)
        return Observation(elements, scene.window, scene.display_mode, scene.text_scale, False, screenshot)


def _deed(action: Action) -> Deed:
    """Translate an action; an unknown template or a missing element is the caller's mistake."""
    if action.template not in TEMPLATES:
        raise EnvironmentFailed(f"no template {action.template!r} here (known: {', '.join(TEMPLATES)})")
    template = action.template[:-2]
    element = action.element
    key = "" if element is None else element.handle or "no handle"
    if template in ("focus_click", "double_click", "right_click"):
        if element is None:
            raise EnvironmentFailed(f"{action.template} needs an element to click on")
        return Deed(template, key)
    arguments = dict(action.arguments)
    if template == "focus_type":
        if element is None:
            raise EnvironmentFailed("focus_type@1 needs an element to type into")
        return Deed(template, key, str(arguments.get("text", "")))
    if template == "scroll":
        return Deed(template, key, str(arguments.get("direction", "down")).lower())
    if template == "key":
        return Deed(template, "", str(arguments.get("key", "")).lower())
    return Deed(template)
