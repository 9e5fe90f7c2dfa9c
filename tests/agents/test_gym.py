"""Applications as Gymnasium environments: Gymnasium's own checker, and what it cannot know."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from screensearch.agents.gym import ENDINGS, ScreenSearchEnv, Step
from screensearch.domain.action import Action
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import Result, Start, StartFailed
from screensearch.errors import EnvironmentFailed, ScreenSearchError, SettingsError

BOX = Box(0, 0, 400, 300)


class Button:
    """A world of one button: what a press of it comes to is given, one for each press."""

    application = "button"

    def __init__(self, *presses: Result | Exception, starts: tuple[Exception | None, ...] = ()) -> None:
        self.presses = list(presses)
        self.starts = list(starts)
        self.performed: list[Action] = []
        self.closed = 0
        self.thread: int | None = None

    async def reset(self, seed: int) -> Start:
        self.thread = threading.get_ident()
        failure = self.starts.pop(0) if self.starts else None
        if failure is not None:
            raise failure
        return Start(look("press me"), {"parity": "even" if seed % 2 == 0 else "odd"})

    async def perform(self, action: Action) -> Result:
        await asyncio.sleep(0)
        self.performed.append(action)
        result = self.presses.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def close(self) -> None:
        self.closed += 1


def look(*texts: str, secret: str = "") -> Observation:
    elements = [
        Element("button", text, Box(10, 10 + 40 * place, 80, 30), "button", clickable=True, handle=str(place))
        for place, text in enumerate(texts)
    ]
    if secret:
        field = Element(
            "edit", secret, Box(10, 200, 80, 30), "button", clickable=True, handle="s", secret=True
        )
        elements.append(field)
    return Observation(tuple(elements), Window("Button", "main", BOX, "button"))


@pytest.fixture
def make() -> Iterator[Any]:
    made: list[ScreenSearchEnv] = []

    def build(environment: Any = "synthetic:notepad", **arguments: Any) -> ScreenSearchEnv:
        made.append(ScreenSearchEnv(environment, **arguments))
        return made[-1]

    yield build
    for each in made:
        each.close()


# -- the contract ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ScreenSearch-v0", "ScreenSearchSynthetic-v0"])
def test_gymnasiums_own_checker_finds_nothing_render_included(name: str) -> None:
    env = gymnasium.make(name, environment="synthetic:notepad", render_mode="rgb_array", elements=64)
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


def test_the_checker_finds_nothing_with_a_picture_in_the_observation() -> None:
    env = gymnasium.make(
        "ScreenSearchSynthetic-v0", environment="synthetic:settings", screenshot=(60, 80), elements=40
    )
    try:
        check_env(env.unwrapped, skip_render_check=True)
        observation, _ = env.reset(seed=1)
        assert observation["screenshot"].shape == (60, 80, 3)
        assert observation["screenshot"].std() > 0
    finally:
        env.close()


def test_an_id_with_its_module_needs_no_import() -> None:
    env = gymnasium.make("screensearch.agents.gym:ScreenSearch-v0", environment="synthetic:files")
    env.close()


def test_the_same_seed_and_actions_give_the_same_course(make: Any) -> None:
    def course() -> list[Any]:
        env = make("synthetic:generated?states=200&hazards=0")
        chance = np.random.default_rng(5)
        seen = []
        observation, info = env.reset(seed=11)
        for _ in range(120):
            valid = np.flatnonzero(info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(chance.choice(valid))
            arrays = [value.tobytes() for value in observation.values()]
            seen.append((arrays, reward, terminated, truncated, info["state"], info["signatures"]))
            if terminated or truncated:
                _, info = env.reset()
        return seen

    assert course() == course()


def test_several_environments_run_side_by_side() -> None:
    several = gymnasium.make_vec(
        "ScreenSearch-v0", num_envs=2, vectorization_mode="sync", environment="synthetic:files", elements=16
    )
    try:
        observation, _ = several.reset(seed=1)
        ended = 0
        for _ in range(60):
            actions = np.array([np.argmax(mask) for mask in observation["action_mask"]])
            observation, _, terminated, truncated, _ = several.step(actions)
            ended += int(np.sum(terminated | truncated))
        assert observation["role"].shape == (2, 16)
        assert ended >= 2  # and each began again by itself
    finally:
        several.close()


def test_an_episode_is_truncated_at_its_limit() -> None:
    env = gymnasium.make("ScreenSearch-v0", environment="synthetic:settings", max_episode_steps=3)
    try:
        _, info = env.reset(seed=2)
        ends = []
        for _ in range(3):
            wait = next(i for i, each in enumerate(info["signatures"]) if each.startswith("wait@"))
            _, _, terminated, truncated, info = env.step(wait)
            ends.append((terminated, truncated))
        assert ends == [(False, False), (False, False), (False, True)]
    finally:
        env.close()


def test_the_page_names_every_argument_and_every_array(make: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "train-with-gymnasium.md").read_text(
        encoding="utf-8"
    )
    arguments = set(inspect.signature(ScreenSearchEnv).parameters)
    arrays = set(make(screenshot=(8, 8)).observation_space.spaces)
    assert sorted(name for name in arguments | arrays if f"`{name}`" not in page) == []


# -- observations ------------------------------------------------------------------------------------


def test_a_candidate_row_names_its_template_and_its_element(make: Any) -> None:
    env = make(Button())
    observation, info = env.reset(seed=1)
    assert [each.partition("::")[0] for each in info["signatures"]] == [
        "focus_click@1",
        "key@1",
        "scroll@1",
        "scroll@1",
        "wait@1",
    ]
    assert observation["candidates"][:6].tolist() == [
        [1, 1, 0],
        [7, 0, 3],
        [5, 0, 4],
        [5, 0, 5],
        [6, 0, 0],
        [0, 0, 0],
    ]
    assert observation["action_mask"].sum() == info["action_mask"].sum() == 5
    assert observation["box"][0].tolist() == pytest.approx([10 / 400, 10 / 300, 80 / 400, 30 / 300])
    assert observation["flags"][0].tolist() == [1, 0, 1, 0, 0, 1]


def test_what_can_be_acted_on_is_kept_when_elements_are_too_many(make: Any) -> None:
    seen = look("press me")
    texts = [Element("text", f"line {i}", Box(200, i, 50, 1), "button") for i in range(50)]
    crowded = Observation((*texts, *seen.elements), seen.window)
    env = make(Button(Result(Outcome.OK, crowded)), elements=8)
    env.reset(seed=1)
    observation, *_ = env.step(0)
    place = observation["candidates"][0][1]
    assert place == 8
    assert observation["flags"][place - 1][0] == 1


def test_a_box_that_is_no_place_stays_in_the_space(make: Any) -> None:
    odd = [
        Element("button", "odd", Box(x, 0, width, 1e300), "button", clickable=True, handle=str(x))
        for x, width in ((float("nan"), 1), (float("inf"), 1), (-1e308, 2e308), (0, -5))
    ]
    env = make(Button(Result(Outcome.OK, Observation(tuple(odd), Window("", "odd", BOX, "button")))))
    env.reset(seed=1)
    observation, *_ = env.step(0)
    assert observation in env.observation_space


def test_more_actions_than_fit_are_told(make: Any) -> None:
    env = make(Button(), candidates=2)
    _, info = env.reset(seed=1)
    assert (len(info["signatures"]), info["left_out"]) == (2, 3)


def test_a_secret_is_neither_in_the_observation_nor_in_a_signature(make: Any) -> None:
    world = Button(Result(Outcome.OK, look("a", secret="hunter2")), Result(Outcome.OK, look("a")))
    env = make(world, overrides=["guard.credentials=allow"])
    env.reset(seed=1)
    _, _, _, _, info = env.step(0)
    assert not any("hunter2" in each for each in info["signatures"])
    field = next(i for i, each in enumerate(info["signatures"]) if "redacted" in each)
    env.step(field)
    aimed = world.performed[-1].element
    assert aimed is not None
    assert aimed.text == "hunter2"  # the environment gets its own element back


# -- actions, rewards, ends --------------------------------------------------------------------------


def test_an_action_that_the_mask_rules_out_does_nothing(make: Any) -> None:
    world = Button()
    env = make(world, invalid_reward=-0.5)
    before, _ = env.reset(seed=1)
    after, reward, terminated, truncated, info = env.step(100)
    assert (reward, terminated, truncated, info["outcome"]) == (-0.5, False, False, "invalid")
    assert world.performed == []
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_reward_is_equation_5_against_the_environments_own_graph(make: Any) -> None:
    there, here = Result(Outcome.OK, look("a", "b", "c")), Result(Outcome.OK, look("press me"))
    env = make(Button(there, here, there, here), overrides=["reward.objective=novelty"])
    env.reset(seed=1)
    rewards = [env.step(0)[1] for _ in range(4)]
    assert rewards == [2.0, 1.0, 0.0, 0.0]  # a new state by a new edge; a new edge; nothing new
    env.reset()
    assert env.memory.graph.edges == 2  # it lasts over episodes
    env.reset(seed=1)
    assert env.memory.graph.edges == 0  # and a seed begins anew


def test_a_reward_of_ones_own_is_told_all_of_a_step(make: Any) -> None:
    told: list[Step] = []

    def reward(step: Step) -> float:
        told.append(step)
        return 7.0

    env = make(Button(Result(Outcome.OK, look("a"))), reward=reward)
    env.reset(seed=1)
    assert env.step(0)[1] == 7.0
    assert told[0].signature.startswith("focus_click@1")
    assert told[0].after is not None
    assert told[0].reward is not None


@pytest.mark.parametrize("outcome", ENDINGS)
def test_what_ends_an_application_ends_the_episode(outcome: str, make: Any) -> None:
    seen = look("other") if outcome == "capture" else None
    for ends_on, expected in (((outcome,), (True, False)), ((), (False, True))):
        env = make(Button(Result(Outcome(outcome), seen, "gone")), terminate_on=ends_on)
        env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(0)
        assert (reward, terminated, truncated) == (0.0, *expected)
        assert (info["outcome"], info["note"], info["state"]) == (outcome, "gone", -1)
        assert observation["action_mask"].sum() == 0
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)


def test_an_infrastructure_failure_raises_and_a_reset_goes_on(make: Any) -> None:
    env = make(Button(EnvironmentFailed("the display is gone"), Result(Outcome.OK, look("a"))))
    env.reset(seed=1)
    edges = env.memory.graph.edges
    with pytest.raises(EnvironmentFailed, match="the display is gone"):
        env.step(0)
    assert env.memory.graph.edges == edges
    env.reset()
    assert env.step(0)[1] == 2.0


def test_a_start_that_fails_is_tried_again_and_told(make: Any) -> None:
    crash = StartFailed(Outcome.CRASH, "killed by SIGSEGV")
    env = make(Button(starts=(crash, crash, None, crash, crash, crash)))
    _, info = env.reset(seed=1)
    assert info["failed_starts"] == ("crash: killed by SIGSEGV",) * 2
    with pytest.raises(StartFailed):
        env.reset()


def test_an_action_without_an_end_is_an_infrastructure_failure(make: Any) -> None:
    class Silent(Button):
        async def perform(self, action: Action) -> Result:
            await asyncio.Event().wait()
            raise AssertionError

    env = make(Silent(), overrides=["explore.step_deadline_seconds=0.05"])
    env.reset(seed=1)
    with pytest.raises(EnvironmentFailed, match=r"longer than 0\.05 s to perform an action"):
        env.step(0)


# -- configurations ----------------------------------------------------------------------------------


def test_a_configuration_can_be_asked_for(make: Any) -> None:
    env = make("synthetic:notepad?modes=light,dark")
    env.reset(seed=4)
    for mode in ("dark", "light", "dark"):
        _, info = env.reset(options={"configuration": {"display_mode": mode}})
        assert info["configuration"]["display_mode"] == mode


def test_a_configuration_that_never_comes_names_those_that_do(make: Any) -> None:
    env = make(Button())
    with pytest.raises(SettingsError, match=r"parity='neither'.*parity: even, odd"):
        env.reset(seed=1, options={"configuration": {"parity": "neither"}})
    with pytest.raises(SettingsError, match="no option 'configurations'"):
        env.reset(options={"configurations": {}})


# -- life and death ----------------------------------------------------------------------------------


def test_close_releases_the_world_once_and_nothing_can_be_done_after_it(make: Any) -> None:
    world = Button()
    env = make(world)
    env.reset(seed=1)
    assert world.thread != threading.get_ident()
    env.close()
    env.close()
    assert world.closed == 1
    with pytest.raises(EnvironmentFailed, match="closed"):
        env.reset()


def test_an_environment_that_is_forgotten_is_released() -> None:
    world = Button()
    env = ScreenSearchEnv(world)
    env.reset(seed=1)
    del env
    assert world.closed == 1


async def test_it_works_inside_of_a_running_loop(make: Any) -> None:
    env = make(Button(Result(Outcome.OK, look("a"))))
    env.reset(seed=1)
    assert env.step(0)[1] == 2.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"environment": "synthetic:notpad"},
        {"environment": "no_such_application"},
        {"render_mode": "human"},
        {"reward": "nothing"},
        {"terminate_on": ("ok",)},
        {"elements": 0},
        {"overrides": ["desktop.sandbox=false"]},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_when_it_is_made(arguments: dict[str, Any]) -> None:
    before = threading.active_count()
    with pytest.raises(ScreenSearchError):
        ScreenSearchEnv(**arguments)
    assert threading.active_count() == before


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "screensearch.agents.gym")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ScreenSearchError, match=r"screensearch\[agents\]"):
        importlib.import_module("screensearch.agents.gym")
