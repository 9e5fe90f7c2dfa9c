"""The runs of a study: explored now, gone on with, or taken as they are."""

from __future__ import annotations

from pathlib import Path

import click

from screensearch import (
    Outcome,
    Run,
    ScreenSearchError,
    Settings,
    StopRule,
    open_run,
    resume_exploration,
    start_exploration,
)
from screensearch.cli.live import LiveView
from screensearch.cli.output import console


def explored(
    environment: str, settings: Settings, folder: Path, *, steps: int, workers: int, seed: int
) -> Path:
    """A run with just these steps. One that is there must be the one that is asked for, or a part of it."""
    begun = folder.exists()
    if begun:
        with open_run(folder) as run:
            taken = _taken(run, environment, settings, steps, seed)
        if taken == steps:
            click.echo(f"{folder} is there already and is judged as it is", err=True)
            return folder
    stop = StopRule(steps=steps)
    with LiveView(console(stderr=True), what=f"{environment}, {folder.name}", steps=steps) as view:
        if begun:
            summary = resume_exploration(folder, stop=stop, workers=workers, on_progress=view.show)
        else:
            summary = start_exploration(
                environment,
                folder,
                stop=stop,
                settings=settings,
                workers=workers,
                seed=seed,
                on_progress=view.show,
            )
    if summary.ended == "interrupted":
        raise KeyboardInterrupt
    return folder


def _taken(run: Run, environment: str, settings: Settings, steps: int, seed: int) -> int:
    """The steps of a run that is there already, if it is of the same exploration."""
    taken = sum(each.outcome is not Outcome.LOST for each in run.transitions())
    if (run.environment, run.seed) != (environment, seed) or taken > steps:
        raise ScreenSearchError(
            f"{run.path} is a run of {run.environment} with seed {run.seed} and {taken} steps, not of "
            f"{environment} with seed {seed} and {steps} steps: choose another --out, or remove it"
        )
    if run.settings != settings:
        raise ScreenSearchError(
            f"{run.path} was explored with other settings than are asked for now: choose another --out, or "
            "remove it"
        )
    return taken
