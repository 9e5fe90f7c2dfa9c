"""The corpus of a set of runs as the paper tells of its own: table, state rate by prior, four figures."""

from __future__ import annotations

import gzip
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from screensearch.study.corpus import Gathered, read_corpus
from screensearch.study.corpus_tables import (
    CorpusSummary,
    corpus_latex,
    corpus_page,
    names_of,
    summarise_corpus,
)
from screensearch.study.plan import RESULTS, write_whole
from screensearch.study.plots import bar_chart, xy_chart
from screensearch.study.published_corpus import CORPUS
from screensearch.study.report import LATEX, SUMMARY, TABLES

DISCOVERY, LATENCY, LATENCY_P99 = "discovery.svg", "latency.svg", "latency-p99.svg"
PIXELS, TRACES = "changed-pixels.svg", "traces.svg"

_BOUNDS = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Upper bounds of the bars of changed pixels: fine near zero, where most are expected."""


def study_corpus(
    runs: Sequence[Path],
    out: Path,
    pictures: int,
    on_run: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> tuple[CorpusSummary, list[Path]]:
    """Read the runs and write the study's files; its numbers, and what was written."""
    found, sources = read_corpus(runs, pictures, on_run)
    order = list(CORPUS)

    def place(each: Gathered) -> int:
        return order.index(each.row.stands_for) if each.row.stands_for in order else len(order)

    gathered = sorted(found, key=place)
    summary = summarise_corpus(gathered, sources, pictures)
    files = {
        RESULTS: gzip.compress(b"".join(msgspec.json.encode(each) + b"\n" for each in gathered), mtime=0),
        TABLES: corpus_page(summary).encode(),
        LATEX: corpus_latex(summary).encode(),
        SUMMARY: msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n",
        **{name: content.encode() for name, content in corpus_figures(gathered).items()},
    }
    for name, content in files.items():
        write_whole(out / name, content)
    if PIXELS not in files:
        (out / PIXELS).unlink(missing_ok=True)  # left there by a study of other runs
    return summary, [out / name for name in files]


def corpus_figures(gathered: Sequence[Gathered]) -> dict[str, str]:
    """The paper's four figures as SVG, the second in two files; without pictures there is none of pixels."""
    rows = [each.row for each in gathered]
    plain = [row.application for row in rows]
    names = plain if len(set(plain)) == len(plain) else names_of(rows)
    courses = dict(zip(names, (each.course for each in gathered), strict=True))
    figures = {
        DISCOVERY: xy_chart(
            {name: course.discovery for name, course in courses.items()},
            title="Unique observations over time",
            x_label="worker-hours",
            y_label="unique observations",
        ),
    }
    for file, part, title in ((LATENCY, "p50", "median"), (LATENCY_P99, "p99", "99th percentile")):
        figures[file] = xy_chart(
            {
                name: _over_steps([(each.step, 1_000 * getattr(each, part)) for each in course.latency])
                for name, course in courses.items()
            },
            title=f"Decision latency as the corpus grows, {title}",
            x_label="step",
            y_label="milliseconds",
            log_y=True,
        )
    lengths: Counter[int] = Counter()
    for course in courses.values():
        lengths.update(course.segments)
    figures[TRACES] = bar_chart(
        [(str(length), lengths[length]) for length in range(1, max(lengths, default=0) + 1)],
        title="Extracted segments by length",
        x_label="steps",
        y_label="segments",
        log_y=True,
    )
    fractions = [each.fraction for course in courses.values() for each in course.pixels]
    if fractions:
        figures[PIXELS] = bar_chart(
            pixel_bars(fractions),
            title="Maximum changed-pixel fraction within merged states",
            x_label="changed pixels, up to",
            y_label="states",
        )
    return figures


def _over_steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Means of parts, drawn from the first step on: a run of one part is a line as well."""
    return [(1, points[0][1]), *points] if points else []


def pixel_bars(fractions: Sequence[float]) -> list[tuple[str, int]]:
    """How many states change up to each bound, and more than the one before."""
    counts = Counter(bisect_left(_BOUNDS, fraction) for fraction in fractions)
    names = ["none", *(f"{100 * bound:g} %" for bound in _BOUNDS[1:])]
    return [(name, counts[place]) for place, name in enumerate(names)]
