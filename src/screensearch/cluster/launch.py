"""Explore on a cluster: start a run there, follow it, leave it, join it again, stop it."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from screensearch.cluster.conductor import Conductor
from screensearch.cluster.engine import (
    Gone,
    NoCluster,
    answer,
    conductors,
    connect,
    find_actor,
    nodes_alive,
    place,
    slots,
)
from screensearch.cluster.names import SLOT, Job, View, conductor_name
from screensearch.config import Settings, settings_document
from screensearch.errors import EnvironmentFailed, RunBusy, RunNotFound, SettingsError
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import try_out
from screensearch.explore.logs import TEXT, check_log_format
from screensearch.explore.metrics_server import parse_listen_address
from screensearch.explore.progress import NeverStarted, Summary
from screensearch.record.artifact_location import read_location
from screensearch.record.artifacts import open_artifacts
from screensearch.record.run import Manifest, create_run, open_run_folder

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
) -> str:
    """Begin a new run on a cluster; returns its id. It goes on when this process ends."""
    if not store:
        raise SettingsError(
            "a run on a cluster needs a log that all its machines can reach: give --store postgresql://…"
        )
    if metrics:
        parse_listen_address(metrics)
    check_log_format(log_format)
    try_out(environment, settings)
    if artifacts:
        artifacts = str(read_location(artifacts))
        open_artifacts(artifacts, folder).check()
    connect(address)
    check_slots(address)
    manifest = Manifest(
        run=uuid.uuid4().hex,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment,
        seed=seed,
        settings=settings_document(settings),
        version=version("screensearch"),
        store=store,
        artifacts=artifacts,
    )
    create_run(folder, manifest)
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
) -> str:
    """Go on with a run on a cluster, under the settings and the seed it was started with."""
    manifest = open_run_folder(folder).manifest
    if not manifest.store:
        raise SettingsError(
            f"the log of the run at {folder} is a file: it can be resumed on its machine only"
        )
    connect(address)
    check_slots(address)
    if find_actor(conductor_name(manifest.run)) is not None:
        raise RunBusy(f"the run at {folder} is under way on this cluster: join it with `screensearch attach`")
    _conduct(folder, manifest, stop, workers, log_format, metrics)
    return manifest.run


def _conduct(
    folder: Path, manifest: Manifest, stop: StopRule, workers: int, log_format: str, metrics: str
) -> None:
    job = Job(
        run=manifest.run,
        folder=str(folder.resolve()),
        environment=manifest.environment,
        seed=manifest.seed,
        settings=manifest.settings,
        store=manifest.store,
        artifacts=manifest.artifacts,
        log_format=log_format,
        metrics=metrics,
        version=version("screensearch"),
        workers=workers,
        stop=stop,
    )
    place(Conductor, conductor_name(manifest.run), job, restarts=True)


def check_slots(address: str) -> None:
    """Refuse a cluster on which no worker could ever be placed."""
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
    connect(address)
    views: list[View] = []
    for name in conductors():
        actor = find_actor(name)
        if actor is not None:
            with contextlib.suppress(TimeoutError, Gone):
                views.append(answer(actor.view.remote(), seconds=ANSWER_SECONDS))
    return sorted(views, key=lambda view: view.folder)


class Attached:
    """A run that is under way on a cluster, seen from outside."""

    def __init__(self, address: str, folder: Path) -> None:
        self._folder = folder
        self._run = open_run_folder(folder).manifest.run
        connect(address)
        self._conductor: Any = find_actor(conductor_name(self._run))
        if self._conductor is None:
            raise RunNotFound(f"the run at {folder} is not under way on the cluster at {address!r}")

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
        while (view := self.view()).phase != "ended":
            on_view(view)
            time.sleep(LOOK_SECONDS)
        self._dismiss()
        if view.problem and view.never_started and view.summary is not None:
            raise NeverStarted(view.problem, view.summary)
        if view.problem or view.summary is None:
            raise EnvironmentFailed(view.problem or "the run ended without a word")
        return view.summary

    def _dismiss(self) -> None:
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
                    raise NoCluster(
                        f"the conductor of the run at {self._folder} does not answer: {problem}"
                    ) from problem
                time.sleep(LOOK_SECONDS)
                self._conductor = find_actor(conductor_name(self._run)) or self._conductor
