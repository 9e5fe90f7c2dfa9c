"""The windows on an X screen, read in few round trips and remembered until an event says otherwise."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from screensearch.domain.screen import Box

_KINDS = {
    "NORMAL": "normal",
    "DIALOG": "dialog",
    "MENU": "menu",
    "DROPDOWN_MENU": "menu",
    "POPUP_MENU": "menu",
    "COMBO": "popup",
    "DND": "popup",
    "TOOLTIP": "tooltip",
    "NOTIFICATION": "notification",
    "DESKTOP": "desktop",
    "DOCK": "dock",
    "SPLASH": "splash",
    "UTILITY": "utility",
    "TOOLBAR": "utility",
}
_TYPE = "_NET_WM_WINDOW_TYPE_"
PROPERTIES = (
    "_NET_WM_WINDOW_TYPE",
    "_NET_WM_NAME",
    "WM_NAME",
    "_NET_WM_PID",
    "WM_CLASS",
    "WM_TRANSIENT_FOR",
    "_NET_WM_STATE",
    "_GTK_FRAME_EXTENTS",
    "WM_PROTOCOLS",
)
"""What is read of a window: other properties that change mean nothing here."""
LISTS = ("_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST")
"""The managed windows, on the root window."""
ATOMS = (*PROPERTIES, *LISTS, *(_TYPE + name for name in _KINDS), "_NET_WM_STATE_MODAL")

_UNMAPPED = 0
_INPUT_OUTPUT = 1
_LEVELS = 16  # a window within more than so many others is not looked for


@dataclass(frozen=True, slots=True)
class XWindow:
    """A top-level window that is on the screen.

    `box` is what a person sees of it, without the decorations of the window manager; `raw_box`, as X has
    it, may add an invisible shadow of the application's own. `kind` is one of normal, dialog, menu, popup,
    tooltip, notification, desktop, dock, splash, utility. `pid` counts as the server's own processes do.
    """

    id: int
    box: Box
    raw_box: Box
    title: str
    pid: int | None
    kind: str
    wm_class: str
    override_redirect: bool
    transient_for: int | None
    modal: bool


@dataclass(frozen=True, slots=True)
class Properties:
    """What a window says of itself. `shadow` is left, right, top, bottom; `kinds` in its own order."""

    title: str
    pid: int | None
    kinds: tuple[str, ...]
    wm_class: str
    transient_for: int | None
    modal: bool
    shadow: tuple[int, int, int, int]
    protocols: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Attributes:
    mapped: bool  # it shows if what holds it is mapped, too; of that, no event tells the window itself
    drawn: bool  # not one that only takes input
    override_redirect: bool


class Wire(Protocol):
    """What reading windows needs of a connection."""

    core: Any  # makes requests, each giving a cookie
    root: int
    atoms: Mapping[str, int]

    def replies(self, cookies: Sequence[Any]) -> list[Any]:
        """The answers, in order; None for what asked about a window that had vanished."""
        ...

    def property(self, window: int, name: str) -> Any:
        """Ask for a property."""
        ...

    def process_of(self, window: int) -> Any:
        """Ask for the process that made a window."""
        ...

    def watch(self, window: int) -> None:
        """Have changes of a window and of its properties told from now on."""
        ...


class WindowTable:
    """What is known of the windows. Events drop what they made untrue; reading fills it again."""

    def __init__(self, wire: Wire, size: tuple[int, int]) -> None:
        self._wire = wire
        self._size = size
        self._names = {atom: name for name, atom in wire.atoms.items()}
        self._listing: list[XWindow] = []
        self._current = False  # the listing is
        self._properties: dict[int, Properties] = {}
        self._attributes: dict[int, _Attributes] = {}
        self._boxes: dict[int, Box] = {}
        self._frames: dict[int, int] = {}  # managed window → its ancestor below the root
        self._touched: set[int] = set()  # windows that events told of while answers were awaited
        self._moved = self._appeared = False  # likewise: a window moved, or came into view

    def listing(self) -> list[XWindow]:
        """The windows on the screen, lowest first."""
        if not self._current:
            self._current = True  # first: an event that comes with the answers may say otherwise
            with self._reading():
                self._listing = self._read()
        return list(self._listing)

    def ancestor(self, window: int, among: Callable[[int, int], bool]) -> int | None:
        """The window, or the nearest one that holds it, for which `among(window, parent)` is true."""
        for _ in range(_LEVELS):
            (tree,) = self._wire.replies([self._wire.core.QueryTree(window)])
            if tree is None or tree.parent == 0:
                return None
            if among(window, tree.parent):
                return window
            window = tree.parent
        return None

    def properties(self, windows: Sequence[int]) -> dict[int, Properties]:
        """What windows say of themselves; those that vanished are missing."""
        with self._reading():
            return self._learn_properties(windows)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Events that come with the answers are newer than these: what they told of is read again."""
        self._touched.clear()
        self._moved = self._appeared = False
        yield
        for window in self._touched:
            self._drop(window)
        if self._appeared:
            self._attributes.clear()
        if self._moved:
            self._boxes.clear()

    def _drop(self, window: int) -> None:
        self._attributes.pop(window, None)
        self._boxes.pop(window, None)
        self._frames.pop(window, None)
        self._properties.pop(window, None)

    def _learn_properties(self, windows: Sequence[int]) -> dict[int, Properties]:
        unknown = [window for window in windows if window not in self._properties]
        cookies = []
        for window in unknown:
            self._wire.watch(window)
            cookies += [self._wire.property(window, name) for name in PROPERTIES]
            cookies.append(self._wire.process_of(window))
        replies = self._wire.replies(cookies) if cookies else []
        step = len(PROPERTIES) + 1
        for number, window in enumerate(unknown):
            mine = replies[number * step : (number + 1) * step]
            if None not in mine:
                said = dict(zip(PROPERTIES, mine, strict=False))
                self._properties[window] = self._understood(said, mine[-1])
        return {window: self._properties[window] for window in windows if window in self._properties}

    # ---- what events say

    def changed_list(self) -> None:
        """Windows appeared, vanished or changed their order."""
        self._current = False

    def changed_properties(self, window: int) -> None:
        """A window says something else of itself."""
        self._properties.pop(window, None)
        self._touched.add(window)
        self._current = False

    def changed_visibility(self, window: int) -> None:
        """A window was mapped or unmapped; what is inside of it comes into view without a word."""
        self._attributes.clear()
        self._touched.add(window)
        self._appeared = True
        self._current = False

    def changed_place(self) -> None:
        """A window moved, was resized or restacked; those inside of it with it."""
        self._boxes.clear()
        self._moved = True
        self._current = False

    def changed_parent(self, window: int) -> None:
        """A window got another parent."""
        self._frames.pop(window, None)
        self.changed_visibility(window)
        self.changed_place()

    def forget(self, window: int) -> bool:
        """A window is no more; whether it was known here.

        A window manager makes and drops one whenever it is asked for the width of a frame: such a window is
        not worth a look at all the others.
        """
        known = any(window in each for each in (self._attributes, self._properties, self._frames))
        self._drop(window)
        self._touched.add(window)
        self._current = self._current and not known
        return known

    # ---- reading

    def _read(self) -> list[XWindow]:
        wire = self._wire
        tree, stacking, plain = wire.replies(
            [wire.core.QueryTree(wire.root), *(wire.property(wire.root, name) for name in LISTS)]
        )
        tops = list(tree.children) if tree else []
        clients = list(words(stacking)) or list(words(plain))
        has_manager = plain is not None and plain.type != 0
        # First, since it has the clients watched: within its frame, only that tells of a client's mapping.
        self._learn_frames(clients)
        self._learn_attributes([*tops, *clients])
        client_of = {self._frames[client]: client for client in clients if client in self._frames}
        shown: list[int] = []
        for top in tops:
            window = client_of.get(top, top)
            outer, attributes = self._attributes.get(top), self._attributes.get(window)
            if outer is None or attributes is None:
                continue
            if not (outer.mapped and attributes.mapped and attributes.drawn):
                continue
            # With a manager, any other window is a frame whose client is not listed yet, or no more.
            if top in client_of or attributes.override_redirect or not has_manager:
                shown.append(window)
        said = self._learn_properties(shown)
        self._learn_boxes(shown)
        return [
            _window(window, self._boxes[window], said[window], self._attributes[window])
            for window in shown
            if window in said and window in self._attributes and self._on_screen(self._boxes.get(window))
        ]

    def _learn_attributes(self, windows: Iterable[int]) -> None:
        unknown = [window for window in dict.fromkeys(windows) if window not in self._attributes]
        if not unknown:
            return
        replies = self._wire.replies([self._wire.core.GetWindowAttributes(window) for window in unknown])
        for window, reply in zip(unknown, replies, strict=True):
            if reply is not None:
                self._attributes[window] = _Attributes(
                    mapped=reply.map_state != _UNMAPPED,
                    drawn=reply._class == _INPUT_OUTPUT,
                    override_redirect=bool(reply.override_redirect),
                )

    def _learn_frames(self, clients: Iterable[int]) -> None:
        for client in clients:
            if client not in self._frames:
                self._wire.watch(client)
                frame = self.ancestor(client, lambda _, parent: parent == self._wire.root)
                if frame is not None:
                    self._frames[client] = frame

    def _learn_boxes(self, windows: Iterable[int]) -> None:
        unknown = [window for window in windows if window not in self._boxes]
        if not unknown:
            return
        core, cookies = self._wire.core, []
        for window in unknown:
            cookies.append(core.GetGeometry(window))
            cookies.append(core.TranslateCoordinates(window, self._wire.root, 0, 0))
        replies = self._wire.replies(cookies)
        for window, size, place in zip(unknown, replies[::2], replies[1::2], strict=True):
            if size is not None and place is not None:
                self._boxes[window] = Box(place.dst_x, place.dst_y, size.width, size.height)

    def _on_screen(self, box: Box | None) -> bool:
        return box is not None and -box.width < box.x < self._size[0] and -box.height < box.y < self._size[1]

    def _understood(self, said: Mapping[str, Any], processes: Any) -> Properties:
        types = (self._names.get(atom, "").removeprefix(_TYPE) for atom in words(said["_NET_WM_WINDOW_TYPE"]))
        pids = [pid for each in processes.ids for pid in each.value if pid]
        shadow = words(said["_GTK_FRAME_EXTENTS"])
        title = _bytes(said["_NET_WM_NAME"]).decode("utf-8", "replace")
        return Properties(
            title=title or _bytes(said["WM_NAME"]).decode("latin-1"),
            # The server knows who made a window; what the window says itself may be anything.
            pid=next(iter([*pids, *words(said["_NET_WM_PID"])]), None),
            kinds=tuple(_KINDS[name] for name in types if name in _KINDS),
            wm_class=_bytes(said["WM_CLASS"]).decode("latin-1").rstrip("\0").split("\0")[-1],
            transient_for=next((word for word in words(said["WM_TRANSIENT_FOR"]) if word), None),
            modal=self._wire.atoms["_NET_WM_STATE_MODAL"] in words(said["_NET_WM_STATE"]),
            shadow=(shadow[0], shadow[1], shadow[2], shadow[3]) if len(shadow) == 4 else (0, 0, 0, 0),
            protocols=frozenset(words(said["WM_PROTOCOLS"])),
        )


def words(reply: Any) -> tuple[int, ...]:
    """A property of 32-bit words; empty if it is of another kind or not there."""
    if reply is None or reply.format != 32:
        return ()
    return struct.unpack(f"={reply.value_len}I", _bytes(reply))


def _bytes(reply: Any) -> bytes:
    return bytes(reply.value.buf()) if reply.value_len else b""


def _window(window: int, raw: Box, said: Properties, attributes: _Attributes) -> XWindow:
    left, right, top, bottom = said.shadow
    if attributes.override_redirect:
        # No manager looks after it, so it cannot be a normal window, whatever it says.
        kind = next((kind for kind in said.kinds if kind not in ("normal", "dialog")), "popup")
    else:
        kind = next(iter(said.kinds), "dialog" if said.transient_for else "normal")
    return XWindow(
        id=window,
        box=Box(raw.x + left, raw.y + top, raw.width - left - right, raw.height - top - bottom),
        raw_box=raw,
        title=said.title,
        pid=said.pid,
        kind=kind,
        wm_class=said.wm_class,
        override_redirect=attributes.override_redirect,
        transient_for=said.transient_for,
        modal=said.modal,
    )
