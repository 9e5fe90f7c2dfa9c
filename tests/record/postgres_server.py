"""A PostgreSQL server of our own: Debian's programs, a new cluster in a temporary folder, no network."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from aftermath import AFTERMATH

_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
_START_SECONDS = 60


def _run(program: str | Path, *options: str | Path) -> None:
    """As the user whom a server runs as."""
    user = {} if os.geteuid() else {"user": "postgres", "group": "postgres", "extra_groups": []}
    subprocess.run(
        [program, *options],
        cwd="/",
        check=True,
        capture_output=True,
        timeout=_START_SECONDS,
        **user,  # type: ignore[call-overload]
    )


@functools.cache
def _new_data() -> Path:
    """What servers begin with, made once in this process: to copy it takes a tenth of the time."""
    folder = Path(tempfile.mkdtemp(prefix="screensearch-postgres-"))
    AFTERMATH.remove(folder)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    options = ("--auth=trust", "--username=tester", "--no-sync", "--encoding=UTF8", "--locale=C")
    _run(_PROGRAMS[-1] / "initdb", "--pgdata", folder / "data", *options)
    return folder / "data"


class PostgresServer:
    """A server that listens on a Unix socket in its own folder, and at an `address` if it is given one.

    As root it runs as the user `postgres`.
    """

    def __init__(self, folder: Path, *, durable: bool = False, address: str = "") -> None:
        if not _PROGRAMS:
            raise RuntimeError("PostgreSQL is not installed: run scripts/setup tests")
        self._address = address
        self._ended: Callable[[], None] = lambda: None
        self._data = folder / "data"
        self._sockets = folder / "sockets"
        self._sockets.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            shutil.chown(self._sockets, "postgres")
        _run("/bin/cp", "--archive", _new_data(), self._data)
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(
                f"listen_addresses = '{address}'\nunix_socket_directories = '{self._sockets}'\n"
                # What is tested is our side of a crash of the server, not that of the machine.
                f"fsync = {'on' if durable else 'off'}\n"
                "max_connections = 50\nshared_buffers = 16MB\nlog_min_messages = error\n"
            )
        if address:
            with (self._data / "pg_hba.conf").open("a") as file:
                file.write(f"host all all {address}/24 trust\n")
        self.start()

    @property
    def log(self) -> Path:
        """What the server writes about itself."""
        return self._data / "server.log"

    def start(self) -> None:
        _run(
            _PROGRAMS[-1] / "pg_ctl", "start", "--pgdata", self._data, "--log", self.log, "--wait", "--silent"
        )
        self._ended()
        # At once, but not as by kill: that would leave its shared memory to the machine.
        self._ended = AFTERMATH.end(self.process, signal.SIGQUIT)

    def stop(self, mode: str = "fast") -> None:
        """`fast` ends all connections, `immediate` is a crash with recovery at the next start."""
        _run(_PROGRAMS[-1] / "pg_ctl", "stop", "--pgdata", self._data, "--mode", mode, "--wait", "--silent")
        self._ended()

    def lock(self, user: str, password: str) -> None:
        """Make a user who has to give a password."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{password}'")
            rules = self._data / "pg_hba.conf"
            rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")
            connection.execute("SELECT pg_reload_conf()")

    @property
    def process(self) -> int:
        """The server's first process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server's first process."""
        os.kill(self.process, number)

    def url(self, database: str = "postgres", *, user: str = "tester") -> str:
        return f"postgresql://{user}@/{database}?host={self._sockets}"

    @property
    def remote_url(self) -> str:
        """By way of the network, if there is one."""
        return f"postgresql://tester@{self._address}/postgres" if self._address else self.url()


@contextmanager
def postgres_server(*, durable: bool = False, address: str = "") -> Iterator[PostgresServer]:
    """A running server, gone afterwards. `durable` is for measurements: it waits for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="screensearch-postgres-"))  # short: a socket's path has a limit
    removed = AFTERMATH.remove(folder)
    try:
        server = PostgresServer(folder, durable=durable, address=address)
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)
        removed()
