"""`screensearch study`: experiments that anyone can run again."""

from __future__ import annotations

from pathlib import Path

import click

from screensearch import Outcome, Run, ScreenSearchError, StopRule, open_run, resolve, start_exploration
from screensearch.cli.live import LiveView
from screensearch.cli.output import as_json_option, console, print_json
from screensearch.cli.study_diagnostic import diagnostic
from screensearch.cli.study_matched import components, selector, sensitivity
from screensearch.cli.study_suite import suite, verify
from screensearch.study.truth import TruthReport, judge, rules, to_markdown

APPLICATIONS = tuple(
    application
    for name in ("notepad?", "files?", "settings?", "generated?states=1000&")
    for application in (name[:-1], f"{name}noise=0")
)
"""Each with its cosmetic noise and without: what noise does to identity is half of the answer."""


LEGEND = """mixed: states that hold several true screens; split: true screens found in several states.
Precision, recall and F1 are over pairs of observations. Aliased: states of which some action truly has
several outcomes; dispersed: states where that was seen. AUROC: how well u, or D, ranks aliased states above
others (0.5 is chance; nan where there is only one kind)."""


@click.group()
def study() -> None:
    """Experiments, each one command: raw results, tables and what they mean."""


@study.command()
@click.option(
    "--app",
    "applications",
    multiple=True,
    help="A synthetic application; may be repeated. Default: all, each with and without noise.",
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
    thresholds: tuple[float, ...],
    embedder: str,
    out: Path,
    as_json: bool,
) -> None:
    """Merges and ambiguity against the declared truth of the synthetic world, for every identifier."""
    settings = resolve(overrides=("explore.screenshots=none", f"embed.name={embedder}"))
    reports: list[TruthReport] = []
    for folder in runs or (
        _explored(application, out, steps, workers, seed) for application in _named(applications)
    ):
        with open_run(folder) as run:
            reports += [judge(run, rule) for rule in rules(settings, thresholds)]
    if not runs:
        (out / "truth.md").write_text(to_markdown(reports))
        click.echo(f"Written to {out / 'truth.md'}", err=True)
    if as_json:
        print_json({"reports": reports})
        return
    click.echo(to_markdown(reports))
    click.echo(LEGEND)


for command in (suite, verify, selector, components, sensitivity, diagnostic):
    study.add_command(command)


def _named(applications: tuple[str, ...]) -> tuple[str, ...]:
    return applications or APPLICATIONS


def _explored(application: str, out: Path, steps: int, workers: int, seed: int) -> Path:
    """The run of an application: explored now, or the one that is there if it is what was asked for."""
    folder = out / "".join(letter if letter.isalnum() else "-" for letter in application)
    environment = f"synthetic:{application}"
    if folder.exists():
        click.echo(f"{folder} is there already and is judged as it is", err=True)
        with open_run(folder) as run:
            _check_same(run, environment, steps, seed)
        return folder
    with LiveView(console(stderr=True), what=environment, steps=steps) as view:
        summary = start_exploration(
            environment,
            folder,
            stop=StopRule(steps=steps),
            settings=resolve(overrides=("explore.screenshots=none",)),
            workers=workers,
            seed=seed,
            on_progress=view.show,
        )
    if summary.ended == "interrupted":
        raise KeyboardInterrupt
    return folder


def _check_same(run: Run, environment: str, steps: int, seed: int) -> None:
    """A run that is there already is judged only if it is the one that was asked for."""
    taken = sum(each.outcome is not Outcome.LOST for each in run.transitions())
    if (run.environment, run.seed, taken) != (environment, seed, steps):
        raise ScreenSearchError(
            f"{run.path} is a run of {run.environment} with seed {run.seed} and {taken} steps, not of "
            f"{environment} with seed {seed} and {steps} steps: choose another --out, or remove it"
        )
