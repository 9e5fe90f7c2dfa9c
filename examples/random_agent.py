"""Let an agent of your own drive an application: here one that acts at random, with Gymnasium.

    python examples/random_agent.py [folder] [environment]

The reward is that of the paper: new states, new edges, and movement towards lower ambiguity.
"""

from __future__ import annotations

import sys

import gymnasium

import screensearch.agents.gym  # noqa: F401 - registers the environment

STEPS = 300


def main(folder: str = "", environment: str = "synthetic:notepad") -> None:
    """Act at random for some episodes. Nothing is stored, so the folder is not used."""
    env = gymnasium.make("ScreenSearch-v0", environment=environment)
    env.action_space.seed(7)
    _, info = env.reset(seed=7)
    earned, episodes = 0.0, 1
    for _ in range(STEPS):
        action = env.action_space.sample(info["action_mask"])
        _, reward, terminated, truncated, info = env.step(action)
        earned += float(reward)
        if terminated or truncated:
            _, info = env.reset()
            episodes += 1
    print(
        f"{STEPS} steps in {episodes} episodes: {info['states']} states, {info['edges']} edges, "
        f"{earned:.1f} earned"
    )
    env.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
