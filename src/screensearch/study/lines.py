"""Lines beside states, for several ways to choose: does whoever finds more states also run more of the code?

Runs of one application with the same steps, one for each selector and seed. Lines that are run before the
first action need no exploration and are left out. Step by step, the question is whether a step that finds a
new state also runs lines that were never run before.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from screensearch.explore.run import Run
from screensearch.study.coverage import CoverageReport, Point, measure_coverage
from screensearch.study.figures import line_chart
from screensearch.study.metrics import Floats
from screensearch.study.plan import write_whole

PAGE, NUMBERS = "lines.md", "lines.json"

_LEGEND = """States, and lines beyond the start, at the end of the steps: mean over runs (least – most). Of
the steps that found a new state, and of the others: the share that ran a new line. Lines with a new state:
the share of the lines beyond the start that were run by steps that found one. φ: the correlation of the two
over steps."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over steps: a new state, a new line, both."""

    steps: int
    found: int  # steps that found a new state
    ran: int  # steps that ran a new line
    both: int
    lines: int  # beyond the start
    lines_found: int  # of them, those that were run by steps that found a state

    @property
    def ran_if_found(self) -> float:
        return _share(self.both, self.found)

    @property
    def ran_else(self) -> float:
        return _share(self.ran - self.both, self.steps - self.found)

    @property
    def lines_share(self) -> float:
        return _share(self.lines_found, self.lines)

    @property
    def phi(self) -> float:
        """The correlation of both kinds of steps; NaN where one of them is all or none."""
        n, found, ran = self.steps, self.found, self.ran
        spread = found * (n - found) * ran * (n - ran)
        return (n * self.both - found * ran) / math.sqrt(spread) if spread > 0 else math.nan


@dataclass(frozen=True, slots=True)
class LinesRun:
    """One run."""

    selector: str
    seed: int
    agreement: Agreement
    report: CoverageReport

    @property
    def beyond(self) -> int:
        return self.report.lines - self.report.at_start


def measure_lines(run: Run) -> LinesRun:
    """What a run has covered. Refused for one whose lines were not counted."""
    report = measure_coverage(run)
    return LinesRun(run.settings.select.selector, run.seed, agree(report), report)


def agree(report: CoverageReport) -> Agreement:
    """Which steps found a state and which ran new lines: the curve has a point wherever either grew."""
    found = ran = both = lines = lines_found = 0
    for before, after in pairwise(_beyond_start(report)):
        states, new = after.states - before.states, after.lines - before.lines
        found += states > 0
        ran += new > 0
        both += states > 0 and new > 0
        lines += new
        lines_found += new if states > 0 else 0
    return Agreement(report.steps, found, ran, both, lines, lines_found)


def _beyond_start(report: CoverageReport) -> list[Point]:
    """The curve from the last point before the first action."""
    begun = [place for place, point in enumerate(report.curve) if point.steps == 0]
    return report.curve[begun[-1] if begun else 0 :]


def join_agreements(parts: Sequence[Agreement]) -> Agreement:
    """The steps of several runs as if they were one's."""
    return Agreement(
        steps=sum(part.steps for part in parts),
        found=sum(part.found for part in parts),
        ran=sum(part.ran for part in parts),
        both=sum(part.both for part in parts),
        lines=sum(part.lines for part in parts),
        lines_found=sum(part.lines_found for part in parts),
    )


def lines_page(runs: Sequence[LinesRun]) -> str:
    """A row for each selector, and one for all."""
    heads = ["selector", "runs", "steps", "states", "lines beyond the start", "found a state", "ran a line"]
    heads += ["ran one, if found", "else", "lines with a new state", "φ"]
    rows = [heads, ["---", *["--:"] * (len(heads) - 1)]]
    groups = [*_by_selector(runs).items(), ("all", list(runs))]
    for name, group in groups:
        joined = join_agreements([each.agreement for each in group])
        rows.append(
            [
                name,
                f"{len(group)}",
                f"{joined.steps:,}",
                _range([each.report.states for each in group]),
                _range([each.beyond for each in group]),
                f"{joined.found:,}",
                f"{joined.ran:,}",
                _percent(joined.ran_if_found),
                _percent(joined.ran_else),
                _percent(joined.lines_share),
                f"{joined.phi:.2f}",
            ]
        )
    return "".join(f"| {' | '.join(row)} |\n" for row in rows) + f"\n{_LEGEND}\n"


def write_lines(runs: Sequence[LinesRun], folder: Path) -> list[Path]:
    """Write the table, all numbers, and the two curves; what was written."""
    files = {
        PAGE: lines_page(runs),
        NUMBERS: msgspec.json.format(msgspec.json.encode({"runs": runs}), indent=1).decode() + "\n",
        "lines.svg": _figure(runs, "Lines run beyond the start", "lines", _above),
        "states.svg": _figure(runs, "States found", "states", lambda point, _: point.states),
    }
    for name, content in files.items():
        write_whole(folder / name, content.encode())
    return [folder / name for name in files]


def _above(point: Point, run: LinesRun) -> int:
    return max(0, point.lines - run.report.at_start)


def _figure(runs: Sequence[LinesRun], title: str, label: str, value: Callable[[Point, LinesRun], int]) -> str:
    steps = min(run.report.steps for run in runs)
    curves = {}
    for name, group in _by_selector(runs).items():
        values = np.array([_over_steps(run, steps, value) for run in group])
        error = values.std(axis=0, ddof=1) / len(group) ** 0.5 if len(group) > 1 else np.zeros(steps + 1)
        curves[name] = (values.mean(axis=0), error)
    return line_chart(curves, title=title, x_label="step", y_label=label)


def _over_steps(run: LinesRun, steps: int, value: Callable[[Point, LinesRun], int]) -> Floats:
    """A value after each step: that of the last point until then."""
    curve = np.zeros(steps + 1)
    for point in run.report.curve:
        if point.steps <= steps:
            curve[point.steps :] = value(point, run)
    return curve


def _by_selector(runs: Sequence[LinesRun]) -> dict[str, list[LinesRun]]:
    groups: defaultdict[str, list[LinesRun]] = defaultdict(list)
    for run in runs:
        groups[run.selector].append(run)
    return dict(groups)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def _range(values: Sequence[int]) -> str:
    mean = f"{sum(values) / len(values):,.0f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):,} – {max(values):,})"
