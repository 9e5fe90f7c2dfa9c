"""What is checked before a run begins or goes on, wherever its workers are, and what a new one is made of."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from screensearch.act.guard import GUARDS
from screensearch.config import DESKTOP, Settings, check_deadlines, settings_document
from screensearch.environments.protocol import ENVIRONMENTS
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, ScreenSearchError, SettingsError
from screensearch.explore.mind import Mind
from screensearch.explore.store import make_resolver
from screensearch.explore.worker import means_of
from screensearch.record.artifact_location import read_location
from screensearch.record.artifacts import open_artifacts
from screensearch.record.run import Manifest, Provenance, RunFolder
from screensearch.select.choose import policy_named
from screensearch.select.priors import PRIORS
from screensearch.select.selectors import SELECTORS

LARGEST_SEED = 2**63 - 1

OBJECT = "object:"
"""How a manifest names an environment that was an object of the caller's, not a plugin."""


def new_manifest(
    environment: str,
    settings: Settings,
    *,
    seed: int,
    store: str,
    artifacts: str,
    remerged_from: Provenance | None = None,
) -> Manifest:
    """What a new run is of: it has an id of its own, and begins now."""
    policy = policy_named(settings.select.selector)
    if policy is not None:
        settings = replace(settings, select=policy.settled(settings.select))
    return Manifest(
        run=uuid.uuid4().hex,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment,
        seed=seed,
        settings=settings_document(settings),
        version=version("screensearch"),
        store=store,
        artifacts=artifacts,
        remerged_from=remerged_from,
    )


def check_seed(seed: int) -> None:
    if not 0 <= seed <= LARGEST_SEED:
        raise SettingsError(f"seed is {seed}; it must be between 0 and {LARGEST_SEED}")


def check_artifacts(location: str, folder: Path) -> str:
    """See that pictures can be kept at a location; returns it as a manifest names it, "" for the folder."""
    if not location:
        return ""
    location = str(read_location(location))
    open_artifacts(location, folder).check()
    return location


def named_environment(run: RunFolder) -> str:
    """The environment of a run as workers open it: by its name."""
    name = run.manifest.environment
    if name.startswith(OBJECT):
        raise SettingsError(
            f"the run at {run.path} drove an object, {name.removeprefix(OBJECT)!r}, which has no name "
            "to open it by: resume it from Python, with screensearch.resume_exploration and such an object"
        )
    return name


def try_out(environment: str, settings: Settings) -> None:
    """Build once what a run needs before there is one: a mistake costs an error and no folder."""
    make_resolver(settings)
    policy = policy_named(settings.select.selector)
    patience = 0.0 if policy is None else policy.patience_seconds(settings.select)
    if environment.partition(":")[0] == DESKTOP:
        check_deadlines(settings, patience)
    elif patience and patience >= settings.explore.step_deadline_seconds:
        raise SettingsError(
            f"a decision may take {patience:g} s (select.reactive.timeout_seconds), and a worker is given up "
            f"after explore.step_deadline_seconds = {settings.explore.step_deadline_seconds:g}: raise the "
            "second, or lower the first"
        )
    asyncio.run(_open_once(environment, settings))


async def _open_once(environment: str, settings: Settings) -> None:
    """Open what worker processes will open, and close it again."""
    ENVIRONMENTS.require_declared(environment.partition(":")[0])
    SELECTORS.require_declared(settings.select.selector)
    PRIORS.require_declared(settings.select.prior)
    for rule in settings.guard.rules:
        GUARDS.require_declared(rule.name)
    world = open_environment(environment, replace(means_of(settings), screenshots=False))
    try:
        Mind(settings, world.application)
        await world.close()
    except ScreenSearchError:
        raise
    except Exception as problem:  # a plugin may return or raise anything
        raise EnvironmentFailed(
            f"environment {environment!r} cannot be used: {type(problem).__name__}: {problem}"
        ) from problem


def check_no_loop_runs(what: str = "an exploration") -> None:
    """Refuse to begin inside of an event loop, where another one cannot run."""
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        raise SettingsError(
            f"{what} runs an event loop of its own and was called inside one (as in a notebook): "
            "call it in a thread, as with asyncio.to_thread"
        )
