"""The single writer of a run: resolve, append, fold, answer.

A plain object in one process. `handle` takes all the messages that have come in, makes them
durable with one commit, and only then answers: every answer of a batch describes the same
committed graph. A message repeated is answered again and counted once.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from screensearch.config import Settings
from screensearch.domain.screen import StateId
from screensearch.domain.text import storable
from screensearch.domain.transition import (
    Arrival,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    FailedStart,
    Outcome,
    Reward,
    Transition,
)
from screensearch.encode.embed import make_embedder
from screensearch.errors import FormatError, StoreFailed
from screensearch.explore.budget import Budget
from screensearch.explore.messages import (
    Announce,
    Begin,
    BeginFailed,
    Here,
    Receipt,
    Report,
    Sighting,
    Tried,
)
from screensearch.explore.spent import spent_at
from screensearch.identify.resolve import IDENTIFIERS, Resolver
from screensearch.record.columns import digest_of
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log, failed_start
from screensearch.select.reward import reward_on

Message = Begin | BeginFailed | Report

EXECUTED = tuple(outcome for outcome in Outcome if outcome is not Outcome.LOST)
"""Outcomes that count as steps: an action was carried out, or its target was found missing."""


class Place(NamedTuple):
    """Where a worker stands: a worker runs one episode at a time."""

    episode: EpisodeId
    step: int
    state: StateId


class ShardStore:
    """One shard: its log, its identifier and its graph, kept in step with each other."""

    def __init__(self, log: Log, settings: Settings, budget: Budget | None = None) -> None:
        self.log = log
        self.settings = settings
        self.budget = budget or Budget()
        self._places: dict[int, Place] = {}  # by worker
        self._under_way: dict[int, tuple[StateId, str]] = {}  # by worker: announced choices
        self._decided: dict[int, Decision] = {}  # row of a screen: how it was decided when first seen
        self._failed: str | None = None
        self.resolver = make_resolver(settings)
        self.graph = restore_graph(log, settings)
        for (_, state, founder), screen in log.known_screens():
            self.resolver.restore(screen, state, founder=founder)
        executed = sum(self.graph.outcomes.get(outcome, 0) for outcome in EXECUTED)
        self.budget.start_from(executed, self.graph.states)
        self.landings = 0  # screens identified since this store was opened, and the sum of their u(s)
        self.landings_ambiguity = 0.0
        self.worker_failures = 0  # since this store was opened
        self._checkpointed = self.graph.sequence

    # -- the one entrance ---------------------------------------------------------------------

    def handle(self, messages: Sequence[Message]) -> list[Receipt | FormatError]:
        """Record a batch durably and answer each message in order; a bad one is refused alone."""
        taken: list[Entry | FormatError] = []
        with self._batch():
            for message in messages:
                try:
                    self._check(message)
                except StoreFailed:  # also one that found damage, which is a matter of format as well
                    raise
                except FormatError as problem:
                    taken.append(problem)
                else:
                    taken.append(self._take(message))
        return [
            entry if isinstance(entry, FormatError) else self._receipt(message, entry)
            for message, entry in zip(messages, taken, strict=True)
        ]

    def announce(self, announcement: Announce) -> None:
        """A worker has chosen: until it reports, others may count that as a visit (never logged)."""
        worker = announcement.episode.worker
        place = self._places.get(worker)
        if place is not None and place.episode == announcement.episode:
            self._under_way[worker] = (place.state, announcement.signature)

    def lose(self, worker: int, why: str) -> None:
        """A worker died. If it was in the middle of an episode, log that as what it is."""
        self.worker_failures += 1
        self.abandon(worker, why)

    def abandon(self, worker: int, why: str) -> None:
        """A worker is gone, by no failure of its own. If it was in an episode, its step is lost."""
        self.budget.release(worker)
        self._under_way.pop(worker, None)
        place = self._places.pop(worker, None)
        if place is None:
            return
        lost = Transition(
            episode=place.episode,
            step=place.step + 1,
            source=place.state,
            signature=None,
            outcome=Outcome.LOST,
            decision=None,
            screen=None,
            choice=None,
            reward=None,
            evidence=Evidence(),
            note=storable(why),
        )
        with self._batch():
            self._append(lost)

    def checkpoint_if_due(self) -> None:
        """Checkpoint now and then: ever more rarely, since each costs as much as the graph is large."""
        due = max(self.settings.explore.checkpoint_every, self._checkpointed // 4)
        if self.graph.sequence - self._checkpointed >= due:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Write the graph beside the log, so that opening the run folds only what came after."""
        if self._failed is None and self.graph.sequence > self._checkpointed:
            with self._batch():
                dump = self.graph.dump()
                self.log.write_checkpoint(self.graph.sequence, digest_of([dump]), dump)
            self._checkpointed = self.graph.sequence

    def next_episode(self, worker: int) -> int:
        """The first episode number that this worker has not used in this run."""
        return self.log.last_episode(worker) + 1

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """All or nothing: what the body appends is durable when it is left."""
        if self._failed is not None:
            raise StoreFailed(self._failed)
        try:
            yield
            self.log.commit()
        except BaseException as problem:
            # The graph may be ahead of the log now: nothing may be answered from it any more.
            self._failed = f"the log could not be written: {problem}"
            raise

    # -- one message --------------------------------------------------------------------------

    def _check(self, message: Message) -> None:
        """Refuse what no worker of ours would say, before anything has changed."""
        if isinstance(message, BeginFailed):
            failed_start(message.outcome)
            return
        sighting = message.sighting
        if sighting is not None and sighting.screen is None:
            row = sighting.row
            if row is None or not (row in self._decided or self.log.has_screen(row)):
                raise FormatError(f"{message.episode} names row {row} of the screen table: there is none")
        if isinstance(message, Begin):
            return
        what = f"step {message.step} of {message.episode}"
        if message.outcome is Outcome.LOST:
            raise FormatError(f"{what} says lost: that is for the owner of a run to say")
        if message.outcome in (Outcome.OK, Outcome.MISSED) and sighting is None:
            raise FormatError(f"{what} is {message.outcome} but shows no screen")
        choice = message.choice
        if not all(map(math.isfinite, (choice.prior, choice.value, choice.score))):
            raise FormatError(f"{what} was chosen by figures that are not finite: {choice}")
        stands = self._state_before(message)
        if stands is None:
            raise FormatError(f"{what} comes before the step that it follows")
        if message.source != stands:
            raise FormatError(f"{what} starts at state {message.source}, but its episode is at {stands}")

    def _state_before(self, report: Report) -> StateId | None:
        """The state that the step before this one ended in. The log knows where the places do not."""
        place = self._place(report)
        if place is not None and report.step == place.step + 1:
            return place.state
        earlier = self.log.find(report.episode, report.step - 1)
        return None if earlier is None or earlier[1].decision is None else earlier[1].decision.state

    def _take(self, message: Message) -> Entry:
        earlier = self._repeated(message)
        if earlier is not None:
            return earlier
        entry = self._entry(message)
        self._append(entry)
        worker = entry.episode.worker
        self._under_way.pop(worker, None)
        if isinstance(entry, Transition):
            self.budget.take(worker)
        if entry.decision is None:
            self._places.pop(worker, None)
            return entry
        self._places[worker] = Place(entry.episode, entry.step, entry.decision.state)
        if entry.decision.founded:
            self.budget.discover()
        return entry

    def _place(self, message: Message) -> Place | None:
        """Where the episode of this message stands, if it is the one its worker is in."""
        place = self._places.get(message.episode.worker)
        return place if place is not None and place.episode == message.episode else None

    def _repeated(self, message: Message) -> Entry | None:
        """The entry that this message already became, if it was sent before."""
        step = message.step if isinstance(message, Report) else 0
        place = self._place(message)
        if place is not None and step == place.step + 1:
            return None  # the step that was due: no need to ask the log
        found = self.log.find(message.episode, step)
        return None if found is None else found[1]

    def _append(self, entry: Entry) -> None:
        self.graph.apply_entry(self.log.append(entry), entry)

    def _entry(self, message: Message) -> Entry:
        if isinstance(message, Report):
            return self._transition(message)
        if isinstance(message, Begin):
            return self._arrival(message)
        return FailedStart(
            message.episode, message.outcome, message.evidence, message.configuration, message.note
        )

    def _arrival(self, begin: Begin) -> Arrival:
        row = self._row(begin.sighting)
        return Arrival(
            episode=begin.episode,
            decision=self._decide(row, begin.sighting),
            screen=row,
            evidence=begin.evidence,
            configuration=begin.configuration,
        )

    def _transition(self, report: Report) -> Transition:
        row: int | None = None
        decision: Decision | None = None
        earned: Reward | None = None
        if report.sighting is not None:
            row = self._row(report.sighting)
            if report.outcome in (Outcome.OK, Outcome.MISSED):
                decision = self._decide(row, report.sighting)
        if report.outcome is Outcome.OK:
            assert decision is not None  # checked
            earned = reward_on(
                self.graph,
                report.source,
                report.choice.signature,
                decision.state,
                snapshot=report.choice.snapshot,
                settings=self.settings.reward,
            )
        return Transition(
            episode=report.episode,
            step=report.step,
            source=report.source,
            signature=report.choice.signature,
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
            return self.log.add_screen(sighting.screen, sighting.elements)
        assert sighting.row is not None  # checked
        return sighting.row

    def _decide(self, row: int, sighting: Sighting) -> Decision:
        """The state of a screen. Most screens were decided before: their row answers."""
        decision = self._decided.get(row)
        if decision is None:
            screen = sighting.screen if sighting.screen is not None else self.log.screen(row)
            decision = self.resolver.resolve(screen)
            self._decided[row] = self.resolver.resolve(screen)  # what its memo says from now on
        return decision

    # -- the answer ---------------------------------------------------------------------------

    def _receipt(self, message: Message, entry: Entry) -> Receipt:
        here: Here | None = None
        if entry.decision is not None:
            assert entry.screen is not None  # a decision is about a screen
            state = entry.decision.state
            self.landings += 1
            self.landings_ambiguity += self.graph.ambiguity(state)
            here = Here(
                state=state,
                row=entry.screen,
                ambiguity=self.graph.ambiguity(state),
                tried=self._tried(state),
                spent=spent_at(self.graph.failures(state), self.settings.explore),
            )
        proceed = self.budget.grant(message.episode.worker)
        return Receipt(self.graph.sequence, proceed, here, begun=self.budget.taken > 0)

    def _tried(self, state: StateId) -> dict[str, Tried]:
        """N and Q as the next choice should see them: every execution counts, and a failure earns nothing.

        The graph's own N and Q hold only what ended `ok`. With those alone, an action that always
        crashes or leaves the application would look untried for ever, and be chosen for ever.
        """
        tried = {
            signature: Tried(stats.visits, stats.value)
            for signature, stats in self.graph.tried(state).items()
        }
        for signature, outcomes in self.graph.failures(state).items():
            failures = sum(count for outcome, count in outcomes.items() if outcome != Outcome.LOST)
            known = tried.get(signature, Tried(0, 0.0))
            visits = known.visits + failures
            if visits:
                tried[signature] = Tried(visits, known.value * known.visits / visits)
        for where, signature in self._under_way.values():
            if where == state:
                known = tried.get(signature, Tried(0, 0.0))
                tried[signature] = Tried(known.visits + 1, known.value)
        return tried


def make_resolver(settings: Settings) -> Resolver:
    """The identifier of these settings, with the embedder if it is one that needs vectors."""
    factory = IDENTIFIERS.get(settings.identify.identifier)
    needed = getattr(factory, "needs_embedder", False)
    return Resolver(settings.identify, make_embedder(settings.embed) if needed else None)


def restore_graph(log: Log, settings: Settings) -> StateGraph:
    """The graph of a log: its latest checkpoint, then the tail."""
    checkpoint = log.latest_checkpoint()
    start = None if checkpoint is None else StateGraph.load(checkpoint.graph)
    after = 0 if start is None else start.sequence
    return StateGraph.fold(log.rows(after), settings.ambiguity, start=start)


class LocalStore:
    """The store in the worker's own process: a batch is one message."""

    def __init__(self, shard: ShardStore) -> None:
        self._shard = shard

    async def begin(self, begin: Begin) -> Receipt:
        return await self._handle(begin)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return await self._handle(failed)

    async def record(self, report: Report) -> Receipt:
        return await self._handle(report)

    async def announce(self, announcement: Announce) -> None:
        self._shard.announce(announcement)

    async def _handle(self, message: Message) -> Receipt:
        (answer,) = self._shard.handle([message])
        self._shard.checkpoint_if_due()
        await asyncio.sleep(
            0
        )  # a world may never wait: let the clock, the interrupts and the view have a turn
        if isinstance(answer, FormatError):
            raise answer
        return answer
