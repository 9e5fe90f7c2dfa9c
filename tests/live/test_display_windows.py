"""The window table of a real X server: kinds, places, order, and windows that come and go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import xcffib.xproto

from live.display_desks import SECONDS, Desk, change, other_client, program, server
from screensearch.domain.screen import Box
from screensearch.environments.desktop.display import Display


async def test_windows_come_with_their_kind_process_and_place_lowest_first(desk: Desk) -> None:
    main = desk.window
    assert (main.title, main.pid, main.override_redirect) == ("Tells — ä€", desk.app.pid, False)
    assert (main.box.width, main.box.height) == (420, 320)
    assert desk.display.active() == desk.display.focus() == main.id
    for key, kind in (("F3", "menu"), ("F4", "tooltip")):
        desk.display.press(key)
        await desk.until(lambda kind=kind: bool(desk.shown(kind)))  # type: ignore[misc]
        if kind == "menu":
            desk.display.press("Escape")
            await desk.until(lambda: not desk.shown("menu"))
    (tip,) = desk.shown("tooltip")
    assert (tip.box.x, tip.box.y, tip.pid, tip.override_redirect) == (5, 5, desk.app.pid, True)
    desk.display.press("F2")
    await desk.until(lambda: bool(desk.shown("dialog")))
    await desk.until(lambda: desk.display.active() == desk.shown("dialog")[0].id)
    (dialog,) = desk.shown("dialog")
    assert (dialog.title, dialog.modal, dialog.transient_for) == ("Sure?", True, main.id)
    order = [window.id for window in desk.display.windows()]
    assert order.index(main.id) < order.index(dialog.id)
    assert {main.id, dialog.id, tip.id} == set(order)
    desk.display.press("Escape")
    await desk.until(lambda: not desk.shown("dialog"))


async def test_raising_a_window_changes_the_order(desk: Desk, tmp_path: Path) -> None:
    first = desk.window
    async with program("xev", "-name", "other", environment=desk.server.environment):
        await desk.until(lambda: len(desk.shown("normal")) == 2)
        (other,) = [window for window in desk.shown("normal") if window.id != first.id]
        await desk.until(lambda: desk.display.active() == other.id)
        assert [window.id for window in desk.display.windows()] == [first.id, other.id]
        assert other.pid not in (None, desk.app.pid)  # it names no process: the server knows it
        desk.display.activate(first.id)
        await desk.until(lambda: [window.id for window in desk.display.windows()] == [other.id, first.id])
        await desk.until(lambda: desk.display.active() == first.id)  # told after the order
    await desk.until(lambda: [window.id for window in desk.display.windows()] == [first.id])


async def test_a_title_and_a_shadow_that_change_are_seen(desk: Desk) -> None:
    raw = desk.window.raw_box
    async with other_client(desk.server) as client:
        change(client, desk.window.id, "_NET_WM_NAME", "UTF8_STRING", b"Renamed")
        change(client, desk.window.id, "_GTK_FRAME_EXTENTS", "CARDINAL", [10, 20, 30, 40])
        await desk.until(lambda: desk.window.title == "Renamed" and desk.window.box != desk.window.raw_box)
    assert desk.window.raw_box == raw
    assert desk.window.box == Box(raw.x + 10, raw.y + 30, raw.width - 30, raw.height - 70)


async def test_a_window_cannot_pose_as_one_of_another_process(desk: Desk) -> None:
    async with other_client(desk.server) as client:
        change(client, desk.window.id, "_NET_WM_PID", "CARDINAL", [desk.server.process.pid])
        change(client, desk.window.id, "_NET_WM_NAME", "UTF8_STRING", b"Renamed")
        await desk.until(lambda: desk.window.title == "Renamed")
    assert desk.window.pid == desk.app.pid


async def test_a_window_is_closed(desk: Desk) -> None:
    desk.display.press("alt+F4")
    assert (await desk.told_until(lambda event: "closing" in event))[-1]["closing"]
    await desk.until(lambda: not desk.display.windows())
    assert await asyncio.wait_for(desk.app.wait(), SECONDS) == 0


async def test_windows_that_vanish_while_they_are_read_are_left_out(desk: Desk) -> None:
    main = desk.window.id
    async with other_client(desk.server) as client:
        root = client.get_setup().roots[0].root
        for _ in range(50):
            window = client.generate_id()
            override = xcffib.xproto.CW.OverrideRedirect
            client.core.CreateWindow(0, window, root, 1, 1, 50, 50, 0, 1, 0, override, [1])
            client.core.MapWindow(window)
            client.flush()
            await asyncio.sleep(0)
            desk.display.windows()
            client.core.DestroyWindow(window)
            client.flush()
            assert main in {each.id for each in desk.display.windows()}
    await desk.display.sync()
    assert [each.id for each in desk.display.windows()] == [main]


async def test_without_a_window_manager_windows_are_listed_too(tmp_path: Path) -> None:
    async with server(tmp_path) as screen:
        display = await Display.connect(screen.socket, seconds=SECONDS)
        changed = asyncio.Event()
        display.on_activity(changed.set)
        async with program("xev", "-name", "alone", environment=screen.environment) as app:
            async with asyncio.timeout(SECONDS):
                while not display.windows():
                    changed.clear()
                    await changed.wait()
            (window,) = display.windows()
            assert (window.title, window.kind, window.pid) == ("alone", "normal", app.pid)
        display.close()
