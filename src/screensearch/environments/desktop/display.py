"""The X display of a desktop: its windows, what changed on it, and input."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from screensearch.domain.screen import Box
from screensearch.environments.desktop import xclipboard, xmanager, xwindows
from screensearch.environments.desktop.deadlines import in_time
from screensearch.environments.desktop.xclipboard import Clipboard
from screensearch.environments.desktop.xconnection import (
    ConnectionBroken,
    DamageEvent,
    DisplayFailed,
    X,
    XConnection,
    shake_hands,
)
from screensearch.environments.desktop.xdamage import Damage
from screensearch.environments.desktop.xinput import Input
from screensearch.environments.desktop.xmanager import Manager
from screensearch.environments.desktop.xwindows import WindowTable, XWindow
from screensearch.environments.protocol import Taken

__all__ = ["Display", "DisplayFailed", "XWindow"]

_ATOMS = (*xwindows.ATOMS, *xmanager.ATOMS, *xclipboard.ATOMS, "AT_SPI_BUS")
_MANAGER_SECONDS = 1.0  # for the window manager to be through with the input so far
_HANDLED_SECONDS = 1.0  # for the application to handle keys, before their keycodes get another meaning

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _guarded(method: Callable[Concatenate[Display, _P], _R]) -> Callable[Concatenate[Display, _P], _R]:
    """Translate the errors of a broken connection, and note that it is broken."""

    @functools.wraps(method)
    def wrapper(display: Display, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if display.closed.done():
            raise DisplayFailed(f"the connection to the X server has ended: {display.closed.result()}")
        try:
            return method(display, *args, **kwargs)
        except ConnectionBroken as problem:
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
        self._wire = wire = XConnection(connection, _ATOMS)
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[str] = self._loop.create_future()
        self.size = wire.size
        self._callbacks: list[Callable[[], None]] = []
        self._tells = self._changed = False  # callbacks are due; something changed
        self._returns = False  # to events that were left for the next turn
        self._active: int | None = None
        self._active_known = False
        self._windows = WindowTable(wire, self.size)
        self._manager = Manager(wire)
        self._manager_asked = False
        self._input = Input(
            wire,
            self.size,
            double_click_seconds=double_click_seconds,
            until_handled=self._wait_until_handled,
        )
        self._clipboard = Clipboard(wire)
        self._update: asyncio.TimerHandle | None = None  # of the clipboard, under way
        wire.on_event, wire.after_events = self._handle, self._after_events
        wire.on_backlog = self._come_back
        # Qt answers a ping to those who watch the root's own structure, GTK to those who watch what is below.
        watched = X.EventMask.StructureNotify | X.EventMask.SubstructureNotify
        wire.select(wire.root, watched | X.EventMask.PropertyChange)
        wire.fixes.HideCursor(wire.root)  # the server paints it into the picture otherwise
        self._damage = Damage(wire)
        wire.flush()
        self._loop.add_reader(wire.file, self._readable)

    @classmethod
    async def connect(cls, socket: Path, *, seconds: float, double_click_seconds: float = 0.5) -> Display:
        """Connect to the server that listens on a socket, also when it is still starting.

        Clicks at one place are kept `double_click_seconds` apart, so that two of them do not become a
        double click that nobody asked for; the server makes that pause.
        """
        connection = await shake_hands(socket, seconds=seconds)
        try:
            return cls(connection, double_click_seconds=double_click_seconds)
        except ConnectionBroken as problem:
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
        return self._damage.take()

    async def sync(self) -> None:
        """Return when the server has handled all that was sent, and all that it told is known."""
        if not await in_time(self._begin(self._wire.send_fence), self._wire.answer_seconds):
            raise self._end(self._wire.silence())

    async def answers(self, window: int, *, seconds: float) -> bool:
        """Whether the application of a window handles its X events, in which case all input so far, too.

        One that does not speak the protocol for it, or has no such window any more, is taken to answer.
        """
        await self._manager_is_through()
        if not self._speaks_ping(window):
            await self.sync()
            return True
        answer = self._begin(functools.partial(self._wire.send_ping, window))
        if self._is_gone(window):  # that may have been told before it was asked, and is not told again
            self._wire.window_left(window)
        return await in_time(answer, seconds)

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

    # ---- the clipboard

    @_guarded
    def hold_clipboard(self, text: str) -> None:
        """Have the clipboard hold a text, as if a program had copied it; an update under way is dropped."""
        self._clipboard.hold(text)
        self._wire.flush()

    @_guarded
    def update_clipboard(self, text: str, *, seconds: float) -> float:
        """Have the clipboard hold another text so many seconds from now; returns when that is."""
        due = self._loop.time() + seconds  # which is the clock of `time.monotonic`
        self._clipboard.expect(text, due)
        self._drop_update()
        self._update = self._loop.call_at(due, self._catch_up)
        return due

    @_guarded
    def take_taken(self) -> list[Taken]:
        """What applications took from the clipboard since the last call."""
        self._wire.drain()
        return self._clipboard.take_taken()

    def _drop_update(self) -> None:
        if self._update is not None:
            self._update.cancel()

    def _catch_up(self) -> None:
        with contextlib.suppress(DisplayFailed):  # `closed` says it
            self._hold_what_is_due()

    @_guarded
    def _hold_what_is_due(self) -> None:
        self._clipboard.catch_up()
        self._wire.flush()

    # ---- requests to the window manager

    @_guarded
    def activate(self, window: int) -> None:
        """Ask for a window to be raised and to take the input."""
        self._manager.activate(window)
        self._wire.flush()

    # ---- events

    def _readable(self) -> None:
        try:
            self._wire.drain()
        except ConnectionBroken as problem:
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
            case DamageEvent():
                self._damage.add(event.area)
            case X.MappingNotifyEvent():
                self._input.keyboard_changed(event.first_keycode, event.count)
                return
            case X.SelectionRequestEvent():
                self._clipboard.answer(event)
                return
            case X.SelectionClearEvent():
                self._clipboard.lost(event)
                return
            case X.PropertyNotifyEvent():
                if not self._property_changed(event.window, event.atom):
                    return
            case X.DestroyNotifyEvent():
                self._wire.window_left(event.window)
                if not windows.forget(event.window):
                    return
            case X.UnmapNotifyEvent():
                self._wire.window_left(event.window)
                windows.changed_visibility(event.window)
            case X.MapNotifyEvent():  # one that was only created does not show
                windows.changed_visibility(event.window)
            case X.ReparentNotifyEvent():
                windows.changed_parent(event.window)
            case X.ConfigureNotifyEvent() | X.GravityNotifyEvent() | X.CirculateNotifyEvent():
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
        self._changed = False
        return self._damage.acknowledge()

    def _tell(self) -> None:
        self._tells = False
        for callback in self._callbacks if not self.closed.done() else ():
            callback()

    def _end(self, reason: str) -> DisplayFailed:
        failure = DisplayFailed(f"the connection to the X server has ended: {reason}")
        if not self.closed.done():
            self.closed.set_result(reason)
            self._drop_update()
            self._loop.remove_reader(self._wire.file)
            self._wire.close(failure)
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

    @_guarded
    def _is_gone(self, window: int) -> bool:
        (reply,) = self._wire.replies([self._wire.core.GetWindowAttributes(window)])
        return reply is None

    async def _manager_is_through(self) -> None:
        """Wait until the window manager has handled the input so far.

        It holds clicks back until it has looked at them. Keys and questions would overtake them, so that a
        text would be typed before the click that is to focus its entry.
        """
        if self._manager_asked and not self._wire.manager_spoke:
            return  # there is none, or it does not know the question; or it is slow, and will be heard
        self._manager_asked = True
        await in_time(self._begin(self._ask_manager), _MANAGER_SECONDS)

    def _ask_manager(self, future: asyncio.Future[None]) -> int:
        window = self._wire.new_frame(future)
        self._manager.measure_frame(window)
        self._wire.send()
        return window

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
