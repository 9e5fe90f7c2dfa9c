"""Applications as Gymnasium environments. Importing this module registers them.

    import gymnasium
    import screensearch.agents.gym

    env = gymnasium.make("ScreenSearch-v0", environment="synthetic:notepad")

``gymnasium.make("screensearch.agents.gym:ScreenSearch-v0", …)`` imports it by itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screensearch.agents.arrays import (
    FLAGS,
    ROLE_NUMBERS,
    TEMPLATE_NUMBERS,
    WINDOWS,
    ArrayEncoder,
    Arrays,
    Sizes,
    action_mask,
    pixels,
)
from screensearch.agents.driver import Beginning, Driver, Sight
from screensearch.agents.loop import LoopThread
from screensearch.agents.memory import Memory
from screensearch.config import DESKTOP, Settings, check_deadlines, resolve, settings_for
from screensearch.domain.screen import Image, Observation, StateId
from screensearch.domain.transition import Outcome, Reward
from screensearch.environments.protocol import Environment
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, PluginUnavailable, SettingsError
from screensearch.explore.consent import check_consent
from screensearch.explore.messages import DECIDED
from screensearch.explore.worker import means_of

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as problem:
    raise PluginUnavailable(
        "Gymnasium is not installed: install the extra, as in `pip install 'screensearch[agents]'`"
    ) from problem

INVALID = "invalid"
"""The outcome of an action that the mask ruled out: nothing was done."""

ENDINGS = tuple(each.value for each in Outcome if each not in DECIDED and each is not Outcome.LOST)
"""Outcomes after which an episode cannot go on: capture, crash, hang, exit."""

PAPER = "paper"
"""The reward of eq. 5, against the environment's own graph, with the settings of the table ``reward``."""

EPISODE_STEPS = 50
"""Steps of an episode before it is truncated, unless ``max_episode_steps`` says otherwise."""

_CLOSE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Step:
    """One step, as a reward of your own is given it. `target` and `after` are None after a failure."""

    source: StateId
    signature: str  # empty if the action was invalid
    outcome: str  # an `Outcome`, or "invalid"
    target: StateId | None
    before: Observation
    after: Observation | None
    reward: Reward | None  # the terms of eq. 5, if it ended `ok`


class ScreenSearchEnv(gymnasium.Env[Arrays, np.int64]):
    """An application as a Gymnasium environment: a screen as arrays, an action as its place in a list.

    `environment` is what ``screensearch explore`` takes: ``synthetic:notepad``, the name of a profile such as
    ``mousepad``, the path of a profile, a command as a sequence of words; or an environment object.

    An action is the number of a candidate, counted from 0, as ``info["signatures"]`` lists them. The numbers
    belong to this screen only; signatures are the same everywhere. An action that ``info["action_mask"]``
    rules out does nothing: its reward is `invalid_reward`, its outcome ``invalid``, and the episode goes on.

    The reward is ``"paper"`` (eq. 5 against the environment's own graph), ``"none"`` (always 0), or a
    function of a `Step`. That graph lasts over episodes. A reset with a seed begins a new one, so that all
    that follows is a matter of the seed and the actions, as far as the application itself allows.

    After a crash, a hang, an exit or a capture an episode is over: `terminated` for those in `terminate_on`,
    `truncated` for the others; its observation is the last one, with nothing to do. What happens to the
    machinery and not to the application raises `EnvironmentFailed`, and never earns a reward.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 (as its base)

    def __init__(
        self,
        environment: str | Sequence[str] | Environment = "synthetic:notepad",
        *,
        preset: str | Path = "default",
        overrides: Sequence[str] = (),
        reward: str | Callable[[Step], float] = PAPER,
        invalid_reward: float = 0.0,
        terminate_on: Sequence[str] = ENDINGS,
        elements: int = 256,
        candidates: int = 128,
        text_dimensions: int = 16,
        screenshot: tuple[int, int] | None = None,
        render_mode: str | None = None,
        unsandboxed: bool = False,
        allow_irreversible: bool = False,
    ) -> None:
        self.render_mode = _checked("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self._reward = reward if callable(reward) else _checked("reward", reward, (PAPER, "none"))
        self._terminal = frozenset(_checked("terminate_on", each, ENDINGS) for each in terminate_on)
        self._invalid_reward = float(invalid_reward)
        sizes = Sizes(elements, candidates, text_dimensions, screenshot)
        name, settings = _target(environment, preset, overrides)
        pictures = "all" if screenshot is not None or render_mode is not None else "none"
        settings = replace(settings, explore=replace(settings.explore, screenshots=pictures))
        check_consent(settings, unsandboxed, allow_irreversible)
        self._settings = settings
        self._memory = Memory(settings)
        self._sight: Sight | None = None
        self._state: StateId | None = None  # None: no episode, or it is over
        self._loop = LoopThread()
        try:
            self._driver = self._wait(_open(environment, name, settings), "open")
        except BaseException:
            self._loop.stop()
            raise
        # Also when it is forgotten: a sandbox is not to outlive the one who uses it.
        self._release = weakref.finalize(self, _release, self._loop, self._driver)
        self._encoder = ArrayEncoder(sizes, self._driver.application, settings.candidates)
        self.action_space = spaces.Discrete(candidates)
        self.observation_space = _space(sizes, self._encoder.arguments)

    # -- Gymnasium ------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, dict[str, Any]]:
        """Begin an episode. With a seed, begin everything anew.

        ``options={"configuration": {"display_mode": "dark"}}`` asks for episodes that begin so.
        """
        super().reset(seed=seed)
        wanted = _wanted(options)
        if seed is not None:
            self._memory = Memory(self._settings)
        self._state = None
        begun: Beginning = self._wait(self._driver.begin(self._seeds(), wanted), "reset")
        self._sight = begun.sight
        self._state = self._memory.begin(begun.sight.screen)
        info = self._info("", "")
        info["configuration"] = dict(begun.configuration)
        info["failed_starts"] = begun.failed
        return self._encoder.encode(begun.sight.observation, begun.sight.candidates), info

    def step(self, action: np.int64) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        """Do one action: observation, reward, terminated, truncated, info."""
        before, source = self._sight, self._state
        if before is None or source is None:
            raise gymnasium.error.ResetNeeded("there is no episode to act in: call reset first")
        place = int(action)
        if not 0 <= place < min(len(before.candidates), self._encoder.sizes.candidates):
            seen = before.observation
            done = Step(source, "", INVALID, source, seen, seen, None)
            worth = self._reward(done) if callable(self._reward) else self._invalid_reward
            return self._answer(done, float(worth), "nothing was done: the mask rules this action out")
        chosen = before.candidates[place]
        self._state = None  # an infrastructure failure ends the episode
        turn = self._wait(self._driver.perform(chosen), "perform an action")
        screen = None if turn.sight is None else turn.sight.screen
        target, earned = self._memory.step(source, chosen.signature, turn.outcome, screen)
        after = None if turn.sight is None else turn.sight.observation
        done = Step(source, chosen.signature, turn.outcome.value, target, before.observation, after, earned)
        if turn.sight is not None:
            self._sight = turn.sight
        self._state = target
        return self._answer(done, self._worth(done), turn.note)

    def render(self) -> NDArray[np.uint8] | None:
        """The latest screen as RGB, if that is the render mode."""
        if self.render_mode is None:
            return None
        picture: Image | None = None if self._sight is None else self._sight.observation.screenshot
        if picture is None:
            raise EnvironmentFailed("there is no picture to render: call reset first")
        return pixels(picture)

    def close(self) -> None:
        """End the application and release its sandbox. Safe to call twice."""
        self._state = None
        self._release()

    # -- besides --------------------------------------------------------------------------------

    @property
    def memory(self) -> Memory:
        """What the agent has been through since the last reset with a seed."""
        return self._memory

    @property
    def sight(self) -> Sight | None:
        """What the latest arrays were made of: the observation and the candidates themselves."""
        return self._sight

    def _seeds(self) -> Iterator[int]:
        while True:
            yield int(self.np_random.integers(0, 2**63 - 1))

    def _wait(self, doing: Any, what: str) -> Any:
        if not self._loop.running:
            doing.close()
            raise EnvironmentFailed("this environment is closed; make a new one")
        return self._loop.run(doing, seconds=self._settings.explore.step_deadline_seconds, what=what)

    def _worth(self, done: Step) -> float:
        if callable(self._reward):
            return float(self._reward(done))
        return done.reward.total if self._reward == PAPER and done.reward is not None else 0.0

    def _answer(
        self, done: Step, worth: float, note: str
    ) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        sight = self._sight
        assert sight is not None  # there was an episode
        over = done.outcome in ENDINGS
        offered = () if over else sight.candidates
        terminated = over and done.outcome in self._terminal
        info = self._info(done.outcome, note)
        if done.reward is not None:
            terms = done.reward
            info["reward"] = {"state": terms.state, "edge": terms.edge, "ambiguity": terms.ambiguity}
        return self._encoder.encode(sight.observation, offered), worth, terminated, over != terminated, info

    def _info(self, outcome: str, note: str) -> dict[str, Any]:
        sight, sizes = self._sight, self._encoder.sizes
        offered = () if sight is None or self._state is None else sight.candidates
        return {
            "action_mask": action_mask(offered[: sizes.candidates], sizes),
            "signatures": tuple(each.signature for each in offered[: sizes.candidates]),
            "left_out": max(0, len(offered) - sizes.candidates),
            "vetoed": 0 if sight is None else sight.vetoed,
            "state": -1 if self._state is None else self._state,
            "outcome": outcome,
            "note": note,
            "states": self._memory.graph.states,
            "edges": self._memory.graph.edges,
        }


async def _open(environment: str | Sequence[str] | Environment, name: str, settings: Settings) -> Driver:
    """In the loop that the environment will live in: it may want one from its first moment."""
    if isinstance(environment, str | Sequence):
        return Driver(open_environment(name, means_of(settings)), name, settings)
    return Driver(environment, name, settings)


def _release(loop: LoopThread, driver: Driver) -> None:
    try:
        if loop.running:
            loop.run(driver.close(), seconds=_CLOSE_SECONDS, what="close")
    finally:
        loop.stop()


def _target(
    environment: str | Sequence[str] | Environment, preset: str | Path, overrides: Sequence[str]
) -> tuple[str, Settings]:
    """The environment's name and the settings it is driven with."""
    if not isinstance(environment, str | Sequence):
        return "", resolve(preset, overrides=overrides)
    name, settings = settings_for(environment, preset, overrides)
    if name.partition(":")[0] == DESKTOP:
        check_deadlines(settings)
    return name, settings


def _wanted(options: Mapping[str, Any] | None) -> dict[str, str]:
    given = dict(options or {})
    wanted = given.pop("configuration", {})
    if given:
        raise SettingsError(f"reset knows no option {', '.join(map(repr, given))} (known: 'configuration')")
    if not isinstance(wanted, Mapping):
        raise SettingsError(f"the option 'configuration' is {wanted!r}; it must be a mapping of texts")
    return {str(name): str(value) for name, value in wanted.items()}


def _checked(name: str, value: Any, known: Sequence[Any]) -> Any:
    if value not in known:
        raise SettingsError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, known))}")
    return value


def _space(sizes: Sizes, arguments: int) -> spaces.Dict:
    """The space of the arrays of `ArrayEncoder`."""
    rows, actions = sizes.elements, sizes.candidates
    highest = np.array([len(TEMPLATE_NUMBERS), rows, arguments - 1], np.int32)
    parts: dict[str, spaces.Space[Any]] = {
        "role": spaces.Box(0, len(ROLE_NUMBERS), (rows,), np.int16),
        "box": spaces.Box(0.0, 1.0, (rows, 4), np.float32),
        "flags": spaces.Box(0, 1, (rows, len(FLAGS)), np.int8),
        "text": spaces.Box(-1.0, 1.0, (rows, sizes.text_dimensions), np.float32),
        "window": spaces.Discrete(len(WINDOWS) + 1),
        "candidates": spaces.Box(
            np.zeros((actions, 3), np.int32), np.tile(highest, (actions, 1)), dtype=np.int32
        ),
        "action_mask": spaces.Box(0, 1, (actions,), np.int8),
    }
    if sizes.screenshot is not None:
        parts["screenshot"] = spaces.Box(0, 255, (*sizes.screenshot, 3), np.uint8)
    return spaces.Dict(parts)


def _register() -> None:
    """A live application may do anything; the synthetic world does the same for the same seed."""
    entry_point = f"{__name__}:ScreenSearchEnv"
    for name, varies in (("ScreenSearch-v0", True), ("ScreenSearchSynthetic-v0", False)):
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point, nondeterministic=varies, max_episode_steps=EPISODE_STEPS)


_register()
