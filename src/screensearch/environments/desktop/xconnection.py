"""A connection to an X server: requests, answers, events and signs of life. The one module that speaks X.

No answer is waited for without end: requests are followed by a message to ourselves, a fence; once it is
back, all the answers are here.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import select
import socket as sockets
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xcffib
import xcffib.damage
import xcffib.res
import xcffib.xfixes
import xcffib.xproto
import xcffib.xtest

from screensearch.environments.desktop.xinput import MOTION
from screensearch.errors import EnvironmentFailed

X: Any = xcffib.xproto
"""The events and the constants of the core protocol, generated and untyped."""
DamageEvent: Any = xcffib.damage.NotifyEvent
"""Something was drawn."""
ConnectionBroken = xcffib.XcffibException
"""What any request raises once the connection is broken."""
TURN_EVENTS = 256  # handled in a row: a client that sends without end must not keep the loop from turning

_RES: Any = xcffib.res
_ATOMS = ("WM_PROTOCOLS", "_NET_WM_PING", "_NET_FRAME_EXTENTS")
_EXTENSIONS = ("DAMAGE", "XFIXES", "XTEST", "X-Resource")
_RETRY_SECONDS = 0.01  # between two looks for a server that is still starting
_PROPERTY_WORDS = 1024  # 4 bytes each: longer titles are cut
_ANY_TYPE = 0
_INPUT_ONLY = 2
_FENCE = 19  # the type of our messages to ourselves: INTEGER, an atom that always is
_LOCAL_PID = 2
_CLIENT_MESSAGE = 33
_SELECTION_NOTIFY = 31
_REPLACE = 0  # what a property held before
_NOW = 0  # in the place of a time
_NO_PROPERTY = 0

_Waiting = dict[int, "asyncio.Future[None] | None"]


class DisplayFailed(EnvironmentFailed):
    """The X server cannot be reached, does not answer, or lacks something."""


class XConnection:
    """The connection: requests, answers, fences, and one function that is given every other event.

    `atoms` are the names that are ever spoken of; those of the answers to pings come by themselves.
    """

    answer_seconds = 10.0  # a server that answers nothing for so long is broken

    def __init__(self, connection: Any, atoms: Iterable[str]) -> None:
        self._connection = connection
        self.core = connection.core
        setup = connection.get_setup()
        self.root: int = setup.roots[0].root
        self.size: tuple[int, int] = (setup.roots[0].width_in_pixels, setup.roots[0].height_in_pixels)
        self.keycodes: tuple[int, int] = (setup.min_keycode, setup.max_keycode)
        self.file: int = connection.get_file_descriptor()
        self.fences: _Waiting = {}  # sent, not yet back
        self.pings: _Waiting = {}
        self._pinged: dict[int, int] = {}  # serial of a ping → the window it went to
        self._frames: dict[int, asyncio.Future[None]] = {}  # by window that the manager was asked about
        self.manager_spoke = False  # whether it ever answered
        self.own = self._new_window(self.root)  # for messages to ourselves
        self.atoms: Mapping[str, int] = {}
        self.on_event: Callable[[Any], None] = lambda event: None
        self.after_events: Callable[[], bool] = lambda: False  # whether it sent something
        self.on_backlog: Callable[[], None] = lambda: None  # there may be more than was handled
        self._require(_EXTENSIONS)
        names = dict.fromkeys((*_ATOMS, *atoms))
        replies = self.replies([self.core.InternAtom(False, len(name), name) for name in names])
        self.atoms = {name: reply.atom for name, reply in zip(names, replies, strict=True)}
        self.damage = connection(xcffib.damage.key)
        self.fixes = connection(xcffib.xfixes.key)
        self._test = connection(xcffib.xtest.key)
        self._resources = connection(xcffib.res.key)
        self.replies(
            [
                self.fixes.QueryVersion(5, 0),
                self.damage.QueryVersion(1, 1),
                self._test.GetVersion(2, 2),
                self._resources.QueryVersion(1, 2),
            ]
        )

    def _require(self, extensions: Sequence[str]) -> None:
        replies = self.replies([self.core.QueryExtension(len(name), name) for name in extensions])
        missing = [name for name, reply in zip(extensions, replies, strict=True) if not reply.present]
        if missing:
            raise DisplayFailed(f"the X server lacks {', '.join(missing)}; start it with these extensions")

    def drain(self) -> bool:
        """Handle the events that have arrived; True when there may be more, of which `on_backlog` was told.

        The library reads events also while it writes, and these make no file readable any more: whatever
        sends must drain after it, or they lie there until the next one comes.
        """
        for _ in range(TURN_EVENTS):
            try:
                event = self._connection.poll_for_event()
            except (xcffib.Error, LookupError):
                continue  # a window that vanished before our request about it, or an event nobody knows
            if event is None:
                if self.after_events():
                    continue
                return False
            if isinstance(event, X.ClientMessageEvent):
                self._message_came(event)
            elif isinstance(event, X.PropertyNotifyEvent) and event.window in self._frames:
                self._frame_came(event)
            else:
                self.on_event(event)
        self.after_events()
        self.on_backlog()
        return True

    def _message_came(self, event: Any) -> None:
        data = event.data.data32
        if event.window == self.own:
            waiting = self.fences.pop(data[0], None)
        elif event.window == self.root and data[0] == self.atoms["_NET_WM_PING"]:
            waiting = self.pings.pop(data[1], None)
            self._pinged.pop(data[1], None)
        else:
            return
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def new_frame(self, future: asyncio.Future[None]) -> int:
        """A window to ask the window manager about. Each question has its own: an answer may never come, or
        come late, and must not be taken for that to another."""
        window = self._new_window(self.own)  # below ours, or all who watch the screen would be told of it
        self.select(window, X.EventMask.PropertyChange)
        self._frames[window] = future
        return window

    def _frame_came(self, event: Any) -> None:
        if event.atom != self.atoms["_NET_FRAME_EXTENTS"]:
            return
        self.manager_spoke = True
        waiting = self._frames.pop(event.window)
        self.core.DestroyWindow(event.window)
        if not waiting.done():
            waiting.set_result(None)

    def window_left(self, window: int) -> None:
        """A window is gone from the screen, so it answers no more: that it went is the sign of life."""
        for serial in [each for each, pinged in self._pinged.items() if pinged == window]:
            del self._pinged[serial]
            waiting = self.pings.pop(serial, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    def send(self) -> None:
        """Have what was asked for go out; what comes meanwhile is not handled."""
        self._connection.flush()

    def flush(self) -> None:
        """The same, and handle what has come."""
        self.send()
        self.drain()

    def new_id(self) -> int:
        """A number for something that is made on the server."""
        return int(self._connection.generate_id())

    def _new_window(self, parent: int) -> int:
        """A window that never shows."""
        window = self.new_id()
        self.core.CreateWindow(0, window, parent, 0, 0, 1, 1, 0, _INPUT_ONLY, 0, 0, [])
        return window

    def close(self, failure: DisplayFailed) -> None:
        """End the connection; whoever waits for a fence or a ping gets the failure."""
        self._connection.disconnect()
        for waiting in [*self.fences.values(), *self.pings.values(), *self._frames.values()]:
            if waiting is not None and not waiting.done():
                waiting.set_exception(failure)

    def replies(self, cookies: Sequence[Any]) -> list[Any]:
        """The answers to requests, in order; None where a window had vanished."""
        if not self.wait(self.fences, self.send_fence(None), self.answer_seconds):
            raise DisplayFailed(self.silence())
        replies = []
        for cookie in cookies:
            try:
                replies.append(cookie.reply())
            except xcffib.Error:  # the window is gone
                replies.append(None)
        self.drain()
        return replies

    def silence(self) -> str:
        """What is said of a server that did not answer."""
        return f"the X server answered nothing for {self.answer_seconds:.0f} s"

    def wait(self, waiting: _Waiting, serial: int, seconds: float) -> bool:
        """Block until a fence or a ping is back; False when it was not in time."""
        deadline = time.monotonic() + seconds
        more = self.drain()
        while serial in waiting:
            left = deadline - time.monotonic()
            if left <= 0:
                waiting.pop(serial)
                return False
            if not more:
                select.select([self.file], [], [], left)
            more = self.drain()
        return True

    def _new_serial(self) -> int:
        """A number that no program can guess, and so answer before its time."""
        while True:
            serial = secrets.randbits(31)
            if serial and serial not in self.fences and serial not in self.pings:
                return serial

    def send_fence(self, future: asyncio.Future[None] | None) -> int:
        """Send ourselves a message; it is out of `fences` when it is back."""
        serial = self._new_serial()
        self.fences[serial] = future
        self.message(self.own, self.own, _FENCE, [serial], mask=0)
        self.send()
        return serial

    def send_ping(self, window: int, future: asyncio.Future[None] | None) -> int:
        """Ask an application for a sign of life; it is out of `pings` when that came."""
        serial = self._new_serial()
        self.pings[serial] = future
        self._pinged[serial] = window
        data = [self.atoms["_NET_WM_PING"], serial, window]
        self.message(window, window, self.atoms["WM_PROTOCOLS"], data, mask=0)
        self.send()
        return serial

    def message(self, to: int, about: int, kind: int, data: Sequence[int], *, mask: int) -> None:
        words = [word & 0xFFFFFFFF for word in (*data, 0, 0, 0, 0, 0)[:5]]
        event = struct.pack("=BBHII5I", _CLIENT_MESSAGE, 32, 0, about, kind, *words)
        self.core.SendEvent(False, to, mask, event)

    def write_text(self, window: int, name: str, text: str) -> None:
        """Set a property to a text."""
        data = text.encode("latin-1", "replace")
        string, bits = 31, 8
        self.core.ChangeProperty(_REPLACE, window, self.atoms[name], string, bits, len(data), data)

    def own_selection(self, name: str) -> None:
        """Become the owner of a selection: from then on its requests come as events."""
        self.core.SetSelectionOwner(self.own, self.atoms[name], _NOW)

    def answer_request(self, request: Any, kind: int, bits: int, data: bytes) -> None:
        """Give who asked for a selection its data, of that type and in units of so many bits."""
        place = request.property or request.target  # old programs name no property
        self.core.ChangeProperty(_REPLACE, request.requestor, place, kind, bits, len(data) * 8 // bits, data)
        self._tell_requestor(request, place)

    def refuse_request(self, request: Any) -> None:
        """Say that the selection cannot be had in that form."""
        self._tell_requestor(request, _NO_PROPERTY)

    def _tell_requestor(self, request: Any, place: int) -> None:
        told = (request.time, request.requestor, request.selection, request.target, place)
        event = struct.pack("=BBH5I8x", _SELECTION_NOTIFY, 0, 0, *told)
        self.core.SendEvent(False, request.requestor, 0, event)
        self.send()

    def select(self, window: int, mask: int) -> None:
        self.core.ChangeWindowAttributes(window, X.CW.EventMask, [mask])

    def watch(self, window: int) -> None:
        self.select(window, X.EventMask.PropertyChange | X.EventMask.StructureNotify)

    def property(self, window: int, name: str) -> Any:
        return self.core.GetProperty(False, window, self.atoms[name], _ANY_TYPE, 0, _PROPERTY_WORDS)

    def process_of(self, window: int) -> Any:
        return self._resources.QueryClientIds(1, [_RES.ClientIdSpec.synthetic(window, _LOCAL_PID)])

    def fake(self, kind: int, detail: int, milliseconds: int = 0, place: tuple[int, int] = (0, 0)) -> None:
        root = self.root if kind == MOTION else 0
        self._test.FakeInput(kind, detail, milliseconds, root, *place, 0)


async def shake_hands(socket: Path, *, seconds: float) -> Any:
    """The library's connection to the server that listens on a socket, also when it is still starting."""
    deadline = time.monotonic() + seconds
    pipe = await _connected(socket, deadline)
    spare = pipe.dup()  # to end a handshake that hangs: the library has no deadline for it
    handshake = asyncio.ensure_future(asyncio.to_thread(xcffib.Connection, fd=pipe.detach()))
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
            return await asyncio.shield(handshake)
    except TimeoutError:
        await _give_up(handshake, spare)
        raise DisplayFailed(f"the X server on {socket} did not answer within {seconds:.1f} s") from None
    except xcffib.XcffibException as problem:
        raise DisplayFailed(f"the X server on {socket} refused: {problem}") from problem
    except BaseException:  # also when cancelled: nothing may stay behind
        await _give_up(handshake, spare)
        raise
    finally:
        spare.close()


async def _connected(socket: Path, deadline: float) -> sockets.socket:
    while True:
        pipe = sockets.socket(sockets.AF_UNIX)
        try:
            pipe.connect(str(socket))
        except OSError as problem:
            pipe.close()
            if time.monotonic() > deadline:
                raise DisplayFailed(f"no X server listens on {socket}: {problem}") from problem
        else:
            return pipe
        await asyncio.sleep(_RETRY_SECONDS)


async def _give_up(handshake: asyncio.Future[Any], spare: sockets.socket) -> None:
    """End a handshake, and close the connection if there was one after all."""

    def drop(handshake: asyncio.Future[Any]) -> None:
        if not handshake.cancelled() and handshake.exception() is None:
            handshake.result().disconnect()

    handshake.add_done_callback(drop)
    with contextlib.suppress(OSError):  # the server has hung up already
        spare.shutdown(sockets.SHUT_RDWR)
    await asyncio.wait([handshake])
