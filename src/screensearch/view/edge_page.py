"""An edge: everything from one state to another, and every transition behind it."""

from __future__ import annotations

from screensearch.act.signature import target_of
from screensearch.domain.screen import StateId, moved
from screensearch.domain.transition import Transition
from screensearch.encode.masks import Masks
from screensearch.explore.redaction import stored_observation
from screensearch.view.elements import rectangle
from screensearch.view.messages import EdgeAction, EdgePage, Rectangle, TransitionInfo
from screensearch.view.reading import Reading, UnknownState


def make_edge_page(
    reading: Reading, source: StateId, target: StateId, signature: str | None, offset: int, limit: int
) -> EdgePage:
    """All from `source` to `target`, or what one action did; transitions in order, the oldest first."""
    actions = _actions(reading, reading.check_state(source), reading.check_state(target))
    if not actions:
        raise UnknownState(f"{reading.name} has no edge from state {source} to state {target}")
    entries, redaction = reading.entries, reading.redaction
    wanted = {
        entries.signatures.of(each)
        for each in reading.graph.tried(source)
        if signature is None or signature in (each, redaction.signature(each))
    }
    if not wanted:
        asked = str(signature)[:200]
        raise UnknownState(f"at state {source} of {reading.name} no action {asked!r} came to an end")
    ok = entries.outcomes.find("ok")
    found = [
        sequence
        for sequence in entries.done_at(source)
        if entries.target[sequence - 1] == target
        and entries.outcome[sequence - 1] == ok
        and entries.signature[sequence - 1] in wanted
    ]
    return EdgePage(
        run=reading.name,
        source=reading.brief(source),
        target=reading.brief(target),
        actions=actions,
        signature=None if signature is None else redaction.signature(signature),
        total=len(found),
        offset=offset,
        transitions=[_transition(reading, sequence) for sequence in found[offset : offset + limit]],
    )


def _actions(reading: Reading, source: StateId, target: StateId) -> list[EdgeAction]:
    found = [
        EdgeAction(
            signature=reading.redaction.signature(signature),
            words=reading.words(signature),
            count=count,
            visits=tried.visits,
            share=count / tried.visits,
        )
        for signature, tried in reading.graph.tried(source).items()
        if (count := tried.successors.get(target))
    ]
    return sorted(found, key=lambda each: (-each.count, each.signature))


def _transition(reading: Reading, sequence: int) -> TransitionInfo:
    entry = reading.entry(sequence)
    assert isinstance(entry, Transition)  # it has a source
    before = _entry_before(reading, entry)
    choice, reward = entry.choice, entry.reward
    return TransitionInfo(
        sequence=sequence,
        episode=str(entry.episode),
        step=entry.step,
        source=entry.source,
        target=entry.target,
        signature=reading.redaction.signature(entry.signature or ""),
        words=reading.words(entry.signature),
        outcome=entry.outcome.value,
        note=reading.redaction.text(entry.note),
        before=None if before is None else reading.picture_at(before),
        after=reading.picture_at(sequence),
        acted_on=None if before is None else _acted_on(reading, before, entry.signature),
        candidates=None if choice is None else choice.candidates,
        prior=None if choice is None else choice.prior,
        value=None if choice is None else choice.value,
        visits=None if choice is None else choice.visits,
        score=None if choice is None else choice.score,
        reward=None if reward is None else reward.total,
        new_state=entry.decision is not None and entry.decision.founded,
        new_edge=reward is not None and reward.edge,
        act_seconds=entry.evidence.act_seconds,
        decide_seconds=entry.evidence.decide_seconds,
    )


def _entry_before(reading: Reading, entry: Transition) -> int | None:
    """The number of the entry whose screen a transition was done on."""
    found = reading.run.log.find(entry.episode, entry.step - 1)
    if found is None or found[1].screen is not None:
        return None if found is None else found[0]
    landed = (  # the step before came from another shard: the screen is with its landing
        sequence
        for sequence in reading.entries.seen_as(entry.source)
        if reading.entries.episode_of(sequence) == entry.episode
        and reading.entries.step[sequence - 1] == entry.step - 1
    )
    return next(landed, found[0])


def _acted_on(reading: Reading, before: int, signature: str | None) -> Rectangle | None:
    """Where the element was that an action aimed at, in the picture of the screen before."""
    row = reading.entries.screen[before - 1]
    parts = (signature or "").split("::", 2)
    if row < 0 or len(parts) != 3 or parts[1] == "none":
        return None
    observation = stored_observation(reading.run.log, row)
    window = observation.window.box
    masks = Masks(reading.run.settings.encode.masks)
    seen_at = reading.entry(before).evidence.window or window
    for element in observation.elements:
        if str(target_of(element, window, masks)) == parts[1]:
            return rectangle(moved(element.box, window, seen_at))
    return None
