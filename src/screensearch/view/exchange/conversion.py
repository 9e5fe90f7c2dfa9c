"""Entries, screens and observations as rows of the tables, and back; what comes back equals what went out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from screensearch.domain.screen import Box, Element, Metadata, Observation, Screen, StateId, Window
from screensearch.domain.transition import (
    Arrival,
    Choice,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    FailedStart,
    Outcome,
    Reward,
    RunnerUp,
    Transition,
)
from screensearch.errors import FormatError
from screensearch.record.log import FAILED_STARTS, LANDING, START, row_of
from screensearch.view.exchange.rows import ElementRow, ScreenRow, TransitionRow

_PAIRS = msgspec.json.Decoder(tuple[tuple[str, str], ...])


def row_from_entry(sequence: int, entry: Entry) -> TransitionRow:
    """An entry of the log as a row."""
    folded = row_of(sequence, entry)
    decision, evidence = entry.decision, entry.evidence
    runner_up = None if decision is None else decision.runner_up
    choice = entry.choice if isinstance(entry, Transition) else None
    reward = entry.reward if isinstance(entry, Transition) else None
    window = evidence.window
    configuration = () if isinstance(entry, Transition) else entry.configuration
    return TransitionRow(
        sequence=sequence,
        worker=entry.episode.worker,
        episode=entry.episode.number,
        step=entry.step,
        outcome=folded.outcome,
        source=folded.source,
        signature=folded.signature,
        target=folded.target,
        screen=entry.screen,
        how=None if decision is None else decision.how,
        score=None if decision is None else decision.score,
        role_jaccard=None if decision is None else decision.role_jaccard,
        text_jaccard=None if decision is None else decision.text_jaccard,
        runner_up=None if runner_up is None else runner_up.state,
        runner_up_score=None if runner_up is None else runner_up.score,
        snapshot=None if choice is None else choice.snapshot,
        candidates=None if choice is None else choice.candidates,
        vetoed=None if choice is None else choice.vetoed,
        chosen=None if choice is None or choice.signature == folded.signature else choice.signature,
        prior=None if choice is None else choice.prior,
        value=None if choice is None else choice.value,
        visits=None if choice is None else choice.visits,
        choice_score=None if choice is None else choice.score,
        reward=None if reward is None else reward.total,
        reward_state=None if reward is None else reward.state,
        reward_edge=None if reward is None else reward.edge,
        reward_ambiguity=None if reward is None else reward.ambiguity,
        act_seconds=evidence.act_seconds,
        decide_seconds=evidence.decide_seconds,
        picture=evidence.screenshot,
        window_x=None if window is None else window.x,
        window_y=None if window is None else window.y,
        window_width=None if window is None else window.width,
        window_height=None if window is None else window.height,
        configuration=msgspec.json.encode(configuration).decode() if configuration else "",
        note="" if isinstance(entry, Arrival) else entry.note,
    )


def entry_from_row(row: TransitionRow) -> Entry:
    """The entry that a row was made from; `FormatError` if it cannot have been made from one."""
    episode = EpisodeId(row.worker, row.episode)
    evidence = Evidence(row.picture, row.act_seconds, row.decide_seconds, _window_of(row))
    decision = _decision_of(row)
    if row.outcome in (START, LANDING):
        if decision is None or row.screen is None:
            raise FormatError("it is a start without a state or a screen")
        return Arrival(episode, decision, row.screen, evidence, _configuration_of(row), step=row.step)
    if row.outcome in FAILED_STARTS:
        outcome = FAILED_STARTS[row.outcome]
        return FailedStart(episode, outcome, evidence, _configuration_of(row), row.note, step=row.step)
    if row.source is None or row.outcome not in tuple(Outcome):
        raise FormatError(f"it is no entry of a log: outcome {row.outcome!r}, source {row.source!r}")
    return Transition(
        episode=episode,
        step=row.step,
        source=row.source,
        signature=row.signature,
        outcome=Outcome(row.outcome),
        decision=decision,
        screen=row.screen,
        choice=_choice_of(row),
        reward=_reward_of(row),
        evidence=evidence,
        note=row.note,
    )


def _window_of(row: TransitionRow) -> Box | None:
    sides = _whole(row, "window_x", "window_y", "window_width", "window_height")
    return None if sides is None else Box(*sides)


def _decision_of(row: TransitionRow) -> Decision | None:
    parts = _whole(row, "target", "how", "score", "role_jaccard", "text_jaccard")
    second = _whole(row, "runner_up", "runner_up_score")
    runner_up = None if second is None else RunnerUp(*second)
    return None if parts is None else Decision(*parts, runner_up)  # type: ignore[call-arg]


def _choice_of(row: TransitionRow) -> Choice | None:
    parts = _whole(row, "snapshot", "candidates", "prior", "value", "visits", "choice_score", "vetoed")
    if parts is None:
        return None
    return Choice(row.chosen if row.chosen is not None else row.signature or "", *parts)


def _reward_of(row: TransitionRow) -> Reward | None:
    parts = _whole(row, "reward_state", "reward_edge", "reward_ambiguity", "reward")
    return None if parts is None else Reward(*parts)


def _whole(row: TransitionRow, *names: str) -> list[Any] | None:
    """Columns that belong together: all of them, or none."""
    values = [getattr(row, name) for name in names]
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if not missing:
        return values
    if len(missing) < len(names):
        raise FormatError(f"{missing[0]} is missing beside {next(n for n in names if n not in missing)}")
    return None


def _configuration_of(row: TransitionRow) -> tuple[tuple[str, str], ...]:
    if not row.configuration:
        return ()
    try:
        return _PAIRS.decode(row.configuration)
    except msgspec.DecodeError as problem:
        raise FormatError(f"its configuration is no list of pairs: {problem}") from problem


# -- screens ----------------------------------------------------------------------------------------


def row_from_screen(
    number: int, screen: Screen, seen: Observation, state: StateId | None, *, founder: bool
) -> ScreenRow:
    """A screen of the log, and the window behind it, as a row."""
    metadata, window = screen.metadata, seen.window
    return ScreenRow(
        screen=number,
        state=state,
        founder=founder,
        key=screen.key,
        application=metadata.application,
        display_mode=metadata.display_mode,
        text_size=metadata.text_size,
        window=metadata.window,
        text=screen.text,
        role_atoms=list(screen.role_atoms),
        text_atoms=list(screen.text_atoms),
        window_title=window.title,
        window_kind=window.kind,
        window_application=window.application,
        window_x=window.box.x,
        window_y=window.box.y,
        window_width=window.box.width,
        window_height=window.box.height,
        mode=seen.display_mode,
        text_scale=seen.text_scale,
        partial=seen.partial,
    )


def rows_from_elements(number: int, elements: Sequence[Element]) -> Iterator[ElementRow]:
    """The elements behind a screen as rows."""
    for place, element in enumerate(elements):
        box = element.box
        yield ElementRow(
            screen=number,
            place=place,
            role=element.role,
            text=element.text,
            value=element.value,
            x=box.x,
            y=box.y,
            width=box.width,
            height=box.height,
            application=element.application,
            clickable=element.clickable,
            editable=element.editable,
            enabled=element.enabled,
            focused=element.focused,
            checked=element.checked,
            secret=element.secret,
            parent=element.parent,
            process=element.process,
            handle=element.handle,
        )


def screen_from_row(row: ScreenRow) -> Screen:
    """The screen that a row was made from."""
    metadata = Metadata(row.application, row.display_mode, row.text_size, row.window)
    return Screen(row.key, tuple(row.role_atoms), tuple(row.text_atoms), row.text, metadata)


def observation_from_rows(row: ScreenRow, elements: Sequence[ElementRow]) -> Observation:
    """The observation behind a screen, without its screenshot."""
    box = Box(row.window_x, row.window_y, row.window_width, row.window_height)
    return Observation(
        elements=tuple(map(_element_from_row, elements)),
        window=Window(row.window_title, row.window_kind, box, row.window_application),
        display_mode=row.mode,
        text_scale=row.text_scale,
        partial=row.partial,
    )


def _element_from_row(row: ElementRow) -> Element:
    return Element(
        role=row.role,
        text=row.text,
        box=Box(row.x, row.y, row.width, row.height),
        application=row.application,
        clickable=row.clickable,
        editable=row.editable,
        enabled=row.enabled,
        focused=row.focused,
        checked=row.checked,
        parent=row.parent,
        handle=row.handle,
        value=row.value,
        secret=row.secret,
        process=row.process,
    )
