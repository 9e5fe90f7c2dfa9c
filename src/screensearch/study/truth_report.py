"""What the truth study leaves behind: its tables on one page, curves of coverage, all of it as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from screensearch.study.figures import line_chart
from screensearch.study.plan import write_whole
from screensearch.study.reach import SYNTHETIC, TrueCoverage
from screensearch.study.truth import TruthReport
from screensearch.study.truth_averages import (
    Average,
    AverageCoverage,
    Contrast,
    average,
    average_coverage,
    contrast,
)
from screensearch.study.truth_tables import (
    calibration_table,
    contrast_table,
    coverage_table,
    reliability_table,
    rules_table,
    sources_table,
)

PAGE, NUMBERS, STATES_CURVE = "truth.md", "truth.json", "coverage.svg"

_COVERAGE = """Coverage: the true states and true screens met, of those that the declared world can reach.
States are counted as the declaration enumerates them: open texts by two samples, one value of the seeded
content. Outside: observations that no enumerated state stands for."""

_RULES = """Mixed: states that hold several true screens; split: true screens found in several states.
Precision, recall and F1 are over pairs of observations. Aliased: states of which some action truly has
several outcomes; dispersed: states where that was seen. AUROC: how well u, or D, ranks aliased states above
others (0.5 is chance; nan where there is only one kind)."""

_CONTRASTS = """Each rule minus the first one, on the same runs: the mean over applications, its 95 % interval
(bootstrap over seeds within each), and the p of a sign-flip test; stands: after Holm's correction."""

_SOURCES = """Where dispersion comes from: the mean of D(s) over trials, and the shares of it that are due to
screens merged in one state, to hidden state behind one true screen, to timing (the same true state and
action, another true screen), and to one true successor split in several states. They add up. By chance: what
true screens, or true states, explain when they are dealt out anew: a part that is not clearly larger says
little."""

_CALIBRATION = """Calibration: u, or D, taken for the chance that a state is truly aliased. The Brier score is
the mean squared distance; a constant at the base rate is what to beat. Calibration error: the mean distance
between score and share over ten bins."""


@dataclass(frozen=True, slots=True)
class TruthStudy:
    """Raw figures of every run, and what they come to over seeds."""

    reports: list[TruthReport]
    coverages: list[TrueCoverage]
    averages: list[Average]
    contrasts: list[Contrast]  # empty with one seed
    average_coverages: list[AverageCoverage]

    @classmethod
    def of(cls, reports: Sequence[TruthReport], coverages: Sequence[TrueCoverage]) -> TruthStudy:
        return cls(
            list(reports), list(coverages), average(reports), contrast(reports), average_coverage(coverages)
        )


def page(study: TruthStudy) -> str:
    """All tables, each with what it says."""
    first = study.averages[0].rule if study.averages else ""
    parts = [
        (rules_table(study.averages), _RULES),
        (coverage_table(study.average_coverages), _COVERAGE),
        (sources_table(study.averages), _SOURCES),
        (calibration_table(study.averages), _CALIBRATION),
        (reliability_table([each for each in study.averages if each.rule == first]), "The same, bin by bin."),
    ]
    if study.contrasts:
        parts.insert(1, (contrast_table(study.contrasts), _CONTRASTS))
    return "\n".join(f"{table}\n{legend}\n" for table, legend in parts)


def write_truth(study: TruthStudy, folder: Path) -> list[Path]:
    """Write page, numbers and figure into a folder; what was written."""
    files = {
        PAGE: page(study),
        NUMBERS: msgspec.json.format(msgspec.json.encode(study), indent=1).decode() + "\n",
        STATES_CURVE: coverage_figure(study.coverages),
    }
    for name, content in files.items():
        write_whole(folder / name, content.encode())
    return [folder / name for name in files]


def coverage_figure(coverages: Sequence[TrueCoverage]) -> str:
    """The share of true screens met over steps, per application: the mean of its runs ± a standard error.

    Applications whose number of screens is not known have no share and are not drawn.
    """
    groups: defaultdict[str, list[TrueCoverage]] = defaultdict(list)
    for each in coverages:
        if each.reachable_screens:
            groups[each.environment.removeprefix(SYNTHETIC)].append(each)
    curves = {}
    steps = 1
    for name, group in groups.items():
        there = group[0].reachable_screens or 1
        points = min(len(each.curve) for each in group)
        shares = np.array([[met.screens / there for met in each.curve[:points]] for each in group])
        error = shares.std(axis=0, ddof=1) / len(group) ** 0.5 if len(group) > 1 else np.zeros(points)
        curves[name] = (shares.mean(axis=0), error)
        steps = max(steps, group[0].curve[points - 1].steps)
    longest = max((len(mean) for mean, _ in curves.values()), default=2)
    return line_chart(
        curves,
        title="True screens met, of those there are",
        x_label="step",
        y_label="share",
        every=steps / max(1, longest - 1),
    )
