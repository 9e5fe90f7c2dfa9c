"""A state: its founding screen, what was tried there, how u(s) came about, and its observations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, Outcome, Transition
from screensearch.record.ambiguity import dispersion, normalised_entropy
from screensearch.record.graph import Tried
from screensearch.view.elements import elements_of, rectangle, shortened
from screensearch.view.messages import (
    ActionInfo,
    AmbiguityInfo,
    AmbiguityTerm,
    Incoming,
    ObservationInfo,
    Observations,
    StatePage,
    Successor,
)
from screensearch.view.reading import Reading

LONGEST_TEXT = 20_000
"""Characters of a screen's text that are shown."""


def make_state_page(reading: Reading, state: StateId, depth: int) -> StatePage:
    """All about one state."""
    brief = reading.brief(state)
    log, row = reading.run.log, reading.founding_row(state)
    observation = reading.redaction.observation(log, row)
    founding = reading.entry(reading.entries.founded[state])
    window = founding.evidence.window
    seen = reading.entries.seen_as(state)
    actions = _actions(reading, state)
    return StatePage(
        run=reading.name,
        state=brief,
        text=shortened(reading.redaction.screen(log, row).text, LONGEST_TEXT),
        first_seen=reading.entries.founded[state],
        depth=depth,
        screens=len({reading.entries.screen[sequence - 1] for sequence in seen}),
        observations=len(seen),
        window_box=rectangle(observation.window.box if window is None else window),
        elements=elements_of(observation, reading.run.settings, (each.signature for each in actions)),
        actions=actions,
        ambiguity=_ambiguity(reading, state),
        incoming=_incoming(reading, state),
    )


def successors_of(reading: Reading, tried: Tried) -> list[Successor]:
    """Where an action led, the most frequent first."""
    ordered = sorted(tried.successors.items(), key=lambda item: (-item[1], item[0]))
    return [
        Successor(state=target, title=reading.title(target), count=count, share=count / tried.visits)
        for target, count in ordered
    ]


def _actions(reading: Reading, state: StateId) -> list[ActionInfo]:
    graph, redaction = reading.graph, reading.redaction
    failures = graph.failures(state)
    priors = _priors(reading, state)
    found = [
        ActionInfo(
            signature=redaction.signature(signature),
            words=reading.words(signature),
            visits=tried.visits,
            value=tried.value,
            prior=priors.get(signature),
            dispersion=normalised_entropy(tried.successors.values()),
            successors=successors_of(reading, tried),
            failures=dict(failures.get(signature, {})),
        )
        for signature, tried in graph.tried(state).items()
    ]
    found += [
        ActionInfo(
            signature=redaction.signature(signature),
            words=reading.words(signature) or _without_choice(outcomes),
            visits=0,
            value=0.0,
            prior=priors.get(signature),
            dispersion=0.0,
            successors=[],
            failures=dict(outcomes),
        )
        for signature, outcomes in failures.items()
        if signature not in graph.tried(state)
    ]
    return sorted(found, key=lambda each: (-each.visits, -sum(each.failures.values()), each.signature))


def _without_choice(outcomes: Mapping[str, int]) -> str:
    """Words for steps that have no action."""
    return "unknown: the choice was lost" if Outcome.LOST in outcomes else "none: the model gave no action"


def _priors(reading: Reading, state: StateId) -> dict[str, float]:
    """P of each action as the latest selection at the state saw it."""
    entries = reading.entries
    latest: dict[int, int] = {}
    for sequence in entries.done_at(state):
        latest[entries.signature[sequence - 1]] = sequence
    priors: dict[str, float] = {}
    for number, sequence in latest.items():
        signature = entries.signatures.text(number)
        entry = reading.entry(sequence)
        if signature is not None and isinstance(entry, Transition) and entry.choice is not None:
            priors[signature] = entry.choice.prior
    return priors


def _ambiguity(reading: Reading, state: StateId) -> AmbiguityInfo:
    graph = reading.graph
    tried, trials = graph.tried(state), graph.trials(state)
    terms = [
        AmbiguityTerm(
            signature=reading.redaction.signature(signature),
            words=reading.words(signature),
            visits=each.visits,
            weight=each.visits / trials,
            entropy=normalised_entropy(each.successors.values()),
        )
        for signature, each in tried.items()
    ]
    return AmbiguityInfo(
        value=graph.ambiguity(state),
        trials=trials,
        dispersion=dispersion((each.successors.values() for each in tried.values()), trials),
        kappa=graph.settings.kappa,
        prior=graph.settings.prior_ambiguity,
        terms=sorted(terms, key=lambda term: (-term.weight * term.entropy, -term.visits, term.signature)),
    )


def _incoming(reading: Reading, state: StateId) -> list[Incoming]:
    """From where the state was reached."""
    entries = reading.entries
    counts: Counter[int] = Counter()
    actions: dict[int, set[int]] = {}
    for sequence in entries.led_to(state):
        source = entries.source[sequence - 1]
        counts[source] += 1
        actions.setdefault(source, set()).add(entries.signature[sequence - 1])
    return [
        Incoming(state=source, title=reading.title(source), count=count, actions=len(actions[source]))
        for source, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def make_observations(reading: Reading, state: StateId, offset: int, limit: int) -> Observations:
    """The times that a state was seen, the oldest first."""
    seen = reading.entries.seen_as(reading.check_state(state))
    return Observations(
        run=reading.name,
        state=state,
        total=len(seen),
        offset=offset,
        observations=[
            _observation(reading, sequence, reading.entry(sequence))
            for sequence in seen[offset : offset + limit]
        ],
    )


def _observation(reading: Reading, sequence: int, entry: Entry) -> ObservationInfo:
    decision = entry.decision
    assert decision is not None  # it was seen as that state
    runner_up = decision.runner_up
    return ObservationInfo(
        sequence=sequence,
        episode=str(entry.episode),
        step=entry.step,
        how=decision.how,
        score=decision.score,
        role_jaccard=decision.role_jaccard,
        text_jaccard=decision.text_jaccard,
        runner_up=None if runner_up is None else runner_up.state,
        runner_up_score=None if runner_up is None else runner_up.score,
        picture=reading.picture_at(sequence),
    )
