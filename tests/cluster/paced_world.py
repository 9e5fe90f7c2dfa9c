"""Worlds that are not as simple as the synthetic ones, as a plugin that the nodes of a cluster have.

In one, actions take a while: a world that needs nothing takes all of a processor for as long as a test waits
for something else. The other never shows its first screen.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from screensearch.domain.action import Action
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import Means, Result, Start, StartFailed
from screensearch.environments.synthetic import World
from screensearch.environments.synthetic import open_world as open_synthetic

STEP_SECONDS = 0.05


class PacedWorld:
    """What the synthetic world is, at a pace that leaves the processor to others."""

    def __init__(self, world: World[Any]) -> None:
        self._world = world
        self.application = world.application
        self.reset = world.reset
        self.close = world.close

    async def perform(self, action: Action) -> Result:
        await asyncio.sleep(STEP_SECONDS)
        return await self._world.perform(action)


class StumblingWorld(PacedWorld):
    """A world that ends whenever it is started."""

    def __init__(self, world: World[Any]) -> None:
        super().__init__(world)
        self.reset = self._stumble

    async def _stumble(self, seed: int) -> Start:
        raise StartFailed(Outcome.CRASH, "it said goodbye")


def open_stumbling(argument: str, means: Means) -> StumblingWorld:
    """Open ``stumbling:<argument>``."""
    return StumblingWorld(open_synthetic(argument, means))


def open_world(argument: str, means: Means) -> PacedWorld:
    """Open ``paced:<argument>``, whose argument is that of ``synthetic``."""
    return PacedWorld(open_synthetic(argument, means))


def install(folder: Path) -> None:
    """Put this plugin into a folder, as if the package that it is of were installed there."""
    shutil.copy(__file__, folder)
    described = folder / "paced_world-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: paced_world\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(
        "[screensearch.environments]\n"
        "paced = paced_world:open_world\n"
        "stumbling = paced_world:open_stumbling\n"
    )


def python_path(folder: Path) -> Mapping[str, str]:
    """The environment variable with which a process of Python finds what is in a folder."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))}
