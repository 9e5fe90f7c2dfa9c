"""A display that cannot be reached, dies, stops answering or is closed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket as sockets
from pathlib import Path

import pytest

from live.display_desks import SECONDS, Desk, server
from screensearch.environments.desktop.display import Display, DisplayFailed
from screensearch.environments.desktop.xconnection import XConnection


async def test_no_server_a_silent_one_and_a_poor_one_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(DisplayFailed, match="no X server listens"):
        await Display.connect(tmp_path / "nothing", seconds=0.05)
    with sockets.socket(sockets.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        with pytest.raises(DisplayFailed, match="did not answer"):
            await Display.connect(tmp_path / "silent", seconds=0.1)
    async with server(tmp_path, "-extension", "XTEST") as poor:
        with pytest.raises(DisplayFailed, match="lacks XTEST"):
            await Display.connect(poor.socket, seconds=SECONDS)


async def test_a_connection_that_is_given_up_is_closed(tmp_path: Path) -> None:
    await asyncio.to_thread(int)  # the thread that the loop keeps
    with sockets.socket(sockets.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        silent.settimeout(SECONDS)
        before = set(os.listdir("/proc/self/fd"))
        connecting = asyncio.ensure_future(Display.connect(tmp_path / "silent", seconds=SECONDS))
        accepted, _ = await asyncio.to_thread(silent.accept)
        with accepted:
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(connecting, SECONDS)
            assert set(os.listdir("/proc/self/fd")) == before | {str(accepted.fileno())}


async def test_a_server_that_stops_answering_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(XConnection, "answer_seconds", 0.2)
    async with server(tmp_path) as screen:
        first = await Display.connect(screen.socket, seconds=SECONDS)
        second = await Display.connect(screen.socket, seconds=SECONDS)
        screen.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(DisplayFailed, match="answered nothing"):
                first.focus()
            with pytest.raises(DisplayFailed, match="answered nothing"):
                await second.sync()
        finally:
            screen.process.send_signal(signal.SIGCONT)
        assert first.closed.done()
        assert second.closed.done()


async def test_a_server_that_dies_ends_the_display_and_is_an_infrastructure_failure(desk: Desk) -> None:
    waiting = asyncio.ensure_future(desk.display.sync())
    desk.server.process.kill()
    reason = await asyncio.wait_for(desk.display.closed, SECONDS)
    assert reason
    await asyncio.wait([waiting], timeout=SECONDS)
    assert waiting.done()
    assert waiting.exception() is None or isinstance(waiting.exception(), DisplayFailed)
    for use in (desk.display.windows, desk.display.take_damage, desk.display.focus):
        with pytest.raises(DisplayFailed, match="has ended"):
            use()
    with pytest.raises(DisplayFailed, match="has ended"):
        desk.display.click(1, 1)
    with pytest.raises(DisplayFailed, match="has ended"):
        await desk.display.sync()
    desk.display.close()


async def test_a_closed_display_says_so(tmp_path: Path) -> None:
    async with server(tmp_path) as screen:
        display = await Display.connect(screen.socket, seconds=SECONDS)
        assert display.size == (800, 600)
        assert display.windows() == []
        assert display.active() is None
        display.close()
        display.close()
        assert await display.closed == "it was closed"
        with pytest.raises(DisplayFailed, match="it was closed"):
            display.windows()
