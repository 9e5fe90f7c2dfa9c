"""How close does the graph come to the truth? Merges and ambiguity against a world that declares both.

One exploration per application gives a stream of screens with the truth of each. Every identity rule
under test then decides about the same stream, so that rules differ by what they decide and by nothing
else. A merge is right when the two screens are one true screen; a state is truly aliased when one of
its true screens is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from screensearch.config import Settings
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId
from screensearch.errors import FormatError
from screensearch.explore.run import Run
from screensearch.explore.store import make_resolver
from screensearch.record.ambiguity import dispersion
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row, row_of
from screensearch.record.run import TRUTH
from screensearch.record.truth import read_truth
from screensearch.study.metrics import auroc, pair_quality

ENOUGH_TRIALS = 20
"""u(s) leaves its prior behind at n_s = κ = 20: a second AUROC looks at states tried that often."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An identity rule under test."""

    name: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class TruthReport:
    """One rule on one run. Precision and recall are over pairs of observations: each weighs as it was met."""

    environment: str
    rule: str
    observations: int
    true_screens: int  # of those seen
    true_states: int  # of those seen
    states: int
    precision: float
    recall: float
    f1: float
    mixed_states: int  # states that hold more than one true screen
    split_screens: int  # true screens that are found in more than one state
    aliased_states: int
    dispersed_states: int  # states with D(s) > 0: some action was seen to have different outcomes
    dispersed_aliased: int  # of those, how many are truly aliased
    ambiguity_auroc: float  # u(s) of aliased against other states; NaN if there is only one kind
    ambiguity_auroc_tried: float  # the same, over states tried at least 20 times
    dispersion_auroc: float  # D(s) instead of u(s), over all states: without the pull of the prior u₀


def rules(settings: Settings, thresholds: Sequence[float] = ()) -> list[Rule]:
    """The identifiers, exact and hybrid also with the paper's filters, and exact at other thresholds."""
    paper_filters = ("display_mode", "text_size")

    def rule(name: str, identifier: str, filters: tuple[str, ...] | None = None) -> Rule:
        identify = replace(settings.identify, identifier=identifier)
        if filters is not None:
            identify = replace(identify, filters=filters)
        return Rule(name, replace(settings, identify=identify))

    at_threshold = [
        Rule(f"exact, τ = {threshold}", _with_threshold(settings, threshold)) for threshold in thresholds
    ]
    return [
        rule("exact", "exact"),
        *at_threshold,
        rule("exact, paper's filters", "exact", paper_filters),
        rule("hybrid, paper's filters", "hybrid", paper_filters),
        rule("content_free", "content_free"),
        rule("identical", "identical"),
    ]


def _with_threshold(settings: Settings, threshold: float) -> Settings:
    merge = replace(settings.identify.merge, threshold=threshold)
    return replace(settings, identify=replace(settings.identify, identifier="exact", merge=merge))


def judge(run: Run, rule: Rule) -> TruthReport:
    """Decide about a run's screens anew under a rule, and compare with the truth noted beside it."""
    truth = read_truth(run.path / TRUTH)
    resolver = make_resolver(rule.settings)
    graph = StateGraph(rule.settings.ambiguity)
    decided: dict[int, StateId] = {}
    where: dict[EpisodeId, StateId] = {}
    found: list[StateId] = []
    truly: list[int | str] = []
    true_states: set[int | str] = set()
    aliased: dict[StateId, bool] = {}
    for sequence, entry in run.entries():
        state: StateId | None = None
        if entry.decision is not None and entry.screen is not None:
            if entry.screen not in decided:
                decided[entry.screen] = resolver.resolve(run.log.screen(entry.screen)).state
            state = decided[entry.screen]
        graph.apply(_row_under(sequence, entry, where.get(entry.episode), state))
        if state is None:
            where.pop(entry.episode, None)
            continue
        where[entry.episode] = state
        note = truth.get((entry.episode, entry.step))
        if note is not None:
            found.append(state)
            truly.append(note.screen)
            true_states.add(note.state)
            aliased[state] = aliased.get(state, False) or note.aliased
    if not found:
        raise FormatError(f"{run.path} has no truth: only a synthetic world notes what is really the case")
    quality = pair_quality(found, truly)
    held = set(zip(found, truly, strict=True))
    screens_of, states_of = Counter(state for state, _ in held), Counter(screen for _, screen in held)
    dispersed = [state for state in aliased if _dispersion(graph, state) > 0]
    tried = [state for state in aliased if graph.trials(state) >= ENOUGH_TRIALS]
    return TruthReport(
        environment=run.environment,
        rule=rule.name,
        observations=len(found),
        true_screens=len(states_of),
        true_states=len(true_states),
        states=len(screens_of),
        precision=quality.precision,
        recall=quality.recall,
        f1=quality.f1,
        mixed_states=sum(screens > 1 for screens in screens_of.values()),
        split_screens=sum(states > 1 for states in states_of.values()),
        aliased_states=sum(aliased.values()),
        dispersed_states=len(dispersed),
        dispersed_aliased=sum(aliased[state] for state in dispersed),
        ambiguity_auroc=_auroc(graph.ambiguity, aliased),
        ambiguity_auroc_tried=_auroc(graph.ambiguity, {state: aliased[state] for state in tried}),
        dispersion_auroc=_auroc(lambda state: _dispersion(graph, state), aliased),
    )


def _row_under(sequence: int, entry: Entry, source: StateId | None, target: StateId | None) -> Row:
    """The fold's row of an entry whose states were decided anew. Rewards play no part in ambiguity."""
    row = row_of(sequence, entry)
    moved = row._replace(source=None if row.source is None else source, target=target)
    return moved if row.reward is None else moved._replace(reward=0.0)


def _dispersion(graph: StateGraph, state: StateId) -> float:
    """D(s), eq. 1."""
    successors = [tried.successors.values() for tried in graph.tried(state).values()]
    return dispersion(successors, graph.trials(state)) if successors else 0.0


def _auroc(score: Callable[[StateId], float], aliased: dict[StateId, bool]) -> float:
    return auroc([score(state) for state in aliased], list(aliased.values()))


def to_markdown(reports: Sequence[TruthReport]) -> str:
    """The reports as one table."""
    columns: dict[str, Callable[[TruthReport], str]] = {
        "application": lambda report: report.environment.removeprefix("synthetic:"),
        "rule": lambda report: report.rule,
        "observations": lambda report: f"{report.observations:,}",
        "true screens": lambda report: f"{report.true_screens:,}",
        "states": lambda report: f"{report.states:,}",
        "mixed": lambda report: f"{report.mixed_states:,}",
        "split": lambda report: f"{report.split_screens:,}",
        "precision": lambda report: f"{report.precision:.3f}",
        "recall": lambda report: f"{report.recall:.3f}",
        "F1": lambda report: f"{report.f1:.3f}",
        "aliased": lambda report: f"{report.aliased_states:,}",
        "dispersed": lambda report: f"{report.dispersed_states:,}",
        "of those aliased": lambda report: f"{report.dispersed_aliased:,}",
        "AUROC of u": lambda report: f"{report.ambiguity_auroc:.3f}",
        "of u, n ≥ 20": lambda report: f"{report.ambiguity_auroc_tried:.3f}",
        "of D": lambda report: f"{report.dispersion_auroc:.3f}",
    }
    rows = [list(columns), ["---", "---", *["--:"] * (len(columns) - 2)]]
    rows += [[cell(report) for cell in columns.values()] for report in reports]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
