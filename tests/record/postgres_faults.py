"""Faults between an owner and its server, and the log that they are tried on."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import Arrival, Decision, EpisodeId, Evidence
from screensearch.record.postgres_log import PostgresLog

SCREEN = Screen("k", ("r0_c0|button",), ("r0_c0|ok",), "ok", Metadata("app", "light", "medium", "main|App"))


def arrival(number: int) -> Arrival:
    return Arrival(EpisodeId(0, number), Decision(0, "memo" if number else "new"), 1, Evidence())


def episodes(url: str) -> list[tuple[int, int]]:
    with closing(PostgresLog.open_to_read(url, "run", "")) as reader:
        reader.integrity_check()
        return [(sequence, entry.episode.number) for sequence, entry in reader.read()]


def end_connections(url: str, of: str = "screensearch owner%") -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE %s",
            [of],
        )


def sql(url: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """What an administrator does beside us."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=screensearch") as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def owner_process(url: str) -> int:
    """The server's process for the owner of a database's only log."""
    ((process,),) = sql(
        url,
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE %s AND datname = current_database()",
        "screensearch owner%",
    )
    return int(process)


@contextmanager
def frozen(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)


class Wire:
    """Between an owner and its server: passes everything on, until it is told to keep the answers."""

    def __init__(self, server: Path, folder: Path) -> None:
        self.keeps_answers = False
        self.refuses = False  # new connections
        self.lingers = False  # a connection that the server has ended stays open to the client
        self._server = server
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / server.name))
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with source, target, suppress(OSError):  # the other direction may have closed both
            while data := source.recv(65536):
                if answers and self.keeps_answers:
                    self.keeps_answers = False
                    for each in (source, target):
                        each.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
            while answers and self.lingers:
                time.sleep(0.02)
            target.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
