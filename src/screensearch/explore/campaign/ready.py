"""What is checked before the first run of a campaign starts, so that none is refused halfway through."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from screensearch.config import DESKTOP, Settings, StopSettings, settings_from_document
from screensearch.config.settings import items_of
from screensearch.environments.desktop.packages import apt_line, installed_packages
from screensearch.environments.desktop.programs import missing_packages
from screensearch.environments.desktop.sandbox import SessionFailed, find_program
from screensearch.environments.desktop.settings import AppSettings
from screensearch.errors import RunNotFound, ScreenSearchError
from screensearch.explore.beginning import try_out
from screensearch.explore.campaign.file import PlannedRun
from screensearch.explore.campaign.record import CampaignRecord, RunState, Standing
from screensearch.record.artifacts import open_artifacts
from screensearch.record.run import open_run_folder
from screensearch.record.stores import reach_store


class CampaignRefused(ScreenSearchError):
    """Runs of a campaign could not start, or would not be those that are there. Nothing was run."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A run whose application, or the desktop for it, is not installed."""

    run: PlannedRun
    what: str
    packages: tuple[str, ...]  # that would bring it, as far as that is known


def is_due(run: PlannedRun, standing: Standing) -> bool:
    """Whether there is anything left to do: a finished run is done, as long as its stop rule is the same."""
    return standing.state is not RunState.FINISHED or standing.stop != run.stop


def find_missing(runs: Sequence[PlannedRun]) -> list[Missing]:
    """Those runs that need a program or a package that is not there."""
    live = [run for run in runs if run.environment.partition(":")[0] == DESKTOP]
    if not live:
        return []
    of_the_desktop = missing_packages()
    there = installed_packages(package for run in live for package in run.settings.app.packages)
    found = []
    for run in live:
        app = run.settings.app
        packages = () if there is None else tuple(each for each in app.packages if each not in there)
        what = _what_is_missing(app, packages, of_the_desktop)
        if what:
            found.append(Missing(run, what, (*of_the_desktop, *(packages or app.packages))))
    return found


def _what_is_missing(app: AppSettings, packages: Sequence[str], of_the_desktop: Sequence[str]) -> str:
    """In words; empty when all is there."""
    if of_the_desktop:
        return f"the desktop needs {', '.join(of_the_desktop)}"
    try:
        find_program(app.command[0])
    except SessionFailed:
        return f"there is no program {app.command[0]!r}"
    return f"not installed: {', '.join(packages)}" if packages else ""


def refuse_missing(missing: Sequence[Missing]) -> CampaignRefused:
    """What to tell when runs are not to be left out, with the command that brings what they need."""
    lines = [f"  {each.run.name}: {each.what} ({each.run.place})" for each in missing]
    apt = apt_line({package for each in missing for package in each.packages})
    if apt:
        lines.append(f"install it:      {apt}")
    lines.append("leave them out:  --skip-missing")
    lines.append("look closer:     screensearch doctor TARGET")
    return CampaignRefused("\n".join(["what some runs explore is not here:", *lines]))


def check_runs(runs: Sequence[PlannedRun], folder: Path, record: CampaignRecord) -> None:
    """Try every run out; all that is wrong is told at once.

    Whether pictures can be kept elsewhere is tried last, and only if all is well: it leaves a trace there.
    """
    problems = []
    reached: set[str] = set()
    tried: list[tuple[str, Settings]] = []
    for run in runs:
        try:
            _check_walls(run)
            _check_folder(run, folder / run.name, known=run.name in record)
            if run.store not in reached:
                reach_store(run.store)
                reached.add(run.store)
            if (run.environment, run.settings) not in tried:  # repetitions are alike
                try_out(run.environment, run.settings)
                tried.append((run.environment, run.settings))
        except ScreenSearchError as problem:
            problems.append(f"{run.place}: run {run.name!r}: {problem}")
    problems = problems or list(_what_artifacts_lack(runs))
    if problems:
        raise CampaignRefused("\n".join(problems))


def _what_artifacts_lack(runs: Sequence[PlannedRun]) -> Iterator[str]:
    """Try every place out that runs keep their pictures below; those of one place are alike."""
    tried: set[str] = set()
    for run in runs:
        above = run.artifacts.rpartition("/")[0]
        if above and above not in tried:
            tried.add(above)
            try:
                open_artifacts(above, Path()).check()
            except ScreenSearchError as problem:
                yield f"{run.place}: run {run.name!r}: {problem}"


def _check_walls(run: PlannedRun) -> None:
    if not run.settings.desktop.sandbox:
        raise CampaignRefused(
            "desktop.sandbox is false, and a campaign runs unattended: leave that out, or explore it by "
            "itself with `screensearch explore --unsandboxed`"
        )


def _check_folder(run: PlannedRun, folder: Path, *, known: bool) -> None:
    """A run that is there must be the one that the file describes."""
    try:
        there = open_run_folder(folder, to_write=True)
    except RunNotFound:
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise CampaignRefused(
                f"{folder} is there and is no run: rename the run in the file, or give another --out"
            ) from None
        return
    if not known:
        raise CampaignRefused(
            f"{folder} is a run that this campaign did not make: rename the run in the file, or give another "
            "--out"
        )
    manifest = there.manifest
    wanted = _described(run.environment, run.seed, run.store, run.artifacts, run.settings)
    settings = settings_from_document(manifest.settings)
    made = _described(manifest.environment, manifest.seed, manifest.store, manifest.artifacts, settings)
    differing = [key for key in wanted if wanted[key] != made.get(key)]
    if differing:
        raise CampaignRefused(
            f"{folder} was made with another {' and another '.join(differing[:3])} than the file says now, "
            "and a run keeps its own: put the file back as it was, rename the run in it, or move the folder "
            f"away (`mv {shlex.quote(str(folder))} ELSEWHERE`)"
        )


def _described(
    environment: str, seed: int, store: str, artifacts: str, settings: Settings
) -> Mapping[str, Any]:
    """All that a run keeps for good, by name. A stop rule may change."""
    kept = msgspec.to_builtins(replace(settings, stop=StopSettings()))
    every = {".".join(key): value for key, value in items_of(kept)}
    return {"environment": environment, "seed": seed, "store": store, "artifacts": artifacts, **every}
