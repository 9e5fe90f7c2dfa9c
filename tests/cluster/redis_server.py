"""A Redis server of our own: outside storage for what the head of a Ray cluster knows."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aftermath import AFTERMATH

START_SECONDS = 30.0

PROGRAM = shutil.which("redis-server")
"""Debian's; None where it is not installed."""


class RedisServer:
    """One that keeps what it was told before it answers, as a head's storage should."""

    def __init__(self, folder: Path, host: str, port: int) -> None:
        if PROGRAM is None:
            raise RuntimeError("redis-server is not installed: run scripts/setup tests")
        self.address, self.password = f"{host}:{port}", secrets.token_hex(16)
        settings = folder / "redis.conf"  # not the command line, which everybody can read
        settings.touch(mode=0o600)
        settings.write_text(
            f"bind {host}\nport {port}\nrequirepass {self.password}\ndir {folder}\n"
            'appendonly yes\nappendfsync always\nsave ""\n'
        )
        self._output = folder / "redis.log"
        with self._output.open("ab") as file:
            self.process = subprocess.Popen([PROGRAM, str(settings)], stdout=file, stderr=file)
        self._ended = AFTERMATH.end(self.process.pid)
        self._wait_until_started()

    def _wait_until_started(self) -> None:
        until = time.monotonic() + START_SECONDS
        while b"Ready to accept connections" not in self._output.read_bytes():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"redis-server did not start:\n{self._output.read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._ended()


@contextmanager
def redis_server(host: str, port: int) -> Iterator[RedisServer]:
    """A running server at that address, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="screensearch-redis-"))
    removed = AFTERMATH.remove(folder)
    try:
        server = RedisServer(folder, host, port)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        removed()
