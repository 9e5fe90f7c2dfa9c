"""Between a worker and a session: pipes that are drained as they fill, and processes whose end is awaited."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from screensearch.environments.desktop.sandbox import SessionFailed

T = TypeVar("T")

_CHUNK_BYTES = 65536  # what a pipe holds
_LINE_BYTES = 4096  # a report is short: a program that gets at the channel cannot make us keep more


class Tail:
    """The last bytes of a stream, and no more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = b""

    def take(self, chunk: bytes) -> None:
        self._bytes = (self._bytes + chunk)[-self._limit :]

    def text(self) -> str:
        return self._bytes.decode(errors="replace")


class Lines:
    """Hands on every line of a stream; a line that is too long is cut."""

    def __init__(self, hand_on: Callable[[str], None]) -> None:
        self._hand_on = hand_on
        self._rest = b""

    def take(self, chunk: bytes) -> None:
        *lines, rest = (self._rest + chunk).split(b"\n")
        self._rest = rest[:_LINE_BYTES]
        for line in lines:
            self._hand_on(line[:_LINE_BYTES].decode(errors="replace"))


class Pipe:
    """The reading end of a pipe, drained as it fills."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor, self._take = descriptor, take
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def drain(self) -> None:
        """Take what is in the pipe now, once: a program may be filling it faster than anyone reads."""
        self._read()

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if chunk:
            self._take(chunk)
        else:
            self._loop.remove_reader(self._descriptor)


def resolve(future: asyncio.Future[T], value: T) -> None:
    """Set the result of a future that may have one."""
    if not future.done():
        future.set_result(value)


def listener(path: Path) -> int:
    """A pidfd of the process that listens on a socket, whatever its pid inside its namespace."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
    return os.pidfd_open(struct.unpack("iII", credentials)[0])


async def gone(pidfd: int, *, seconds: float) -> None:
    """Wait until a process has ended."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    loop.add_reader(pidfd, resolve, ended, None)
    try:
        async with asyncio.timeout(seconds):
            await ended
    except TimeoutError as error:
        raise SessionFailed(f"a process of the session did not end within {seconds:g} s") from error
    finally:
        loop.remove_reader(pidfd)
