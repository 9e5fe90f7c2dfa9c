"""What a study leaves behind: raw results, figures as numbers, tables and pictures, in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from screensearch.study.figures import line_chart
from screensearch.study.matching import Matching, matching_markdown
from screensearch.study.paper import FALSE_MERGE, PAIR_F1
from screensearch.study.plan import RESULTS, Plan, write_whole
from screensearch.study.statistics import LEVEL, RESAMPLES
from screensearch.study.summary import StudySummary, curves_of, summarise
from screensearch.study.tables import (
    differences_markdown,
    factors_latex,
    factors_markdown,
    results_latex,
    results_markdown,
)
from screensearch.study.trace import Failure, Trace

TABLES = "tables.md"
LATEX = "tables.tex"
SUMMARY = "summary.json"

FIGURES = {
    "states": ("New states beyond the initial graph", "new states"),
    "edges": ("New edges beyond the initial graph", "new edges"),
    "frontier": ("States met beyond the start, M_V(t)", "states"),
    "ambiguity": ("Change of ambiguity since the start, Δu_t", "Δu"),
}


def write_report(
    plan: Plan, traces: Sequence[Trace], folder: Path, matchings: Sequence[Matching] = ()
) -> tuple[StudySummary, list[Path]]:
    """Write tables, figures and numbers of a finished study; the figures, and what was written.

    `matchings` are of studies in which the identity rule itself is under test.
    """
    summary = summarise(plan, traces)
    files = {
        TABLES: tables_page(plan, summary, traces, matchings),
        LATEX: results_latex(summary) + (factors_latex(summary, matchings) if matchings else ""),
        SUMMARY: msgspec.json.format(msgspec.json.encode(summary), indent=1).decode() + "\n",
    }
    names = [condition.name for condition in plan.conditions]
    for suite in plan.suites:
        for kind, (title, label) in FIGURES.items():
            curves = curves_of(plan, traces, suite, kind)
            if curves:
                files[f"{suite.name}-{kind}.svg"] = line_chart(
                    {name: curves[name] for name in names if name in curves},
                    title=f"{suite.name}: {title}",
                    x_label="step",
                    y_label=label,
                )
    for name, content in files.items():
        write_whole(folder / name, content.encode())
    return summary, [folder / RESULTS, *(folder / name for name in files)]


def tables_page(
    plan: Plan, summary: StudySummary, traces: Sequence[Trace], matchings: Sequence[Matching] = ()
) -> str:
    """All tables with what is needed to read them."""
    first = plan.conditions[0].title
    seeds = "1 seed" if plan.replicates == 1 else f"{plan.replicates} seeds, averaged first"
    lines = [
        f"# Study: {plan.study}",
        "",
        f"{plan.steps} steps per episode: the start and {plan.steps - 1} actions. {seeds} per start; study "
        f"seed {plan.seed}. Only coverage beyond the initial graph counts. In parentheses: what the paper "
        "published for the application that ours stands in for.",
        "",
        results_markdown(summary),
        f"## {first} minus the others, at the same starts",
        "",
        f"{LEVEL:.0%} percentile intervals of a bootstrap over starts and two-sided sign-flip tests, "
        f"{RESAMPLES:,} draws each (all signs for up to 14 pairs). A difference stands when its interval "
        "leaves out 0 and p, corrected by Holm over the rows of its metric, is below 0.05.",
        "",
        differences_markdown(summary),
        *failures(traces),
        *_matchings(plan, summary, matchings),
        "## Suites",
        "",
        *(
            f"- `{suite.name}` ({suite.environment}): {len(suite.starts)} starts, high ambiguity above "
            f"{suite.high:.4f}, digest `{suite.digest[:16]}`"
            for suite in plan.suites
        ),
        "",
    ]
    return "\n".join(lines)


def _matchings(plan: Plan, summary: StudySummary, matchings: Sequence[Matching]) -> list[str]:
    if not matchings:
        return []
    titles = {condition.name: condition.title for condition in plan.conditions}
    return [
        "## One factor at a time",
        "",
        factors_markdown(summary, matchings),
        "## How each rule groups the corpus",
        "",
        "Over pairs of observations. False merge: of the pairs that differ in the reference, the fraction "
        "put together. Where the suite's own states are the reference, its own rule agrees with them by "
        "construction; the paper has "
        + ", ".join(f"{name}: F1 {PAIR_F1[name]}, false merge {FALSE_MERGE[name]}" for name in PAIR_F1)
        + " against its persisted ids.",
        "",
        matching_markdown(matchings, titles),
    ]


def failures(traces: Sequence[Trace]) -> list[str]:
    """How many episodes tell nothing, by why."""
    counted = [(why, sum(trace.failure is why for trace in traces)) for why in Failure]
    told = [f"{count} by {why.value}" for why, count in counted if count]
    returns = sum(trace.returns for trace in traces)
    left = "1 step left" if returns == 1 else f"{returns} steps left"
    lines = [f"{left} the application; each was followed by a return to the start.", ""]
    if told:
        lines = [f"Episodes that failed and are left out: {', '.join(told)}.", "", *lines]
    return lines
