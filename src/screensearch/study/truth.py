"""How close does the graph come to the truth? Merges and ambiguity against a world that declares both.

One exploration per application gives a stream of screens with the truth of each. Every identity rule
under test then decides about the same stream, so that rules differ by what they decide and by nothing
else. A merge is right when the two screens are one true screen; a state is truly aliased when one of
its true screens is. What the dispersion of a rule's states comes from is told by `sources`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from screensearch.config import Settings
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId, Outcome, Transition
from screensearch.errors import FormatError
from screensearch.explore.run import Run
from screensearch.explore.store import make_resolver
from screensearch.record.ambiguity import dispersion
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row, row_of
from screensearch.record.run import TRUTH
from screensearch.record.truth import Note, read_truth
from screensearch.study.calibration import Calibration, calibrate
from screensearch.study.metrics import auroc, pair_quality
from screensearch.study.sources import Sources, Trial, find_sources

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
    seed: int
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
    ambiguity_calibration: Calibration  # u(s), taken for the chance that a state is aliased
    dispersion_calibration: Calibration  # D(s) likewise
    sources: Sources  # what D(s) comes from


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
    before: dict[EpisodeId, Note] = {}
    trials: list[Trial] = []
    for sequence, entry in run.entries():
        state: StateId | None = None
        if entry.decision is not None and entry.screen is not None:
            if entry.screen not in decided:
                decided[entry.screen] = resolver.resolve(run.log.screen(entry.screen)).state
            state = decided[entry.screen]
        source, noted = where.get(entry.episode), before.pop(entry.episode, None)
        graph.apply(_row_under(sequence, entry, source, state))
        if state is None:
            where.pop(entry.episode, None)
            continue
        where[entry.episode] = state
        note = truth.get((entry.episode, entry.step))
        if note is not None:
            before[entry.episode] = note
            if noted is not None and isinstance(entry, Transition) and entry.outcome is Outcome.OK:
                assert entry.signature is not None  # only a choice that was lost has none
                trials.append(Trial(source, entry.signature, state, noted.screen, noted.state, note.screen))
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
    labels = list(aliased.values())
    return TruthReport(
        environment=run.environment,
        seed=run.seed,
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
        ambiguity_calibration=calibrate([graph.ambiguity(state) for state in aliased], labels),
        dispersion_calibration=calibrate([_dispersion(graph, state) for state in aliased], labels),
        sources=find_sources(trials),
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
