"""The messages of a history, taken by the model in the order of the log: what must come out is what did."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from history import Answered, Call, History, Message
from model import Added, Model

from screensearch.config import Settings
from screensearch.domain.screen import Screen, StateId
from screensearch.domain.transition import (
    Arrival,
    Decision,
    Entry,
    EpisodeId,
    FailedStart,
    Outcome,
    Transition,
)
from screensearch.explore.messages import Begin, BeginFailed, Report, Tried
from screensearch.record.log import Log

Place = tuple[EpisodeId, int]

_BECOMES = {Begin: Arrival, BeginFailed: FailedStart, Report: Transition}
_KEPT = ("source", "choice", "outcome", "evidence", "configuration", "note")
"""What an entry keeps of its message, word for word."""

_CLOSE = 1e-9
"""Sums of floats are compared so: the model adds in another order than the store."""


@dataclass(frozen=True, slots=True)
class FinalLog:
    """What is left when all is over: the entries with their numbers, and the screens by row."""

    entries: tuple[tuple[int, Entry], ...]
    screens: Mapping[int, Screen]

    def by_place(self) -> dict[Place, tuple[int, Entry]]:
        return {place_of(entry): (sequence, entry) for sequence, entry in self.entries}


def read_log(log: Log) -> FinalLog:
    """All of a log."""
    entries = tuple(log.read())
    rows = {entry.screen for _, entry in entries if entry.screen is not None}
    return FinalLog(entries, {row: log.screen(row) for row in rows})


def place_of(what: Message | Entry) -> Place:
    return what.episode, 0 if isinstance(what, Begin | BeginFailed) else what.step


def named(what: Message | Entry) -> str:
    episode, step = place_of(what)
    return f"step {step} of {episode}"


def is_lost(entry: Entry) -> bool:
    """Whether this is no worker's word, but an owner's: that a worker was lost."""
    return isinstance(entry, Transition) and entry.outcome is Outcome.LOST


def says(entry: Entry, message: Message) -> bool:
    """Whether an entry is made of this message; of what it adds to that, the replay decides."""
    chosen = None if not isinstance(message, Report) or message.choice is None else message.choice.signature
    return (
        _BECOMES[type(message)] is type(entry)
        and all(getattr(message, name, None) == getattr(entry, name, None) for name in _KEPT)
        and getattr(entry, "signature", None) == chosen
    )


def senders_of(history: History) -> dict[Place, list[Call]]:
    """Who sent each step, in order of time."""
    senders: dict[Place, list[Call]] = defaultdict(list)
    for call in history.calls:
        senders[place_of(call.message)].append(call)
    return dict(senders)


def replay(history: History, log: FinalLog, settings: Settings) -> Iterator[str]:
    """What the model says otherwise. It ends at an entry that was made of no message."""
    model, senders, in_flight = Model(settings), senders_of(history), _InFlight(history)
    told: dict[int, list[Call]] = defaultdict(list)
    for call in history.calls:
        if call.answer is not None:
            told[call.answer.receipt.snapshot].append(call)
    for sequence, entry in log.entries:
        if is_lost(entry):
            model.take(None)
        else:
            sent = next(
                (each for each in senders.get(place_of(entry), ()) if says(entry, each.message)), None
            )
            if sent is None:
                yield f"entry {sequence}, {named(entry)}, was sent by no worker: {entry}"
                return
            if not _row_is_known(sent.message, model):
                yield f"entry {sequence}, {named(entry)}, names a screen that nobody had sent"
                return
            expected = model.take(sent.message)
            if not _same(entry, expected):
                yield f"entry {sequence} is {entry}, but its row, decision and reward should be {expected}"
        for call in told[model.sequence]:
            yield from _misled(call, model, in_flight)


def _row_is_known(message: Message, model: Model) -> bool:
    sighting = None if isinstance(message, BeginFailed) else message.sighting
    return sighting is None or sighting.row is None or 0 < sighting.row <= len(model.rows)


def _same(entry: Entry, expected: Added) -> bool:
    """Whether an entry says this, but for the scores of its decision and the last bits of its reward."""
    row, landed, ours = expected
    theirs = entry.reward if isinstance(entry, Transition) else None
    if ours is not None and theirs is not None:
        if not (_close(ours.ambiguity, theirs.ambiguity) and _close(ours.total, theirs.total)):
            return False
        theirs = replace(theirs, ambiguity=ours.ambiguity, total=ours.total)
    told = None if entry.decision is None else Decision(entry.decision.state, entry.decision.how)
    return (entry.screen, told, theirs) == (row, landed, ours)


def _misled(call: Call, model: Model, in_flight: _InFlight) -> Iterator[str]:
    """Where a receipt says otherwise than the entries that it describes."""
    if call.answer is None or call.answer.receipt.here is None:
        return
    here = call.answer.receipt.here
    ambiguity, tried = model.ambiguity(here.state), model.tried(here.state)
    what = f"{named(call.message)} was told that state {here.state} after entry {model.sequence} has"
    if not _close(here.ambiguity, ambiguity):
        yield f"{what} u = {here.ambiguity}, but it is {ambiguity}"
    for signature in sorted({*here.tried, *tried}):
        is_ = tried.get(signature, Tried(0, 0.0))
        said = here.tried.get(signature, Tried(0, 0.0))
        extra = said.visits - is_.visits
        most = in_flight.most(call, call.answer, here.state, signature) if extra else 0
        if not _close(said.value, is_.value) or not 0 <= extra <= most:
            yield f"{what} {said} for {signature}, but it is {is_}"


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)


class _InFlight:
    """Choices that were announced and not yet reported: a store may count them as visits."""

    def __init__(self, history: History) -> None:
        self._windows: dict[tuple[StateId, str], list[tuple[int, int, float]]] = defaultdict(list)
        answered: dict[int, list[tuple[int, Answered]]] = defaultdict(list)
        for call in history.calls:
            if call.answer is not None:
                answered[call.message.episode.worker].append((call.invoked, call.answer))
        for each in history.announced:
            worker = each.message.episode.worker
            answers = answered[worker]
            after = bisect_left(answers, each.invoked, key=lambda answer: answer[0])
            here = answers[after - 1][1].receipt.here if after else None
            until = answers[after][1].at if after < len(answers) else math.inf
            if here is not None:
                window = (worker, each.invoked, until)
                self._windows[here.state, each.message.signature].append(window)

    def most(self, call: Call, answer: Answered, state: StateId, signature: str) -> int:
        """How many other workers' announcements may have been under way while this call was."""
        return sum(
            worker != call.message.episode.worker and since < answer.at and until > call.invoked
            for worker, since, until in self._windows.get((state, signature), ())
        )
