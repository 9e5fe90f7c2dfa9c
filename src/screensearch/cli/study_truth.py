"""`screensearch study truth`: merges and ambiguity against a world that declares both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from screensearch import open_run, resolve
from screensearch.cli.output import as_json_option, print_json
from screensearch.cli.study_explored import explored
from screensearch.study.reach import TrueCoverage, true_coverage
from screensearch.study.truth import TruthReport, judge, rules
from screensearch.study.truth_report import TruthStudy, page, write_truth

APPLICATIONS = tuple(
    application
    for name in ("notepad?", "files?", "settings?", "generated?states=1000&")
    for application in (name[:-1], f"{name}noise=0")
)
"""Each with its cosmetic noise and without: what noise does to identity is half of the answer."""


@click.command()
@click.option(
    "--app",
    "applications",
    multiple=True,
    help="A synthetic application, such as notepad or synthetic:notepad; may be repeated. Default: all, each "
    "with and without noise.",
)
@click.option(
    "--run",
    "runs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Judge this run instead of exploring; may be repeated.",
)
@click.option(
    "--steps", type=click.IntRange(min=1), default=5000, show_default=True, help="Steps per application."
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option("--seed", type=int, default=0, show_default=True, help="One seed decides everything random.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs per application, with this seed and the next ones: figures get intervals.",
)
@click.option(
    "--threshold",
    "thresholds",
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    help="Judge the exact identifier at this threshold too; may be repeated.",
)
@click.option(
    "--embedder",
    default="wordllama",
    show_default=True,
    help="What the hybrid identifier reads screens with.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/truth"),
    show_default=True,
    help="Folder of the runs and tables. A run that is there already is judged again, not explored again.",
)
@as_json_option
def truth(
    applications: tuple[str, ...],
    runs: tuple[Path, ...],
    steps: int,
    workers: int,
    seed: int,
    seeds: int,
    thresholds: tuple[float, ...],
    embedder: str,
    out: Path,
    as_json: bool,
) -> None:
    """Merges, ambiguity and coverage against the declared truth of the synthetic world.

    Every identifier judges the same runs. An interrupted study goes on with the same command.
    """
    settings = resolve(overrides=("explore.screenshots=none", f"embed.name={embedder}"))
    reports: list[TruthReport] = []
    coverages: list[TrueCoverage] = []
    for folder in runs or _all_explored(applications or APPLICATIONS, out, steps, workers, seed, seeds):
        with open_run(folder) as run:
            coverages.append(true_coverage(run))
            reports += [judge(run, rule) for rule in rules(settings, thresholds)]
    study = TruthStudy.of(reports, coverages)
    if not runs:
        for written in write_truth(study, out):
            click.echo(f"Written to {written}", err=True)
    if as_json:
        print_json(study)
        return
    click.echo(page(study))


def _all_explored(
    applications: tuple[str, ...], out: Path, steps: int, workers: int, seed: int, seeds: int
) -> Iterator[Path]:
    """The runs, application by application. The first seed's folder has the application's name alone."""
    settings = resolve(overrides=("explore.screenshots=none",))
    for application in (each.removeprefix("synthetic:") for each in applications):
        name = "".join(letter if letter.isalnum() else "-" for letter in application)
        for each in range(seed, seed + seeds):
            folder = out / (name if each == seed else f"{name}-seed-{each}")
            yield explored(
                f"synthetic:{application}", settings, folder, steps=steps, workers=workers, seed=each
            )
