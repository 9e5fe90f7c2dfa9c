"""`screensearch study lines`: lines of an application's code beside states, for several selectors."""

from __future__ import annotations

from pathlib import Path

import click

from screensearch import open_run, settings_for
from screensearch.cli.output import as_json_option, print_json
from screensearch.cli.study_explored import explored
from screensearch.cli.targets import COMMAND, ExploreCommand, named_target
from screensearch.errors import SettingsError
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.study.lines import LinesRun, lines_page, measure_lines, write_lines

SELECTORS = ("puct", "greedy", "random")


@click.command(cls=ExploreCommand)
@click.argument("target", required=False)
@click.option(
    "--selector",
    "selectors",
    multiple=True,
    help=f"A way to choose; may be repeated. Default: {', '.join(SELECTORS)}.",
)
@click.option("--steps", type=click.IntRange(min=1), default=300, show_default=True, help="Steps per run.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Runs per selector.")
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=0,
    show_default=True,
    help="The first seed; the others follow it.",
)
@click.option("--preset", default="default", show_default=True, help="`default`, `paper`, or a TOML file.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one setting, e.g. 'app.coverage=[\"PACKAGE\"]'. May be repeated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/lines"),
    show_default=True,
    help="Folder of the runs, the table and the curves. A run that is there already is not explored again.",
)
@as_json_option
@click.pass_context
def lines(
    context: click.Context,
    target: str | None,
    selectors: tuple[str, ...],
    steps: int,
    seeds: int,
    seed: int,
    preset: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
) -> None:
    """Lines of code run beside states found, for several ways to choose.

    TARGET, or the COMMAND after --, is an application written in Python, as `screensearch explore` takes it,
    whose `app.coverage` names what to count. An interrupted study goes on with the same command.
    """
    named = named_target(target, context.meta.get(COMMAND))
    runs: list[LinesRun] = []
    for each in range(seed, seed + seeds):
        for selector in selectors or SELECTORS:
            changes = ("explore.screenshots=none", *overrides, f"select.selector={selector}")
            environment, settings = settings_for(named, preset, changes)
            if not settings.app.coverage:
                raise SettingsError(
                    f"nothing of {environment} is counted: name folders or packages of its Python with "
                    "--set 'app.coverage=[\"PACKAGE\"]', or in its profile"
                )
            folder = explored(
                environment, settings, out / f"{selector}-seed-{each}", steps=steps, workers=1, seed=each
            )
            with open_run(folder) as run:
                runs.append(measure_lines(run))
    for written in write_lines(runs, out):
        click.echo(f"Written to {written}", err=True)
    if as_json:
        print_json({"runs": runs})
        return
    click.echo(lines_page(runs))
