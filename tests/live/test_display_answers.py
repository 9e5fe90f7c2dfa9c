"""Whether an application answers, and who is asked first: pings, fences, and the reading between them."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from live.display_desks import SECONDS, Desk, change, other_client, server, telling_program
from screensearch.environments.desktop.display import Display
from screensearch.environments.desktop.xconnection import TURN_EVENTS


async def test_an_application_that_handles_no_events_does_not_answer(desk: Desk) -> None:
    assert await desk.display.answers(desk.window.id, seconds=SECONDS)
    desk.display.press("F6")
    await desk.told_until(lambda event: event.get("key") == "F6")
    assert not await desk.display.answers(desk.window.id, seconds=0.2)
    assert desk.app.stdin is not None
    desk.app.stdin.write(b"\n")
    assert await desk.display.answers(desk.window.id, seconds=SECONDS)
    vanished = 0x7FFFFF
    assert await desk.display.answers(vanished, seconds=SECONDS)


async def test_the_application_is_asked_after_a_click_that_the_window_manager_holds_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screensearch.environments.desktop.display._MANAGER_SECONDS", SECONDS)
    loop = asyncio.get_running_loop()
    desk.manager.send_signal(signal.SIGSTOP)
    try:
        desk.display.click(*desk.point())
        asking = asyncio.ensure_future(desk.display.answers(desk.window.id, seconds=SECONDS))
        for _ in range(3):  # the application itself answers meanwhile
            alive: asyncio.Future[None] = loop.create_future()
            desk.display._wire.send_ping(desk.window.id, alive)
            await asyncio.wait_for(alive, SECONDS)
        assert not asking.done()
    finally:
        desk.manager.send_signal(signal.SIGCONT)
    assert await asking
    desk.display.press("x")
    events = await desk.told_until(lambda event: "key" in event)
    assert [name for event in events for name in ("button", "key") if name in event] == ["button", "key"]


async def test_without_a_window_manager_the_application_is_asked_all_the_same(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        screen = await stack.enter_async_context(server(tmp_path))
        display = await Display.connect(screen.socket, seconds=SECONDS)
        stack.callback(display.close)
        app = await stack.enter_async_context(telling_program(screen))
        assert app.returncode is None
        async with asyncio.timeout(SECONDS):
            while not (windows := display.windows()):
                await display.sync()
            assert await display.answers(windows[-1].id, seconds=SECONDS)
            assert await display.answers(windows[-1].id, seconds=SECONDS)


async def test_a_window_that_went_just_before_it_was_asked_is_taken_to_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end is told once: on a busy machine with the very answers that say that it can be asked."""
    display, speaks = desk.display, Display._speaks_ping
    async with other_client(desk.server) as client:
        window = client.generate_id()
        root = client.get_setup().roots[0].root
        client.core.CreateWindow(0, window, root, 1, 1, 50, 50, 0, 1, 0, 0, [])
        protocols, ping = (
            client.core.InternAtom(False, len(name), name).reply().atom
            for name in ("WM_PROTOCOLS", "_NET_WM_PING")
        )
        client.core.ChangePropertyChecked(0, window, protocols, 4, 32, 1, [ping]).check()
        assert not await display.answers(window, seconds=0.2)  # it is there, and nobody answers for it

        def speaks_and_goes(display: Display, window: int) -> bool:
            known = speaks(display, window)
            client.core.DestroyWindowChecked(window).check()
            display.windows()  # reads what the server told meanwhile
            return known

        monkeypatch.setattr(Display, "_speaks_ping", speaks_and_goes)
        assert await display.answers(window, seconds=0.2)


async def test_a_client_that_sends_without_end_does_not_keep_the_loop_from_turning(desk: Desk) -> None:
    handled, most, wire = 0, 0, desk.display._wire
    handle = wire.on_event

    def counted(event: object) -> None:
        nonlocal handled
        handled += 1
        handle(event)

    wire.on_event = counted
    async with other_client(desk.server) as client:
        root = client.get_setup().roots[0].root
        for _ in range(10):
            for number in range(500):
                change(client, root, "_NET_CLIENT_LIST", "WINDOW", [number + 1])
        client.core.GetInputFocus().reply()  # the server has handled them all
        total = 0
        synced = asyncio.ensure_future(desk.display.sync())
        while not synced.done():
            await asyncio.sleep(0)
            most, total, handled = max(most, handled), total + handled, 0
        await synced
    assert total >= 5000
    assert 0 < most <= 3 * TURN_EVENTS  # the reader, the return and the fence, each once in a turn


async def test_the_numbers_of_fences_and_pings_cannot_be_guessed(desk: Desk) -> None:
    wire = desk.display._wire
    serials = [wire.send_fence(None) for _ in range(20)] + [
        wire.send_ping(desk.window.id, None) for _ in range(20)
    ]
    steps = {after - before for before, after in pairwise(serials)}
    assert len(steps) == len(serials) - 1
    await desk.display.sync()
    assert not wire.fences
