"""What can go wrong with the database of a run."""

from __future__ import annotations

import random
import signal
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
from aftermath import descendants, kill_tree, send
from postgres_server import PostgresServer
from process_faults import Gone
from struck import BACK_SECONDS, Struck, TooLate, at_once, now_over

CONNECTED_SECONDS = 10.0
"""Within these an owner is connected, or there is none any more."""


class DatabaseFaults:
    """Does things to a server. It is there again when each returns."""

    def __init__(self, database: PostgresServer, random: random.Random) -> None:
        self._database = database
        self._random = random

    def crash_database(self) -> Struck:
        """Kill all of it, and start it again."""
        begun = time.monotonic_ns()
        self._kill_database()
        self._database.start()
        return now_over(begun)

    def lose_database(self) -> Struck:
        """Away for longer than an owner waits for it."""
        begun = time.monotonic_ns()
        self._kill_database()
        time.sleep(self._random.uniform(35, 45))  # for how long it is away: this is the fault
        self._database.start()
        return now_over(begun)

    def _kill_database(self) -> None:
        kill_tree(first := self._database.process)
        until = time.monotonic() + BACK_SECONDS
        while Path(f"/proc/{first}").exists() and time.monotonic() < until:
            time.sleep(0.02)  # until its parent has asked how it ended: before, it is taken for alive

    def freeze_database(self) -> Struck:
        return self._freeze_database(self._random.uniform(1, 3))

    def freeze_database_for_long(self) -> Struck:
        """For longer than an owner takes a silent server for alive."""
        return self._freeze_database(self._random.uniform(11, 15))

    def _freeze_database(self, seconds: float) -> Struck:
        first, begun = self._database.process, time.monotonic_ns()
        for process in (first, *descendants(first)):
            send(process, signal.SIGSTOP)
        time.sleep(seconds)  # for how long it is frozen: this is the fault
        for process in (*descendants(first), first):
            send(process, signal.SIGCONT)
        return now_over(begun)

    def kill_backend(self) -> Struck:
        """One process of the server, which then starts all others anew."""
        send(self._random.choice(self._backends()), signal.SIGKILL)
        return at_once()

    def drop_connections(self) -> Struck:
        """The server lets go of all owners, and goes on."""
        for backend in self._backends():
            send(backend, signal.SIGTERM)
        return at_once()

    def _backends(self) -> list[int]:
        """The server's processes for the connections of owners, as soon as there is one."""
        until = time.monotonic() + CONNECTED_SECONDS
        while time.monotonic() < until:
            found = self._ask(
                "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'screensearch owner%'"
            )
            if found:
                return [int(process) for (process,) in found]
            time.sleep(0.02)
        raise TooLate("no owner is connected any more")

    def take_log(self) -> Struck:
        """The lease of a log goes to another of its exploration; its owner is not told, and keeps its way.

        What it writes next comes to the fence, which alone is left to refuse it. Then it has to go.
        """
        log, epoch, owner = self._busy_owner()
        gone = Gone(owner)
        if not self._ask(
            "UPDATE screensearch.logs SET epoch = epoch + 1, token = split_part(token, '.', 1) || '.taken' "
            f"WHERE id = {log} AND epoch = {epoch} RETURNING epoch"
        ):
            raise TooLate("the log has another owner, or its server is away")
        return at_once(lambda: gone.wait("the owner whose log was taken"))

    def _busy_owner(self) -> tuple[int, int, int]:
        """Of an owner, as soon as one is seen to write: its log, its epoch and its process."""
        until, before = time.monotonic() + CONNECTED_SECONDS, dict[int, int]()
        while time.monotonic() < until:
            for log, epoch, holder, last in self._ask(
                "SELECT id, epoch, holder, (SELECT max(seq) FROM screensearch.entries WHERE log = id) "
                "FROM screensearch.logs WHERE token <> ''"
            ):
                if last is not None and before.setdefault(log, last) < last:
                    return log, epoch, int(holder.split()[1])  # "process … on …"
            time.sleep(0.02)
        raise TooLate("no owner writes any more")

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        """What the server answers; nothing while it is away."""
        with (
            suppress(psycopg.OperationalError),
            closing(psycopg.connect(self._database.url(), autocommit=True, connect_timeout=5)) as connection,
        ):
            return connection.execute(query).fetchall()
        return []
