"""What a message becomes in the log: its screen gets a row and a state, its step a reward."""

from __future__ import annotations

from dataclasses import replace

from screensearch.config import Settings
from screensearch.domain.transition import (
    ELSEWHERE,
    Arrival,
    Decision,
    Entry,
    FailedStart,
    Outcome,
    Reward,
    Transition,
)
from screensearch.explore.messages import (
    DECIDED,
    Begin,
    BeginFailed,
    Land,
    Message,
    Report,
    Sighting,
    step_of,
)
from screensearch.identify.resolve import Prepared, Resolver
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log
from screensearch.select.reward import reward_on

_BECOMES: dict[type[Message], type[Entry]] = {
    Begin: Arrival,
    BeginFailed: FailedStart,
    Land: Arrival,
    Report: Transition,
}


def made_of(entry: Entry, message: Message) -> bool:
    """Whether an entry is what this message became: what it keeps of one, it keeps word for word."""
    kept = ("source", "choice", "outcome", "evidence", "configuration", "note")
    return isinstance(entry, _BECOMES[type(message)]) and all(
        getattr(entry, name, None) == getattr(message, name, None) for name in kept
    )


class Entries:
    """Makes the entries of one shard, whose states are numbered from `first` on.

    The resolver counts them from 0. It must be new: it is shown all the screens that the log has decided.
    """

    def __init__(
        self, log: Log, graph: StateGraph, resolver: Resolver, settings: Settings, *, first: int
    ) -> None:
        self._log = log
        self._graph = graph
        self._resolver = resolver
        self._reward = settings.reward
        self._first = first
        self._decided: dict[int, Decision] = {}  # row of a screen: how it was decided when first seen
        for (_, state, founder), screen in log.known_screens():
            resolver.restore(screen, state - first, founder=founder)

    def has_row(self, row: int | None) -> bool:
        """Whether there is a screen of that row."""
        return row is not None and (row in self._decided or self._log.has_screen(row))

    def prepare(self, message: Message) -> Prepared | None:
        """Search for a message's screen if its state will be asked for. Uses no log, and decides nothing."""
        if isinstance(message, BeginFailed) or message.sighting is None or message.sighting.screen is None:
            return None
        if isinstance(message, Report) and message.outcome not in DECIDED:
            return None
        return self._resolver.prepare(message.sighting.screen)

    def make(self, message: Message, prepared: Prepared | None) -> Entry:
        """The entry of a message that was checked. Its screen may be added to the log, and found a state."""
        if isinstance(message, Report):
            return self._transition(message, prepared)
        if isinstance(message, Begin | Land):
            return self._arrival(message, prepared)
        return FailedStart(
            message.episode, message.outcome, message.evidence, message.configuration, message.note
        )

    def _arrival(self, message: Begin | Land, prepared: Prepared | None) -> Arrival:
        row = self._row(message.sighting)
        return Arrival(
            episode=message.episode,
            decision=self._decide(row, message.sighting, prepared),
            screen=row,
            evidence=message.evidence,
            configuration=message.configuration,
            step=step_of(message),
        )

    def _transition(self, report: Report, prepared: Prepared | None) -> Transition:
        row: int | None = None
        decision: Decision | None = None
        earned: Reward | None = None
        if report.landed is not None:
            decision = Decision(report.landed, ELSEWHERE)
        elif report.sighting is not None:
            row = self._row(report.sighting)
            if report.outcome in DECIDED:
                decision = self._decide(row, report.sighting, prepared)
        if report.outcome is Outcome.OK:
            assert decision is not None  # checked
            assert report.choice is not None  # likewise
            earned = reward_on(
                self._graph,
                report.source,
                report.choice.signature,
                decision.state,
                snapshot=report.choice.snapshot,
                settings=self._reward,
            )
        return Transition(
            episode=report.episode,
            step=report.step,
            source=report.source,
            signature=None if report.choice is None else report.choice.signature,
            outcome=report.outcome,
            decision=decision,
            screen=row,
            choice=report.choice,
            reward=earned,
            evidence=report.evidence,
            note=report.note,
        )

    def _row(self, sighting: Sighting) -> int:
        if sighting.screen is not None:
            return self._log.add_screen(sighting.screen, sighting.elements)
        assert sighting.row is not None  # checked
        return sighting.row

    def _decide(self, row: int, sighting: Sighting, prepared: Prepared | None) -> Decision:
        """The state of a screen. Most screens were decided before: their row answers."""
        decision = self._decided.get(row)
        if decision is None:
            screen = sighting.screen if sighting.screen is not None else self._log.screen(row)
            decision = self._ours(self._resolver.resolve(screen, prepared))
            self._decided[row] = self._ours(self._resolver.resolve(screen))  # its memo's word from now on
        return decision

    def _ours(self, decision: Decision) -> Decision:
        """A decision of the resolver with the numbers that states have in this shard."""
        if not self._first:
            return decision
        second = decision.runner_up
        return replace(
            decision,
            state=self._first + decision.state,
            runner_up=None if second is None else replace(second, state=self._first + second.state),
        )
