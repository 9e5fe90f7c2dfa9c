"""The corpus as tables, laid out as in the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from screensearch.study.corpus import WINDOW, CorpusRow, Gathered
from screensearch.study.layout import beside, latex_table, markdown_table, number
from screensearch.study.pixels import PER_STATE
from screensearch.study.published_corpus import CORPUS, OVERALL, PRIOR_RATES, PublishedCorpus
from screensearch.study.runs import RunSource, titled
from screensearch.traces.loops import LONGEST_CYCLE

OVERALL_ROW = "Overall"


@dataclass(frozen=True, slots=True)
class Overall:
    """The sums of all rows."""

    worker_hours: float
    captures: int
    observations: int
    unique: int
    states: int
    state_rate: float
    windows: int


@dataclass(frozen=True, slots=True)
class PriorRate:
    """The state rate over all rows of one prior."""

    prior: str
    applications: int
    observations: int
    states: int
    state_rate: float


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the figures show of a row, in a few numbers. NaN where there is nothing to tell."""

    first_p50: float  # seconds of a decision, the median of the first tenth of the steps
    last_p50: float  # and of the last
    p99: float  # the highest 99th percentile of a part of the steps
    compared_states: int
    compared_pictures: int
    pixels_p50: float  # over states: the fraction of the picture that differs most
    pixels_p90: float
    pixels_most: float
    segments: int
    longest_segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSummary:
    """The study as numbers; `names` and `diagnostics` go with `rows`."""

    rows: list[CorpusRow]
    names: list[str]
    overall: Overall
    priors: list[PriorRate]  # empty unless the runs differ in it
    diagnostics: list[Diagnostics]
    most_pictures: int  # that a row was allowed to read
    runs: list[RunSource]


def summarise_corpus(
    gathered: Sequence[Gathered], sources: Sequence[RunSource], pictures: int
) -> CorpusSummary:
    """The numbers of the tables."""
    rows = [each.row for each in gathered]
    return CorpusSummary(
        rows=rows,
        names=names_of(rows),
        overall=_overall(rows),
        priors=_priors(rows),
        diagnostics=[_diagnostics(each) for each in gathered],
        most_pictures=pictures,
        runs=list(sources),
    )


def names_of(rows: Sequence[CorpusRow]) -> list[str]:
    """A name for each row: its application, with what tells it from others of the same one."""
    named = [titled(row.application, row.stands_for) for row in rows]
    told = []
    for row, name in zip(rows, named, strict=True):
        alike = [other for other, same in zip(rows, named, strict=True) if same == name]
        differing = [
            getattr(row, part)
            for part in ("prior", "rule")
            if len({getattr(each, part) for each in alike}) > 1
        ]
        told.append(f"{name}, {', '.join(differing)}" if differing else name)
    return [
        name if told.count(name) == 1 else f"{name} [{told[: place + 1].count(name)}]"
        for place, name in enumerate(told)
    ]


def _overall(rows: Sequence[CorpusRow]) -> Overall:
    observations, states = sum(row.observations for row in rows), sum(row.states for row in rows)
    return Overall(
        worker_hours=math.fsum(row.worker_hours for row in rows),
        captures=sum(row.captures for row in rows),
        observations=observations,
        unique=sum(row.unique for row in rows),
        states=states,
        state_rate=_rate(states, observations),
        windows=sum(row.windows for row in rows),
    )


def _priors(rows: Sequence[CorpusRow]) -> list[PriorRate]:
    known = sorted({row.prior for row in rows})
    if len(known) < 2:
        return []
    found = []
    for prior in known:
        ours = [row for row in rows if row.prior == prior]
        observations, states = sum(row.observations for row in ours), sum(row.states for row in ours)
        applications = len({(row.application, row.stands_for) for row in ours})
        found.append(PriorRate(prior, applications, observations, states, _rate(states, observations)))
    return found


def _rate(states: int, observations: int) -> float:
    return 100 * states / observations if observations else math.nan


def _diagnostics(each: Gathered) -> Diagnostics:
    bins, pixels = each.course.latency, [state.fraction for state in each.course.pixels]
    tenth = max(1, len(bins) // 10)
    p50, p90 = np.quantile(pixels, (0.5, 0.9)) if pixels else (math.nan, math.nan)
    return Diagnostics(
        first_p50=_median([part.p50 for part in bins[:tenth]]),
        last_p50=_median([part.p50 for part in bins[-tenth:]]),
        p99=max((part.p99 for part in bins), default=math.nan),
        compared_states=len(pixels),
        compared_pictures=sum(state.pictures for state in each.course.pixels),
        pixels_p50=float(p50),
        pixels_p90=float(p90),
        pixels_most=max(pixels, default=math.nan),
        segments=sum(each.course.segments.values()),
        longest_segment=max(each.course.segments, default=0),
    )


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else math.nan


# -- tables ---------------------------------------------------------------------------------------


def corpus_cells(summary: CorpusSummary) -> list[list[str]]:
    """The paper's table: line by line, the first is the head, the last the sum.

    The sum has the paper's beside it only if all of its applications are there, each once.
    """
    whole = sorted(row.stands_for for row in summary.rows) == sorted(CORPUS)
    heads = ["Application", "Worker-hours", "Cross-app", "Screenshots", "Unique obs.", "Graph states"]
    return [
        [*heads, "State rate (%)", f"{WINDOW}-step traces"],
        *(
            [name, *_figures(row, CORPUS.get(row.stands_for))]
            for name, row in zip(summary.names, summary.rows, strict=True)
        ),
        [OVERALL_ROW, *_figures(summary.overall, OVERALL if whole else None)],
    ]


def _figures(ours: CorpusRow | Overall, theirs: PublishedCorpus | None) -> list[str]:
    hours = number(ours.worker_hours, 0 if ours.worker_hours >= 100 else 2)
    cells = [hours if theirs is None else f"{hours} ({theirs.worker_hours:,})"]
    for name, decimals in (
        ("captures", 0),
        ("observations", 0),
        ("unique", 0),
        ("states", 0),
        ("state_rate", 2),
        ("windows", 0),
    ):
        cells.append(beside(getattr(ours, name), getattr(theirs, name, None), decimals))
    return cells


def prior_cells(summary: CorpusSummary) -> list[list[str]]:
    """State rate by prior; only the head if there is but one."""
    lines = [["Proposal prior", "Applications", "Screenshots", "Unique-state discovery rate (%)"]]
    lines += [
        [
            each.prior,
            f"{each.applications:,}",
            f"{each.observations:,}",
            beside(each.state_rate, PRIOR_RATES.get(each.prior.partition("@")[0]), 2),
        ]
        for each in summary.priors
    ]
    return lines


def diagnostics_cells(summary: CorpusSummary) -> list[list[str]]:
    """What the figures show, in numbers."""
    lines = [
        [
            "Application",
            "Decision p50 first → last tenth (ms)",
            "p99 (ms)",
            "States compared",
            "Changed pixels p50 / p90 / most (%)",
            "Segments",
            "Longest",
        ]
    ]
    for name, each in zip(summary.names, summary.diagnostics, strict=True):
        changed = (number(100 * part, 2) for part in (each.pixels_p50, each.pixels_p90, each.pixels_most))
        lines.append(
            [
                name,
                f"{number(1_000 * each.first_p50, 1)} → {number(1_000 * each.last_p50, 1)}",
                number(1_000 * each.p99, 1),
                f"{each.compared_states:,}",
                " / ".join(changed),
                f"{each.segments:,}",
                f"{each.longest_segment:,}",
            ]
        )
    return lines


def trace_cells(summary: CorpusSummary) -> list[list[str]]:
    """What the extraction of traces left out, and what is told apart."""
    lines = [
        [
            "Application",
            "ok steps",
            "No state change",
            "In loops",
            f"{WINDOW}-step traces",
            "Distinct",
            "Pictures",
        ]
    ]
    lines += [
        [
            name,
            *(
                f"{count:,}"
                for count in (
                    row.ok_steps,
                    row.still_steps,
                    row.looped_steps,
                    row.windows,
                    row.distinct_windows,
                )
            ),
            f"{row.pictures:,}",
        ]
        for name, row in zip(summary.names, summary.rows, strict=True)
    ]
    return lines


def pixel_note(summary: CorpusSummary) -> str:
    """How far pictures were compared, or why not."""
    without = [name for name, row in zip(summary.names, summary.rows, strict=True) if not row.pictures]
    told = (
        f"Changed pixels: of each state at most {PER_STATE} further distinct pictures, drawn at random, "
        "against its founding one, cut to the window; one of another size against the first of that size. "
        f"At most {summary.most_pictures:,} pictures of an application are read, states in random order, so "
        "the most of a state is a lower bound."
    )
    if not summary.most_pictures:
        told = "Changed pixels: no picture was to be read (`--pictures 0`)."
    if without:
        told += f" Without screenshots, and so without this figure: {', '.join(without)}."
    return told


def corpus_page(summary: CorpusSummary) -> str:
    """All tables with what is needed to read them."""
    lines = [
        "# Study: corpus",
        "",
        "Worker-hours: time that workers spent acting and deciding, resets included, from the log. "
        "Cross-app: steps that ended as captures. Screenshots: observations, whether or not a picture was "
        "kept. Unique obs.: distinct screens (atoms and metadata) before the merge. Graph states: after it; "
        "several runs of an application are merged together. State rate: graph states per 100 screenshots. "
        f"Traces: windows of {WINDOW} steps, overlapping. In parentheses: what the paper published for the "
        "application that ours stands in for.",
        "",
        markdown_table(corpus_cells(summary)),
    ]
    if summary.priors:
        lines += [
            "## By prior",
            "",
            "Over all runs of a prior: to be compared only if both explored the same applications for as "
            "long.",
            "",
            markdown_table(prior_cells(summary)),
        ]
    lines += [
        "## Diagnostics",
        "",
        pixel_note(summary),
        "",
        markdown_table(diagnostics_cells(summary)),
        "## Traces",
        "",
        "A segment is a stretch of an episode in which every step ended `ok` in another state and none is "
        f"part of a repeated cycle of 2 to {LONGEST_CYCLE} states; a trace is a window of a segment that "
        "meets no state twice.",
        "",
        markdown_table(trace_cells(summary)),
        "## Runs",
        "",
        *(f"- `{each.folder}` ({each.environment}): {each.entries:,} entries" for each in summary.runs),
        "",
    ]
    return "\n".join(lines)


def corpus_latex(summary: CorpusSummary) -> str:
    """The paper's tables."""
    made = latex_table(
        corpus_cells(summary),
        caption="OS exploration corpus. Unique observations are distinct screens; graph states apply the "
        "final bounded merge. The last column counts extracted length-three traces. In parentheses: the "
        "figures published for the application that ours stands in for.",
        last_apart=True,
    )
    if summary.priors:
        made += latex_table(
            prior_cells(summary), caption="Proposal prior and state discovery over these runs."
        )
    return made
