"""Explore an application: create or resume a run, place workers, stop when there is enough."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

from screensearch.config import Settings, settings_from_document
from screensearch.environments.protocol import Environment
from screensearch.errors import SettingsError
from screensearch.explore.beginning import (
    OBJECT,
    check_artifacts,
    check_no_loop_runs,
    check_seed,
    named_environment,
    new_manifest,
    try_out,
)
from screensearch.explore.budget import Budget, StopRule
from screensearch.explore.consent import check_consent
from screensearch.explore.logs import TEXT, check_log_format
from screensearch.explore.metrics_server import MetricsServer, shown
from screensearch.explore.mind import Mind
from screensearch.explore.progress import NeverStarted, Summary
from screensearch.explore.store import ShardStore, make_resolver
from screensearch.explore.under_way import OnProgress, UnderWay
from screensearch.explore.worker import NoStart
from screensearch.record.run import RunFolder, create_run, open_run_folder, own


def start_exploration(
    environment: str | Environment,
    folder: str | Path,
    *,
    stop: StopRule | None = None,
    settings: Settings | None = None,
    workers: int = 1,
    seed: int = 0,
    store: str = "",
    artifacts: str = "",
    on_progress: OnProgress | None = None,
    unsandboxed: bool = False,
    allow_irreversible: bool = False,
    metrics: MetricsServer | None = None,
    log_format: str = TEXT,
) -> Summary:
    """Explore into a new run folder.

    `environment` is a specification such as ``synthetic:notepad``, opened in worker processes, or an
    environment object of the caller's own, driven in this process by one worker. `store` is the address of
    a PostgreSQL database for the log; without it, the log is a file of the folder. `artifacts` is another
    folder, or a URL such as ``s3://bucket/prefix``, for the screenshots. Without `stop` the settings say
    when it is enough. Settings without a sandbox need `unsandboxed`: the application then runs as you,
    with your files, your network and your devices. If they allow irreversible actions there, they need
    `allow_irreversible` as well. `metrics` shows the figures of the exploration while it runs; `log_format`
    is that of the worker processes' logs, ``text`` or ``json``.
    """
    check_log_format(log_format)
    settings = settings or Settings()
    check_consent(settings, unsandboxed, allow_irreversible)
    stop = stop or StopRule.of(settings.stop)
    _check_workers(workers, environment)
    check_seed(seed)
    check_no_loop_runs()
    if isinstance(environment, str):
        name = environment
        try_out(environment, settings)
    else:
        name = OBJECT + environment.application
        make_resolver(settings)
        Mind(settings, environment.application)
    artifacts = check_artifacts(artifacts, Path(folder))
    create_run(Path(folder), new_manifest(name, settings, seed=seed, store=store, artifacts=artifacts))
    return _explore(
        Path(folder),
        environment,
        stop=stop,
        workers=workers,
        on_progress=on_progress,
        metrics=metrics,
        log_format=log_format,
    )


def resume_exploration(
    folder: str | Path,
    environment: Environment | None = None,
    *,
    stop: StopRule | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    unsandboxed: bool = False,
    allow_irreversible: bool = False,
    take_over: bool = False,
    metrics: MetricsServer | None = None,
    log_format: str = TEXT,
) -> Summary:
    """Go on with a run under the settings, the seed and the environment it was started with.

    A run of an environment object needs such an object again, and a run that was started without a
    sandbox needs `unsandboxed` again. Without `stop` its settings say when it is enough. If its log is in a
    database and seems to be owned on a machine that is gone, `take_over` replaces that owner: should it be
    alive after all, it can write nothing any more. `metrics` and `log_format` are as for a new run.
    """
    check_log_format(log_format)
    _check_workers(workers, environment)
    check_no_loop_runs()
    run = open_run_folder(Path(folder), to_write=True)
    settings = settings_from_document(run.manifest.settings)
    check_consent(settings, unsandboxed, allow_irreversible)
    stop = stop or StopRule.of(settings.stop)
    if run.manifest.artifacts:
        run.artifacts.check()
    return _explore(
        Path(folder),
        environment,
        stop=stop,
        workers=workers,
        on_progress=on_progress,
        take_over=take_over,
        metrics=metrics,
        log_format=log_format,
    )


def _explore(
    folder: Path,
    environment: str | Environment | None,
    *,
    stop: StopRule,
    workers: int,
    on_progress: OnProgress | None,
    take_over: bool = False,
    metrics: MetricsServer | None = None,
    log_format: str = TEXT,
) -> Summary:
    with own(folder) as run:
        settings = settings_from_document(run.manifest.settings)
        _check_one_shard(run)
        log = run.write_log(take_over=take_over)
        try:
            if environment is None:
                environment = named_environment(run)
            elif not isinstance(environment, str) and environment.application != _object_name(run):
                raise SettingsError(
                    f"the run at {run.path} is of {run.manifest.environment!r}, not of an object for "
                    f"{environment.application!r}"
                )
            budget = Budget(steps=stop.steps, states=stop.states, plateau=stop.plateau)
            shard = ShardStore(log, settings, budget)
            exploration = UnderWay(run, shard, stop, on_progress, log_format)
            try:
                with shown(metrics, run, shard, stop):
                    asyncio.run(exploration.run(environment, workers))
            except KeyboardInterrupt:
                if not exploration.given_up:
                    raise
            except NoStart as problem:
                raise NeverStarted(
                    f"{problem} (see `screensearch findings {shlex.quote(str(run.path))}`)",
                    exploration.summary(),
                ) from problem
            return exploration.summary()
        finally:
            log.close()


def _check_one_shard(run: RunFolder) -> None:
    """Refuse a run whose screens several owners share: one alone would take theirs for new."""
    shards = run.store.shards()
    if len(shards) > 1:
        there = "resume it there, with --cluster; or" if run.manifest.store else "here it is only read;"
        raise SettingsError(
            f"the run at {run.path} was explored on a cluster and has {len(shards)} shards: {there} make it "
            "a run with one log by `screensearch remerge`, and go on with that"
        )


def _object_name(run: RunFolder) -> str | None:
    name = run.manifest.environment
    return name.removeprefix(OBJECT) if name.startswith(OBJECT) else None


def _check_workers(workers: int, environment: str | Environment | None) -> None:
    if workers < 1:
        raise SettingsError(f"workers is {workers}; it must be at least 1")
    if workers > 1 and environment is not None and not isinstance(environment, str):
        raise SettingsError(
            f"{workers} workers open an environment by its name, each in a process of its own; this one "
            "is an object: use one worker, or declare it as an entry point 'screensearch.environments'"
        )
