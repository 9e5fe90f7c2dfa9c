"""Replay a route so many times: open its environment, walk, close it, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from screensearch.config import DESKTOP, check_deadlines
from screensearch.environments.protocol import Environment, Means
from screensearch.environments.specification import open_environment
from screensearch.errors import SettingsError
from screensearch.explore.beginning import OBJECT, check_no_loop_runs
from screensearch.explore.consent import check_consent
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.result import Replay, Walk
from screensearch.explore.replay.route import Route
from screensearch.explore.replay.walk import OnSeen, Walker


def replay_route(
    route: Route,
    *,
    times: int = 1,
    lenient: bool = False,
    judge: Judge | None = None,
    environment: Environment | None = None,
    seed: int = 0,
    pictures: str | Path | None = None,
    on_walk: Callable[[Walk], None] = lambda walk: None,
    on_seen: OnSeen = lambda number, seen: None,
    unsandboxed: bool = False,
    allow_irreversible: bool = False,
) -> Replay:
    """Walk a route so many times, each time from a fresh start, and tell what came of it.

    A walk ends at the first step that does not come out. With `lenient`, one that leads to another state goes
    on as long as the target of the next action is there; the last state must be right all the same. `judge`
    says which state a screen is; without one, only the states of the route are known. `environment` is an
    object to drive, for a route of one that has no name; it is left open. `seed` decides what is left to
    chance in a synthetic world. `pictures` is a folder for the screenshots. Routes that leave the sandbox
    need `unsandboxed` and `allow_irreversible` as explorations do.
    """
    if times < 1:
        raise SettingsError(f"a route is walked at least once, not {times} times")
    check_consent(route.settings, unsandboxed, allow_irreversible)
    check_no_loop_runs("a replay")
    if environment is None:
        check_named(route)
    judge = judge or Judge.of_screens(route.settings, route.screens)
    folder = None if pictures is None else Path(pictures)

    async def conduct() -> Replay:
        world = environment or open_environment(route.environment, _means(route, pictures=folder is not None))
        try:
            walker = Walker(route, judge, world, lenient=lenient, pictures=folder, on_seen=on_seen)
            walks: list[Walk] = []
            for number in range(1, times + 1):
                walk = await walker.walk(number, seed)
                walks.append(walk)
                on_walk(walk)
        finally:
            if environment is None:
                await world.close()
        return Replay(route, tuple(walks))

    return asyncio.run(conduct())


def _means(route: Route, *, pictures: bool) -> Means:
    return Means(screenshots=pictures, app=route.settings.app, desktop=route.settings.desktop)


def check_named(route: Route) -> None:
    """Raise unless the environment of a route can be opened by its name."""
    if route.environment.startswith(OBJECT):
        raise SettingsError(
            f"this route drives an object, {route.environment.removeprefix(OBJECT)!r}, which has no name to "
            "open it by: replay it from Python, with screensearch.replay_route and such an object"
        )
    if route.environment.partition(":")[0] == DESKTOP:
        check_deadlines(route.settings)
