"""The parts of an answer: what the viewer's pages have, quoted, cut and in the types of `answers`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from screensearch.agents.answers import (
    ActionLine,
    AmbiguousAction,
    ElementLine,
    Execution,
    Finding,
    Incoming,
    RunSummary,
    StateLine,
    Step,
    SuccessorLine,
)
from screensearch.agents.quoting import LABEL, NOTE, SIGNATURE, TITLE, figure, quoted
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Transition
from screensearch.errors import ScreenSearchError
from screensearch.explore.path import PathStep
from screensearch.record.ambiguity import normalised_entropy
from screensearch.record.graph import Tried
from screensearch.view import messages
from screensearch.view.reading import Reading
from screensearch.view.state_page import successors_of

SUCCESSORS = 8
ACTIONS_OF_ELEMENT = 8
INCOMING = 10
STEPS_OF_FINDING = 50
"""The most of each that one line of an answer names."""


def state_line(reading: Reading, state: StateId) -> StateLine:
    """A state in a list."""
    return brief_line(reading.brief(state))


def brief_line(brief: messages.StateBrief) -> StateLine:
    """The same of what the viewer lists."""
    return StateLine(
        state=brief.id,
        title=quoted(brief.title, TITLE),
        window=quoted(brief.window, LABEL),
        display_mode=quoted(brief.display_mode, LABEL),
        text_size=brief.text_size,
        visits=brief.visits,
        ambiguity=figure(brief.ambiguity),
    )


def tells_something(element: messages.ElementInfo) -> bool:
    """Whether an element is more than a frame around others: it says something, or something can be done."""
    return bool(element.text.strip() or element.value.strip() or element.clickable or element.editable)


def element_line(element: messages.ElementInfo) -> ElementLine:
    """An element of a screen; of a secret one, nothing it says."""
    return ElementLine(
        role=quoted(element.role, LABEL),
        text="" if element.secret else quoted(element.text, LABEL),
        value="" if element.secret else quoted(element.value, LABEL),
        box=[round(each, 1) for each in element.box],
        clickable=element.clickable,
        editable=element.editable,
        enabled=element.enabled,
        focused=element.focused,
        checked=element.checked,
        actions=[quoted(each, SIGNATURE) for each in element.signatures[:ACTIONS_OF_ELEMENT]],
    )


def action_line(action: messages.ActionInfo, *, successors: int = SUCCESSORS) -> ActionLine:
    """An action that was tried at a state."""
    return ActionLine(
        signature=quoted(action.signature, SIGNATURE),
        words=quoted(action.words, LABEL),
        visits=action.visits,
        value=figure(action.value),
        prior=None if action.prior is None else figure(action.prior),
        dispersion=figure(action.dispersion),
        distinct_successors=len(action.successors),
        successors=_successors(action.successors[:successors]),
        failures=action.failures,
    )


def _successors(successors: Iterable[messages.Successor]) -> list[SuccessorLine]:
    return [
        SuccessorLine(
            state=each.state, title=quoted(each.title, TITLE), count=each.count, share=figure(each.share)
        )
        for each in successors
    ]


def incoming_lines(incoming: Iterable[messages.Incoming]) -> list[Incoming]:
    """From where a state was reached, the most frequent first."""
    return [
        Incoming(state=each.state, title=quoted(each.title, TITLE), count=each.count)
        for each in list(incoming)[:INCOMING]
    ]


def step_line(reading: Reading, step: PathStep) -> Step:
    """A step of a way."""
    return Step(
        source=step.source,
        source_title=quoted(reading.title(step.source), TITLE),
        signature=quoted(reading.redaction.signature(step.signature), SIGNATURE),
        words=quoted(reading.words(step.signature), LABEL),
        target=step.target,
        target_title=quoted(reading.title(step.target), TITLE),
        count=step.count,
        tries=step.tries,
        share=figure(step.share),
    )


def ambiguous_line(reading: Reading, state: StateId, signature: str) -> AmbiguousAction:
    """An action with several successors."""
    tried = reading.graph.tried(state)[signature]
    return AmbiguousAction(
        state=state,
        title=quoted(reading.title(state), TITLE),
        signature=quoted(reading.redaction.signature(signature), SIGNATURE),
        words=quoted(reading.words(signature), LABEL),
        visits=tried.visits,
        dispersion=figure(normalised_entropy(tried.successors.values())),
        successors=_successors(successors_of(reading, tried)[:SUCCESSORS]),
    )


def finding_line(finding: messages.FindingInfo) -> Finding:
    """A finding with its way; of a long one the end, where it happened."""
    way = finding.actions[-STEPS_OF_FINDING:]
    return Finding(
        number=finding.number,
        outcome=finding.outcome,
        state=finding.state,
        title=quoted(finding.title, TITLE),
        words=quoted(finding.words, LABEL),
        count=finding.count,
        note=quoted(finding.note, NOTE),
        configuration=_configuration(finding.configuration),
        actions=[quoted(each, LABEL) for each in way],
        actions_left_out=len(finding.actions) - len(way),
    )


def find_action(reading: Reading, page: messages.StatePage, asked: str) -> tuple[str, messages.ActionInfo]:
    """The action of a state that is named by its signature as it was told, or by its words if clear.

    Returns the signature as the log has it.
    """
    stored = {
        reading.redaction.signature(each): each
        for each in (*reading.graph.tried(page.state.id), *reading.graph.failures(page.state.id))
    }
    wanted = quoted(asked, SIGNATURE)
    matches = [each for each in page.actions if wanted in (each.signature, quoted(each.signature, SIGNATURE))]
    matches = matches or [each for each in page.actions if quoted(each.words, LABEL) == wanted]
    if len(matches) != 1:
        what = "no action" if not matches else f"{len(matches)} actions"
        raise ScreenSearchError(
            f"at state {page.state.id} of {page.run} there is {what} {wanted[:LABEL]!r} among the "
            f"{len(page.actions)} that were tried: name it by its signature as describe_state tells it"
        )
    return stored[matches[0].signature], matches[0]


def run_summary(info: messages.RunInfo) -> RunSummary:
    """A run in a list."""
    return RunSummary(
        run=info.run,
        environment=quoted(info.environment, LABEL),
        application=quoted(info.application, LABEL),
        live=info.live,
        steps=info.steps,
        episodes=info.episodes,
        states=info.states,
        edges=info.edges,
        outcomes=info.outcomes,
    )


def configuration_lines(reading: Reading, found: Mapping[str, str]) -> dict[str, str]:
    """What an episode began with."""
    return _configuration({name: reading.redaction.text(value) for name, value in found.items()})


def _configuration(found: Mapping[str, str]) -> dict[str, str]:
    return {quoted(name, LABEL): quoted(value, LABEL) for name, value in found.items()}


def execution_line(reading: Reading, sequence: int) -> Execution:
    """One time that an action was done."""
    entry = reading.entry(sequence)
    assert isinstance(entry, Transition)  # it was done at a state
    note = quoted(reading.redaction.text(entry.note), NOTE)
    return Execution(entry=sequence, outcome=entry.outcome.value, target=entry.target, note=note)


def ambiguous_actions(reading: Reading) -> list[tuple[float, StateId, str]]:
    """Every action with several successors, with its weight: the greatest first."""
    graph = reading.graph

    def weight(tried: Tried) -> float:
        return normalised_entropy(tried.successors.values()) * tried.visits

    found = [
        (weight(tried), state, signature)
        for state in graph.iter_states()
        for signature, tried in graph.tried(state).items()
        if len(tried.successors) > 1
    ]
    return sorted(found, key=lambda each: (-each[0], each[1], each[2]))
