"""A real X server with a window manager, and a GTK window on it that tells what reached it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xcffib.xproto

from live.live_sessions import client_at
from screensearch.environments.desktop.display import Display, XWindow

APP = Path(__file__).parent / "apps" / "gtk3_input_app.py"
SECONDS = 60.0  # the first start on a new machine makes the font cache
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
    """An Xvfb: a program that is started with its environment shows there."""

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


def telling_program(screen: Server) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    """A GTK window that tells what reaches it."""
    return program("/usr/bin/python3", str(APP), environment=screen.environment)


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


@asynccontextmanager
async def running_desk(folder: Path) -> AsyncIterator[Desk]:
    """All of it, with the program's window in front and at rest."""
    async with AsyncExitStack() as stack:
        screen = await stack.enter_async_context(server(folder))
        manager = await stack.enter_async_context(program("openbox", environment=screen.environment))
        display = await Display.connect(screen.socket, seconds=SECONDS)
        stack.callback(display.close)
        activity = asyncio.Event()
        display.on_activity(activity.set)
        app = await stack.enter_async_context(telling_program(screen))
        desk = Desk(screen, manager, display, app, activity)
        await desk.until(lambda: bool(desk.shown("normal")) and display.active() == desk.window.id)
        await desk.rest()
        yield desk


@asynccontextmanager
async def other_client(screen: Server) -> AsyncIterator[Any]:
    """A plain connection beside the one that is tested."""
    client = client_at(screen.socket)
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
