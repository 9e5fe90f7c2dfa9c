"""`screensearch study selector` and its like: matched runs of conditions from the starts of suites."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from screensearch.cli.output import as_json_option, print_json, table
from screensearch.cli.study_conduct import conduct, named_suites, tell
from screensearch.cli.study_suite import CORPUS_STEPS
from screensearch.config import settings_from_document
from screensearch.errors import SettingsError
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.study.conditions import STUDIES, Condition, conditions_for, own_conditions
from screensearch.study.matching import matchings_of
from screensearch.study.metrics import STEPS
from screensearch.study.paper import STAND_INS
from screensearch.study.plan import Plan, planned
from screensearch.study.report import write_report
from screensearch.study.suite import Suite
from screensearch.study.summary import StudySummary
from screensearch.study.tables import differences_cells, results_cells


def matched_command(name: str, what: str) -> click.Command:
    """The command of a study: they differ in their conditions only."""

    def run(
        applications: tuple[str, ...],
        suites: tuple[Path, ...],
        starts: int | None,
        budget: int,
        seeds: int,
        seed: int,
        only: tuple[str, ...],
        added: tuple[str, ...],
        workers: int,
        corpus_steps: int,
        preset: str,
        overrides: tuple[str, ...],
        retry_failed: bool,
        out: Path | None,
        as_json: bool,
    ) -> None:
        folder = out or Path("studies", name)
        targets = applications or (() if suites else tuple(STAND_INS))
        listed = named_suites(targets, suites, folder, starts, corpus_steps, workers, seed, preset, overrides)
        plan = Plan(
            study=name,
            conditions=_chosen(name, only, added, [suite for _, suite in listed]),
            suites=[planned(suite, starts) for _, suite in listed],
            steps=budget,
            replicates=seeds,
            seed=seed,
            version=version("screensearch"),
        )
        found = {suite.name: path for path, suite in listed}
        traces = conduct(plan, folder, found, workers=workers, retry_failed=retry_failed)
        judged = matchings_of(plan, folder, found) if name == "sensitivity" else ()
        summary, written = write_report(plan, traces, folder, judged)
        if as_json:
            files = [str(path) for path in written]
            print_json({"folder": str(folder), "files": files, "summary": summary, "matchings": judged})
            return
        tell(folder, written, traces, lambda out: _print_tables(out, summary))

    run.__doc__ = what
    command: Callable[..., None] = run
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.command(name)(command)


_OPTIONS = (
    click.option(
        "--app",
        "applications",
        multiple=True,
        help="An application, as `screensearch explore` takes it; may be repeated. A suite is built for it. "
        f"Default, without --suite: {', '.join(STAND_INS)}.",
    ),
    click.option(
        "--suite",
        "suites",
        type=click.Path(path_type=Path),
        multiple=True,
        help="A suite that is there; may be repeated.",
    ),
    click.option(
        "--starts", type=click.IntRange(min=1), help="Starts per application. Default: 50, or all of a suite."
    ),
    click.option(
        "--budget",
        type=click.IntRange(min=2),
        default=STEPS,
        show_default=True,
        help="Steps of an episode, the start included.",
    ),
    click.option(
        "--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Episodes per start."
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, LARGEST_SEED),
        default=0,
        show_default=True,
        help="One seed decides everything random.",
    ),
    click.option(
        "--condition",
        "only",
        multiple=True,
        metavar="NAME",
        help="Only this condition; may be repeated. They keep the order of the study; the first is what the "
        "others are compared with.",
    ),
    click.option(
        "--add",
        "added",
        multiple=True,
        metavar="NAME=KEY=VALUE",
        help="Add a condition of your own, e.g. eager=select.c_puct=5; repeat the NAME for further settings.",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
    ),
    click.option(
        "--corpus-steps",
        type=click.IntRange(min=1),
        default=CORPUS_STEPS,
        show_default=True,
        help="Steps of the corpus of a suite that is built.",
    ),
    click.option(
        "--preset",
        default="default",
        show_default=True,
        help="`default`, `paper`, or a TOML file: for suites that are built.",
    ),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change one setting of the suites that are built. May be repeated.",
    ),
    click.option("--retry-failed", is_flag=True, help="Run episodes again that failed."),
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Folder of the study. Default: studies/NAME. If it holds a part of this study, the rest is run.",
    ),
    as_json_option,
)


def _chosen(
    study: str, only: tuple[str, ...], added: tuple[str, ...], suites: list[Suite]
) -> list[Condition]:
    """The conditions of a study, or those that were named, in the order of the study; then the user's own."""
    listed = conditions_for(study, [settings_from_document(suite.settings) for suite in suites])
    unknown = [name for name in only if name not in [each.name for each in listed]]
    if unknown:
        known = ", ".join(each.name for each in listed)
        raise SettingsError(f"the study {study!r} has no condition {unknown[0]!r} (known: {known})")
    own = own_conditions(added)
    twice = [each.name for each in own if each.name in [other.name for other in listed]]
    if twice:
        raise SettingsError(f"the study {study!r} has a condition {twice[0]!r} already: name yours otherwise")
    return [*(each for each in listed if not only or each.name in only), *own]


def _print_tables(out: Console, summary: StudySummary) -> None:
    """Both tables for a person; a file or another program gets them in Markdown."""
    for title, (heads, *lines) in (
        ("Means over starts (in parentheses: the paper's)", results_cells(summary)),
        ("The first minus the others, at the same starts", differences_cells(summary)),
    ):
        shown = table(*heads, title=title, right=tuple(heads[3:]))
        for line in lines:
            shown.add_row(*map(escape, line))
        out.print(shown)
        out.print()


def _what(name: str, about: str) -> str:
    conditions = ", ".join(each.name for each in STUDIES[name])
    return f"""{about}

    Conditions: {conditions}. Every one is run from the same starts, with the same candidates, seeds and
    budget, on a graph that begins as the suite's; only additional coverage counts. Interrupted, the same
    command goes on. Writes raw results, tables in Markdown and LaTeX, and figures.
    """


selector = matched_command(
    "selector", _what("selector", "PUCT against the plain ways to choose (paper, table 4).")
)
components = matched_command(
    "components", _what("components", "What each part of the method adds (paper, tables 5 and 6).")
)
sensitivity = matched_command(
    "sensitivity", _what("sensitivity", "τ, κ and u₀, one at a time (paper, appendix on sensitivity).")
)
