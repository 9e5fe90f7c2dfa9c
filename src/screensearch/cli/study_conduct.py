"""What matched studies do on the command line: find suites, run what is left, tell what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import console, say
from screensearch.cli.study_progress import Counting
from screensearch.cli.study_suite import build, corpus_plan
from screensearch.errors import SettingsError
from screensearch.study.matched import run_study
from screensearch.study.names import name_of
from screensearch.study.plan import Plan, check_names
from screensearch.study.report import TABLES
from screensearch.study.starts import Eligibility
from screensearch.study.suite import SUITE, Suite, read_suite
from screensearch.study.trace import Trace


def named_suites(
    applications: tuple[str, ...],
    folders: tuple[Path, ...],
    out: Path,
    starts: int | None,
    corpus_steps: int,
    workers: int,
    seed: int,
    preset: str,
    overrides: tuple[str, ...],
) -> list[tuple[Path, Suite]]:
    """The suites that were named; those of applications are built unless they are there."""
    if folders and (applications or overrides or preset != "default"):
        raise SettingsError(
            "a suite brings its application and settings: give --suite, or --app with --preset and --set"
        )
    found = [(folder, read_suite(folder)) for folder in folders]
    for target in applications:
        folder = out / "suites" / name_of(target)
        if (folder / SUITE).exists():
            found.append((folder, read_suite(folder)))
            continue
        built = build(
            target,
            folder,
            starts=starts or 50,
            corpus=corpus_plan(corpus_steps, None, None, workers),
            seed=seed,
            rules=Eligibility(),
            preset=preset,
            overrides=overrides,
        )
        found.append((folder, built))
    check_names([suite for _, suite in found])
    return found


def conduct(
    plan: Plan, folder: Path, suites: Mapping[str, Path], *, workers: int, retry_failed: bool
) -> list[Trace]:
    """Run what is left of a study, with its progress; who interrupts it is told how it goes on."""
    with Counting(console(stderr=True), f"{plan.study} study") as counting:

        def show(trace: Trace, done: int, total: int) -> None:
            counting.show(done, total, _told(trace))

        try:
            return run_study(
                plan, folder, suites, workers=workers, retry_failed=retry_failed, on_episode=show
            )
        except KeyboardInterrupt:
            click.echo("The same command goes on with what is left.", err=True)
            raise


def tell(
    folder: Path, written: Sequence[Path], traces: Sequence[Trace], print_tables: Callable[[Console], None]
) -> None:
    """The tables for a person, in Markdown for a file or another program; then what was written."""
    out = console()
    if out.is_terminal:
        print_tables(out)
    else:
        click.echo((folder / TABLES).read_text())
    for path in written:
        say(out, f"Written: {escape(str(path))}")
    if any(not trace.complete for trace in traces):
        say(out, "The same command with --retry-failed runs those again that failed.")


def _told(trace: Trace) -> str:
    place = trace.place
    came = f"failed by {trace.failure.value}" if trace.failure is not None else f"{len(trace.states)} steps"
    return f"{place.suite} {place.condition} start {place.start}: {came}"
