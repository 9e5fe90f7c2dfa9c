"""The single writer of a run: resolve, append, fold, answer.

A plain object in one process. It takes all the messages that have come in, makes them durable with one
commit, and only then answers: every answer of a batch describes the same committed graph. A message
repeated is answered again and counted once. `handle` does all of it at once; `prepare`, `take`, `commit`
and `answer` are its parts, for an owner that has other things to do while a commit is under way.

What is refused is in `refusals`, what a message becomes in `entries`, where each worker stands in
`episodes`, and what it is told in `answers`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from screensearch.config import Settings
from screensearch.domain.shard import first_of
from screensearch.domain.text import storable
from screensearch.domain.transition import ELSEWHERE, Entry, Evidence, Outcome, Transition
from screensearch.encode.embed import make_embedder
from screensearch.errors import FormatError, StoreFailed
from screensearch.explore.answers import here_at
from screensearch.explore.budget import Budget
from screensearch.explore.entries import Entries
from screensearch.explore.episodes import Episodes
from screensearch.explore.messages import Announce, Here, Message, Receipt
from screensearch.explore.observer import Observer
from screensearch.explore.refusals import check_message
from screensearch.identify.resolve import IDENTIFIERS, Prepared, Resolver
from screensearch.record.columns import digest_of
from screensearch.record.log import Log
from screensearch.record.restore import restore_graph

logger = logging.getLogger(__name__)

EXECUTED = tuple(outcome for outcome in Outcome if outcome is not Outcome.LOST)
"""Outcomes that count as steps: an action was carried out, or its target was found missing."""


LONGEST_TAIL = 500_000
"""Entries after a checkpoint: an owner that takes over folds as many, which takes it some 3 s."""


class Submission(NamedTuple):
    """A message, and what was done for it ahead of its turn."""

    message: Message
    prepared: Prepared | None = None


class Batch(NamedTuple):
    """Messages that were taken: what each became, or why it was refused."""

    messages: list[Message]
    taken: list[Entry | FormatError]


class ShardStore:
    """One shard: its log, its identifier and its graph, kept in step with each other."""

    def __init__(self, log: Log, settings: Settings, budget: Budget | None = None, *, shard: int = 0) -> None:
        self.log = log
        self.settings = settings
        self.budget = budget or Budget()
        self.resolver = make_resolver(settings)
        self.graph = restore_graph(log, settings.ambiguity)
        self._entries = Entries(log, self.graph, self.resolver, settings, first=first_of(shard))
        self._episodes = Episodes(log)
        executed = sum(self.graph.outcomes.get(outcome, 0) for outcome in EXECUTED)
        self.budget.start_from(executed, self.graph.states)
        self.landings = 0  # screens identified since this store was opened, and the sum of their u(s)
        self.landings_ambiguity = 0.0
        self.worker_failures = 0  # since this store was opened
        self.observer = Observer()
        self.durable = self.graph.sequence  # the number of the last entry that is
        self._checkpointed = self.graph.sequence
        self._failed: str | None = None

    # -- messages -----------------------------------------------------------------------------

    def handle(self, messages: Sequence[Message]) -> list[Receipt | FormatError]:
        """Record a batch durably and answer each message in order; a bad one is refused alone."""
        batch = self.take([Submission(message) for message in messages])
        self.commit()
        return self.answer(batch)

    def prepare(self, message: Message) -> Submission:
        """Search for a message's screen ahead of its turn. Leaves the log alone, and decides nothing."""
        return Submission(message, self._entries.prepare(message))

    def take(self, submissions: Sequence[Submission]) -> Batch:
        """Decide, append and fold; a bad message is refused alone. It is durable once `commit` returns."""
        messages = [message for message, _ in submissions]
        taken: list[Entry | FormatError] = []
        with self._unbroken():
            for message, prepared in submissions:
                try:
                    earlier = self._episodes.earlier(message)
                    check_message(message, earlier, self._episodes, self._entries)
                except StoreFailed:  # also one that found damage, which is a matter of format as well
                    raise
                except FormatError as problem:
                    taken.append(problem)
                else:
                    taken.append(self._record(message, prepared) if earlier is None else earlier)
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

    def _record(self, message: Message, prepared: Prepared | None) -> Entry:
        entry = self._entries.make(message, prepared)
        self._append(entry)
        self._episodes.enter(entry)
        if isinstance(entry, Transition):
            self.budget.take(entry.episode.worker)
        if entry.decision is not None and entry.decision.founded:
            self.budget.discover()
        return entry

    def _append(self, entry: Entry) -> None:
        sequence = self.log.append(entry)
        self.graph.apply_entry(sequence, entry)
        self.observer.appended(sequence, entry, self.graph)

    def _receipt(self, message: Message, entry: Entry) -> Receipt:
        here: Here | None = None
        decision = entry.decision
        if decision is not None and decision.how == ELSEWHERE:  # the next step is granted there
            return Receipt(self.graph.sequence, proceed=True, here=None, begun=True)
        if decision is not None:
            assert entry.screen is not None  # a decision is about a screen
            here = here_at(
                self.graph,
                decision.state,
                entry.screen,
                announced=self._episodes.announced_at(decision.state),
                settings=self.settings.explore,
            )
            self.landings += 1
            self.landings_ambiguity += here.ambiguity
        proceed = self.budget.grant(message.episode.worker)
        return Receipt(self.graph.sequence, proceed, here, begun=self.budget.taken > 0)

    # -- workers ------------------------------------------------------------------------------

    def announce(self, announcement: Announce) -> None:
        """A worker has chosen: until it reports, others may count that as a visit (never logged)."""
        self._episodes.announce(announcement)

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
        place = self._episodes.leave(worker)
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
        self._episodes.leave(worker)

    def recall(self, worker: int) -> None:
        """Take the place of a worker from the log: it is at work, and this store has not heard of it yet.

        It has a step under way, which is lost if the worker is.
        """
        if self._episodes.recall(worker, longest=self.settings.explore.episode_steps):
            self.budget.grant(worker)

    def standing(self, worker: int) -> tuple[int, int] | None:
        """The episode and the step at which a worker stands here, if at any."""
        place = self._episodes.standing(worker)
        return None if place is None else (place.episode.number, place.step)

    def next_episode(self, worker: int) -> int:
        """The first episode number that this worker has not used in this run."""
        return self.log.last_episode(worker) + 1

    # -- durability ---------------------------------------------------------------------------

    def checkpoint_if_due(self) -> None:
        """Checkpoint now and then: ever more rarely, since each costs as much as the graph is large."""
        due = max(self.settings.explore.checkpoint_every, min(self._checkpointed // 4, LONGEST_TAIL))
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

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """All or nothing: what the body appends is durable when it is left."""
        with self._unbroken():
            yield
            self._commit()

    def _commit(self) -> None:
        begun = time.perf_counter()
        self.log.commit()
        self.durable = self.graph.sequence
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


def make_resolver(settings: Settings) -> Resolver:
    """The identifier of these settings, with the embedder if it is one that needs vectors."""
    factory = IDENTIFIERS.get(settings.identify.identifier)
    needed = getattr(factory, "needs_embedder", False)
    return Resolver(settings.identify, make_embedder(settings.embed) if needed else None)
