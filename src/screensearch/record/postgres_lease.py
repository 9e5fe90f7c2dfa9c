"""Who owns a log in a PostgreSQL database.

An owner holds two things. Its token in the row of the log makes its writes count (`postgres_schema.fence`):
that alone keeps the log safe. A lock of its session tells others that it is there, so that they do not take
the log from an owner that is at work. The lock is gone with the connection; an owner that lost it has some
time to come back, unless it is known to have ended.

A token begins with the id of its exploration. On a cluster an exploration has one owner after another: each
may replace the one before without asking, and none but those.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from screensearch.errors import RunBusy, RunContended
from screensearch.record.postgres_session import ConnectionLost, Session, StaleOwner

RECONNECT_SECONDS = 30.0
"""For so long an owner tries to reach a server that went away, before it gives up."""

RENEW_SECONDS = 10.0
"""An owner that commits says so often that it is there."""

GRACE_SECONDS = RECONNECT_SECONDS + 3 * RENEW_SECONDS
"""An owner on another machine that was heard of since may come back: its log is not taken without asking."""

END_MILLISECONDS = 5_000
"""For so long the server's process for a lost connection is waited for."""

INSIST_SECONDS = 10.0
"""For so long a new owner tries to get the lock from one that it has replaced."""

_LOCK = "hashtextextended('screensearch log ' || %s::bigint, 0)"
"""The number of a log's lock: locks are counted by database, and so are logs."""

_HOLDERS = (
    "FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid() AND "
    "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "
    f"((classid::bigint << 32) | objid::bigint) = {_LOCK}"
)
_AT_WORK = f"SELECT run, holder FROM logs WHERE EXISTS (SELECT 1 {_HOLDERS.replace('%s', 'logs.id')})"
_NAMED = (
    "FROM pg_stat_activity WHERE application_name = %s AND datname = current_database() "
    "AND pid <> pg_backend_pid()"
)

_mine: set[str] = set()
"""The tokens of logs that are open in this process."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write one log, until another takes it."""

    log: int
    epoch: int
    token: str

    @property
    def held(self) -> tuple[int, int, str]:
        """What `fence` is asked with."""
        return self.log, self.epoch, self.token


def new_token(exploration: str = "") -> str:
    """Of an owner in an exploration, which is its only one unless it is named.

    With its id, of 16 characters, the name of a connection keeps within the 63 that a server allows it.
    """
    return f"{exploration or secrets.token_hex(8)}.{secrets.token_hex(12)}"


def _exploration(token: str) -> str:
    return token.partition(".")[0]


def session_name(token: str) -> str:
    """What the server calls every connection of an owner, and no other."""
    return f"screensearch owner {token}"


def take_lease(
    session: Session, log: int, token: str, name: str, *, take_over: bool, again: bool = False
) -> Lease:
    """Become the owner of a log. One that is at work is left alone, unless it is to be replaced.

    It is with `take_over`, and always if it is of the same exploration. If that has had the log before
    (`again`), whoever else is its owner now has taken it from there, and keeps it, at work or not.
    """
    epoch, before, holder, place, age = session.rows(
        "SELECT epoch, token, holder, place, "
        "coalesce(extract(epoch FROM clock_timestamp() - renewed), 0)::float8 FROM logs WHERE id = %s",
        log,
    )[0]
    who = f"{name} in {session.where} is owned by {holder}"
    remedy = "wait for it or stop it, or take it over (`explore --resume --take-over`) if you know it is gone"
    take_over = take_over or _exploration(before) == _exploration(token)
    if before and again and not take_over:
        raise RunBusy(f"{who}, which took it over from this exploration: {remedy}")
    _watch_client(session)
    locked = _lock(session, log)
    if not locked:
        if not take_over:
            raise RunBusy(f"{who}: {remedy}") if before else _contended(session, name)
        _end(session, _HOLDERS, log)
    if before and not take_over and _may_come_back(before, place, age):
        raise RunBusy(f"{who}, which lost its connection and was heard of {age:.0f} s ago: {remedy}")
    taken = session.one(
        "UPDATE logs SET epoch = epoch + 1, token = %s, holder = %s, place = %s, taken = clock_timestamp(), "
        "renewed = clock_timestamp() WHERE id = %s AND epoch = %s AND token = %s RETURNING epoch",
        *(token, f"process {os.getpid()} on {socket.gethostname()}", _place(os.getpid())),
        *(log, epoch, before),
    )
    if taken is None:
        raise _contended(session, name)
    if not locked:
        _insist_on_lock(session, log, name)
    _mine.add(token)
    return Lease(log, int(taken), token)


def resume_lease(session: Session, lease: Lease) -> None:
    """Hold the lease again with a new connection. `ConnectionLost` when the old one cannot be ended yet."""
    # Else the server may yet commit what came over the lost connection.
    _end(session, _NAMED, session_name(lease.token))
    _watch_client(session)
    if not _lock(session, lease.log):
        check_lease(session, lease)
        raise ConnectionLost(f"another process holds the lock of log {lease.log} in {session.where}")


def check_lease(session: Session, lease: Lease) -> None:
    """Raise if the log has another owner now."""
    found = session.rows("SELECT epoch, token FROM logs WHERE id = %s", lease.log)
    if found != [(lease.epoch, lease.token)]:
        now = f"epoch {found[0][0]}, ours {lease.epoch}" if found else "it is gone"
        raise StaleOwner(f"log {lease.log} in {session.where} was taken over by another process ({now})")


def release_lease(session: Session, lease: Lease) -> None:
    """Leave the log to whoever wants it, at once: the server's process may outlast its connection."""
    forget_lease(lease)
    session.run([("UPDATE logs SET token = '' WHERE id = %s AND epoch = %s AND token = %s", lease.held)])
    session.run([("SELECT pg_advisory_unlock_all()", ())])


def owners_at_work(session: Session) -> list[str]:
    """Who writes to any log of the database, for people."""
    return [f"{holder} writes run {run}" for run, holder in session.rows(f"{_AT_WORK} ORDER BY id")]


def end_leases(session: Session) -> None:
    """Take every log from its owner, for nobody, once the transaction commits. Nobody writes until then."""
    session.run([("UPDATE logs SET epoch = epoch + 1, token = ''", ())])


def forget_lease(lease: Lease) -> None:
    """This process will not use it any more."""
    _mine.discard(lease.token)


def _contended(session: Session, name: str) -> RunContended:
    return RunContended(
        f"{name} in {session.where} is being opened or closed by another process at this moment: try again"
    )


def _lock(session: Session, log: int) -> bool:
    return bool(session.one(f"SELECT pg_try_advisory_lock({_LOCK})", log))


def _insist_on_lock(session: Session, log: int, name: str) -> None:
    """Get the lock from an owner that was replaced: it may connect again before it learns that it was."""
    until = time.monotonic() + INSIST_SECONDS
    while not _lock(session, log):
        if time.monotonic() > until:
            raise _contended(session, name)
        _end(session, _HOLDERS, log)


def _end(session: Session, others: str, *values: object) -> None:
    """End the server's processes of others, and see that they are gone."""
    ended = session.rows(f"SELECT pid, pg_terminate_backend(pid, {END_MILLISECONDS}) {others}", *values)
    left = [pid for pid, gone in ended if not gone]
    # One that has ended by itself meanwhile cannot be ended, and is gone as well.
    left = [pid for pid in left if session.one("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid)]
    if left:
        raise ConnectionLost(
            f"process {', '.join(map(str, left))} of the server of {session.where} does not end, and may "
            "still write what it was sent: end it on the server's machine"
        )


def _watch_client(session: Session) -> None:
    """Have the server look now and then whether we are still there; not every system can."""
    session.run(
        [
            (
                "DO $$ BEGIN PERFORM set_config('client_connection_check_interval', '5s', false); "
                "EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$",
                (),
            )
        ]
    )


def _may_come_back(token: str, place: str, age: float) -> bool:
    """Whether an owner without a connection may be at work."""
    machine, _, process = place.rpartition("/")
    ours, _, _ = _place(os.getpid()).rpartition("/")
    if machine and machine == ours:
        if place == _place(os.getpid()):
            return token in _mine
        return place == _place(int(process.partition(":")[0]))
    return age < GRACE_SECONDS


def _place(process: int) -> str:
    """A process, told apart also from later ones of the same number; "" if it is not there."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        if state[0] == "Z":  # it has ended, and its parent has not asked how
            return ""
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}/{process}:{state[19]}"
    except OSError:
        return ""
