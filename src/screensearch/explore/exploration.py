"""Explore an application: create or resume a run, place workers, stop when there is enough."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from screensearch.act.guard import GUARDS
from screensearch.config import DESKTOP, Settings, check_deadlines, settings_document, settings_from_document
from screensearch.encode.redact import redacting_text
from screensearch.environments.protocol import ENVIRONMENTS, Environment
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, ScreenSearchError, SettingsError
from screensearch.explore.budget import Budget, StopRule
from screensearch.explore.consent import check_consent
from screensearch.explore.logs import TEXT, check_log_format
from screensearch.explore.metrics_server import MetricsServer, shown
from screensearch.explore.mind import Mind
from screensearch.explore.owner import Owner, interrupts
from screensearch.explore.progress import (
    Meter,
    NeverStarted,
    Progress,
    Summary,
    figures_of,
)
from screensearch.explore.serving import LocalStore
from screensearch.explore.store import ShardStore, make_resolver
from screensearch.explore.worker import NoStart, NothingToDo, means_of, work
from screensearch.record.artifact_location import read_location
from screensearch.record.artifacts import open_artifacts
from screensearch.record.run import Manifest, RunFolder, create_run, open_run_folder, own
from screensearch.record.stores import PostgresStore
from screensearch.select.priors import PRIORS
from screensearch.select.selectors import SELECTORS

log = logging.getLogger(__name__)

OnProgress = Callable[[Progress], None]

PROGRESS_SECONDS = 0.25

LARGEST_SEED = 2**63 - 1

OBJECT = "object:"
"""How a manifest names an environment that was an object of the caller's, not a plugin."""


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
    if not 0 <= seed <= LARGEST_SEED:
        raise SettingsError(f"seed is {seed}; it must be between 0 and {LARGEST_SEED}")
    _check_no_loop_runs()
    if isinstance(environment, str):
        name = environment
        try_out(environment, settings)
    else:
        name = OBJECT + environment.application
        make_resolver(settings)
        Mind(settings, environment.application)
    if artifacts:
        artifacts = str(read_location(artifacts))
        open_artifacts(artifacts, Path(folder)).check()
    manifest = Manifest(
        run=uuid.uuid4().hex,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=name,
        seed=seed,
        settings=settings_document(settings),
        version=version("screensearch"),
        store=store,
        artifacts=artifacts,
    )
    create_run(Path(folder), manifest)
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
    _check_no_loop_runs()
    run = open_run_folder(Path(folder))
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
                environment = _named_environment(run)
            elif not isinstance(environment, str) and environment.application != _object_name(run):
                raise SettingsError(
                    f"the run at {run.path} is of {run.manifest.environment!r}, not of an object for "
                    f"{environment.application!r}"
                )
            budget = Budget(steps=stop.steps, states=stop.states, plateau=stop.plateau)
            shard = ShardStore(log, settings, budget)
            exploration = _Exploration(run, shard, stop, on_progress, log_format)
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
    shards = run.store.shards() if isinstance(run.store, PostgresStore) else [0]
    if len(shards) > 1:
        raise SettingsError(
            f"the run at {run.path} was explored on a cluster and has {len(shards)} shards: resume it there, "
            "with --cluster"
        )


def try_out(environment: str, settings: Settings) -> None:
    """Build once what a run needs before there is one: a mistake costs an error and no folder."""
    make_resolver(settings)
    if environment.partition(":")[0] == DESKTOP:
        check_deadlines(settings)
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


def _check_no_loop_runs() -> None:
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        raise SettingsError(
            "an exploration runs an event loop of its own and was called inside one (as in a notebook): "
            "call it in a thread, as with asyncio.to_thread"
        )


def _object_name(run: RunFolder) -> str | None:
    name = run.manifest.environment
    return name.removeprefix(OBJECT) if name.startswith(OBJECT) else None


def _named_environment(run: RunFolder) -> str:
    name = run.manifest.environment
    if name.startswith(OBJECT):
        raise SettingsError(
            f"the run at {run.path} drove an object, {name.removeprefix(OBJECT)!r}, which has no name "
            "to open it by: resume it from Python, with screensearch.resume_exploration and such an object"
        )
    return name


def _check_workers(workers: int, environment: str | Environment | None) -> None:
    if workers < 1:
        raise SettingsError(f"workers is {workers}; it must be at least 1")
    if workers > 1 and environment is not None and not isinstance(environment, str):
        raise SettingsError(
            f"{workers} workers open an environment by its name, each in a process of its own; this one "
            "is an object: use one worker, or declare it as an entry point 'screensearch.environments'"
        )


class _Exploration:
    """One exploration under way: the store, its workers, the clock and the interrupts."""

    def __init__(
        self,
        run: RunFolder,
        shard: ShardStore,
        stop: StopRule,
        on_progress: OnProgress | None,
        log_format: str,
    ) -> None:
        self._run = run
        self._shard = shard
        self._stop_rule = stop
        self._on_progress = on_progress
        self._log_format = log_format
        self._meter = Meter(lambda: figures_of(shard))
        self._ended: str | None = None
        self._had_enough = False  # before anything was done
        self.given_up = False  # interrupted twice: a step under way was not waited for

    async def run(self, environment: str | Environment, workers: int) -> None:
        if self._shard.budget.exhausted:  # a resumed run may have all it was asked for
            self._had_enough = True
            return
        about = {"run": self._run.manifest.run}
        what = self._run.manifest.environment
        log.info("explores %s into %s with %d workers", what, self._run.path, workers, extra=about)
        try:
            async with self._watched():
                if isinstance(environment, str):
                    await self._in_processes(environment, workers)
                else:
                    await self._in_this_process(environment)
        except NoStart:
            self._ended = "failed starts"
            raise
        finally:
            self._shard.checkpoint()
        log.info("ended (%s) after %d steps of the run", self._why(), self._shard.budget.taken, extra=about)

    async def _in_processes(self, environment: str, workers: int) -> None:
        owner = Owner(
            self._shard,
            environment=environment,
            folder=self._run.path,
            seed=self._run.manifest.seed,
            artifacts=self._run.manifest.artifacts,
            run=self._run.manifest.run,
            log_format=self._log_format,
        )

        def give_up() -> None:
            owner.kill_workers()
            self._shard.log.give_up()  # which may be what keeps us waiting

        with interrupts(lambda: self._stop("interrupted"), give_up):
            await owner.run(workers)

    async def _in_this_process(self, world: Environment) -> None:
        working = asyncio.ensure_future(
            work(
                world,
                LocalStore(self._shard),
                self._shard.settings,
                folder=self._run.path,
                worker=0,
                seed=self._run.manifest.seed,
                first_episode=self._shard.next_episode(0),
                artifacts=self._run.manifest.artifacts,
            )
        )
        self._shard.observer.worker_started(0)
        try:
            with interrupts(lambda: self._stop("interrupted"), self._give_up):
                await working
        except (NoStart, NothingToDo):  # nothing is lost: the log says what became of each start
            raise
        except (Exception, KeyboardInterrupt, asyncio.CancelledError) as problem:
            clean = redacting_text(self._shard.settings.redact)  # it may quote what the application showed
            self._shard.lose(0, "given up at an interrupt" if self.given_up else clean(repr(problem)))
            raise
        finally:
            self._shard.observer.worker_ended(0)
            await world.close()

    def _give_up(self) -> None:
        """End the step under way, whatever it is doing: called from the handler of a signal."""
        self.given_up = True
        self._ended = "interrupted"
        raise KeyboardInterrupt

    def _stop(self, why: str) -> None:
        """Let steps that are under way finish, and take no more."""
        self._ended = self._ended or why
        self._shard.budget.stopping = True

    @contextlib.asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """Report progress and keep the time while the body runs."""
        loop = asyncio.get_running_loop()
        alarm = None
        if self._stop_rule.seconds is not None:
            alarm = loop.call_later(self._stop_rule.seconds, self._stop, "seconds")
        reporting = asyncio.create_task(self._report())
        try:
            yield
        finally:
            if alarm is not None:
                alarm.cancel()
            reporting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reporting

    async def _report(self) -> None:
        while self._on_progress is not None:
            try:
                self._on_progress(self._meter.read())
            except Exception:  # the caller's view is broken, the exploration is not
                log.exception("progress is reported no more")
                return
            await asyncio.sleep(PROGRESS_SECONDS)

    def _why(self) -> str:
        """Which stop rule ended it, or what else did."""
        budget = self._shard.budget
        reached = "states" if budget.has_states() else "plateau"
        return "steps" if budget.out_of_steps() else self._ended or reached

    def summary(self) -> Summary:
        """What it came to."""
        shard = self._shard
        return self._meter.summarise(
            run=str(self._run.path),
            environment=self._run.manifest.environment,
            digest=shard.graph.digest(),
            ended=f"{self._why()} already" if self._had_enough else self._why(),
            identifier=shard.resolver.describe(),
        )
