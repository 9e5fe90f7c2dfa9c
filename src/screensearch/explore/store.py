"""The single writer of a run: resolve, append, fold, answer.

A plain object in one process. It takes all the messages that have come in, makes them durable with one
commit, and only then answers: every answer of a batch describes the same committed graph. A message
repeated is answered again and counted once. `handle` does all of it at once; `prepare`, `take`, `commit`
and `answer` are its parts, for an owner that has other things to do while a commit is under way.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from screensearch.config import Settings
from screensearch.domain.screen import StateId
from screensearch.domain.shard import first_of
from screensearch.domain.text import storable
from screensearch.domain.transition import (
    ELSEWHERE,
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
    Land,
    Receipt,
    Report,
    Sighting,
    Tried,
)
from screensearch.explore.observer import Observer
from screensearch.explore.spent import spent_at
from screensearch.identify.resolve import IDENTIFIERS, Prepared, Resolver
from screensearch.record.columns import digest_of
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log, failed_start
from screensearch.select.reward import reward_on

logger = logging.getLogger(__name__)

Message = Begin | BeginFailed | Land | Report

EXECUTED = tuple(outcome for outcome in Outcome if outcome is not Outcome.LOST)
"""Outcomes that count as steps: an action was carried out, or its target was found missing."""

DECIDED = (Outcome.OK, Outcome.MISSED)
"""Outcomes after which the application is still there, so that its screen is a state."""


class Submission(NamedTuple):
    """A message, and what was done for it ahead of its turn."""

    message: Message
    prepared: Prepared | None = None


class Batch(NamedTuple):
    """Messages that were taken: what each became, or why it was refused."""

    messages: list[Message]
    taken: list[Entry | FormatError]


_BECOMES: dict[type[Message], type[Entry]] = {
    Begin: Arrival,
    BeginFailed: FailedStart,
    Land: Arrival,
    Report: Transition,
}


class Place(NamedTuple):
    """Where a worker stands: a worker runs one episode at a time."""

    episode: EpisodeId
    step: int
    state: StateId


class ShardStore:
    """One shard: its log, its identifier and its graph, kept in step with each other."""

    def __init__(self, log: Log, settings: Settings, budget: Budget | None = None, *, shard: int = 0) -> None:
        self.log = log
        self._first = first_of(shard)  # of its states: the resolver counts them from 0
        self.settings = settings
        self.budget = budget or Budget()
        self._places: dict[int, Place] = {}  # by worker
        self._latest: dict[int, int] = {}  # by worker: its latest episode, once it was asked for
        self._under_way: dict[int, tuple[StateId, str]] = {}  # by worker: announced choices
        self._decided: dict[int, Decision] = {}  # row of a screen: how it was decided when first seen
        self._failed: str | None = None
        self.resolver = make_resolver(settings)
        self.graph = restore_graph(log, settings)
        for (_, state, founder), screen in log.known_screens():
            self.resolver.restore(screen, state - self._first, founder=founder)
        executed = sum(self.graph.outcomes.get(outcome, 0) for outcome in EXECUTED)
        self.budget.start_from(executed, self.graph.states)
        self.landings = 0  # screens identified since this store was opened, and the sum of their u(s)
        self.landings_ambiguity = 0.0
        self.worker_failures = 0  # since this store was opened
        self.observer = Observer()
        self._checkpointed = self.graph.sequence

    # -- the one entrance ---------------------------------------------------------------------

    def handle(self, messages: Sequence[Message]) -> list[Receipt | FormatError]:
        """Record a batch durably and answer each message in order; a bad one is refused alone."""
        batch = self.take([Submission(message) for message in messages])
        self.commit()
        return self.answer(batch)

    def prepare(self, message: Message) -> Submission:
        """Search for a message's screen ahead of its turn. Leaves the log alone, and decides nothing."""
        if isinstance(message, BeginFailed) or message.sighting is None or message.sighting.screen is None:
            return Submission(message)
        if isinstance(message, Report) and message.outcome not in DECIDED:
            return Submission(message)
        return Submission(message, self.resolver.prepare(message.sighting.screen))

    def take(self, submissions: Sequence[Submission]) -> Batch:
        """Decide, append and fold; a bad message is refused alone. It is durable once `commit` returns."""
        messages = [message for message, _ in submissions]
        taken: list[Entry | FormatError] = []
        with self._unbroken():
            for message, prepared in submissions:
                try:
                    self._check(message)
                except StoreFailed:  # also one that found damage, which is a matter of format as well
                    raise
                except FormatError as problem:
                    taken.append(problem)
                else:
                    taken.append(self._take(message, prepared))
        return Batch(messages, taken)

    def commit(self) -> None:
        """Make what was taken durable. Another thread may do this, if nobody uses the log meanwhile."""
        with self._unbroken():
            self._commit()

    def answer(self, batch: Batch) -> list[Receipt | FormatError]:
        """The answers to a batch that is durable, in order, before another one is taken."""
        return [
            entry if isinstance(entry, FormatError) else self._receipt(message, entry)
            for message, entry in zip(batch.messages, batch.taken, strict=True)
        ]

    def announce(self, announcement: Announce) -> None:
        """A worker has chosen: until it reports, others may count that as a visit (never logged)."""
        worker = announcement.episode.worker
        place = self._places.get(worker)
        if place is not None and place.episode == announcement.episode:
            self._under_way[worker] = (place.state, announcement.signature)

    def lose(self, worker: int, why: str) -> None:
        """A worker died. If it was in the middle of an episode, log that as what it is."""
        self.note_failure(worker, why)
        self.abandon(worker, why)

    def note_failure(self, worker: int, why: str) -> None:
        """A worker failed: count it and say so, whether or not a step is lost by it."""
        self.worker_failures += 1
        self.observer.worker_failed(worker)
        logger.info("worker %d failed: %s", worker, why, extra={"worker": worker})

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

    def dismiss(self, worker: int) -> None:
        """A worker has ended, and owes nothing: what it was granted is free, where it stood forgotten."""
        self.budget.release(worker)
        self._under_way.pop(worker, None)
        self._places.pop(worker, None)

    def recall(self, worker: int) -> None:
        """Take the place of a worker from the log: it is at work, and this store has not heard of it yet.

        It has a step under way, which is lost if the worker is.
        """
        found = self.log.latest_entry(worker)
        if found is None or found.step >= self.settings.explore.episode_steps:
            return
        if found.decision is not None and found.decision.how != ELSEWHERE:
            self.budget.grant(worker)
            self._places[worker] = Place(found.episode, found.step, found.decision.state)

    def checkpoint_if_due(self) -> None:
        """Checkpoint now and then: ever more rarely, since each costs as much as the graph is large."""
        due = max(self.settings.explore.checkpoint_every, self._checkpointed // 4)
        if self.graph.sequence - self._checkpointed >= due:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Write the graph beside the log, so that opening the run folds only what came after."""
        if self._failed is None and self.graph.sequence > self._checkpointed:
            begun = time.perf_counter()
            with self._batch():
                dump = self.graph.dump()
                self.log.write_checkpoint(self.graph.sequence, digest_of([dump]), dump)
            self._checkpointed = self.graph.sequence
            self.observer.checkpointed(time.perf_counter() - begun)

    def next_episode(self, worker: int) -> int:
        """The first episode number that this worker has not used in this run."""
        return self.log.last_episode(worker) + 1

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """All or nothing: what the body appends is durable when it is left."""
        with self._unbroken():
            yield
            self._commit()

    def _commit(self) -> None:
        begun = time.perf_counter()
        self.log.commit()
        self.observer.committed(self.graph.sequence, time.perf_counter() - begun)

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        """Whatever the body fails at is the end of this store."""
        if self._failed is not None:
            raise StoreFailed(self._failed)
        try:
            yield
        except BaseException as problem:
            # The graph may be ahead of the log now: nothing may be answered from it any more.
            self._failed = f"the log could not be written: {problem}"
            raise

    # -- one message --------------------------------------------------------------------------

    def _check(self, message: Message) -> None:
        """Refuse what no worker of ours would say, before anything has changed."""
        self._refuse_life_that_is_over(message)
        if isinstance(message, BeginFailed):
            failed_start(message.outcome)
            return
        sighting = message.sighting
        if sighting is not None and sighting.screen is None:
            row = sighting.row
            if row is None or not (row in self._decided or self.log.has_screen(row)):
                raise FormatError(f"{message.episode} names row {row} of the screen table: there is none")
        if isinstance(message, Begin | Land):
            return
        what = f"step {message.step} of {message.episode}"
        if message.outcome is Outcome.LOST:
            raise FormatError(f"{what} says lost: that is for the owner of a run to say")
        if message.outcome in DECIDED and sighting is None and message.landed is None:
            raise FormatError(f"{what} is {message.outcome} but shows no screen")
        choice = message.choice
        if not all(map(math.isfinite, (choice.prior, choice.value, choice.score))):
            raise FormatError(f"{what} was chosen by figures that are not finite: {choice}")
        stands = self._state_before(message)
        if stands is None:
            raise FormatError(f"{what} comes before the step that it follows")
        if message.source != stands:
            raise FormatError(f"{what} starts at state {message.source}, but its episode is at {stands}")

    def _refuse_life_that_is_over(self, message: Message) -> None:
        """Refuse a worker that was given up but lives: its next life has its number, and its episodes.

        A step that is in the log is only answered to who sent it; one that is not, only in its worker's
        latest episode.
        """
        step = message.step if isinstance(message, Report | Land) else 0
        what = f"step {step} of {message.episode}"
        earlier = self._repeated(message)
        if earlier is not None and not made_of(earlier, message):
            raise FormatError(
                f"{what} is in the log otherwise than it is sent now: this worker was given up, or is "
                "at work twice; end this one"
            )
        worker, number = message.episode.worker, message.episode.number
        latest = self._latest.get(worker)
        if latest is None:
            latest = self._latest[worker] = self.log.last_episode(worker)
        if earlier is None and number < latest:
            raise FormatError(
                f"{what} comes after episode {latest} of the same worker: this one was given up; end it"
            )

    def _state_before(self, report: Report) -> StateId | None:
        """The state that the step before this one ended in. The log knows where the places do not."""
        place = self._place(report)
        if place is not None and report.step == place.step + 1:
            return place.state
        earlier = self.log.find(report.episode, report.step - 1)
        return None if earlier is None or earlier[1].decision is None else earlier[1].decision.state

    def _take(self, message: Message, prepared: Prepared | None) -> Entry:
        earlier = self._repeated(message)
        if earlier is not None:
            return earlier
        entry = self._entry(message, prepared)
        self._append(entry)
        worker = entry.episode.worker
        self._latest[worker] = entry.episode.number
        self._under_way.pop(worker, None)
        if isinstance(entry, Transition):
            self.budget.take(worker)
        if entry.decision is None or entry.decision.how == ELSEWHERE:
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
        step = message.step if isinstance(message, Report | Land) else 0
        place = self._place(message)
        if place is not None and step == place.step + 1:
            return None  # the step that was due: no need to ask the log
        found = self.log.find(message.episode, step)
        return None if found is None else found[1]

    def _append(self, entry: Entry) -> None:
        sequence = self.log.append(entry)
        self.graph.apply_entry(sequence, entry)
        self.observer.appended(sequence, entry, self.graph)

    def _entry(self, message: Message, prepared: Prepared | None) -> Entry:
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
            step=message.step if isinstance(message, Land) else 0,
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

    def _decide(self, row: int, sighting: Sighting, prepared: Prepared | None) -> Decision:
        """The state of a screen. Most screens were decided before: their row answers."""
        decision = self._decided.get(row)
        if decision is None:
            screen = sighting.screen if sighting.screen is not None else self.log.screen(row)
            decision = self._ours(self.resolver.resolve(screen, prepared))
            self._decided[row] = self._ours(self.resolver.resolve(screen))  # what its memo says from now on
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

    # -- the answer ---------------------------------------------------------------------------

    def _receipt(self, message: Message, entry: Entry) -> Receipt:
        here: Here | None = None
        if entry.decision is not None and entry.decision.how == ELSEWHERE:  # the next step is granted there
            return Receipt(self.graph.sequence, proceed=True, here=None, begun=True)
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


def made_of(entry: Entry, message: Message) -> bool:
    """Whether an entry is what this message became: what it keeps of one, it keeps word for word."""
    kept = ("source", "choice", "outcome", "evidence", "configuration", "note")
    return isinstance(entry, _BECOMES[type(message)]) and all(
        getattr(entry, name, None) == getattr(message, name, None) for name in kept
    )


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
