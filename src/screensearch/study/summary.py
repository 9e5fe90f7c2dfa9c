"""From the episodes of a study to its figures: means per condition, and paired differences.

Replicates of a start are averaged first, so that every comparison pairs starts and no start weighs more than
another. An episode that failed is left out; where one of a pair is missing, the pair is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from screensearch.study.metrics import Floats
from screensearch.study.plan import Plan, PlannedSuite
from screensearch.study.statistics import Comparison, Estimate, compare, estimate, holm
from screensearch.study.trace import Metrics, Trace, measure

METRICS = tuple(each.name for each in fields(Metrics))


@dataclass(frozen=True, slots=True)
class Row:
    """One condition on one application, or on all of them (`suites` then names several)."""

    suites: tuple[str, ...]
    condition: str
    title: str
    starts: int
    failed: int  # episodes that tell nothing
    metrics: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first condition minus another, at the same starts, in one metric."""

    suites: tuple[str, ...]
    condition: str  # the other
    title: str
    metric: str
    comparison: Comparison
    corrected_p: float  # by Holm, over the conditions that this metric is compared with
    stands: bool


@dataclass(frozen=True, slots=True)
class StudySummary:
    """A study in figures."""

    study: str
    steps: int
    rows: list[Row]
    differences: list[Difference]


def summarise(plan: Plan, traces: Sequence[Trace]) -> StudySummary:
    """Every application alone and, where there are several, the macro-average over them."""
    suites = [(suite.name,) for suite in plan.suites]
    groups: list[tuple[str, ...]] = [*suites]
    if len(suites) > 1:
        groups.append(tuple(suite.name for suite in plan.suites))
    values = per_start(plan, traces)
    rows: list[Row] = []
    differences: list[Difference] = []
    for group in groups:
        rows += [row for each in plan.conditions if (row := _row(plan, traces, values, group, each.name))]
        differences += _differences(plan, values, group)
    return StudySummary(plan.study, plan.steps, rows, differences)


Values = Mapping[tuple[str, str], Mapping[int, dict[str, float]]]
"""By suite and condition: of each start, every metric."""


def per_start(plan: Plan, traces: Sequence[Trace]) -> Values:
    """The metrics of each start, averaged over its replicates."""
    high = {suite.name: suite.high for suite in plan.suites}
    found: defaultdict[tuple[str, str], defaultdict[int, list[Metrics]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for trace in traces:
        if trace.complete:
            place = trace.place
            measured = measure(trace, steps=plan.steps, high=high[place.suite])
            found[place.suite, place.condition][place.start].append(measured)
    return {
        key: {
            start: {name: float(np.mean([getattr(each, name) for each in measured])) for name in METRICS}
            for start, measured in sorted(starts.items())
        }
        for key, starts in found.items()
    }


def curves_of(
    plan: Plan, traces: Sequence[Trace], suite: PlannedSuite, kind: str
) -> dict[str, tuple[Floats, Floats]]:
    """By condition: the mean curve over complete episodes, and its standard error. [steps] each"""
    found: defaultdict[str, list[Floats]] = defaultdict(list)
    for trace in traces:
        if trace.complete and trace.place.suite == suite.name:
            of = {
                "states": trace.state_curve,
                "edges": trace.edge_curve,
                "frontier": trace.frontier_curve,
                "ambiguity": trace.ambiguity_curve,
            }[kind]
            found[trace.place.condition].append(of(plan.steps))
    return {
        condition: (np.mean(curves, axis=0), np.std(curves, axis=0) / np.sqrt(len(curves)))
        for condition, curves in found.items()
    }


def _row(
    plan: Plan, traces: Sequence[Trace], values: Values, suites: tuple[str, ...], condition: str
) -> Row | None:
    groups = [values.get((suite, condition), {}) for suite in suites]
    if not all(groups):
        return None
    return Row(
        suites=suites,
        condition=condition,
        title=plan.condition(condition).title,
        starts=sum(map(len, groups)),
        failed=sum(
            not trace.complete and trace.place.suite in suites and trace.place.condition == condition
            for trace in traces
        ),
        metrics={
            name: estimate([[start[name] for start in group.values()] for group in groups])
            for name in METRICS
        },
    )


def _differences(plan: Plan, values: Values, suites: tuple[str, ...]) -> list[Difference]:
    first, *others = [each.name for each in plan.conditions]
    found: list[Difference] = []
    for metric in METRICS:
        compared = [
            (other, compare(pairs))
            for other in others
            if all(pairs := _pairs(values, suites, first, other, metric))
        ]
        corrected = holm([comparison.p for _, comparison in compared])
        found += [
            Difference(
                suites=suites,
                condition=other,
                title=plan.condition(other).title,
                metric=metric,
                comparison=comparison,
                corrected_p=p,
                stands=comparison.stands(p),
            )
            for (other, comparison), p in zip(compared, corrected, strict=True)
        ]
    return found


def _pairs(values: Values, suites: tuple[str, ...], first: str, other: str, metric: str) -> list[list[float]]:
    """The differences at the starts that both have, by application."""
    groups = []
    for suite in suites:
        ours, theirs = values.get((suite, first), {}), values.get((suite, other), {})
        groups.append([ours[start][metric] - theirs[start][metric] for start in ours if start in theirs])
    return groups
