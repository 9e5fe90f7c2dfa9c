"""A worker: one environment, one mind, episodes until the run has enough. Where it runs is not its matter."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from screensearch.config import Settings, settings_from_document
from screensearch.domain.transition import EpisodeId
from screensearch.encode.redact import redacting_text
from screensearch.environments.protocol import Environment, Means, Measured, TruthTeller
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, HopelessStart, ScreenSearchError, StoreFailed
from screensearch.explore.logs import LogFormatter, Whereabouts, log_uncaught, start_logging
from screensearch.explore.mind import Mind
from screensearch.explore.step import Episode, Store, Witness, explore_episode
from screensearch.explore.wire import Assignment, Failed
from screensearch.record.artifacts import open_artifacts
from screensearch.record.coverage import COVERAGE, CoverageNotes
from screensearch.record.run import TRUTH
from screensearch.record.truth import TruthNotes

FUTILE_STARTS = 3
"""So many starts of one worker in a row without a step end a run that has no step at all: the application
did not start, offered nothing to do, or could not be driven."""

MOST_FUTILE_STARTS = 20
"""So many end any run. One that has steps was going well: a document that the application cannot open, or
a machine under load, must not end it."""

FIRST_BACK_OFF_SECONDS = 0.25
LONGEST_BACK_OFF_SECONDS = 2.0


class NoStart(ScreenSearchError):
    """The application failed at its start again and again: what it did is in the log."""


class NothingToDo(EnvironmentFailed):
    """The application offered nothing to do again and again: its first screens are in the log."""


def too_futile(futile: int, *, begun: bool) -> bool:
    """Whether so many starts in a row without a step are enough to give up a run, begun or not."""
    return futile >= (MOST_FUTILE_STARTS if begun else FUTILE_STARTS)


def back_off_seconds(turn: int) -> float:
    """How long to wait before trying again: at the first turn, 1, a moment; then twice as long each time."""
    return min(FIRST_BACK_OFF_SECONDS * 2.0 ** (turn - 1), LONGEST_BACK_OFF_SECONDS)


def _anywhere(world: Environment) -> None:
    """A worker beside its owner has all that it needs."""


async def carry_out(
    assignment: Assignment, store: Store, *, check: Callable[[Environment], None] = _anywhere
) -> Failed | None:
    """Be the worker of an assignment until the run has enough; or say why it cannot go on.

    `check` raises where this environment cannot be explored in this place. From now on this process logs as
    a worker does.
    """
    settings = settings_from_document(assignment.settings)
    redact = redacting_text(settings.redact)
    where = Whereabouts(run=assignment.run or None, worker=assignment.worker)
    start_logging(sys.stderr, LogFormatter(assignment.log_format, where, redact))
    log_uncaught()
    try:
        world = open_environment(assignment.environment, means_of(settings))
        try:
            check(world)
            await work(
                world,
                store,
                settings,
                folder=Path(assignment.folder),
                worker=assignment.worker,
                seed=assignment.seed,
                first_episode=assignment.first_episode,
                artifacts=assignment.artifacts,
                futile=assignment.futile,
                where=where,
            )
        finally:
            await world.close()
    except ScreenSearchError as problem:
        return Failed(
            redact(str(problem)),  # it may quote what the application said or showed
            gave_up=isinstance(problem, NoStart | NothingToDo),
            never_started=isinstance(problem, NoStart),
            hopeless=isinstance(problem, HopelessStart),
            store_failed=isinstance(problem, StoreFailed),
        )
    return None


async def work(
    world: Environment,
    store: Store,
    settings: Settings,
    *,
    folder: Path,
    worker: int,
    seed: int,
    first_episode: int,
    artifacts: str = "",
    futile: int = 0,
    where: Whereabouts | None = None,
) -> None:
    """Run episodes until a receipt says that the run has enough.

    `artifacts` is where screenshots are kept, if not in the folder. `futile` counts the starts in a row
    without a step that the worker has behind it, over its lives. `where` is told which step it is at.
    """
    where = where or Whereabouts()
    kept = open_artifacts(artifacts, folder) if settings.explore.screenshots == "all" else None
    mind = Mind(settings, world.application, kept)
    number = first_episode
    with (
        _witness(world, folder / TRUTH, worker) as truth,
        _measuring(world, folder / COVERAGE, worker, wanted=bool(settings.app.coverage)) as measuring,
    ):
        witnesses = [each for each in (truth, measuring) if each is not None]
        while True:
            episode = EpisodeId(worker, number)
            reset_with, choice_seed = _seeds_of(seed, episode)
            mind.start_episode(choice_seed)
            where.move(episode, 0)
            last = await explore_episode(
                world,
                store,
                mind,
                episode,
                seed=reset_with,
                length=settings.explore.episode_steps,
                witness=_moving(where, witnesses),
            )
            where.leave()
            if not last.receipt.proceed:
                mind.tell_counts()
                return
            futile = 0 if last.steps else futile + 1
            if too_futile(futile, begun=last.receipt.begun):
                raise _given_up(world.application, futile, last)
            if futile >= FUTILE_STARTS:
                await asyncio.sleep(back_off_seconds(futile - FUTILE_STARTS + 1))
            number += 1


def world_seed(seed: int, episode: EpisodeId) -> int:
    """What the environment is reset with at the beginning of an episode of a run with that seed."""
    return _seeds_of(seed, episode)[0]


def _seeds_of(seed: int, episode: EpisodeId) -> tuple[int, np.random.SeedSequence]:
    """What the world of an episode is drawn from, and what its choices are."""
    world, choices = np.random.SeedSequence(seed, spawn_key=(episode.worker, episode.number)).spawn(2)
    return int(world.generate_state(1, np.uint64)[0]), choices


def _given_up(application: str, futile: int, last: Episode) -> ScreenSearchError:
    """Why there is no use in another start."""
    told = f"the last {futile} starts of {application!r} led to no step; the last:"
    if last.failed is not None:
        return NoStart(f"{told} {last.failed}")
    return NothingToDo(
        f"{told} its first screen offered no action (check the candidates and guard settings, and that its "
        "elements can be clicked)"
    )


def means_of(settings: Settings) -> Means:
    """What a run with these settings lends an environment."""
    return Means(
        screenshots=settings.explore.screenshots == "all", app=settings.app, desktop=settings.desktop
    )


def takes_notes(world: Environment, settings: Settings) -> bool:
    """Whether a worker writes into the folder of its run, besides pictures: the truth, or lines."""
    return isinstance(world, TruthTeller) or (bool(settings.app.coverage) and isinstance(world, Measured))


def _moving(where: Whereabouts, witnesses: Sequence[Witness]) -> Witness:
    """The witnesses and the whereabouts: what follows an observation is the next step."""

    def note(episode: EpisodeId, step: int) -> None:
        where.move(episode, step + 1)
        for witness in witnesses:
            witness(episode, step)

    return note


@contextlib.contextmanager
def _witness(world: Environment, folder: Path, worker: int) -> Iterator[Witness | None]:
    """Note the truth of every observation beside the run, where the environment knows it."""
    if not isinstance(world, TruthTeller):
        yield None
        return
    teller = world
    with TruthNotes(folder, worker) as notes:
        yield lambda episode, step: notes.note(episode, step, teller.truth())


@contextlib.contextmanager
def _measuring(world: Environment, folder: Path, worker: int, *, wanted: bool) -> Iterator[Witness | None]:
    """Note beside the run which lines of the application were run, where that is wanted and known."""
    if not wanted or not isinstance(world, Measured):
        yield None
        return
    measured = world
    with CoverageNotes(folder, worker) as notes:
        yield lambda episode, step: notes.note(episode, step, measured.take_measured())
