"""Run the controls: every trial of the plan that is not finished yet, one after the other.

Each trial is a sandbox, or a world, of its own. What is interrupted costs the trial under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from screensearch.config import Settings, settings_document, settings_for, settings_from_document
from screensearch.environments.protocol import ClipboardHolder
from screensearch.environments.specification import open_environment
from screensearch.errors import SettingsError
from screensearch.explore.beginning import check_no_loop_runs, try_out
from screensearch.explore.worker import means_of
from screensearch.study.controls import trial as trials
from screensearch.study.controls.figures import paste_seconds
from screensearch.study.controls.plan import ControlFolder, ControlPlan, Place, PlannedApplication, Trial
from screensearch.study.files import conducted
from screensearch.study.names import name_of

TRIES = 2
"""So often a trial is run before its failure is taken for what it is."""

OnTrial = Callable[[Trial, int, int], None]
"""Called with each finished trial, and how many of how many are finished."""


def plan_application(target: str, overrides: Sequence[str] = ()) -> PlannedApplication:
    """An application of the controls, by what `screensearch explore` takes."""
    check_no_loop_runs("a study")
    environment, settings = settings_for(target, overrides=(*overrides, "explore.screenshots=none"))
    if not settings.desktop.sandbox:
        raise SettingsError(f"the settings of {target!r} leave the sandbox, which a study never does")
    try_out(environment, settings)
    return PlannedApplication(
        name_of(target), environment, settings_document(settings), _holds_clipboard(environment, settings)
    )


def _holds_clipboard(environment: str, settings: Settings) -> bool:
    world = open_environment(environment, means_of(settings))
    asyncio.run(world.close())
    return isinstance(world, ClipboardHolder)


def run_controls(
    plan: ControlPlan,
    folder: str | Path,
    *,
    retry_failed: bool = False,
    on_trial: OnTrial = lambda trial, done, total: None,
) -> list[Trial]:
    """Run what is left, and give all trials in the order of the plan.

    Failed trials count as finished unless `retry_failed`.
    """
    check_no_loop_runs("a study")
    study = ControlFolder(Path(folder))
    with conducted(study.path):
        study.begin(plan)
        total = len(list(plan.all_places()))
        finished: list[Trial] = []
        for application in plan.applications:
            settings = settings_from_document(application.settings)
            own: list[Trial] = []
            for place in plan.places(application):
                trial = study.trial(place)
                if trial is None or (retry_failed and not trial.complete):
                    trial = _run(plan, settings, place, paste_seconds(own))
                    study.keep(trial)
                    on_trial(trial, len(finished) + len(own) + 1, total)
                own.append(trial)
            finished += own
        study.write_results(plan)
        return finished


def _run(plan: ControlPlan, settings: Settings, place: Place, seconds: float | None) -> Trial:
    """A trial, and if it fails another try."""
    for number in range(1, TRIES + 1):
        trial = asyncio.run(trials.run_trial(plan, settings, place, seconds))
        trial.tries = number
        if trial.complete:
            break
    return trial
