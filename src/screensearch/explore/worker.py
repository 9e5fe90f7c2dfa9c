"""A worker: one environment, one mind, episodes until the run has enough. Where it runs is not its matter."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from screensearch.config import Settings
from screensearch.domain.transition import EpisodeId
from screensearch.environments.protocol import Environment, Means, TruthTeller
from screensearch.errors import EnvironmentFailed
from screensearch.explore.mind import Mind
from screensearch.explore.step import Store, Witness, explore_episode
from screensearch.record.artifacts import Artifacts
from screensearch.record.run import ARTIFACTS, TRUTH
from screensearch.record.truth import TruthNotes

EMPTY_EPISODES = 3
"""So many episodes in a row without a single action mean that there is nothing to explore."""


async def work(
    world: Environment,
    store: Store,
    settings: Settings,
    *,
    folder: Path,
    worker: int,
    seed: int,
    first_episode: int,
) -> None:
    """Run episodes until a receipt says that the run has enough."""
    artifacts = Artifacts(folder / ARTIFACTS) if settings.explore.screenshots == "all" else None
    mind = Mind(settings, world.application, artifacts)
    number, empty = first_episode, 0
    with _witness(world, folder / TRUTH, worker) as witness:
        while True:
            world_seed, choice_seed = np.random.SeedSequence(seed, spawn_key=(worker, number)).spawn(2)
            mind.start_episode(choice_seed)
            last = await explore_episode(
                world,
                store,
                mind,
                EpisodeId(worker, number),
                seed=int(world_seed.generate_state(1, np.uint64)[0]),
                length=settings.explore.episode_steps,
                witness=witness,
            )
            if not last.receipt.proceed:
                mind.tell_counts()
                return
            empty = empty + 1 if last.step == 0 else 0
            if empty == EMPTY_EPISODES:
                raise EnvironmentFailed(
                    f"{world.application!r} offered no action on its first screen in {empty} episodes; "
                    "check the candidates and guard settings and that its elements can be clicked"
                )
            number += 1


def means_of(settings: Settings) -> Means:
    """What a run with these settings lends an environment."""
    return Means(
        screenshots=settings.explore.screenshots == "all", app=settings.app, desktop=settings.desktop
    )


@contextlib.contextmanager
def _witness(world: Environment, folder: Path, worker: int) -> Iterator[Witness | None]:
    """Note the truth of every observation beside the run, where the environment knows it."""
    if not isinstance(world, TruthTeller):
        yield None
        return
    teller = world
    with TruthNotes(folder, worker) as notes:
        yield lambda episode, step: notes.note(episode, step, teller.truth())
