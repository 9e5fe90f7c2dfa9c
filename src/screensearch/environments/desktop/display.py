"""The X display of a desktop: its windows, what changed on it, and input. The one module that speaks X.

No answer is waited for without end: requests are followed by a message to ourselves, a fence; once it is
back, all the answers are here.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import secrets
import select
import socket as sockets
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import xcffib
import xcffib.damage
import xcffib.res
import xcffib.xfixes
import xcffib.xproto
import xcffib.xtest

from screensearch.domain.screen import Box
from screensearch.environments.desktop import xwindows
from screensearch.environments.desktop.settings import Placement
from screensearch.environments.desktop.xinput import MOTION, Input
from screensearch.environments.desktop.xwindows import WindowTable, XWindow
from screensearch.errors import EnvironmentFailed

__all__ = ["Display", "DisplayFailed", "XWindow"]

_X: Any = xcffib.xproto  # generated and untyped
_RES: Any = xcffib.res
_EXTENSIONS = ("DAMAGE", "XFIXES", "XTEST", "X-Resource")
_ATOMS = (
    *xwindows.ATOMS,
    "_NET_WM_STATE_MAXIMIZED_VERT",
    "_NET_WM_STATE_MAXIMIZED_HORZ",
    "_NET_ACTIVE_WINDOW",
    "_NET_CLOSE_WINDOW",
    "AT_SPI_BUS",
    "_NET_MOVERESIZE_WINDOW",
    "_NET_WM_PING",
    "WM_DELETE_WINDOW",
)
_ANSWER_SECONDS = 10.0  # a server that answers nothing for so long is broken
_HANDLED_SECONDS = 1.0  # for the application to handle keys, before their keycodes get another meaning
_RETRY_SECONDS = 0.01  # between two looks for a server that is still starting
_TURN_EVENTS = 256  # handled in a row: a client that sends without end must not keep the loop from turning
_DAMAGE_LIMIT = 32  # rectangles; more become the one around them
_PROPERTY_WORDS = 1024  # 4 bytes each: longer titles are cut
_ANY_TYPE = 0
_INPUT_ONLY = 2
_FENCE = 19  # the type of our messages to ourselves: INTEGER, an atom that always is
_LOCAL_PID = 2
_CLIENT_MESSAGE = 33
_FROM_A_PAGER = 2  # a manager heeds requests of a pager, where it might hold back an application's own

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Waiting = dict[int, "asyncio.Future[None] | None"]


class DisplayFailed(EnvironmentFailed):
    """The X server cannot be reached, does not answer, or lacks something."""


class _Wire:
    """The connection: requests, answers, fences, and one function that is given every other event."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.core = connection.core
        setup = connection.get_setup()
        self.root: int = setup.roots[0].root
        self.size: tuple[int, int] = (setup.roots[0].width_in_pixels, setup.roots[0].height_in_pixels)
        self.keycodes: tuple[int, int] = (setup.min_keycode, setup.max_keycode)
        self.file: int = connection.get_file_descriptor()
        self.fences: _Waiting = {}  # sent, not yet back
        self.pings: _Waiting = {}
        self._pinged: dict[int, int] = {}  # serial of a ping → the window it went to
        self._own: int = connection.generate_id()  # a window that never shows, for messages to ourselves
        self.core.CreateWindow(0, self._own, self.root, 0, 0, 1, 1, 0, _INPUT_ONLY, 0, 0, [])
        self.atoms: Mapping[str, int] = {}
        self.on_event: Callable[[Any], None] = lambda event: None
        self.after_events: Callable[[], bool] = lambda: False  # whether it sent something
        self.on_backlog: Callable[[], None] = lambda: None  # there may be more than was handled
        self._require(_EXTENSIONS)
        replies = self.replies([self.core.InternAtom(False, len(name), name) for name in _ATOMS])
        self.atoms = {name: reply.atom for name, reply in zip(_ATOMS, replies, strict=True)}
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
        for _ in range(_TURN_EVENTS):
            try:
                event = self.connection.poll_for_event()
            except (xcffib.Error, LookupError):
                continue  # a window that vanished before our request about it, or an event nobody knows
            if event is None:
                if self.after_events():
                    continue
                return False
            if isinstance(event, _X.ClientMessageEvent):
                self._message_came(event)
            else:
                self.on_event(event)
        self.after_events()
        self.on_backlog()
        return True

    def _message_came(self, event: Any) -> None:
        data = event.data.data32
        if event.window == self._own:
            waiting = self.fences.pop(data[0], None)
        elif event.window == self.root and data[0] == self.atoms["_NET_WM_PING"]:
            waiting = self.pings.pop(data[1], None)
            self._pinged.pop(data[1], None)
        else:
            return
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def window_left(self, window: int) -> None:
        """A window is gone from the screen, so it answers no more: that it went is the sign of life."""
        for serial in [each for each, pinged in self._pinged.items() if pinged == window]:
            del self._pinged[serial]
            waiting = self.pings.pop(serial, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    def flush(self) -> None:
        self.connection.flush()
        self.drain()

    def replies(self, cookies: Sequence[Any]) -> list[Any]:
        """The answers to requests, in order; None where a window had vanished."""
        if not self.wait(self.fences, self.send_fence(None), _ANSWER_SECONDS):
            raise DisplayFailed(f"the X server answered nothing for {_ANSWER_SECONDS:.0f} s")
        replies = []
        for cookie in cookies:
            try:
                replies.append(cookie.reply())
            except xcffib.Error:  # the window is gone
                replies.append(None)
        self.drain()
        return replies

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
        self.message(self._own, self._own, _FENCE, [serial], mask=0)
        self.connection.flush()
        return serial

    def send_ping(self, window: int, future: asyncio.Future[None] | None) -> int:
        """Ask an application for a sign of life; it is out of `pings` when that came."""
        serial = self._new_serial()
        self.pings[serial] = future
        self._pinged[serial] = window
        data = [self.atoms["_NET_WM_PING"], serial, window]
        self.message(window, window, self.atoms["WM_PROTOCOLS"], data, mask=0)
        self.connection.flush()
        return serial

    def message(self, to: int, about: int, kind: int, data: Sequence[int], *, mask: int) -> None:
        words = [word & 0xFFFFFFFF for word in (*data, 0, 0, 0, 0, 0)[:5]]
        event = struct.pack("=BBHII5I", _CLIENT_MESSAGE, 32, 0, about, kind, *words)
        self.core.SendEvent(False, to, mask, event)

    def write_text(self, window: int, name: str, text: str) -> None:
        """Set a property to a text."""
        data = text.encode("latin-1", "replace")
        replace, string, bits = 0, 31, 8
        self.core.ChangeProperty(replace, window, self.atoms[name], string, bits, len(data), data)

    def select(self, window: int, mask: int) -> None:
        self.core.ChangeWindowAttributes(window, _X.CW.EventMask, [mask])

    def watch(self, window: int) -> None:
        self.select(window, _X.EventMask.PropertyChange | _X.EventMask.StructureNotify)

    def property(self, window: int, name: str) -> Any:
        return self.core.GetProperty(False, window, self.atoms[name], _ANY_TYPE, 0, _PROPERTY_WORDS)

    def process_of(self, window: int) -> Any:
        return self._resources.QueryClientIds(1, [_RES.ClientIdSpec.synthetic(window, _LOCAL_PID)])

    def fake(self, kind: int, detail: int, milliseconds: int = 0, place: tuple[int, int] = (0, 0)) -> None:
        root = self.root if kind == MOTION else 0
        self._test.FakeInput(kind, detail, milliseconds, root, *place, 0)


def _guarded(method: Callable[Concatenate[Display, _P], _R]) -> Callable[Concatenate[Display, _P], _R]:
    """Translate the errors of a broken connection, and note that it is broken."""

    @functools.wraps(method)
    def wrapper(display: Display, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if display.closed.done():
            raise DisplayFailed(f"the connection to the X server has ended: {display.closed.result()}")
        try:
            return method(display, *args, **kwargs)
        except xcffib.XcffibException as problem:
            raise display._end(str(problem) or type(problem).__name__) from problem
        except DisplayFailed as problem:
            display._end(str(problem))
            raise

    return wrapper


class Display:
    """A connection to an X server, used within one event loop. Make it with `connect`.

    What is asked of it goes out at once. Of what changed it knows what the server has told so far; after
    `sync` that is everything. When the connection ends, `closed` says why, and every method raises
    `DisplayFailed`.
    """

    def __init__(self, connection: Any, *, double_click_seconds: float) -> None:
        self._wire = wire = _Wire(connection)
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[str] = self._loop.create_future()
        self.size = wire.size
        self._callbacks: list[Callable[[], None]] = []
        self._tells = self._changed = self._drawn = False  # callbacks are due; something, pixels changed
        self._damaged: dict[tuple[int, int, int, int], None] = {}
        self._returns = False  # to events that were left for the next turn
        self._active: int | None = None
        self._active_known = False
        self._windows = WindowTable(wire, self.size)
        self._input = Input(
            wire,
            self.size,
            double_click_seconds=double_click_seconds,
            until_handled=self._wait_until_handled,
        )
        wire.on_event, wire.after_events = self._handle, self._after_events
        wire.on_backlog = self._come_back
        # Qt answers a ping to those who watch the root's own structure, GTK to those who watch what is below.
        watched = _X.EventMask.StructureNotify | _X.EventMask.SubstructureNotify
        wire.select(wire.root, watched | _X.EventMask.PropertyChange)
        wire.fixes.HideCursor(wire.root)  # the server paints it into the picture otherwise
        self._damage: int = connection.generate_id()
        wire.damage.Create(self._damage, wire.root, xcffib.damage.ReportLevel.DeltaRectangles)
        wire.flush()
        self._loop.add_reader(wire.file, self._readable)

    @classmethod
    async def connect(cls, socket: Path, *, seconds: float, double_click_seconds: float = 0.4) -> Display:
        """Connect to the server that listens on a socket, also when it is still starting.

        Clicks at one place are kept `double_click_seconds` apart, so that two of them do not become a
        double click that nobody asked for; the server makes that pause.
        """
        deadline = time.monotonic() + seconds
        pipe = await _connected(socket, deadline)
        spare = pipe.dup()  # to end a handshake that hangs: the library has no deadline for it
        handshake = asyncio.ensure_future(asyncio.to_thread(xcffib.Connection, fd=pipe.detach()))
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                connection: Any = await asyncio.shield(handshake)
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
        try:
            return cls(connection, double_click_seconds=double_click_seconds)
        except xcffib.XcffibException as problem:
            connection.disconnect()
            raise DisplayFailed(f"the X server on {socket} went away: {problem}") from problem
        except BaseException:
            connection.disconnect()
            raise

    def close(self) -> None:
        """End the connection. Doing it twice is harmless."""
        self._end("it was closed")

    # ---- what is on the screen

    @_guarded
    def windows(self) -> list[XWindow]:
        """The windows on the screen, lowest first: managed ones, and menus and the like between them.

        Costs nothing while nothing changed.
        """
        self._wire.drain()
        return self._windows.listing()

    @_guarded
    def active(self) -> int | None:
        """The window that the window manager calls active."""
        self._wire.drain()
        if not self._active_known:
            self._active_known = True  # first, since an event may arrive with the answer
            (reply,) = self._wire.replies([self._wire.property(self._wire.root, "_NET_ACTIVE_WINDOW")])
            self._active = next((word for word in xwindows.words(reply) if word), None)
        return self._active

    @_guarded
    def focus(self) -> int | None:
        """The window that keys go to: one of `windows` when the focus is within it, else what has it."""
        return self._focus()

    def on_activity(self, callback: Callable[[], None]) -> None:
        """Have `callback` called by the event loop after pixels or windows changed."""
        self._callbacks.append(callback)

    @_guarded
    def take_damage(self) -> list[Box]:
        """The rectangles that were drawn in since the last call."""
        self._wire.drain()
        damaged = [Box(*rectangle) for rectangle in self._damaged]
        self._damaged.clear()
        return damaged

    async def sync(self) -> None:
        """Return when the server has handled all that was sent, and all that it told is known."""
        future = self._begin(self._wire.send_fence)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await future
        except TimeoutError:
            raise self._end(f"the X server answered nothing for {_ANSWER_SECONDS:.0f} s") from None

    async def answers(self, window: int, *, seconds: float) -> bool:
        """Whether the application of a window handles its X events, in which case all input so far, too.

        One that does not speak the protocol for it, or has no such window any more, is taken to answer.
        """
        if not self._speaks_ping(window):
            await self.sync()
            return True
        future = self._begin(functools.partial(self._wire.send_ping, window))
        try:
            async with asyncio.timeout(seconds):
                await future
        except TimeoutError:
            return False
        return True

    # ---- input

    @_guarded
    def move_pointer(self, x: float, y: float) -> None:
        """Move the pointer, within the screen."""
        self._input.move(x, y)
        self._wire.flush()

    @_guarded
    def click(self, x: float, y: float, *, button: int = 1, count: int = 1) -> None:
        """Move the pointer there, then press and release a button, `count` times in a row.

        Await `answers` before the pointer moves on: a window manager that looks at clicks first was seen to
        let them through with the place of a later movement.
        """
        self._input.click(x, y, button=button, count=count)
        self._wire.flush()

    @_guarded
    def scroll(self, x: float, y: float, direction: str, amount: int) -> None:
        """Move the pointer there and turn the wheel ``up``, ``down``, ``left`` or ``right``."""
        self._input.scroll(x, y, direction, amount)
        self._wire.flush()

    @_guarded
    def press(self, combination: str) -> None:
        """Press a key with its modifiers, such as ``Escape``, ``ctrl+shift+s`` or ``F10``."""
        self._input.press(combination)
        self._wire.flush()

    @_guarded
    def type_text(self, text: str) -> None:
        """Type any text where the focus is; a newline is Return and a tab is Tab."""
        self._input.type_text(text)
        self._wire.flush()

    @_guarded
    def announce_accessibility(self, address: str) -> None:
        """Write the address of the accessibility bus where Qt 5 looks for it, once, as it starts."""
        self._wire.write_text(self._wire.root, "AT_SPI_BUS", address)
        self._wire.flush()

    # ---- requests to the window manager

    @_guarded
    def activate(self, window: int) -> None:
        """Ask for a window to be raised and to take the input."""
        self._ask_manager("_NET_ACTIVE_WINDOW", window, _FROM_A_PAGER)

    @_guarded
    def place(self, window: int, placement: Placement) -> None:
        """Ask for a window's size, and for the place of its decorations; its shadow does not count."""
        maximized = [self._wire.atoms[f"_NET_WM_STATE_MAXIMIZED_{way}"] for way in ("VERT", "HORZ")]
        remove = 0
        self._ask_manager("_NET_WM_STATE", window, remove, *maximized, _FROM_A_PAGER)
        said = self._windows.properties([window]).get(window)
        left, right, top, bottom = said.shadow if said else (0, 0, 0, 0)
        north_west, all_four = 1, 0xF00
        self._ask_manager(
            "_NET_MOVERESIZE_WINDOW",
            window,
            north_west | all_four | _FROM_A_PAGER << 12,
            placement.x - left,
            placement.y - top,
            placement.width + left + right,
            placement.height + top + bottom,
        )

    @_guarded
    def close_window(self, window: int) -> None:
        """Ask a window to close, as its close button does; it may ask back, or stay."""
        if window in self._windows.managed():
            self._ask_manager("_NET_CLOSE_WINDOW", window, 0, _FROM_A_PAGER)
        else:
            atoms = self._wire.atoms
            data = [atoms["WM_DELETE_WINDOW"]]
            self._wire.message(window, window, atoms["WM_PROTOCOLS"], data, mask=0)
            self._wire.flush()

    def _ask_manager(self, kind: str, window: int, *data: int) -> None:
        mask = _X.EventMask.SubstructureNotify | _X.EventMask.SubstructureRedirect
        self._wire.message(self._wire.root, window, self._wire.atoms[kind], data, mask=mask)
        self._wire.flush()

    # ---- events

    def _readable(self) -> None:
        try:
            self._wire.drain()
        except xcffib.XcffibException as problem:
            self._end(str(problem) or type(problem).__name__)

    def _come_back(self) -> None:
        if not self._returns:
            self._returns = True
            self._loop.call_soon(self._return)

    def _return(self) -> None:
        self._returns = False
        if not self.closed.done():
            self._readable()

    def _handle(self, event: Any) -> None:
        """Drop what an event made untrue."""
        windows = self._windows
        match event:
            case xcffib.damage.NotifyEvent():
                area = event.area
                self._damaged[(area.x, area.y, area.width, area.height)] = None
                if len(self._damaged) > _DAMAGE_LIMIT:
                    self._damaged = {_around(self._damaged): None}
                self._drawn = True
            case _X.MappingNotifyEvent():
                self._input.keyboard_changed(event.first_keycode, event.count)
                return
            case _X.PropertyNotifyEvent():
                if not self._property_changed(event.window, event.atom):
                    return
            case _X.DestroyNotifyEvent():
                self._wire.window_left(event.window)
                windows.forget(event.window)
            case _X.UnmapNotifyEvent():
                self._wire.window_left(event.window)
                windows.changed_visibility(event.window)
            case _X.CreateNotifyEvent() | _X.MapNotifyEvent():
                windows.changed_visibility(event.window)
            case _X.ReparentNotifyEvent():
                windows.changed_parent(event.window)
            case _X.ConfigureNotifyEvent() | _X.GravityNotifyEvent() | _X.CirculateNotifyEvent():
                windows.changed_place()
            case _:
                return
        self._changed = True

    def _property_changed(self, window: int, atom: int) -> bool:
        """Returns whether it is one that matters here."""
        atoms = self._wire.atoms
        if window != self._wire.root:
            if atom not in (atoms[name] for name in xwindows.PROPERTIES):
                return False
            self._windows.changed_properties(window)
        elif atom == atoms["_NET_ACTIVE_WINDOW"]:
            self._active_known = False
        elif atom in (atoms[name] for name in xwindows.LISTS):
            self._windows.changed_list()
        else:
            return False
        return True

    def _after_events(self) -> bool:
        if self._changed and not self._tells:
            self._tells = True
            self._loop.call_soon(self._tell)
        drawn, self._changed, self._drawn = self._drawn, False, False
        if drawn:  # what was reported is not reported again until it is taken off
            self._wire.damage.Subtract(self._damage, 0, 0)
            self._wire.connection.flush()
        return drawn

    def _tell(self) -> None:
        self._tells = False
        for callback in self._callbacks if not self.closed.done() else ():
            callback()

    def _end(self, reason: str) -> DisplayFailed:
        failure = DisplayFailed(f"the connection to the X server has ended: {reason}")
        if not self.closed.done():
            self.closed.set_result(reason)
            self._loop.remove_reader(self._wire.file)
            self._wire.connection.disconnect()
            for waiting in [*self._wire.fences.values(), *self._wire.pings.values()]:
                if waiting is not None and not waiting.done():
                    waiting.set_exception(failure)
        return failure

    # ---- waiting

    @_guarded
    def _begin(self, send: Callable[[asyncio.Future[None]], int]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        send(future)
        self._wire.drain()
        return future

    @_guarded
    def _speaks_ping(self, window: int) -> bool:
        said = self._windows.properties([window]).get(window)
        return said is not None and self._wire.atoms["_NET_WM_PING"] in said.protocols

    def _focus(self) -> int | None:
        (reply,) = self._wire.replies([self._wire.core.GetInputFocus()])
        none, pointer_root = 0, 1
        if reply.focus in (none, pointer_root, self._wire.root):
            return None
        listed = {window.id for window in self._windows.listing()}
        if reply.focus in listed:
            return int(reply.focus)
        holder = self._windows.ancestor(reply.focus, lambda window, parent: window in listed)
        return int(reply.focus) if holder is None else holder

    def _wait_until_handled(self) -> None:
        """Block until the application has handled the keys so far. It looks at its keyboard only then."""
        focus = self._focus()
        if focus is not None and self._speaks_ping(focus):
            self._wire.wait(self._wire.pings, self._wire.send_ping(focus, None), _HANDLED_SECONDS)


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


def _around(rectangles: Iterable[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    """The smallest rectangle around others."""
    lefts, tops, widths, heights = zip(*rectangles, strict=True)
    right = max(map(sum, zip(lefts, widths, strict=True)))
    bottom = max(map(sum, zip(tops, heights, strict=True)))
    return min(lefts), min(tops), right - min(lefts), bottom - min(tops)
