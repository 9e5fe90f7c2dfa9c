"""Connections to PostgreSQL: how they are made, how long they may be silent, and their errors as ours.

The only module that knows psycopg, which comes with the extra `postgres`: whoever imports this does it late.
"""

from __future__ import annotations

import logging
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait

from screensearch.errors import DamagedStore, NotLetIn, StoreFailed
from screensearch.record.postgres_address import read_parts

SCHEMA = "screensearch"

STALE = "SS001"
"""The error code of a writer who is not the owner any more (`postgres_schema.fence`)."""

MINIMUM_VERSION = 14
"""The oldest server that can be told to wait until a process of its own has ended."""

SILENCE_SECONDS = 10.0
"""A server that says nothing for so long during an exchange is as good as gone."""

LONGEST_SECONDS = 3600.0
"""The same for a question that reads everything."""

_CONNECT_SECONDS = 5
_UNWANTED_SECONDS = 2.0  # for so long a server is waited for that is given up if it is silent
_LOOK_SECONDS = 0.2  # how often a wait looks whether it is still wanted
_SESSION = {
    "search_path": SCHEMA,
    "synchronous_commit": "on",  # whatever the database's default: a commit is an acknowledgement
    # The fence waits for a lock and then looks: with one moment for the whole transaction, it would see what
    # was there before it waited.
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "10s",  # a frozen owner must not hold its lease
    # We stop waiting before these do: they end what we left behind.
    "lock_timeout": "15s",
    "statement_timeout": "20s",
    # A machine that vanished must not leave its connection, and with it its lease, for hours.
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
_DAMAGE = ("XX001", "XX002")  # data_corrupted, index_corrupted

_EVENTS = {Wait.R: select.POLLIN, Wait.W: select.POLLOUT, Wait.RW: select.POLLIN | select.POLLOUT}

Statement = tuple[str, Sequence[object]]


class StaleOwner(StoreFailed):
    """Another process has taken the log over: this one may not write it any more."""


class ConnectionLost(StoreFailed):
    """The server cannot be reached, or ended the connection: what it was doing is not known."""


class ShutOut(ConnectionLost, NotLetIn):
    """The server wants a password, and there is none on this machine."""


def parse_address(url: str) -> dict[str, str]:
    """The parts of a store's address, if it may be written down with a run."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Neither the address nor what libpq says of it is shown: both may hold a password.
        raise StoreFailed(
            "the store is not the address of a PostgreSQL database that can be read (it is not shown, since "
            "it may hold a password): give postgresql://USER@HOST/DATABASE"
        ) from None
    return read_parts({name: str(value) for name, value in parts.items() if value is not None})


class _NoAnswer(psycopg.OperationalError):
    """The server is silent: whether it will do what it was asked to is not known."""


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up a silent server, and an exchange that nobody wants any more."""

    silence_seconds = 0.0
    unwanted = False
    heard = 0.0  # when the server last took or said something, by the monotonic clock

    def wait(self, gen: PQGen[RV], interval: float = _LOOK_SECONDS, timeout: float | None = None) -> RV:
        """Carry an exchange out. If it does not end by itself, the connection does: it cannot go on."""
        del interval, timeout
        poll, file = select.poll(), self.pgconn.socket
        try:
            wanted = next(gen)
            self.heard = time.monotonic()
            while True:
                poll.register(file, _EVENTS[wanted])
                if found := poll.poll(1000 * _LOOK_SECONDS):
                    # An error, or the end of the connection, is for the reader to find.
                    writable = found[0][1] == select.POLLOUT
                    self.heard = time.monotonic()
                    wanted = gen.send(Ready.W if writable else Ready.R if wanted == Wait.R else Ready.RW)
                else:
                    self._check_patience()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except BaseException as problem:
            if isinstance(problem, _NoAnswer) or not isinstance(problem, Exception):
                self.pgconn.finish()
                with suppress(psycopg.Error):
                    gen.close()
            raise

    def _check_patience(self) -> None:
        silence = time.monotonic() - self.heard
        if self.unwanted and silence > _UNWANTED_SECONDS:
            raise _NoAnswer("it was given up at an interrupt")
        if silence > self.silence_seconds:
            raise _NoAnswer(f"it said nothing for {self.silence_seconds:g} s")


class Session:
    """One connection, which can be made again."""

    def __init__(self, url: str, name: str, *, writes: bool = False) -> None:
        self._parts = parse_address(url)
        self._name: Final = name  # what the server calls us
        self._writes: Final = writes
        self.unwanted = False
        self._connection = self._connect()

    @property
    def where(self) -> str:
        """The store, in messages."""
        user, host, port = (self._parts.get(name, "") for name in ("user", "host", "port"))
        place = "" if host.startswith("/") else host + (f":{port}" if port else "")
        return f"postgresql://{user and user + '@'}{place}/{self._parts.get('dbname', '')}"

    def _connect(self) -> _Connection:
        parts = {"connect_timeout": str(_CONNECT_SECONDS), **self._parts}
        escaped = {name: value.replace(" ", r"\ ") for name, value in _SESSION.items()}
        ours = " ".join(f"-c {name}={value}" for name, value in escaped.items())
        parts |= {
            "options": f"{parts.get('options', '')} {ours}".strip(),
            "application_name": self._name,
            "client_encoding": "UTF8",
            "keepalives_idle": "5",
            "keepalives_interval": "2",
            "keepalives_count": "3",
            "tcp_user_timeout": "10000",
        }
        if self._writes:
            parts["target_session_attrs"] = "read-write"
        try:
            # Statements are not prepared: one that is prepared in a batch that fails is not there after it.
            connection = _Connection.connect(make_conninfo(**parts), autocommit=True, prepare_threshold=None)
        except (psycopg.Error, UnicodeError) as problem:
            if _lacks_password(problem):
                raise ShutOut(
                    f"{self.where} wants a password, and there is none for it on the machine "
                    f"{socket.gethostname()}: put it there into ~/.pgpass, or into PGPASSWORD (on a "
                    "cluster: on every node, and PGPASSWORD before Ray is started there)"
                ) from problem
            raise ConnectionLost(
                f"cannot connect to {self.where}: {_first_line(problem)}; check that the server runs, and "
                "that the user may connect (psql with the same address shows it)"
            ) from problem
        try:
            self._check_server(connection)
        except BaseException:
            connection.close()
            raise
        connection.silence_seconds = SILENCE_SECONDS
        return connection

    def _check_server(self, connection: _Connection) -> None:
        version = connection.info.server_version
        if version < 10_000 * MINIMUM_VERSION:
            raise StoreFailed(
                f"the server of {self.where} is PostgreSQL {version // 10_000}: {MINIMUM_VERSION} or a newer "
                "one is needed"
            )
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreFailed(
                f"the database of {self.where} has the encoding {encoding}, which cannot hold every text: "
                "make one with `createdb --encoding=UTF8 --template=template0`"
            )

    def connect_again(self) -> None:
        """A new connection in place of one that was lost; one attempt."""
        self._connection.close()
        self._connection = self._connect()
        if self.unwanted:  # looked at once it is there: `give_up` may have come while it was made
            self._connection.unwanted = True

    def give_up(self) -> None:
        """Whatever waits for a silent server, now or later, is to fail. A signal's handler may call this."""
        self.unwanted = self._connection.unwanted = True

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the server's errors into ours."""
        try:
            yield
        except psycopg.Error as problem:
            text = _first_line(problem)
            if problem.sqlstate == STALE:
                raise StaleOwner(
                    f"the log in {self.where} was taken over by another process: {text}"
                ) from problem
            if problem.sqlstate in _DAMAGE:
                raise DamagedStore(f"the log in {self.where} is damaged: {text}; restore it") from problem
            # After a fatal error the connection ends, though its end may take its time to arrive.
            fatal = problem.diag.severity_nonlocalized in ("FATAL", "PANIC")
            if fatal or self._connection.closed or self._connection.broken:
                self._connection.close()
                raise ConnectionLost(f"the connection to {self.where} was lost: {text}") from problem
            raise StoreFailed(f"the log in {self.where} failed: {text}") from problem
        except UnicodeError as problem:
            raise StoreFailed(
                f"the log in {self.where} failed: a text is not Unicode: {problem}"
            ) from problem

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query."""
        with self._translated():
            return self._connection.execute(statement, values, binary=True).fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """The first column of the first row, or None."""
        found = self.rows(statement, *values)
        return found[0][0] if found else None

    def script(self, text: str) -> None:
        """Run a text of many statements."""
        with self._translated():
            self._connection.execute(text.encode())

    def run(self, statements: Sequence[Statement]) -> str:
        """Send statements together, in one journey; if one fails, so do those after it.

        Returns what the server says that it did last, such as ``COMMIT``.
        """
        with self._translated():
            with self._connection.pipeline():
                cursors = [self._connection.execute(statement, values) for statement, values in statements]
            return cursors[-1].statusmessage or ""

    def commit(self, statements: Sequence[Statement] = ()) -> None:
        """Send statements and commit. A transaction that failed before is not committed, and that is told."""
        did = self.run([*statements, ("COMMIT", ())])
        if did != "COMMIT":  # the server answers ROLLBACK, and no error, in a transaction that has failed
            raise StoreFailed(f"the log in {self.where} failed: the server did not commit but said {did!r}")

    @property
    def heard(self) -> float:
        """When the server last took or said something over this connection, by the monotonic clock."""
        return self._connection.heard

    @property
    def in_transaction(self) -> bool:
        return not self._connection.closed and self._connection.info.transaction_status in (
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        )

    @property
    def closed(self) -> bool:
        return self._connection.closed

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Let several queries see the same, whatever an owner commits meanwhile. Not within a transaction."""
        self.run([("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())])
        try:
            yield
        finally:
            if self.in_transaction:
                self.run([("ROLLBACK", ())])

    @contextmanager
    def patience(self, *others: str) -> Iterator[None]:
        """Let statements of the open transaction take long, as those that read everything do.

        `others` are further limits of the session that do not count meanwhile, such as ``lock_timeout``.
        """
        limits = ("statement_timeout", *others)
        self.run([(f"SET LOCAL {each} = 0", ()) for each in limits])
        self._connection.silence_seconds = LONGEST_SECONDS
        try:
            yield
            self.run([(f"SET LOCAL {each} = '{_SESSION[each]}'", ()) for each in limits])
        finally:
            self._connection.silence_seconds = SILENCE_SECONDS

    @contextmanager
    def haste(self, seconds: float) -> Iterator[None]:
        """Wait for no answer longer than so."""
        self._connection.silence_seconds = seconds
        try:
            yield
        finally:
            self._connection.silence_seconds = SILENCE_SECONDS

    def close(self) -> None:
        self._connection.close()


def _lacks_password(problem: Exception) -> bool:
    """Whether the server did not let us in for want of a password."""
    tried = problem.pgconn if isinstance(problem, psycopg.Error) else None
    return tried is not None and tried.needs_password


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0]


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("error ignored terminating")


# psycopg says at every lost connection that it could not end what was sent over it; we tell of the loss.
logging.getLogger("psycopg").addFilter(_is_news)
