"""`screensearch study diagnostic`: PUCT beside models that act from the screen alone, from empty graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import print_json, table
from screensearch.cli.study_conduct import conduct, named_suites, tell
from screensearch.cli.study_matched import selector
from screensearch.config import Settings, settings_from_document
from screensearch.config.layers import changed
from screensearch.select.settings import ReactiveSettings
from screensearch.study.diagnostic import REACTIVE, STARTS, Diagnostic, diagnostic_conditions
from screensearch.study.diagnostic_report import (
    answers_cells,
    coverage_cells,
    curves_cells,
    write_diagnostic,
)
from screensearch.study.plan import Plan, planned

NAME = "diagnostic"
APPLICATION = "mousepad"


def run(
    applications: tuple[str, ...],
    suites: tuple[Path, ...],
    starts: int,
    budget: int,
    models: tuple[str, ...],
    reactive: tuple[str, ...],
    seed: int,
    workers: int,
    corpus_steps: int,
    preset: str,
    overrides: tuple[str, ...],
    retry_failed: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """PUCT and reactive models from a few starts, with curves (paper, "Original Notepad diagnostic").

    Conditions: PUCT with a uniform prior and, for each model, `reactive` and `reactive-history`. The graph of
    every episode begins empty. The model is what OPENAI_MODEL says, or each --model; where it is asked, and
    with which key, say OPENAI_BASE_URL and OPENAI_API_KEY. Without a model, PUCT runs alone. Interrupted, the
    same command goes on. Writes raw results, tables in Markdown and LaTeX, and the two curves.
    """
    folder = out or Path("studies", NAME)
    targets = applications or (() if suites else (APPLICATION,))
    listed = named_suites(targets, suites, folder, starts, corpus_steps, workers, seed, preset, overrides)
    settings = [settings_from_document(suite.settings) for _, suite in listed]
    asked = models or _configured(settings, reactive)
    plan = Plan(
        study=NAME,
        conditions=diagnostic_conditions(settings, asked, reactive),
        suites=[planned(suite, starts) for _, suite in listed],
        steps=budget,
        replicates=1,
        seed=seed,
        version=version("screensearch"),
    )
    found = {suite.name: path for path, suite in listed}
    traces = conduct(plan, folder, found, workers=workers, retry_failed=retry_failed)
    summary, written = write_diagnostic(plan, traces, folder)
    if as_json:
        print_json({"folder": str(folder), "files": [str(path) for path in written], "summary": summary})
    else:
        tell(folder, written, traces, lambda out: _print_tables(out, summary))
    if not asked:
        click.echo(_how_to_configure(_reactive_of(settings[0], reactive)), err=True)


def _configured(suites: Sequence[Settings], reactive: Sequence[str]) -> tuple[str, ...]:
    """The model that the environment or the settings name, if any."""
    settings = _reactive_of(suites[0], reactive)
    model = settings.model or os.environ.get(settings.model_env, "")
    return (model,) if model else ()


def _reactive_of(suite: Settings, reactive: Sequence[str]) -> ReactiveSettings:
    return changed(suite, [f"{REACTIVE}{each}" for each in reactive]).select.reactive


def _how_to_configure(settings: ReactiveSettings) -> str:
    return (
        "No model is configured, so PUCT ran alone. To see reactive models beside it, set "
        f"{settings.model_env} (or give --model) and {settings.key_env} for OpenAI's endpoint, or "
        f"{settings.base_url_env} for another one: the same command adds them. A small model that runs on "
        "this machine: scripts/model_server.py."
    )


def _print_tables(out: Console, found: Diagnostic) -> None:
    """The tables for a person; a file or another program gets them in Markdown."""
    for title, (heads, *lines) in (
        ("Frontier and ambiguity", curves_cells(found)),
        ("Coverage", coverage_cells(found)),
        ("What the models answered", answers_cells(found)),
    ):
        if lines:
            shown = table(*heads, title=title, right=tuple(heads[2:]))
            for line in lines:
                shown.add_row(*map(escape, line))
            out.print(shown)
            out.print()


_SHARED = (
    *("suites", "budget", "seed", "workers", "corpus_steps", "preset", "overrides"),
    *("retry_failed", "out", "as_json"),
)
"""Options that are those of every study with starts."""

diagnostic = click.Command(
    NAME,
    callback=run,
    help=run.__doc__,
    params=[
        click.Option(
            ["--app", "applications"],
            multiple=True,
            help="An application, as `screensearch explore` takes it; may be repeated. A suite is built for "
            f"it. Default, without --suite: {APPLICATION}.",
        ),
        click.Option(
            ["--starts"],
            type=click.IntRange(min=1),
            default=STARTS,
            show_default=True,
            help="Starts per application.",
        ),
        click.Option(
            ["--model", "models"],
            multiple=True,
            metavar="NAME",
            help="A model, as its endpoint calls it; may be repeated. Default: what OPENAI_MODEL says.",
        ),
        click.Option(
            ["--reactive"],
            multiple=True,
            metavar="KEY=VALUE",
            help="Change one setting of select.reactive, e.g. timeout_seconds=120. May be repeated.",
        ),
        *(each for each in selector.params if each.name in _SHARED),
    ],
)
