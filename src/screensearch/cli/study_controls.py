"""`screensearch study controls`: a hidden clipboard against a race, and probes against escapes."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.cli.study_progress import Counting
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.study.controls.conduct import plan_application, run_controls
from screensearch.study.controls.figures import ControlSummary
from screensearch.study.controls.plan import ControlPlan, Trial
from screensearch.study.controls.report import write_report
from screensearch.study.controls.tables import causal_cells, probe_cells
from screensearch.study.report import TABLES

APPLICATIONS = ("mousepad", "synthetic:notepad")
"""The paper's Notepad as it can be had here: live with a real clipboard, and declared."""


@click.command()
@click.option(
    "--app",
    "applications",
    multiple=True,
    metavar="TARGET",
    help="An editor on a live desktop, or synthetic:notepad; may be repeated. Default: mousepad and "
    "synthetic:notepad.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="Trials of the hidden clipboard, and of each way to probe; an even number.",
)
@click.option(
    "--race-trials",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Trials of the asynchronous race.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=0,
    show_default=True,
    help="Decides the order of clipboards, the delays of the race, and the synthetic world's chances.",
)
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one setting. May be repeated."
)
@click.option("--retry-failed", is_flag=True, help="Run trials again that failed.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("studies/controls"),
    show_default=True,
    help="Folder of the study. If it holds a part of this study, the rest is run.",
)
@as_json_option
def controls(
    applications: tuple[str, ...],
    trials: int,
    race_trials: int,
    seed: int,
    overrides: tuple[str, ...],
    retry_failed: bool,
    out: Path,
    as_json: bool,
) -> None:
    """What is hidden against what is late, and a probe against an escape (paper, "Controlled ambiguity").

    The same screen of an editor is begun with one or another text on the clipboard. Paste tells which; while
    an update of the clipboard is on its way, it does not always. Then three ways to find out before
    committing to one of the texts: none, Paste and Undo, and a look into the File menu. Interrupted, the
    same command goes on. Writes raw trials and tables in Markdown and LaTeX.
    """
    plan = ControlPlan(
        applications=[plan_application(each, overrides) for each in applications or APPLICATIONS],
        trials=trials,
        race_trials=race_trials,
        seed=seed,
        version=version("screensearch"),
    )
    with Counting(console(stderr=True), "controls") as counting:

        def show(trial: Trial, done: int, total: int) -> None:
            counting.show(done, total, _told(trial))

        try:
            finished = run_controls(plan, out, retry_failed=retry_failed, on_trial=show)
        except KeyboardInterrupt:
            click.echo("The same command goes on with what is left.", err=True)
            raise
    summary, written = write_report(plan, finished, out)
    if as_json:
        print_json({"folder": str(out), "files": [str(path) for path in written], "summary": summary})
        return
    shown = console()
    if shown.is_terminal:
        _print_tables(shown, summary)
    else:
        click.echo((out / TABLES).read_text())
    for path in written:
        say(shown, f"Written: {escape(str(path))}")
    if any(not trial.complete for trial in finished):
        say(shown, "The same command with --retry-failed runs those again that failed.")


def _print_tables(out: Console, summary: ControlSummary) -> None:
    for title, left, (heads, *lines) in (
        ("Controlled dispersion (in parentheses: the paper's)", 3, causal_cells(summary)),
        ("Probe against escape", 2, probe_cells(summary)),
    ):
        shown = table(*heads, title=title, right=tuple(heads[left:]))
        for line in lines:
            shown.add_row(*map(escape, line))
        out.print(shown)
        out.print()


def _told(trial: Trial) -> str:
    place = trial.place
    came = f"failed by {trial.failure}" if trial.failure is not None else trial.clipboard
    return f"{place.application} {place.kind} {place.number}: {came}"
