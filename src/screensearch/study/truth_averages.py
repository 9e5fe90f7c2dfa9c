"""The truth study over seeds: means with intervals, and rules compared on the same runs.

Every rule judges the same runs, so two rules are compared run by run; applications weigh the same. An
interval over five seeds is narrow by nature (a bootstrap of few values draws the same few again): it is a
hint.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from screensearch.study.calibration import Calibration, join
from screensearch.study.reach import TrueCoverage
from screensearch.study.statistics import Comparison, Estimate, compare, estimate, holm
from screensearch.study.truth import TruthReport

MEASURES: dict[str, Callable[[TruthReport], float]] = {
    "observations": lambda report: report.observations,
    "true_screens": lambda report: report.true_screens,
    "states": lambda report: report.states,
    "mixed_states": lambda report: report.mixed_states,
    "split_screens": lambda report: report.split_screens,
    "precision": lambda report: report.precision,
    "recall": lambda report: report.recall,
    "f1": lambda report: report.f1,
    "aliased_states": lambda report: report.aliased_states,
    "dispersed_states": lambda report: report.dispersed_states,
    "dispersed_aliased": lambda report: report.dispersed_aliased,
    "ambiguity_auroc": lambda report: report.ambiguity_auroc,
    "ambiguity_auroc_tried": lambda report: report.ambiguity_auroc_tried,
    "dispersion_auroc": lambda report: report.dispersion_auroc,
    "pooled": lambda report: report.sources.pooled,
    "merged_share": lambda report: _share(report.sources.merged, report),
    "hidden_share": lambda report: _share(report.sources.hidden, report),
    "timing_share": lambda report: _share(report.sources.timing, report),
    "split_share": lambda report: _share(report.sources.split, report),
    "merged_by_chance": lambda report: _share(report.sources.merged_by_chance, report),
    "hidden_by_chance": lambda report: _share(report.sources.hidden_by_chance, report),
}

COMPARED = ("precision", "recall", "f1", "dispersion_auroc")


@dataclass(frozen=True, slots=True)
class Average:
    """One rule on all runs of one application. A seed in which a figure does not exist is left out of it."""

    environment: str
    rule: str
    seeds: int
    measures: dict[str, Estimate]
    ambiguity_calibration: Calibration  # over the states of all runs
    dispersion_calibration: Calibration


@dataclass(frozen=True, slots=True)
class Contrast:
    """A rule minus the first one, on the same runs."""

    rule: str
    measure: str
    comparison: Comparison
    stands: bool  # after Holm's correction over the rules that this measure is compared in


@dataclass(frozen=True, slots=True)
class AverageCoverage:
    """What the runs of one application have met."""

    environment: str
    seeds: int
    steps: int
    states: Estimate  # as the enumeration counts, if there is one
    screens: Estimate
    reachable_states: int | None
    reachable_screens: int | None
    state_share: Estimate  # share of the reachable ones, NaN where unknown
    screen_share: Estimate
    outside: int


def average(reports: Sequence[TruthReport]) -> list[Average]:
    """One for each application and rule, in the order of the reports."""
    groups: defaultdict[tuple[str, str], list[TruthReport]] = defaultdict(list)
    for report in reports:
        groups[report.environment, report.rule].append(report)
    return [
        Average(
            environment=environment,
            rule=rule,
            seeds=len(group),
            measures={name: _estimate([of(each) for each in group]) for name, of in MEASURES.items()},
            ambiguity_calibration=join([each.ambiguity_calibration for each in group]),
            dispersion_calibration=join([each.dispersion_calibration for each in group]),
        )
        for (environment, rule), group in groups.items()
    ]


def contrast(reports: Sequence[TruthReport]) -> list[Contrast]:
    """Every other rule against the first, over the applications with at least two runs."""
    found: dict[tuple[str, str, int], TruthReport] = {
        (report.rule, report.environment, report.seed): report for report in reports
    }
    rules = list(dict.fromkeys(report.rule for report in reports))
    contrasts: list[Contrast] = []
    for measure in COMPARED:
        of = MEASURES[measure]
        compared: list[tuple[str, Comparison]] = []
        for rule in rules[1:]:
            groups: defaultdict[str, list[float]] = defaultdict(list)
            for (name, environment, seed), report in found.items():
                first = found.get((rules[0], environment, seed))
                if name == rule and first is not None and not math.isnan(of(report) - of(first)):
                    groups[environment].append(of(report) - of(first))
            usable = [group for group in groups.values() if len(group) > 1]
            if usable:
                compared.append((rule, compare(usable)))
        corrected = holm([comparison.p for _, comparison in compared])
        contrasts += [
            Contrast(rule, measure, comparison, comparison.stands(p))
            for (rule, comparison), p in zip(compared, corrected, strict=True)
        ]
    return contrasts


def average_coverage(coverages: Sequence[TrueCoverage]) -> list[AverageCoverage]:
    """One for each application, in the order given."""
    groups: defaultdict[str, list[TrueCoverage]] = defaultdict(list)
    for each in coverages:
        groups[each.environment].append(each)
    return [
        AverageCoverage(
            environment=environment,
            seeds=len(group),
            steps=max(each.steps for each in group),
            states=_estimate([_either(each.declared_states, each.states) for each in group]),
            screens=_estimate([_either(each.declared_screens, each.screens) for each in group]),
            reachable_states=group[0].reachable_states,
            reachable_screens=group[0].reachable_screens,
            state_share=_estimate([each.state_share for each in group]),
            screen_share=_estimate([each.screen_share for each in group]),
            outside=sum(each.outside for each in group),
        )
        for environment, group in groups.items()
    ]


def _either(counted: int | None, raw: int) -> float:
    return float(raw if counted is None else counted)


def _share(part: float, report: TruthReport) -> float:
    pooled = report.sources.pooled
    return part / pooled if pooled else math.nan


def _estimate(values: Sequence[float]) -> Estimate:
    known = [value for value in values if not math.isnan(value)]
    return estimate([known]) if known else Estimate(math.nan, math.nan, math.nan)
