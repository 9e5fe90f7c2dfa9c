"""`screensearch explore`: map an application."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from screensearch import (
    MetricsServer,
    NeverStarted,
    Progress,
    resume_exploration,
    settings_for,
    start_exploration,
)
from screensearch.cli.cluster import launcher, lead
from screensearch.cli.endings import FAILURES, default_rule, fail_if_found, failing_outcomes, stop_rule
from screensearch.cli.folders import EmptyRun, fresh_folder
from screensearch.cli.live import LiveView, LogView
from screensearch.cli.logs import log_as, log_format_option, logs_json, tell
from screensearch.cli.output import as_json_option, console, print_json
from screensearch.cli.places import with_places
from screensearch.cli.status import FOUND_STATUS, INTERRUPTED_STATUS
from screensearch.cli.summary import print_summary, resuming
from screensearch.cli.targets import COMMAND, ExploreCommand, named_target, with_patient
from screensearch.cli.walls import check_same_walls, warn_of_open_walls, with_flags
from screensearch.config import settings_from_document
from screensearch.errors import EnvironmentFailed, SettingsError
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.explore.consent import check_consent
from screensearch.explore.memory import give_large_blocks_back
from screensearch.explore.run import open_whole
from screensearch.record.run import open_run_folder, read_manifest


@click.command(cls=ExploreCommand)
@click.argument("target", required=False, metavar="[TARGET | -- COMMAND [ARGUMENT]...]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the run. Default: a new one in runs/."
)
@click.option(
    "--store",
    default="",
    metavar="URL",
    help="Keep the log in a PostgreSQL database (postgresql://USER@HOST/DATABASE) and not in the folder. Its "
    "password is read from ~/.pgpass or PGPASSWORD.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Explore on the nodes of a Ray cluster: HOST:PORT of its head, or `auto` for the one that this "
    "machine belongs to. Needs --store. Workers wait for nodes that offer them a slot.",
)
@click.option(
    "--detach",
    is_flag=True,
    help="With --cluster: return once the run is under way. `screensearch attach` joins it again.",
)
@click.option(
    "--artifacts",
    default="",
    metavar="URL",
    help="Keep the screenshots in a bucket (s3://BUCKET/PREFIX), in another folder, or wherever else fsspec "
    "reaches, and not in the run's folder. Credentials are read from the environment or ~/.aws.",
)
@click.option("--steps", type=click.IntRange(min=1), help="Stop when the run has so many steps.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after so many minutes.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after so many seconds.")
@click.option("--states", type=click.IntRange(min=1), help="Stop when the run has so many states.")
@click.option("--plateau", type=click.IntRange(min=1), help="Stop after so many steps without a new state.")
@click.option(
    "--fail-on",
    metavar="OUTCOMES",
    help=f"End with status {FOUND_STATUS} if this exploration met one of these, e.g. crash,hang: "
    f"{', '.join(FAILURES)}.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=0,
    show_default=True,
    help="One seed decides everything random.",
)
@click.option("--preset", default="default", show_default=True, help="`default`, `paper`, or a TOML file.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one setting, e.g. identify.merge.threshold=0.9. May be repeated.",
)
@click.option(
    "--screenshots/--no-screenshots",
    default=None,
    help="Keep a picture of every observation (the default), or none.",
)
@click.option(
    "--unsandboxed",
    is_flag=True,
    help="Run the application without a sandbox: as you, with your files, your network and your devices. "
    "Irreversible actions stay denied unless --allow-irreversible is given as well.",
)
@click.option(
    "--allow-irreversible",
    is_flag=True,
    help="With --unsandboxed: do not deny actions that cannot be undone, such as delete, send or buy. What "
    "they do there is real.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in --out, under its own settings.")
@click.option(
    "--take-over",
    is_flag=True,
    help="With --resume, also on a cluster: if the run's log is in a database and seems to be owned on a "
    "machine that is gone, replace that owner.",
)
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve metrics for Prometheus at http://HOST:PORT/metrics while it runs. Without a HOST, only this "
    "machine can read them; port 0 takes a free one. There is no authentication. On a cluster the conductor "
    "and each owner serve theirs, on their nodes.",
)
@log_format_option
@as_json_option
@click.pass_context
def explore(
    context: click.Context,
    target: str | None,
    out: Path | None,
    store: str,
    cluster: str | None,
    detach: bool,
    artifacts: str,
    steps: int | None,
    minutes: float | None,
    seconds: float | None,
    states: int | None,
    plateau: int | None,
    fail_on: str | None,
    workers: int,
    seed: int,
    preset: str,
    overrides: tuple[str, ...],
    screenshots: bool | None,
    unsandboxed: bool,
    allow_irreversible: bool,
    resume: bool,
    take_over: bool,
    metrics: str | None,
    log_format: str,
    as_json: bool,
) -> None:
    """Explore an application and leave a run that can be opened.

    TARGET is the name of an application that has a profile (`screensearch apps` lists them), a profile of
    your own (a path that ends in .toml), or an environment such as synthetic:notepad. Without a TARGET, the
    COMMAND after -- is explored as it is.

    Without a stop rule, in the options or in the settings, it takes 2000 steps. Ctrl-C ends it early, with
    status 130, and leaves a usable run; `--resume --out RUN` goes on with it.
    """
    where = log_as(context, log_format)
    give_large_blocks_back()
    command: tuple[str, ...] | None = context.meta.get(COMMAND)
    failing = failing_outcomes(fail_on)
    stop = stop_rule(steps, minutes, seconds, states, plateau)
    if out is not None and str(out) == ".":
        raise SettingsError("--out names no folder of its own: give a new one, such as runs/mine")
    if allow_irreversible and not unsandboxed:
        raise SettingsError(
            "--allow-irreversible goes with --unsandboxed only: the sandbox needs no such permission"
        )
    if detach and cluster is None:
        raise SettingsError("--detach goes with --cluster only: without one, nothing is left behind")
    if detach and failing:
        raise SettingsError(
            "--fail-on needs the end of the run, which --detach does not wait for: leave one out"
        )
    if take_over and not resume:
        raise SettingsError("--take-over goes with --resume only: a new run has no owner yet")
    if resume:
        if out is None:
            raise SettingsError("--resume needs --out: the folder of the run to go on with")
        given = (
            target,
            command,
            screenshots,
            overrides or None,
            seed or None,
            store or None,
            artifacts or None,
        )
        if preset != "default" or any(each is not None for each in given):
            raise SettingsError(
                "a resumed run keeps its environment, seed, settings, store and artifacts: give --resume, "
                "--out, a stop rule, --workers, --fail-on, --take-over, --cluster, --metrics and "
                "--log-format only (and --unsandboxed if it was started so)"
            )
        run = open_run_folder(out, to_write=True)
        if not run.manifest.store:  # a database may have to be brought to this version first, by the owner
            open_whole(run).close()
        settings, environment = settings_from_document(run.manifest.settings), run.manifest.environment
        check_same_walls(out, settings, unsandboxed, allow_irreversible)
    else:
        if screenshots is not None:
            overrides = (*overrides, f'explore.screenshots="{"all" if screenshots else "none"}"')
        environment, settings = settings_for(named_target(target, command), preset, overrides)
        settings = with_flags(environment, settings, unsandboxed, allow_irreversible)
    check_consent(settings, unsandboxed, allow_irreversible)
    if not settings.desktop.sandbox:
        warn_of_open_walls(environment, settings)
    rule = stop or default_rule(settings)
    folder = out or fresh_folder(environment)
    server = None if metrics is None or cluster is not None else context.with_resource(MetricsServer(metrics))
    if server is not None:
        tell(f"Metrics: {server.url}")
    what = str(folder) if resume else environment
    view = LogView() if logs_json() else LiveView(console(stderr=True), what=what, steps=rule.steps)

    def show(progress: Progress, places: str = "") -> None:
        if where.run is None:  # the first progress is of a run that is there
            where.run = read_manifest(folder).run
        view.show(progress, places)

    def begin_on(address: str, before_begin: Callable[[], object] = lambda: None) -> None:
        launch = launcher()
        if resume:
            launch.resume_on_cluster(
                address,
                folder,
                stop=rule,
                workers=workers,
                log_format=log_format,
                metrics=metrics or "",
                unsandboxed=unsandboxed,
                allow_irreversible=allow_irreversible,
                take_over=take_over,
                before_begin=before_begin,
            )
            return
        with EmptyRun(folder, in_use=lambda run: launch.is_under_way(address, run)):
            launch.start_on_cluster(
                address,
                environment,
                folder,
                settings=settings,
                stop=rule,
                workers=workers,
                seed=seed,
                store=store,
                artifacts=artifacts,
                log_format=log_format,
                metrics=metrics or "",
                unsandboxed=unsandboxed,
                allow_irreversible=allow_irreversible,
                before_begin=before_begin,
            )

    never_started: NeverStarted | None = None
    try:
        if cluster is not None and detach:
            begin_on(cluster)
            _tell_detached(folder, environment, cluster, as_json=as_json)
            return
        with view:
            if cluster is not None:
                summary = lead(cluster, folder, partial(begin_on, cluster), show)
            elif resume:
                summary = resume_exploration(
                    folder,
                    stop=rule,
                    workers=workers,
                    on_progress=show,
                    unsandboxed=unsandboxed,
                    allow_irreversible=allow_irreversible,
                    take_over=take_over,
                    metrics=server,
                    log_format=log_format,
                )
            else:
                with EmptyRun(folder) as before:

                    def show_new(progress: Progress) -> None:
                        before.remove()  # the first progress is of the run that took its place
                        show(progress)

                    summary = start_exploration(
                        environment,
                        folder,
                        stop=rule,
                        settings=settings,
                        workers=workers,
                        seed=seed,
                        store=store,
                        artifacts=artifacts,
                        on_progress=show_new,
                        unsandboxed=unsandboxed,
                        allow_irreversible=allow_irreversible,
                        metrics=server,
                        log_format=log_format,
                    )
    except NeverStarted as problem:
        summary = problem.summary
        never_started = NeverStarted(with_places(str(problem), target or command, preset, overrides), summary)
    except EnvironmentFailed as problem:
        told = with_places(str(problem), target or command, preset, overrides)
        raise EnvironmentFailed(with_patient(told, target, command)) from problem
    if as_json:
        print_json(summary)
    else:
        print_summary(summary, resuming(context, summary))
    if never_started is not None and failing:  # the status says only that something was met, not why
        tell(f"Never started: {never_started}", level=logging.ERROR)
    fail_if_found(context, summary, failing)
    if never_started is not None:  # and it was not what --fail-on is for
        raise never_started
    if summary.ended == "interrupted":
        context.exit(INTERRUPTED_STATUS)
    if not summary.states:
        why = f"; it failed at its start: screensearch findings {shlex.quote(summary.run)}"
        raise EnvironmentFailed(
            f"no screen of {summary.environment} was seen before the time was up"
            f"{why if summary.failed_starts else ': give it more'}"
        )


def _tell_detached(folder: Path, environment: str, cluster: str, *, as_json: bool) -> None:
    """How to join a run that is left to itself."""
    joining = shlex.join(["screensearch", "attach", str(folder), "--cluster", cluster])
    tell(f"{folder} is under way. To join it: {joining}")
    if as_json:
        print_json({"run": str(folder), "environment": environment, "cluster": cluster})
