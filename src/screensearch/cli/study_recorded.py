"""`screensearch study context` and `screensearch study corpus`: studies of runs that were recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.cli.study_progress import Counting
from screensearch.study.context import Context
from screensearch.study.context_report import DEFAULT, study_context
from screensearch.study.context_tables import chance_cells, definition_cells, paper_cells
from screensearch.study.corpus_report import study_corpus
from screensearch.study.corpus_tables import corpus_cells, diagnostics_cells, pixel_note, prior_cells
from screensearch.study.pixels import PER_APPLICATION
from screensearch.study.report import TABLES
from screensearch.study.runs import find_runs

Command = TypeVar("Command", bound=Callable[..., Any])

runs_argument = click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path)
)


def out_option(name: str) -> Callable[[Command], Command]:
    """Where a study's files go."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=Path("studies", name),
        show_default=True,
        help="Folder of the tables, figures and raw results; what it has of this study is replaced.",
    )


@click.command()
@runs_argument
@click.option(
    "--context",
    "definition",
    type=click.Choice([each.value for each in Context]),
    default=DEFAULT.value,
    show_default=True,
    help="What is taken as the context of a trial in the first two tables.",
)
@out_option("context")
@as_json_option
def context(runs: tuple[Path, ...], definition: str, out: Path, as_json: bool) -> None:
    """Split the dispersion of repeated actions: within a recorded context, and between contexts.

    RUN is the folder of a run, or of a campaign for all its runs. Nothing is explored. The paper's table
    (appendix "Ambiguity audits"), and how much of it shuffled contexts would explain.
    """
    with Counting(console(stderr=True), "reading runs") as counting:
        summary, files = study_context(find_runs(runs), out, Context(definition), counting.show)
    if as_json:
        print_json(summary)
        return
    shown = console()
    if not shown.is_terminal:
        _print_page(shown, files)
        return
    _print(
        shown, f"Means over groups, context {definition} (in parentheses: the paper's)", paper_cells(summary)
    )
    _print(
        shown, f"Against contexts shuffled within each group, {summary.draws} times", chance_cells(summary)
    )
    _print(shown, "By definition of context", definition_cells(summary), words=2)
    _print_files(shown, files)


@click.command()
@runs_argument
@click.option(
    "--pictures",
    type=click.IntRange(min=0),
    default=PER_APPLICATION,
    show_default=True,
    help="Screenshots of an application to read at most, to see how far those of one state differ.",
)
@out_option("corpus")
@as_json_option
def corpus(runs: tuple[Path, ...], pictures: int, out: Path, as_json: bool) -> None:
    """Tell what runs amount to: the paper's corpus table, and its four diagnostics figures.

    RUN is the folder of a run, or of a campaign for all its runs. Nothing is explored. Discovery over time,
    decision latency, changed pixels within merged states, and extracted traces by length; the state rate by
    prior, if the runs differ in it.
    """
    with Counting(console(stderr=True), "reading runs") as counting:
        summary, files = study_corpus(find_runs(runs), out, pictures, counting.show)
    if as_json:
        print_json(summary)
        return
    shown = console()
    if not shown.is_terminal:
        _print_page(shown, files)
        return
    _print(shown, "Corpus (in parentheses: the paper's)", corpus_cells(summary))
    if summary.priors:
        _print(shown, "By prior (in parentheses: the paper's)", prior_cells(summary))
    _print(shown, "Diagnostics", diagnostics_cells(summary))
    say(shown, escape(pixel_note(summary)))
    _print_files(shown, files)


def _print(out: Console, title: str, cells: Sequence[Sequence[str]], *, words: int = 1) -> None:
    heads, *lines = cells
    shown = table(*heads, title=title, right=tuple(heads[words:]))
    for line in lines:
        shown.add_row(*map(escape, line))
    out.print(shown)
    out.print()


def _print_page(out: Console, files: Sequence[Path]) -> None:
    """All tables in Markdown, for a file or another program: a width of 80 would break their words."""
    click.echo((files[0].parent / TABLES).read_text())
    _print_files(out, files)


def _print_files(out: Console, files: Sequence[Path]) -> None:
    folder = files[0].parent
    say(out, f"Written to {escape(str(folder))}: {', '.join(file.name for file in files)}")
