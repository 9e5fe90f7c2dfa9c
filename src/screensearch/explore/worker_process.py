"""A worker as a process of its own: ``python -m screensearch.explore.worker_process FD [VARIABLE …]``.

It is given one end of a socket pair, told what to do over it, and ends when the other end closes. Variables
of the environment that are named were set for the modules loaded here; what the worker starts sees none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import sys
import threading

from screensearch.errors import FormatError
from screensearch.explore.memory import give_large_blocks_back
from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report
from screensearch.explore.wire import LENGTH, Assignment, Failed, Frame, pack, unpack
from screensearch.explore.worker import carry_out


class OwnerGone(Exception):
    """The other end of the socket is closed: there is no one left to work for."""


class RemoteStore:
    """The store at the other end of a socket. One worker has one message under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def begin(self, begin: Begin) -> Receipt:
        return await self._ask(begin)

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return await self._ask(failed)

    async def record(self, report: Report) -> Receipt:
        return await self._ask(report)

    async def announce(self, announcement: Announce) -> None:
        self.send(announcement)

    def send(self, frame: Frame) -> None:
        self._writer.write(pack(frame))

    async def receive(self) -> Frame:
        try:
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            return unpack(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as problem:
            raise OwnerGone from problem

    async def _ask(self, message: Begin | BeginFailed | Report) -> Receipt:
        self.send(message)
        answer = await self.receive()
        if isinstance(answer, Failed):
            raise FormatError(answer.message)
        if not isinstance(answer, Receipt):
            raise FormatError(f"the owner answered with {type(answer).__name__}, not with a receipt")
        return answer

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


async def serve(connection: socket.socket) -> None:
    """Be a worker process: receive the assignment, work, say why if it cannot go on."""
    store = RemoteStore(*await asyncio.open_unix_connection(sock=connection))
    assignment = await store.receive()
    if not isinstance(assignment, Assignment):
        raise FormatError(f"a worker was started with {type(assignment).__name__}, not with an assignment")
    failed = await carry_out(assignment, store)
    if failed is not None:
        store.send(failed)
    await store.close()


def main() -> None:
    """The process. An interrupt is the owner's business: it lets workers finish their step."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    give_large_blocks_back()
    for variable in sys.argv[2:]:
        del os.environ[variable]
    connection = socket.socket(fileno=int(sys.argv[1]))
    threading.Thread(target=_end_with_owner, args=(connection.dup(),), daemon=True).start()
    with contextlib.suppress(OwnerGone):
        asyncio.run(serve(connection))


def _end_with_owner(connection: socket.socket) -> None:
    """When the owner is gone, end this process and all it started, even if it is stuck in a step."""
    closed = select.poll()
    closed.register(connection, select.POLLRDHUP)
    closed.poll()
    if os.getpgid(0) == os.getpid():  # a group of our own, as the owner starts us
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
