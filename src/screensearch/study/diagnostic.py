"""The diagnostic: a few starts, graphs that begin empty, PUCT beside models that act from the screen alone.

The paper's appendix "Original Notepad diagnostic". Its two curves (eq. 7) are M_V(t), the states that an
episode has met beyond its start, and Δu_t; each is given by its end and by its sum.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from screensearch.config import Settings
from screensearch.errors import SettingsError
from screensearch.select.policy import Unanswered, unanswered_of
from screensearch.study.conditions import Condition, Initial
from screensearch.study.metrics import at_budget, auc
from screensearch.study.names import name_of
from screensearch.study.plan import Plan, PlannedSuite
from screensearch.study.trace import Trace, measure

STARTS = 3
"""As in the paper."""

REACTIVE = "select.reactive."
"""How overrides of the settings of models begin."""

UNIFORM = "select.prior=uniform@1"
"""The diagnostic's prior: it keeps graph-based selection apart from what proposals add."""

PUCT = Condition("puct", "PUCT", (UNIFORM, "select.selector=puct"), initial=Initial.EMPTY)
PAPER_PUCT = Condition(
    "puct-c1",
    "PUCT, c_p = 1",
    (UNIFORM, "select.selector=puct", "select.c_puct=1.0"),
    initial=Initial.EMPTY,
)
"""With the paper's constant, where a suite has another, as those of live desktops have by default."""


def diagnostic_conditions(
    suites: Sequence[Settings], models: Sequence[str], reactive: Sequence[str] = ()
) -> list[Condition]:
    """PUCT, and each model without and with the latest actions; `reactive` has settings of all models."""
    found = [PUCT]
    if any(settings.select.c_puct != 1.0 for settings in suites):
        found.append(PAPER_PUCT)
    shared = tuple(f"{REACTIVE}{each}" for each in reactive)
    for model in models:
        asked = (f"{REACTIVE}model={json.dumps(model)}", *shared)
        for selector, title in (("reactive", "no ctx"), ("reactive-history", "ctx")):
            found.append(
                Condition(
                    name_of(f"{selector}-{model}"),
                    f"Reactive {model}, {title}",
                    (UNIFORM, f"select.selector={selector}", *asked),
                    initial=Initial.EMPTY,
                )
            )
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"two models would be the condition {name!r}: give each --model once")
    return found


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over starts: its mean and its standard deviation, which one start alone does not have."""

    mean: float
    deviation: float | None


@dataclass(frozen=True, slots=True)
class Answers:
    """What became of the questions that a condition asked, in episodes that count."""

    questions: int
    decided: int  # an action came of it
    undecided: dict[str, int]  # why none did
    question_tokens: int  # 0 where the endpoint does not tell
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class DiagnosticRow:
    """One condition on one application."""

    suite: str
    condition: str
    title: str
    starts: int
    failed: int  # episodes that tell nothing
    frontier: Spread  # M_V at the end
    frontier_auc: Spread
    ambiguity: Spread  # Δu at the end
    ambiguity_auc: Spread
    edges: Spread
    edge_auc: Spread
    revisit: Spread
    loop_stall: Spread
    answers: Answers | None  # None where nobody is asked


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The diagnostic in figures."""

    steps: int
    rows: list[DiagnosticRow]


def diagnose(plan: Plan, traces: Sequence[Trace]) -> Diagnostic:
    """A row for each condition on each application that has an episode which counts."""
    rows = []
    for suite in plan.suites:
        for condition in plan.conditions:
            of = [
                trace
                for trace in traces
                if (trace.place.suite, trace.place.condition) == (suite.name, condition.name)
            ]
            if any(trace.complete for trace in of):
                rows.append(_row(suite, condition, of, plan.steps))
    return Diagnostic(plan.steps, rows)


def _row(suite: PlannedSuite, condition: Condition, traces: Sequence[Trace], steps: int) -> DiagnosticRow:
    complete = [trace for trace in traces if trace.complete]
    frontier = [trace.frontier_curve(steps) for trace in complete]
    ambiguity = [trace.ambiguity_curve(steps) for trace in complete]
    metrics = [measure(trace, steps=steps, high=suite.high) for trace in complete]
    return DiagnosticRow(
        suite=suite.name,
        condition=condition.name,
        title=condition.title,
        starts=len(complete),
        failed=len(traces) - len(complete),
        frontier=_spread([at_budget(curve, steps) for curve in frontier]),
        frontier_auc=_spread([auc(curve, steps) for curve in frontier]),
        ambiguity=_spread([at_budget(curve, steps) for curve in ambiguity]),
        ambiguity_auc=_spread([auc(curve, steps) for curve in ambiguity]),
        edges=_spread([each.new_edges for each in metrics]),
        edge_auc=_spread([each.edge_auc for each in metrics]),
        revisit=_spread([each.revisit for each in metrics]),
        loop_stall=_spread([each.loop_stall for each in metrics]),
        answers=_answers(complete),
    )


def _spread(values: Sequence[float]) -> Spread:
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation)


def _answers(traces: Sequence[Trace]) -> Answers | None:
    asked = [trace.asked for trace in traces if trace.asked is not None]
    if not asked:
        return None
    why = Counter(unanswered_of(note) for trace in traces for note in trace.undecided)
    questions = sum(each.questions for each in asked)
    return Answers(
        questions=questions,
        decided=questions - why.total(),
        undecided={each.value: why[each.value] for each in Unanswered if why[each.value]},
        question_tokens=sum(each.question_tokens for each in asked),
        answer_tokens=sum(each.answer_tokens for each in asked),
    )
