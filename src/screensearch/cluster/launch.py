"""Explore on a cluster: start a run there, follow it, leave it, join it again, stop it."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from screensearch.cluster.conductor import Conductor
from screensearch.cluster.engine import (
    Gone,
    NameTaken,
    NoCluster,
    answer,
    conductors,
    connect,
    connected,
    disconnect,
    find_actor,
    nodes_alive,
    place,
    slots,
)
from screensearch.cluster.names import SLOT, Job, View, conductor_name, run_of_conductor
from screensearch.config import Settings, settings_from_document
from screensearch.errors import EnvironmentFailed, RunBusy, RunNotFound, SettingsError
from screensearch.explore.beginning import (
    check_artifacts,
    check_no_loop_runs,
    check_seed,
    named_environment,
    new_manifest,
    try_out,
)
from screensearch.explore.budget import StopRule
from screensearch.explore.consent import check_consent
from screensearch.explore.logs import TEXT, check_log_format
from screensearch.explore.metrics_server import check_metrics
from screensearch.explore.progress import NeverStarted, Summary
from screensearch.record.artifact_location import read_location
from screensearch.record.artifacts import open_artifacts
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.run import Manifest, create_run, open_run_folder, read_manifest

LOOK_SECONDS = 0.5
ANSWER_SECONDS = 10.0
AWAY_SECONDS = 60.0
"""How long a conductor may be between two lives."""


def start_on_cluster(
    address: str,
    environment: str,
    folder: Path,
    *,
    settings: Settings,
    stop: StopRule,
    workers: int,
    seed: int,
    store: str,
    artifacts: str = "",
    log_format: str = TEXT,
    metrics: str = "",
    unsandboxed: bool = False,
    allow_irreversible: bool = False,
    before_begin: Callable[[], object] = lambda: None,
) -> str:
    """Begin a new run on a cluster; returns its id. It goes on when this process ends.

    All is checked that `start_exploration` checks, and means the same. Without `workers` the conductor waits
    for some that are started elsewhere. `before_begin` is called when the run is there and nothing is under
    way yet: from then on, an interrupt must not end this process without a word to the run.
    """
    if not store:
        raise SettingsError(
            "a run on a cluster needs a log that all its machines can reach: give --store postgresql://…"
        )
    _check_options(workers, log_format, metrics)
    check_seed(seed)
    check_consent(settings, unsandboxed, allow_irreversible)
    check_no_loop_runs()
    try_out(environment, settings)
    artifacts = check_artifacts(artifacts, folder)
    connect(address)
    check_slots(address)
    manifest = new_manifest(environment, settings, seed=seed, store=store, artifacts=artifacts)
    create_run(folder, manifest)
    before_begin()
    _conduct(folder, manifest, stop, workers, log_format, metrics)
    return manifest.run


def resume_on_cluster(
    address: str,
    folder: Path,
    *,
    stop: StopRule,
    workers: int,
    log_format: str = TEXT,
    metrics: str = "",
    unsandboxed: bool = False,
    allow_irreversible: bool = False,
    take_over: bool = False,
    before_begin: Callable[[], object] = lambda: None,
) -> str:
    """Go on with a run on a cluster, under the settings and the seed it was started with.

    All is checked that `resume_exploration` checks, and means the same; `before_begin` is as for a new run.
    """
    _check_options(workers, log_format, metrics)
    run = open_run_folder(folder, to_write=True)
    manifest = run.manifest
    named_environment(run)
    check_consent(settings_from_document(manifest.settings), unsandboxed, allow_irreversible)
    if not manifest.store:
        raise SettingsError(
            f"the log of the run at {folder} is a file: it can be resumed on its machine only, without "
            "--cluster"
        )
    if manifest.artifacts:
        run.artifacts.check()
    connect(address)
    check_slots(address)
    if find_actor(conductor_name(manifest.run)) is not None and not Attached(address, folder).dismiss():
        raise _busy(folder)
    before_begin()
    _conduct(folder, manifest, stop, workers, log_format, metrics, take_over=take_over)
    return manifest.run


def _check_options(workers: int, log_format: str, metrics: str) -> None:
    if workers < 0:
        raise SettingsError(f"workers is {workers}; it must be at least 1, or 0 if they are elsewhere")
    check_log_format(log_format)
    if metrics:
        check_metrics(metrics)


def _conduct(
    folder: Path,
    manifest: Manifest,
    stop: StopRule,
    workers: int,
    log_format: str,
    metrics: str,
    *,
    take_over: bool = False,
) -> None:
    artifacts = _mark_artifacts(manifest, folder)
    job = Job(
        run=manifest.run,
        folder=str(folder.resolve()),
        environment=manifest.environment,
        seed=manifest.seed,
        settings=manifest.settings,
        store=manifest.store,
        artifacts=artifacts,
        log_format=log_format,
        metrics=metrics,
        version=version("screensearch"),
        workers=workers,
        stop=stop,
        take_over=take_over,
    )
    try:
        with _within_reach():
            place(Conductor, conductor_name(job.run), job, restarts=True, at_head=True)
    except NameTaken as problem:  # by another command at this moment
        raise _busy(folder) from problem


def _mark_artifacts(manifest: Manifest, folder: Path) -> str:
    """Let nodes see whether a folder of pictures is the one meant; its location, as all of them read it."""
    if not manifest.artifacts:
        return ""
    kept = open_artifacts(manifest.artifacts, folder)
    if isinstance(kept, LocalArtifacts):
        kept.mark(manifest.run)
    return str(read_location(manifest.artifacts))


@contextlib.contextmanager
def _within_reach() -> Iterator[None]:
    """Say in our words that a cluster that was there does not answer."""
    try:
        yield
    except NameTaken:
        raise
    except Gone as problem:
        raise NoCluster(f"the cluster does not answer any more: {problem}") from problem


def _busy(folder: Path) -> RunBusy:
    return RunBusy(
        f"the run at {folder} is under way on this cluster: join it with "
        f"`{shlex.join(['screensearch', 'attach', str(folder)])}`, or end it with `screensearch stop`"
    )


def check_cluster(address: str) -> None:
    """Raise when no worker could be placed on the cluster at an address.

    Afterwards this process is not in it, unless it was before: Ray ends processes whose cluster is gone.
    """
    was_connected = connected()
    connect(address)
    try:
        check_slots(address)
    finally:
        if not was_connected:
            disconnect()


def check_slots(address: str) -> None:
    """Refuse a cluster on which no worker could ever be placed."""
    with _within_reach():
        all_of_them, _ = slots()
    if not all_of_them:
        raise NoCluster(
            f"no node of the cluster at {address!r} offers a {SLOT!r} slot for a worker: start nodes with "
            f"`ray start … --resources '{{\"{SLOT}\": 4}}'`"
        )


def places_of(address: str) -> str:
    """What the cluster at an address offers to workers, in words; raises when it offers nothing."""
    connect(address)
    check_slots(address)
    offered, left = slots()
    nodes = len(nodes_alive())
    return f"{nodes} node{'s' * (nodes != 1)}, {offered:g} slots for workers, {left:g} of them free"


def runs_under_way(address: str) -> list[View]:
    """All runs of a cluster that have a conductor now; one that does not answer in time is left out."""
    views, _ = _look_around(address)
    return views


def _look_around(address: str) -> tuple[list[View], list[str]]:
    """All runs of a cluster that have a conductor now, and the ids of those whose conductor is silent."""
    connect(address)
    views: list[View] = []
    silent: list[str] = []
    with _within_reach():
        names = conductors()
    for name in names:
        actor = find_actor(name)
        if actor is not None:
            try:
                views.append(answer(actor.view.remote(), seconds=ANSWER_SECONDS))
            except (TimeoutError, Gone):  # it may be between two lives
                silent.append(run_of_conductor(name))
    return sorted(views, key=lambda view: view.folder), silent


def _find_run(address: str, given: Path, not_here: RunNotFound) -> str:
    """The id of a run under way that is named by it, or by its folder, which is on another machine."""
    connect(address)
    if find_actor(conductor_name(str(given))) is not None:
        return str(given)
    views, silent = _look_around(address)
    found = [view.run for view in views if view.folder in (str(given), str(given.resolve()))]
    if len(found) == 1:
        return found[0]
    listing = f"`{shlex.join(['screensearch', 'status', '--cluster', address])}`"
    if found:
        raise RunNotFound(
            f"the runs {', '.join(found)} on the cluster at {address!r} have the folder {given}, each on its "
            f"machine: give the id of the one that is meant, which {listing} tells"
        )
    mute = f"; {', '.join(silent)} did not answer: wait, or give that id" if silent else ""
    raise RunNotFound(
        f"{not_here}. Nor is one with that folder or id under way on the cluster at {address!r}: {listing} "
        f"lists those that are{mute}"
    ) from not_here


def is_under_way(address: str, run: str) -> bool:
    """Whether the run of an id has a conductor on a cluster, also one that only keeps its summary."""
    connect(address)
    return find_actor(conductor_name(run)) is not None


class Attached:
    """A run that is under way on a cluster, seen from outside."""

    def __init__(self, address: str, folder: Path) -> None:
        """Without a run in the folder, it is the one under way that has this folder elsewhere, or this id."""
        self._folder = folder
        try:
            self._run = read_manifest(folder).run  # its log may be away, or be brought up to date just now
            self.is_here = True
        except RunNotFound as problem:
            self._run = _find_run(address, folder, problem)
            self.is_here = False
        connect(address)
        self._conductor: Any = find_actor(conductor_name(self._run))
        if self._conductor is None:
            raise RunNotFound(
                f"the run at {folder} is not under way on the cluster at {address!r}: "
                f"`{shlex.join(['screensearch', 'status', '--cluster', address])}` lists those that are"
            )

    def view(self) -> View:
        """The run at this moment."""
        view = self._call("view")
        assert isinstance(view, View)
        return view

    def stop(self, why: str = "interrupted") -> None:
        """Let steps under way finish, and take no more."""
        self._call("stop", why)

    def give_up(self) -> None:
        """End the workers at once."""
        self._call("give_up")

    def follow(self, on_view: Callable[[View], None]) -> Summary:
        """Show the run until it ends; returns what it came to."""
        on_view(view := self.view())
        while view.phase != "ended":
            time.sleep(LOOK_SECONDS)
            on_view(view := self.view())
        self._let_go()
        folder = str(self._folder) if self.is_here else view.folder
        summary = None if view.summary is None else _as_without_cluster(view.summary, folder)
        if view.problem and view.never_started and summary is not None:
            findings = shlex.join(["screensearch", "findings", summary.run])
            raise NeverStarted(f"{view.problem} (see `{findings}`)", summary)
        if view.problem or summary is None:
            raise EnvironmentFailed(view.problem or "the run ended without a word")
        return summary

    def dismiss(self) -> bool:
        """Let the conductor go that only keeps the summary of a run; False if the run has not ended."""
        ended = self.view().phase == "ended"
        if ended:
            self._let_go()
        return ended

    def _let_go(self) -> None:
        """Let the conductor of a run that has ended go, and see it go: another may be wanted at once."""
        until = time.monotonic() + AWAY_SECONDS
        while (actor := find_actor(conductor_name(self._run))) is not None and time.monotonic() < until:
            actor.collect.remote()
            time.sleep(LOOK_SECONDS)

    def _call(self, method: str, *arguments: object) -> object:
        """Ask the conductor, or its next life."""
        until = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return answer(getattr(self._conductor, method).remote(*arguments), seconds=ANSWER_SECONDS)
            except (TimeoutError, Gone) as problem:
                if time.monotonic() > until:
                    why = str(problem) or f"it was silent for {AWAY_SECONDS:g} s"
                    raise NoCluster(
                        f"the conductor of the run at {self._folder} does not answer: {why}"
                    ) from problem
                time.sleep(LOOK_SECONDS)
                self._conductor = find_actor(conductor_name(self._run)) or self._conductor


def _as_without_cluster(summary: Summary, folder: str) -> Summary:
    """A summary that names the run by this folder, and says when there was nothing left to do."""
    nothing_done = summary.ended in ("steps", "states") and not summary.new_outcomes
    ended = f"{summary.ended} already" if nothing_done else summary.ended
    return replace(summary, run=folder, ended=ended)
