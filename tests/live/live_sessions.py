"""What the live tests ask of a session from outside: its processes, its windows, its pixels."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xcffib
import xcffib.xproto

from screensearch.environments.desktop.session import Session

SECONDS = 30.0  # more than anything here takes: only a failure waits so long


@dataclass(frozen=True)
class Frame:
    """A window as it lies on the screen, without its decoration."""

    x: int
    y: int
    width: int
    height: int


def processes_of(session: Session) -> Iterator[int]:
    """The processes inside a sandbox, by their pids here."""
    namespace = os.readlink(f"/proc/{session.pid}/ns/pid")
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink(f"/proc/{name}/ns/pid") == namespace:
                    yield int(name)
            except OSError:  # it has ended meanwhile
                continue


def process_named(session: Session, name: str, *, nth: int = 0) -> int:
    """The pid here of the nth process inside a sandbox that runs the program `name`, oldest first."""
    return sorted(pid for pid in processes_of(session) if name_of(pid) == name)[nth]


def name_of(pid: int) -> str:
    """The program that a process runs; empty when it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def connect(session: Session) -> Any:
    """A client of the session's display."""
    return client_at(session.display_socket)


def client_at(display_socket: Path) -> Any:
    """A client of the X server that listens there."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(display_socket))
    display: Any = xcffib
    return display.Connection(fd=connection.detach())


async def first_window(session: Session, fits: Callable[[Frame], bool] = lambda frame: True) -> Frame:
    """The first window that the window manager lists and that fits."""
    return await asyncio.to_thread(_first_window, connect(session), fits)


def _first_window(display: Any, fits: Callable[[Frame], bool]) -> Frame:
    root = display.get_setup().roots[0].root
    name = b"_NET_CLIENT_LIST"
    atom = display.core.InternAtom(False, len(name), name).reply().atom
    mask = xcffib.xproto.EventMask
    display.core.ChangeWindowAttributes(
        root, xcffib.xproto.CW.EventMask, [mask.PropertyChange | mask.SubstructureNotify]
    )
    try:
        while True:
            windows = display.core.GetProperty(False, root, atom, 0, 0, 100).reply().value.to_atoms()
            for window in windows:
                try:
                    size = display.core.GetGeometry(window).reply()
                    place = display.core.TranslateCoordinates(window, root, 0, 0).reply()
                except xcffib.Error:  # it has gone meanwhile
                    continue
                frame = Frame(place.dst_x, place.dst_y, size.width, size.height)
                if fits(frame):
                    return frame
            display.flush()
            descriptor = display.get_file_descriptor()
            if display.poll_for_event() is None and not select.select([descriptor], [], [], SECONDS)[0]:
                raise AssertionError("no window came that fits")
            while display.poll_for_event() is not None:
                pass
    finally:
        display.disconnect()


def brightness(session: Session, *, width: int, height: int) -> float:
    """The median brightness of the middle of the screen, 0 to 255."""
    content = session.framebuffer.read_bytes()
    pixels = np.frombuffer(content[len(content) - width * height * 4 :], np.uint8).reshape(height, width, 4)
    return float(np.median(pixels[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3, :3]))
