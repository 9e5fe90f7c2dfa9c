"""`screensearch explore`: map an application."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.markup import escape

from screensearch import StopRule, Summary, resolve, resume_exploration, start_exploration
from screensearch.cli.live import LiveView
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.errors import SettingsError
from screensearch.explore.exploration import LARGEST_SEED

DEFAULT_STEPS = 2000


@click.command()
@click.argument("environment", required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the run. Default: a new one in runs/."
)
@click.option("--steps", type=click.IntRange(min=1), help="Stop when the run has so many steps.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Stop after so many seconds.")
@click.option("--plateau", type=click.IntRange(min=1), help="Stop after so many steps without a new state.")
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
    help="Keep a picture of every observation (the default), or go about ten times as fast without.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in --out, under its own settings.")
@as_json_option
def explore(
    environment: str | None,
    out: Path | None,
    steps: int | None,
    seconds: float | None,
    plateau: int | None,
    workers: int,
    seed: int,
    preset: str,
    overrides: tuple[str, ...],
    screenshots: bool | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Explore ENVIRONMENT (such as synthetic:notepad) and leave a run that can be opened.

    Without a stop rule it takes 2000 steps. Ctrl-C ends it early and leaves a usable run;
    `--resume --out RUN` goes on with it.
    """
    if steps is None and seconds is None and plateau is None:
        steps = DEFAULT_STEPS
    if out is not None and str(out) == ".":
        raise SettingsError("--out names no folder of its own: give a new one, such as runs/mine")
    stop = StopRule(steps=steps, seconds=seconds, plateau=plateau)
    if resume:
        if out is None:
            raise SettingsError("--resume needs --out: the folder of the run to go on with")
        if environment is not None or overrides or preset != "default" or screenshots is not None or seed:
            raise SettingsError(
                "a resumed run keeps its environment, seed and settings: give --resume, --out, a stop rule "
                "and --workers only"
            )
        with LiveView(console(stderr=True), what=str(out), steps=steps) as view:
            summary = resume_exploration(out, stop=stop, workers=workers, on_progress=view.show)
    else:
        if environment is None:
            raise SettingsError("what shall be explored? Try: screensearch explore synthetic:notepad")
        if screenshots is not None:
            overrides = (*overrides, f'explore.screenshots="{"all" if screenshots else "none"}"')
        settings = resolve(preset, overrides=overrides)
        with LiveView(console(stderr=True), what=environment, steps=steps) as view:
            summary = start_exploration(
                environment,
                out or _fresh_folder(environment),
                stop=stop,
                settings=settings,
                workers=workers,
                seed=seed,
                on_progress=view.show,
            )
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)


def _fresh_folder(environment: str) -> Path:
    """``runs/synthetic-notepad-1``, or the next number that is free."""
    name = "".join(letter if letter.isalnum() else "-" for letter in environment).strip("-")
    number = 1
    while Path("runs", f"{name}-{number}").exists():
        number += 1
    return Path("runs", f"{name}-{number}")


def _print_summary(summary: Summary) -> None:
    out = console()
    endings = {
        "steps": "all steps taken",
        "seconds": "time is up",
        "plateau": "no new states any more",
        "interrupted": "interrupted",
    }
    say(out, f"[bold]{escape(summary.run)}[/]  {escape(summary.environment)}  ({endings[summary.ended]})")
    figures = table("steps", "states", "edges", "captures", "crashes", "hangs", "missed", "lost", "steps/s")
    figures.add_row(
        *(
            f"{value:,}"
            for value in (
                summary.steps,
                summary.states,
                summary.edges,
                summary.captures,
                summary.crashes,
                summary.hangs,
                summary.missed,
                summary.lost,
            )
        ),
        f"{summary.steps_per_second:,.0f}",
    )
    out.print(figures)
    if summary.worker_failures:
        say(
            out,
            f"{summary.worker_failures} workers failed and were replaced: see {escape(summary.run)}/workers",
        )
    say(out, f"[dim]graph {summary.digest}[/]")
    say(out, f"[dim]identified by {escape(summary.identifier)}[/]")
    folder = escape(shlex.quote(summary.run))
    if summary.ended == "interrupted":
        more = summary.steps + DEFAULT_STEPS
        say(out, f"Go on with: screensearch explore --resume --out {folder} --steps {more}")
    say(out, f"Look at it with: screensearch show {folder}")
