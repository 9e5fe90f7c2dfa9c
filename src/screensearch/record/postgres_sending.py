"""How the owner of a PostgreSQL log gets its batches to the server, through lost connections.

An owner gives the numbers itself, so it knows what the server must have: all that was acknowledged, and of
the last batch all or nothing. Whenever it has to connect again it ends the server's process for the old
connection, which could still commit, and looks, in a transaction that holds the lease, which of the two it
is. Anything else means that the server lost what was acknowledged, and then nothing more may be written.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from screensearch.errors import AcknowledgedLost, StoreFailed
from screensearch.record import postgres_lease
from screensearch.record.postgres_batch import NUMBERS, Batch
from screensearch.record.postgres_lease import Lease, forget_lease, release_lease, resume_lease
from screensearch.record.postgres_session import ConnectionLost, Session, StaleOwner, Statement

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
_RELEASE_SECONDS = 2.0


class Sender:
    """The open batch of an owner, and its way to the server."""

    def __init__(self, session: Session, lease: Lease) -> None:
        self.session = session
        self.lease = lease
        self.batch = Batch()
        self._kept = self._numbers()  # of each table the last number that is committed
        self._renewed = time.monotonic()
        self._unknown = False  # a commit was sent, and what became of it was not heard
        self._over: StoreFailed | None = None  # why nothing can be written any more
        self._closed = False
        self._asked: float | None = None  # when, while an answer is awaited

    @property
    def where(self) -> str:
        return f"log {self.lease.log} in {self.session.where}"

    @property
    def silent_seconds(self) -> float:
        """For how long the server, of which an answer is awaited, has said nothing. Any thread may ask.

        While it takes a whole graph in, it may be silent for longer, for as long as the connection is there.
        """
        asked = None if self.batch.others and not self.session.closed else self._asked
        return 0.0 if asked is None else time.monotonic() - max(asked, self.session.heard)

    def next_number(self, table: str) -> int:
        """The number of the next row of a table."""
        return self._kept[table] + len(self.batch.rows[table]) + 1

    def check(self) -> None:
        """Raise if nothing can be written."""
        if self._over is not None:
            raise self._over
        if self._closed:
            raise StoreFailed(f"{self.where} is closed")
        if self._unknown:
            raise ConnectionLost(
                f"whether the last batch for {self.where} was kept is not known: commit() asks again"
            )

    def rows(self, statement: str, *values: object, batch: bool) -> list[tuple[Any, ...]]:
        """Query, with the open batch in sight or without."""
        self.check()

        def ask() -> list[tuple[Any, ...]]:
            if batch and self.batch.unsent:
                begin: list[Statement] = [] if self.session.in_transaction else [("BEGIN", ())]
                self.session.run([*begin, *self.batch.statements(self.lease.held)])
                self.batch.note_sent()
            return self.session.rows(statement, *values)

        try:
            return self._persist(ask, self._resume_to_ask)
        except ConnectionLost:
            raise
        except StoreFailed as problem:
            # The server has dropped what it got in this transaction; what it has not got goes with it.
            if self.session.in_transaction or isinstance(problem, StaleOwner):
                self.rollback()
            raise

    def commit(self) -> Batch:
        """Make the batch durable, and begin another. Returns what was committed.

        After a `ConnectionLost` it is not known whether it was: then this may be called again.
        """
        if not self._unknown:
            self.check()
            if not self.batch and not self.session.in_transaction:
                return self.batch
        try:
            self._persist(self._send_all, self._resume_to_commit)
        except ConnectionLost:
            raise
        except StoreFailed:  # the server has said no
            self._unknown = False
            self.rollback()
            raise
        self._unknown = False
        self._kept = self._numbers_after()
        batch, self.batch = self.batch, Batch()
        return batch

    def _send_all(self) -> None:
        if self._unknown:  # it was sent before; connecting again has found out what became of it
            return
        begin: list[Statement] = [] if self.session.in_transaction else [("BEGIN", ())]
        renewal = [self._renewal()] if self._renewal_is_due() else []
        self._unknown = True
        self.session.commit([*begin, *self.batch.statements(self.lease.held), *renewal])
        self._unknown = False

    def rollback(self) -> None:
        """Drop the batch."""
        if self._unknown:
            self._over = StoreFailed(
                f"whether the last batch for {self.where} was kept is not known, and it was given up: open "
                "the log again to see"
            )
            return
        self.batch = Batch()
        try:
            if self.session.in_transaction:
                self.session.run([("ROLLBACK", ())])
        except StoreFailed:
            self.session.close()  # the server drops it then

    def close(self) -> None:
        """Drop the batch and leave the log to others."""
        self._closed = True
        forget_lease(self.lease)
        if not self.session.closed:
            with suppress(StoreFailed), self.session.haste(_RELEASE_SECONDS):
                self.rollback()
                release_lease(self.session, self.lease)
        self.batch = Batch()
        self.session.close()

    # -- lost connections ---------------------------------------------------------------------

    def _persist(self, action: Callable[[], Answer], resume: Callable[[], None]) -> Answer:
        """Do something, after each loss of the connection again, until too much time has passed."""
        self._asked = time.monotonic()
        try:
            return self._insist(action, resume)
        finally:
            self._asked = None

    def _insist(self, action: Callable[[], Answer], resume: Callable[[], None]) -> Answer:
        deadline: float | None = None
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                if self.session.closed:
                    self.session.connect_again()
                    resume_lease(self.session, self.lease)
                    self.batch.forget_sent()
                    resume()
                return action()
            except ConnectionLost as problem:
                self.session.close()
                now = time.monotonic()
                if deadline is None:
                    logger.warning("%s; connecting again", problem)
                    deadline = now + postgres_lease.RECONNECT_SECONDS
                if self.session.unwanted or now + pause > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _resume_to_ask(self) -> None:
        self._hold_lease()
        self._was_kept()
        self.session.commit([self._renewal()])

    def _resume_to_commit(self) -> None:
        """Find out whether the batch was kept, and if not, send it again: in one hold of the lease.

        This commits something in both cases: when it is as durable as the server makes things, so is the
        batch, though its own commit was cut short.
        """
        self._hold_lease()
        kept = self._was_kept()
        self._unknown = True
        self.session.commit(
            [*([] if kept else self.batch.statements(self.lease.held)), self._renewal()],
        )

    def _hold_lease(self) -> None:
        self.session.run([("BEGIN", ()), ("SELECT fence(%s, %s, %s)", self.lease.held)])

    def _was_kept(self) -> bool:
        """Whether the server has the batch. What has no number is harmless to send twice."""
        found, after = self._numbers(), self._numbers_after()
        if found == self._kept:
            return False
        if found == after and self._unknown and self._is_ours():
            return True
        self._over = AcknowledgedLost(self._what_is_lost(found))
        self.session.run([("ROLLBACK", ())])
        self.batch, self._unknown = Batch(), False
        raise self._over

    def _is_ours(self) -> bool:
        """Whether the last entry of the batch is the one that has its number."""
        if not self.batch.rows["entries"]:
            return True
        sequence, *place = self.batch.rows["entries"][-1][:4]
        return self.session.rows(
            "SELECT worker, episode, step FROM entries WHERE log = %s AND seq = %s", self.lease.log, sequence
        ) == [tuple(place)]

    def _what_is_lost(self, found: dict[str, int]) -> str:
        for table, last in self._kept.items():
            if found[table] < last:
                return (
                    f"the server of {self.where} lost acknowledged {table} {found[table] + 1}..{last}: it "
                    "was restored, or does not write what it commits (fsync, synchronous_commit). Nothing "
                    "more is written; resuming the run goes on from what is there"
                )
        return f"{self.where} holds what its owner did not write ({found}, written: {self._kept})"

    def _numbers(self) -> dict[str, int]:
        """Of each table the last number that the server has."""
        columns = (
            f"(SELECT coalesce(max({NUMBERS[table]}), 0) FROM {table} WHERE log = %s)" for table in NUMBERS
        )
        found = self.session.rows(f"SELECT {', '.join(columns)}", *[self.lease.log] * len(NUMBERS))
        return dict(zip(NUMBERS, map(int, found[0]), strict=True))

    def _numbers_after(self) -> dict[str, int]:
        return {table: last + len(self.batch.rows[table]) for table, last in self._kept.items()}

    def _renewal_is_due(self) -> bool:
        return time.monotonic() - self._renewed > postgres_lease.RENEW_SECONDS

    def _renewal(self) -> Statement:
        """Say that we are here."""
        self._renewed = time.monotonic()
        return (
            "UPDATE logs SET renewed = clock_timestamp() WHERE id = %s AND epoch = %s AND token = %s",
            self.lease.held,
        )
