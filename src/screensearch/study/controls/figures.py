"""The figures of the controls, from what was seen: dispersion by condition, disclosure, accuracy. All pure.

An outcome is read in up to three ways: by the text of the document, by the state that the application's
identity rule gives the screen, and, on a world that knows it, by the true screen.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from screensearch.config import Settings, settings_from_document
from screensearch.domain.screen import StateId
from screensearch.encode.embed import make_embedder
from screensearch.identify.resolve import IDENTIFIERS, Resolver
from screensearch.identify.verify import compare
from screensearch.record.ambiguity import Dispersion, decompose, normalised_entropy
from screensearch.study.controls.plan import (
    PROBES,
    TIMING_TRIALS,
    TOKENS,
    ControlPlan,
    Kind,
    Moment,
    Place,
    Sight,
    Trial,
)


class Reading(StrEnum):
    """What an outcome is told by."""

    DOCUMENT = "document"
    STATE = "state"
    TRUE_SCREEN = "true screen"


Seen = tuple[str, Hashable]
"""What the clipboard held, and what was observed."""


def dispersion_by_clipboard(seen: Iterable[Seen]) -> Dispersion:
    """How much outcomes differ: over all trials, with the clipboard known, and by the clipboard alone."""
    groups: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
    for hidden, observed in seen:
        groups[hidden][observed] += 1
    return decompose(groups)


def disclosure(seen: Iterable[Seen]) -> float | None:
    """How much of the clipboard an observation tells: 1 - H(hidden | observed) / H(hidden), in [0, 1].

    None where the clipboard always held the same, so that there is nothing to be told.
    """
    groups: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for hidden, observed in seen:
        groups[observed][hidden] += 1
    split = decompose(groups)
    return split.between / split.pooled if split.pooled else None


@dataclass(frozen=True, slots=True)
class CausalRow:
    """A row of the paper's table on controlled dispersion."""

    application: str
    source: Kind
    reading: Reading
    trials: int
    pooled: float
    within: float
    between: float
    outcomes: dict[str, int]  # how often each came out


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A row of the paper's table on probes."""

    application: str
    condition: Kind
    trials: int
    disclosure: float | None  # by the tokens that can be read on the screen
    state_disclosure: float | None  # by the state of that screen
    destination_dispersion: float | None  # by the state; none where nothing was probed
    document_dispersion: float | None  # likewise, by the document
    accuracy: float | None
    returned: int | None  # trials whose destination has the state and the document of their start
    evidence: int  # trials in which a token was read


@dataclass(frozen=True, slots=True)
class ApplicationFigures:
    """What else is to be known of an application."""

    application: str
    identifier: str
    threshold: float
    start_states: int  # that the trials began in: one, if they all look the same
    paste_likeness: float | None  # of the screens after Paste of either token, as the identity rule scores it
    paste_seconds: float | None  # the median until Paste reached the application, in the trials for that
    race_as_taken: int | None  # races whose document shows what the application took from a real clipboard
    trials: int
    repeated: int  # trials that were run twice
    failures: dict[str, int]


@dataclass(frozen=True, slots=True)
class ControlSummary:
    """All figures of the controls."""

    seed: int
    trials: int
    race_trials: int
    causal: list[CausalRow]
    probes: list[ProbeRow]
    applications: list[ApplicationFigures]


def summarise(plan: ControlPlan, trials: Sequence[Trial]) -> ControlSummary:
    """The figures of finished controls. Failed trials are counted, and are part of nothing else."""
    causal: list[CausalRow] = []
    probes: list[ProbeRow] = []
    about: list[ApplicationFigures] = []
    for application in plan.applications:
        own = [trial for trial in trials if trial.place.application == application.name]
        good = [trial for trial in own if trial.complete]
        settings = settings_from_document(application.settings)
        states = identify(good, settings)
        for source in (Kind.HIDDEN, Kind.RACE):
            chosen = [trial for trial in good if trial.place.kind is source]
            causal += _causal_rows(application.name, source, chosen, states)
        for condition in PROBES:
            chosen = [trial for trial in good if trial.place.kind is condition]
            if chosen:
                probes.append(_probe_row(application.name, condition, chosen, states))
        about.append(_about(application.name, settings, own, states))
    return ControlSummary(plan.seed, plan.trials, plan.race_trials, causal, probes, about)


States = dict[tuple[Place, Moment], StateId]


def identify(trials: Iterable[Trial], settings: Settings) -> States:
    """The state of every screen, as an exploration that met them in this order would have it."""
    rule = settings.identify
    needed = getattr(IDENTIFIERS.get(rule.identifier), "needs_embedder", False)
    resolver = Resolver(rule, make_embedder(settings.embed) if needed else None)
    return {
        (trial.place, sight.moment): resolver.resolve(sight.screen).state
        for trial in trials
        for sight in trial.sights
    }


def paste_seconds(trials: Iterable[Trial]) -> float | None:
    """How long a Paste takes to reach the application now: the median of the latest in which it was timed."""
    measured = [
        trial.taken_seconds
        for trial in trials
        if trial.place.kind in (Kind.TIMING, Kind.RACE) and trial.complete and trial.taken_seconds is not None
    ]
    return statistics.median(measured[-TIMING_TRIALS:]) if measured else None


def _causal_rows(
    application: str, source: Kind, trials: Sequence[Trial], states: States
) -> Iterable[CausalRow]:
    for reading in Reading:
        seen = [
            (trial.clipboard, observed)
            for trial in trials
            if (observed := _read(trial, Moment.PROBE, reading, states)) is not None
        ]
        if not seen:
            continue
        split = dispersion_by_clipboard(seen)
        outcomes = Counter(str(observed) for _, observed in seen)
        yield CausalRow(
            application,
            source,
            reading,
            len(seen),
            split.pooled,
            split.within,
            split.between,
            dict(sorted(outcomes.items())),
        )


def _read(trial: Trial, moment: Moment, reading: Reading, states: States) -> Hashable:
    sight = _sight(trial, moment)
    if reading is Reading.STATE:
        return states[trial.place, moment]
    return sight.document if reading is Reading.DOCUMENT else sight.true_screen


def _sight(trial: Trial, moment: Moment) -> Sight:
    sight = trial.sight(moment)
    assert sight is not None  # the trial is complete
    return sight


def _probe_row(application: str, condition: Kind, trials: Sequence[Trial], states: States) -> ProbeRow:
    # Who does not probe has seen the start, and no more.
    at = Moment.START if condition is Kind.NO_PROBE else Moment.PROBE
    probed = condition is not Kind.NO_PROBE
    destinations = Counter(states[trial.place, Moment.DESTINATION] for trial in trials if probed)
    documents = Counter(_sight(trial, Moment.DESTINATION).document for trial in trials if probed)
    return ProbeRow(
        application,
        condition,
        len(trials),
        disclosure((trial.clipboard, _sight(trial, at).tokens) for trial in trials),
        disclosure((trial.clipboard, states[trial.place, at]) for trial in trials),
        normalised_entropy(destinations.values()) if probed else None,
        normalised_entropy(documents.values()) if probed else None,
        sum(trial.committed == trial.clipboard for trial in trials) / len(trials),
        sum(_returned(trial, states) for trial in trials) if probed else None,
        sum(trial.evidence is not None for trial in trials),
    )


def _returned(trial: Trial, states: States) -> bool:
    same_state = states[trial.place, Moment.START] == states[trial.place, Moment.DESTINATION]
    return same_state and (_sight(trial, Moment.START).document == _sight(trial, Moment.DESTINATION).document)


def _about(
    application: str, settings: Settings, trials: Sequence[Trial], states: States
) -> ApplicationFigures:
    good = [trial for trial in trials if trial.complete]
    rule = settings.identify
    first = {
        token: next((t for t in good if t.place.kind is Kind.HIDDEN and t.clipboard == token), None)
        for token in TOKENS
    }
    pasted = [_sight(trial, Moment.PROBE).screen for trial in first.values() if trial is not None]
    races = [trial for trial in good if trial.place.kind is Kind.RACE and trial.taken is not None]
    return ApplicationFigures(
        application,
        rule.identifier,
        rule.merge.threshold,
        len({states[trial.place, Moment.START] for trial in good}),
        compare(pasted[0], pasted[1], rule.merge).score if len(pasted) == len(TOKENS) else None,
        paste_seconds(trial for trial in good if trial.place.kind is Kind.TIMING),
        sum(_sight(trial, Moment.PROBE).document == trial.taken for trial in races) if races else None,
        len(trials),
        sum(trial.tries > 1 for trial in trials),
        dict(Counter(trial.failure for trial in trials if trial.failure is not None)),
    )
