"""The socket that the viewer serves at."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from screensearch.view.serve import _listen


async def test_small_packets_of_an_answer_are_not_held_back() -> None:
    """asyncio sees to it only for a socket that names its protocol; else every answer takes 40 ms more."""
    listening = _listen("127.0.0.1", 0)
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set_result(
            writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        )
        writer.close()

    async with await asyncio.start_server(note, sock=listening):
        _, writer = await asyncio.open_connection(*listening.getsockname())
        assert await accepted
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
