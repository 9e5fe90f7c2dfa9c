"""A real editor as a Gymnasium environment."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import screensearch.agents.gym  # noqa: F401 - registers it


def test_gymnasiums_own_checker_finds_nothing_with_mousepad() -> None:
    env = gymnasium.make("ScreenSearch-v0", environment="mousepad", render_mode="rgb_array")
    try:
        check_env(env.unwrapped)
        _, info = env.reset(options={"configuration": {"display_mode": "dark"}})
        assert np.std(np.asarray(env.render())) > 0
        assert info["configuration"]["display_mode"] == "dark"
        menu = next(place for place, each in enumerate(info["signatures"]) if "help" in each)
        observation, reward, terminated, truncated, info = env.step(menu)
        assert (info["outcome"], terminated, truncated) == ("ok", False, False)
        assert float(reward) >= 1  # it had not been there
        assert observation in env.observation_space
    finally:
        env.close()
