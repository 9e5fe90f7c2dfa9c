"""`screensearch explore`: map an application."""

from __future__ import annotations

import difflib
import logging
import shlex
from dataclasses import replace
from pathlib import Path

import click

from screensearch import (
    MetricsServer,
    NeverStarted,
    Outcome,
    Progress,
    Settings,
    StopRule,
    Summary,
    open_run,
    resume_exploration,
    settings_for,
    start_exploration,
)
from screensearch.act.guard import open_gates
from screensearch.cli.cluster import follow, launcher
from screensearch.cli.folders import EmptyRun, fresh_folder
from screensearch.cli.live import LiveView, LogView
from screensearch.cli.logs import log_as, log_format_option, logs_json, tell, warn
from screensearch.cli.output import as_json_option, console, print_json
from screensearch.cli.places import with_places
from screensearch.cli.status import FOUND_STATUS, INTERRUPTED_STATUS
from screensearch.cli.summary import print_summary, resuming
from screensearch.config import DESKTOP
from screensearch.errors import EnvironmentFailed, SettingsError
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.explore.consent import check_consent
from screensearch.explore.memory import give_large_blocks_back
from screensearch.record.run import open_run_folder

DEFAULT_STEPS = 2000

COMMAND = "screensearch.command"
"""Where the command after ``--`` waits while the rest is parsed."""

FAILURES = (Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE, Outcome.LOST)
"""What ``--fail-on`` knows."""


class ExploreCommand(click.Command):
    """Everything after ``--`` is a command to explore, and none of our business to parse."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if "--" in arguments:
            place = arguments.index("--")
            arguments, context.meta[COMMAND] = arguments[:place], tuple(arguments[place + 1 :])
        return super().parse_args(context, arguments)


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
    help="With --resume: if the run's log is in a database and seems to be owned on a machine that is gone, "
    "replace that owner.",
)
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve metrics for Prometheus at http://HOST:PORT/metrics while it runs. Without a HOST, only this "
    "machine can read them; port 0 takes a free one. There is no authentication.",
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
    failing = _failing_outcomes(fail_on)
    stop = _stop_rule(steps, minutes, seconds, states, plateau)
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
        with open_run(out) as run:
            settings, environment = run.settings, run.environment
        _check_same_walls(out, settings, unsandboxed, allow_irreversible)
    else:
        if screenshots is not None:
            overrides = (*overrides, f'explore.screenshots="{"all" if screenshots else "none"}"')
        environment, settings = settings_for(_named_target(target, command), preset, overrides)
        settings = _with_flags(environment, settings, unsandboxed, allow_irreversible)
    check_consent(settings, unsandboxed, allow_irreversible)
    if not settings.desktop.sandbox:
        _warn(environment, settings)
    stop = stop or _default_rule(settings)
    folder = out or fresh_folder(environment)
    server = None if metrics is None or cluster is not None else context.with_resource(MetricsServer(metrics))
    if server is not None:
        tell(f"Metrics: {server.url}")
    what = str(folder) if resume else environment
    view = LogView() if logs_json() else LiveView(console(stderr=True), what=what, steps=stop.steps)

    def show(progress: Progress) -> None:
        if where.run is None:  # the first progress is of a run that is there
            where.run = open_run_folder(folder).manifest.run
        view.show(progress)

    never_started: NeverStarted | None = None
    if cluster is not None:
        launch = launcher()
        if resume:
            launch.resume_on_cluster(
                cluster, folder, stop=stop, workers=workers, log_format=log_format, metrics=metrics or ""
            )
        else:
            launch.start_on_cluster(
                cluster,
                environment,
                folder,
                settings=settings,
                stop=stop,
                workers=workers,
                seed=seed,
                store=store,
                artifacts=artifacts,
                log_format=log_format,
                metrics=metrics or "",
            )
        if detach:
            joining = shlex.join(["screensearch", "attach", str(folder), "--cluster", cluster])
            click.echo(f"{folder} is under way. To join it: {joining}", err=True)
            if as_json:
                print_json({"run": str(folder), "environment": environment, "cluster": cluster})
            return
    try:
        with view:
            if cluster is not None:
                summary = follow(launcher().Attached(cluster, folder), view)
            elif resume:
                summary = resume_exploration(
                    folder,
                    stop=stop,
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
                        stop=stop,
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
        raise EnvironmentFailed(_with_patient(told, target, command)) from problem
    if as_json:
        print_json(summary)
    else:
        print_summary(summary, resuming(context, summary))
    if never_started is not None and failing:  # the status says only that something was met, not why
        tell(f"Never started: {never_started}", level=logging.ERROR)
    _fail_if_found(context, summary, failing)
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


def _named_target(target: str | None, command: tuple[str, ...] | None) -> str | tuple[str, ...]:
    """What shall be explored: a target, or the words of a command."""
    if command is not None and target is not None:
        raise SettingsError(
            f"{target!r} and the command after -- are two things to explore: leave one of them out"
        )
    if command is not None:
        return command
    if target is None:
        raise SettingsError(
            "what shall be explored? Try: screensearch explore mousepad, screensearch explore -- COMMAND, or "
            "screensearch explore synthetic:notepad"
        )
    return target


def _with_patient(words: str, target: str | None, command: tuple[str, ...] | None) -> str:
    """The words of a failure; if they say to ask the doctor, also about what."""
    about = [target] if target is not None else ["--", *command] if command is not None else []
    asking = "`screensearch doctor`"
    return words.replace(asking, f"`{shlex.join(['screensearch', 'doctor', *about])}`")


# -- when it ends ---------------------------------------------------------------------------------


def _stop_rule(
    steps: int | None, minutes: float | None, seconds: float | None, states: int | None, plateau: int | None
) -> StopRule | None:
    """The rule that the options give, if they give one."""
    times = [*([] if seconds is None else [seconds]), *([] if minutes is None else [60 * minutes])]
    if not times and steps is None and states is None and plateau is None:
        return None
    return StopRule(steps=steps, seconds=min(times, default=None), states=states, plateau=plateau)


def _default_rule(settings: Settings) -> StopRule:
    """The rule of the settings; without one, a number of steps that soon comes to an end."""
    given = settings.stop
    if (given.steps, given.minutes, given.states, given.plateau) == (None, None, None, None):
        return StopRule(steps=DEFAULT_STEPS)
    return StopRule.of(given)


def _failing_outcomes(names: str | None) -> tuple[str, ...]:
    """The outcomes of ``--fail-on``; a name that is none of them gets help."""
    named = tuple(name.strip() for name in (names or "").split(",")) if names is not None else ()
    for name in named:
        if name not in FAILURES:
            near = difflib.get_close_matches(name, map(str, FAILURES), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"--fail-on knows no outcome {name!r}{hint} (known: {', '.join(FAILURES)})")
    return named


def _fail_if_found(context: click.Context, summary: Summary, failing: tuple[str, ...]) -> None:
    """Say what was found that was not to be, and end with a status of its own."""
    found = [f"{count} {name}" for name in failing if (count := summary.new_outcomes.get(name, 0))]
    if found:
        folder = shlex.quote(summary.run)
        shows = "show" if found[0].endswith(Outcome.LOST) and len(found) == 1 else "findings"
        line = f"This exploration met {', '.join(found)}: screensearch {shows} {folder}"
        tell(line, level=logging.WARNING)
        context.exit(FOUND_STATUS)


# -- without a sandbox ----------------------------------------------------------------------------


def _with_flags(
    environment: str, settings: Settings, unsandboxed: bool, allow_irreversible: bool
) -> Settings:
    """The settings of a new run with what the flags say."""
    if unsandboxed:
        if environment.partition(":")[0] != DESKTOP:
            raise SettingsError(f"--unsandboxed is for applications on a desktop, and {environment} is none")
        settings = replace(settings, desktop=replace(settings.desktop, sandbox=False))
    if allow_irreversible:
        settings = replace(settings, guard=replace(settings.guard, irreversible="allow"))
    return settings


def _check_same_walls(run: Path, settings: Settings, unsandboxed: bool, allow_irreversible: bool) -> None:
    """Refuse flags that a resumed run was not started with: it keeps its settings."""
    if unsandboxed and settings.desktop.sandbox:
        raise SettingsError(f"{run} was started in a sandbox and goes on in it: leave --unsandboxed out")
    if allow_irreversible and settings.guard.irreversible != "allow":
        raise SettingsError(f"{run} was started without --allow-irreversible and goes on so: leave it out")


def _warn(environment: str, settings: Settings) -> None:
    """Tell what may happen now."""
    told = f"{environment} runs without a sandbox: as you, with your files, your network and your devices"
    for each in (told, *open_gates(settings.guard, harmless=False)):
        warn(each)
