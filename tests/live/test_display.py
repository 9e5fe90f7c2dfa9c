"""Windows, damage, pictures and input on a real X server, with a GTK window that tells what reached it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket as sockets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xcffib
import xcffib.xproto

from screensearch.domain.screen import Box, Image, crop
from screensearch.environments.desktop.display import Display, DisplayFailed, XWindow
from screensearch.environments.desktop.framebuffer import Framebuffer, FramebufferFailed
from screensearch.environments.desktop.settings import Placement
from screensearch.environments.desktop.xconnection import TURN_EVENTS, XConnection
from screensearch.errors import FormatError

pytestmark = pytest.mark.live

APP = Path(__file__).parent / "apps" / "gtk3_input_app.py"
SECONDS = 60.0  # the first start on a new machine makes the font cache
SHIFT_MASK, CONTROL_MASK, ALT_MASK = 1, 4, 8
Event = dict[str, Any]


@asynccontextmanager
async def program(*command: str, environment: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that is gone afterwards."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "NO_AT_BRIDGE": "1", "LANG": "C.UTF-8", **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()  # a server that is killed leaves its socket behind
        assert process.stdin is not None
        process.stdin.close()
        await process.communicate()


@dataclass
class Server:
    """An Xvfb with a window manager."""

    process: asyncio.subprocess.Process
    socket: Path
    framebuffer: Path
    environment: dict[str, str]


@asynccontextmanager
async def server(folder: Path, *options: str) -> AsyncIterator[Server]:
    environment = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = ("Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-fbdir", str(folder), *options)
    async with program(*command, "-nolisten", "tcp", environment=environment) as process:
        assert process.stdout is not None
        number = (await asyncio.wait_for(process.stdout.readline(), SECONDS)).decode().strip()
        environment["DISPLAY"] = f":{number}"
        socket = Path(f"/tmp/.X11-unix/X{number}")
        yield Server(process, socket, folder / "Xvfb_screen0", environment)
        if process.returncode is not None:
            sweep(socket, Path(f"/tmp/.X{number}-lock"))


def sweep(*paths: Path) -> None:
    """Take away what a server that a test has killed left behind."""
    for path in paths:
        path.unlink(missing_ok=True)


@dataclass
class Desk:
    """A server with a window manager, a display, and the program that tells."""

    server: Server
    manager: asyncio.subprocess.Process
    display: Display
    app: asyncio.subprocess.Process
    activity: asyncio.Event
    told: list[Event] = field(default_factory=list)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until the display's news make something true."""
        async with asyncio.timeout(SECONDS):
            while not true():
                self.activity.clear()
                await self.activity.wait()

    async def told_until(self, last: Callable[[Event], bool]) -> list[Event]:
        """What the program tells, up to the first event that is asked for."""
        assert self.app.stdout is not None
        events: list[Event] = []
        async with asyncio.timeout(SECONDS):
            while not events or not last(events[-1]):
                events.append(json.loads(await self.app.stdout.readline()))
        return events

    def shown(self, kind: str) -> list[XWindow]:
        return [window for window in self.display.windows() if window.kind == kind]

    @property
    def window(self) -> XWindow:
        (window,) = self.shown("normal")
        return window

    def point(self) -> tuple[float, float]:
        """A place in the area that tells of the pointer."""
        box = self.window.box
        return box.x + 100, box.y + box.height - 50

    async def rest(self) -> None:
        """Wait until the program has handled its input and has painted, and the server told of it."""
        quiet = False
        while not quiet:
            assert await self.display.answers(self.window.id, seconds=SECONDS)
            self.display.take_damage()
            self.activity.clear()
            try:
                await asyncio.wait_for(self.activity.wait(), 0.3)
            except TimeoutError:
                quiet = True


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with AsyncExitStack() as stack:
        screen = await stack.enter_async_context(server(tmp_path))
        manager = await stack.enter_async_context(program("openbox", environment=screen.environment))
        display = await Display.connect(screen.socket, seconds=SECONDS)
        stack.callback(display.close)
        activity = asyncio.Event()
        display.on_activity(activity.set)
        app = await stack.enter_async_context(
            program("/usr/bin/python3", str(APP), environment=screen.environment)
        )
        desk = Desk(screen, manager, display, app, activity)
        await desk.until(lambda: bool(desk.shown("normal")) and display.active() == desk.window.id)
        await desk.rest()
        yield desk


async def test_clicks_arrive_where_they_are_aimed_with_their_button_and_count(desk: Desk) -> None:
    x, y = desk.point()
    desk.display.click(x, y)
    await desk.rest()
    desk.display.click(x + 40.4, y + 9.6, button=3)
    await desk.rest()
    desk.display.click(x + 80, y, count=2)
    events = await desk.told_until(lambda event: event.get("times") == "2button-press")
    places = [
        (event["button"], event["times"], event["x"], event["y"]) for event in events if "button" in event
    ]
    assert places == [
        (1, "button-press", x, y),
        (3, "button-press", x + 40, y + 10),
        *[(1, "button-press", x + 80, y)] * 2,
        (1, "2button-press", x + 80, y),
    ]


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
        app = await stack.enter_async_context(
            program("/usr/bin/python3", str(APP), environment=screen.environment)
        )
        assert app.returncode is None
        async with asyncio.timeout(SECONDS):
            while not (windows := display.windows()):
                await display.sync()
            assert await display.answers(windows[-1].id, seconds=SECONDS)
            assert await display.answers(windows[-1].id, seconds=SECONDS)


async def test_two_clicks_in_a_row_are_no_double_click(desk: Desk) -> None:
    x, y = desk.point()
    desk.display.click(x, y)
    desk.display.click(x, y)
    desk.display.click(x, y, button=2)
    events = await desk.told_until(lambda event: event.get("button") == 2)
    assert [event["times"] for event in events if event.get("button") == 1] == ["button-press"] * 2


async def test_the_wheel_turns_its_four_ways(desk: Desk) -> None:
    for direction in ("up", "down", "left", "right"):
        desk.display.scroll(*desk.point(), direction, 2)
    desk.display.click(*desk.point())
    events = await desk.told_until(lambda event: "button" in event)
    turned = [event["scroll"] for event in events if "scroll" in event]
    assert turned == ["up", "up", "down", "down", "left", "left", "right", "right"]
    with pytest.raises(FormatError, match="cannot scroll 'over'"):
        desk.display.scroll(0, 0, "over", 1)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, World! {}[]<>|\\~^`'\"@#$%&*()_+-=:;?/ 0123456789",
        "ä€ß ÀÉ ‘quotes’ — Привет, Мир ЖЖжж λόγος 日本語 😀🇨🇭",
        "one\n\ttwo\nTHREE",
    ],
)
async def test_typed_text_arrives_to_the_character(desk: Desk, text: str) -> None:
    desk.display.type_text(text)
    events = await desk.told_until(lambda event: event.get("text") == text)
    assert events[-1]["text"] == text


async def test_more_foreign_characters_than_there_are_spare_keycodes_arrive_too(desk: Desk) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(120))
    desk.display.type_text(text)
    events = await desk.told_until(lambda event: len(event.get("text", "")) >= len(text))
    assert events[-1]["text"] == text


async def test_a_caps_lock_that_was_left_on_does_not_spoil_the_text(desk: Desk) -> None:
    desk.display.press("Caps_Lock")
    desk.display.type_text("aBc")
    events = await desk.told_until(lambda event: len(event.get("text", "")) == 3)
    assert events[-1]["text"] == "aBc"


async def test_combinations_hold_their_modifiers_and_release_them(desk: Desk) -> None:
    for keys in ("ctrl+shift+s", "alt+F9", "ctrl+plus", "Escape", "S", "q"):
        desk.display.press(keys)
    events = await desk.told_until(lambda event: event.get("key") == "q")
    every = SHIFT_MASK | CONTROL_MASK | ALT_MASK
    pressed = [(event["key"], event["state"] & every) for event in events if "key" in event]
    assert [key for key in pressed if not key[0].endswith(("_L", "_R"))] == [
        ("S", SHIFT_MASK | CONTROL_MASK),
        ("F9", ALT_MASK),
        ("plus", SHIFT_MASK | CONTROL_MASK),
        ("Escape", 0),
        ("S", SHIFT_MASK),
        ("q", 0),
    ]


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
        assert desk.display.active() == first.id
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


async def test_a_window_is_placed_and_closed(desk: Desk) -> None:
    desk.display.place(desk.window.id, Placement(width=500, height=400, x=30, y=20))
    await desk.until(lambda: (desk.window.box.width, desk.window.box.height) == (500, 400))
    assert 30 <= desk.window.box.x < 60  # decorations come first
    assert 20 <= desk.window.box.y < 60
    desk.display.press("alt+F4")
    assert (await desk.told_until(lambda event: "closing" in event))[-1]["closing"]
    await desk.until(lambda: not desk.display.windows())
    assert await asyncio.wait_for(desk.app.wait(), SECONDS) == 0


async def test_what_is_painted_is_reported_and_nothing_else(desk: Desk) -> None:
    assert desk.display.take_damage() == []
    desk.display.press("F5")
    damage: list[Box] = []

    def painted() -> bool:
        damage.extend(desk.display.take_damage())
        return bool(damage)

    await desk.until(painted)
    await desk.rest()
    box = desk.window.box
    assert covers(damage, Box(box.x + 10, box.y + box.height - 150, 40, 30))
    assert desk.display.take_damage() == []
    image = desk_picture(desk)
    at = 3 * (int(box.y + box.height - 140) * image.width + int(box.x) + 20)
    assert image.pixels[at : at + 3] == bytes((255, 128, 0))


async def test_a_picture_is_what_the_server_has_and_without_the_pointer(desk: Desk) -> None:
    before = desk_picture(desk)
    desk.display.move_pointer(3, 3)  # on the bare root, whose pointer would show
    await desk.rest()
    picture = desk_picture(desk)
    assert picture == before
    async with other_client(desk.server) as client:
        root = client.get_setup().roots[0].root
        whole = (1 << 32) - 1
        reply = client.core.GetImage(xcffib.xproto.ImageFormat.ZPixmap, root, 0, 0, 800, 600, whole).reply()
    pixels = np.frombuffer(bytes(reply.data.buf()), np.uint8).reshape(600, 800, 4)
    assert picture == Image(800, 600, pixels[..., 2::-1].tobytes())
    framebuffer = Framebuffer(desk.server.framebuffer)
    part = crop(framebuffer.image(), Box(desk.window.box.x, desk.window.box.y, 30, 20))
    left, top = int(desk.window.box.x), int(desk.window.box.y)
    assert part == Image(30, 20, pixels[top : top + 20, left : left + 30, 2::-1].tobytes())
    framebuffer.close()


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


def test_a_file_that_is_no_framebuffer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "screen"
    with pytest.raises(FramebufferFailed, match="cannot open"):
        Framebuffer(path)
    for content in (b"", b"x" * 50, b"x" * 4096):
        path.write_bytes(content)
        with pytest.raises(FramebufferFailed):
            Framebuffer(path)


def desk_picture(desk: Desk) -> Image:
    framebuffer = Framebuffer(desk.server.framebuffer)
    try:
        return framebuffer.image()
    finally:
        framebuffer.close()


def covers(rectangles: list[Box], wanted: Box) -> bool:
    """Whether one of the rectangles holds the wanted one."""
    return any(
        each.x <= wanted.x
        and each.y <= wanted.y
        and each.x + each.width >= wanted.x + wanted.width
        and each.y + each.height >= wanted.y + wanted.height
        for each in rectangles
    )


@asynccontextmanager
async def other_client(screen: Server) -> AsyncIterator[Any]:
    """A plain connection beside the one that is tested."""
    pipe = sockets.socket(sockets.AF_UNIX)
    pipe.connect(str(screen.socket))
    untyped: Any = xcffib
    client = untyped.Connection(fd=pipe.detach())
    try:
        yield client
    finally:
        client.disconnect()


def change(client: Any, window: int, name: str, kind: str, value: bytes | list[int]) -> None:
    """Set a property."""
    atoms = [client.core.InternAtom(False, len(each), each).reply().atom for each in (name, kind)]
    size = 8 if isinstance(value, bytes) else 32
    client.core.ChangeProperty(xcffib.xproto.PropMode.Replace, window, *atoms, size, len(value), value)
    client.flush()
