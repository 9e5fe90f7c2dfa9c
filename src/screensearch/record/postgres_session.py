"""Connections to PostgreSQL: where a store is, its schema, and its errors as ours.

The only module that knows psycopg, which comes with the extra `postgres`: whoever imports this does it late.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from screensearch.errors import FormatError, NewerFormat, StoreFailed
from screensearch.record.postgres_schema import MIGRATIONS, STALE

SCHEMA = "screensearch"

RECONNECT_SECONDS = 30.0
"""For so long a writer tries to reach a server that went away, before it gives up."""

_CONNECT_SECONDS = 5
_MIGRATION_LOCK = int.from_bytes(b"SScrMigr", "big")
_SESSION = {
    "search_path": SCHEMA,
    "idle_in_transaction_session_timeout": "10s",  # a frozen owner must not hold its lease
    "lock_timeout": "10s",
    "statement_timeout": "0",
}
_DAMAGE = ("XX001", "XX002")  # data_corrupted, index_corrupted

_OTHERS = "FROM pg_stat_activity WHERE application_name LIKE %s AND pid <> pg_backend_pid()"


class StaleOwner(StoreFailed):
    """Another process has taken the log over: this one may not write it any more."""


class ConnectionLost(StoreFailed):
    """The server cannot be reached, or ended the connection: whether the last batch was kept is not known."""


def check_store(url: str) -> str:
    """A store's address as it may be written down: it must not hold a password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as problem:
        raise StoreFailed(f"{url!r} is not the address of a PostgreSQL database: {problem}") from problem
    if parts.get("password"):
        raise StoreFailed(
            "the address of the store holds a password, which would be written down with the run: leave it "
            "out, and give it in ~/.pgpass or in the environment variable PGPASSWORD"
        )
    return url


class Session:
    """One connection, which can be made again."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name
        """What the server calls us. All connections of an owner in one epoch have the same, and no others."""
        self._connection = self._connect()

    @property
    def where(self) -> str:
        """The store, in messages."""
        return self.url.partition("?")[0]

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        settings = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
        try:
            return psycopg.connect(
                check_store(self.url),
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name=self.name,
                options=settings,
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=3,
                tcp_user_timeout=10_000,
            )
        except psycopg.OperationalError as problem:
            raise ConnectionLost(
                f"cannot connect to {self.where}: {_first_line(problem)}; check that the server runs, and "
                "that the user may connect (psql with the same address shows it)"
            ) from problem

    def connect_again(self) -> None:
        """A new connection in place of one that was lost; tries for `RECONNECT_SECONDS`."""
        self._connection.close()
        deadline = time.monotonic() + RECONNECT_SECONDS
        pause = 0.05
        while True:
            try:
                self._connection = self._connect()
            except ConnectionLost:
                if time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
            else:
                return

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn the server's errors into ours. Damage is a matter of format, anything else of storage."""
        try:
            yield
        except psycopg.Error as problem:
            text = _first_line(problem)
            if problem.sqlstate == STALE:
                raise StaleOwner(
                    f"the log in {self.where} was taken over by another process: {text}"
                ) from problem
            if problem.sqlstate in _DAMAGE:
                raise FormatError(f"the log in {self.where} is damaged: {text}; restore it") from problem
            if self._connection.closed or self._connection.broken:
                raise ConnectionLost(f"the connection to {self.where} was lost: {text}") from problem
            raise StoreFailed(f"the log in {self.where} failed: {text}") from problem

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query."""
        with self.translated():
            return self._connection.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """The first column of the first row, or None."""
        found = self.rows(statement, *values)
        return found[0][0] if found else None

    def script(self, text: str) -> None:
        """Run a text of many statements."""
        with self.translated():
            self._connection.execute(text.encode())

    def run(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Send statements together, in one journey; if one fails, so do those after it."""
        with self.translated(), self._connection.pipeline():
            for statement, values in statements:
                self._connection.execute(statement, values)

    @property
    def in_transaction(self) -> bool:
        return not self._connection.closed and self._connection.info.transaction_status in (
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        )

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Let several queries see the same, whatever an owner commits meanwhile."""
        ours = not self.in_transaction
        if ours:
            self.run([("BEGIN ISOLATION LEVEL REPEATABLE READ", ())])
        try:
            yield
        finally:
            if ours and self.in_transaction:
                self.run([("ROLLBACK", ())])

    def rename(self, name: str) -> None:
        """Have the server call us by another name."""
        self.name = name
        self.rows("SELECT set_config('application_name', %s, false)", name)

    def end_others(self, name: str) -> None:
        """End the server's processes for others of a name, which may end in %; return when they are gone."""
        self.rows(f"SELECT pg_terminate_backend(pid, 5000) {_OTHERS}", name)

    def sees_others(self, name: str) -> bool:
        """Whether the server serves others of a name, which may end in %."""
        return self.one(f"SELECT 1 {_OTHERS}", name) is not None

    def close(self) -> None:
        self._connection.close()


def migrate(session: Session) -> None:
    """Bring the tables to this version, once, whoever else tries to; `NewerFormat` if they are beyond it."""
    session.run(
        [
            ("BEGIN", ()),
            ("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,)),
            (f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}", ()),
            ("CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, made timestamptz)", ()),
        ]
    )
    done = int(session.one("SELECT count(*) FROM migrations"))
    if done > len(MIGRATIONS):
        session.run([("ROLLBACK", ())])
        raise NewerFormat(
            f"the tables in {session.where} are of version {done}, written by a newer screensearch; this one "
            f"knows {len(MIGRATIONS)}: use that version or a newer one (nothing was changed)"
        )
    for number in range(done, len(MIGRATIONS)):
        session.script(MIGRATIONS[number])
        session.run([("INSERT INTO migrations VALUES (%s, now())", (number + 1,))])
    session.run([("COMMIT", ())])


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0]
