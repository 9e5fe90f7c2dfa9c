"""Everything the accessibility bus shows, kept current by events and checked by full walks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from screensearch.domain.screen import Box
from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call
from screensearch.environments.desktop.bus import Bus, CallFailed, CallTimedOut, Signal, first_value
from screensearch.environments.desktop.census import Census
from screensearch.environments.desktop.compare import Check, differences
from screensearch.environments.desktop.doubts import Mark, Origin
from screensearch.environments.desktop.mirror import Mirror
from screensearch.environments.desktop.node import AppRoot, Key, Node, Shift
from screensearch.environments.desktop.rules import (
    is_swing,
    name_of,
    placed,
    role_of,
    shows,
    state_mask,
)
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.environments.desktop.walk import Reader

_ROUNDS = 3
"""How often a refresh reads again what changed while it read."""

_RULES = (
    "type='signal',interface='org.a11y.atspi.Event.Object'",
    "type='signal',interface='org.a11y.atspi.Event.Window'",
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'",
)


@dataclass(slots=True)
class TreeCounts:
    """What was done so far, for reports."""

    walks: int = 0
    refreshes: int = 0
    mismatches: int = 0
    events: int = 0
    calls: int = 0
    partial: int = 0


@dataclass(frozen=True, slots=True)
class Refresh:
    """What it took to bring the mirror up to date; `partial`: not all that shows is in it."""

    calls: int
    nodes: int
    partial: bool


@dataclass(slots=True)
class Snapshot:
    """What a walk found."""

    mirror: Mirror
    partial: bool
    nodes: int
    calls: int
    late: bool = False  # time ran out


@dataclass(slots=True)
class Tree:
    """The mirror of the accessibility bus. Use `open`."""

    bus: Bus
    settings: DesktopSettings
    origin: Origin | None = None  # where a window that counts from its own corner is; GTK 4 needs it
    counts: TreeCounts = field(default_factory=TreeCounts)
    _mirror: Mirror = field(default_factory=Mirror)
    _census: Census = field(init=False)
    _listeners: list[Callable[[str, str], None]] = field(default_factory=list)
    _walked: Mirror | None = None  # what a walk under way has read so far: events are for it as well

    def __post_init__(self) -> None:
        self._census = Census(self.bus)

    @classmethod
    async def open(cls, bus: Bus, settings: DesktopSettings) -> Tree:
        """Ask for events, and read what is there."""
        tree = cls(bus, settings)
        bus.on_signal(tree._receive)
        for rule in _RULES:
            await bus.add_match(rule, seconds=settings.hang_seconds)
        await tree._census.ask_for_events(seconds=settings.hang_seconds)
        await tree.refresh()
        return tree

    @property
    def applications(self) -> list[AppRoot]:
        """The applications on the bus. One that leaves it is not listed any more."""
        return list(self._census.applications.values())

    @property
    def behind(self) -> frozenset[Key]:
        """The windows that were taken for behind when the tree was last read."""
        return self._mirror.behind

    def on_activity(self, callback: Callable[[str, str], None]) -> None:
        """Call this, with source and kind, whenever an event arrives that says something new."""
        self._listeners.append(callback)

    def windows(self) -> list[Node]:
        """The top-level elements of every application that show and have an area."""
        return _windows(self._mirror)

    def showing(self, window: Node) -> Iterator[Node]:
        """The window and what shows in it and has an area, parents first."""
        return (node for node in window.showing() if node.area > 0)

    async def refresh(self, damage: Sequence[Box] = (), *, behind: frozenset[Key] = frozenset()) -> Refresh:
        """Bring the mirror up to date: read what events named, and what the damaged pixels show.

        Of the windows `behind` others only whether they are there: what is in them is read once they no
        longer are. Takes no longer than `hang_seconds`; what is not read by then makes it partial,
        and the next refresh a walk.
        """
        self.counts.refreshes += 1
        before = self.bus.calls
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.settings.hang_seconds
        if self._census.due:
            await self._take_census(deadline - loop.time())
        self._mirror.put_behind(behind)
        if self._mirror.lost:
            return await self._start_over()
        self._mirror.make_room(self.settings.node_limit)
        self._mirror.doubt(damage, self.origin)
        self._mirror.mark_cut(self.settings.node_limit, self.settings.depth_limit)
        reader = Reader(self.bus, self.settings, self._mirror.index, moves=True)
        for _ in range(_ROUNDS):
            self._mirror.read_marked(reader)
            await reader.finish(deadline - loop.time())
            self._mirror.mark_parents_of(reader.gone)
            if reader.late or not self._mirror.marked:
                break
        for table in reader.unfinished:
            self._mirror.mark(table, Mark.CHILDREN)
        strange = bool(self._census.strangers)
        self._mirror.lost |= reader.late or strange
        self._mirror.lend_places()
        partial = reader.partial or self._mirror.is_cut() or strange
        self.counts.calls += self.bus.calls - before
        self.counts.partial += partial
        return Refresh(self.bus.calls - before, reader.nodes, partial)

    async def _start_over(self) -> Refresh:
        """Replace the mirror by a walk; unless that found even less of an application that is busy."""
        snapshot = await self.walk(self._mirror.behind)
        if not snapshot.late or snapshot.mirror.shown() >= self._mirror.shown():
            self._mirror = snapshot.mirror
        return Refresh(snapshot.calls, snapshot.nodes, snapshot.partial)

    async def walk(self, behind: frozenset[Key] = frozenset()) -> Snapshot:
        """Read everything anew, without the mirror and without changing it, within `walk_seconds`.

        Everything but what is in the windows `behind`.
        """
        before = self.bus.calls
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.settings.walk_seconds
        await self._take_census(self.settings.walk_seconds, again=True)
        reader = Reader(self.bus, self.settings, behind=behind)
        mirror = self._walked = Mirror(index=reader.index, behind=behind)
        try:
            for application in self._census.applications.values():
                reader.read_children(mirror.add_root(application), 0)
            await reader.finish(deadline - loop.time())
        finally:
            self._walked = None
        mirror.lend_places()
        mirror.leave_behind(self._mirror)
        strange = bool(self._census.strangers)
        partial = reader.partial or strange
        mirror.lost |= reader.late or strange
        calls = self.bus.calls - before
        self.counts.walks += 1
        self.counts.calls += calls
        self.counts.partial += partial
        return Snapshot(mirror, partial, reader.nodes, calls, reader.late)

    async def check(self) -> Check:
        """Walk, compare with the mirror, and heal it; says what differed. Windows behind are left out."""
        behind = self._mirror.behind
        snapshot = await self.walk(behind)
        if snapshot.partial:
            return Check(0, (), partial=True)
        found = differences(self._mirror.roots, snapshot.mirror.roots, behind=behind)
        self.counts.mismatches += len(found)
        if found:
            self._mirror = snapshot.mirror
        return Check(len(found), tuple(found[:20]), partial=False)

    async def ping(self, bus_name: str, *, seconds: float) -> bool:
        """Whether an application's main loop answers."""
        path = atspi.ROOT_PATH
        root = self._mirror.roots.get(bus_name)
        if root is not None and is_swing(root) and root.children:
            path = root.children[0].path  # Java's bridge answers for the root by itself
        try:
            await self.bus.ask(atspi.get_role(bus_name, path), seconds=seconds)
        except CallTimedOut:
            return False
        except CallFailed:  # an answer: that window is gone, or the application itself
            return path != atspi.ROOT_PATH and bus_name in self._census.applications
        return True

    async def read_now(self, node: Node) -> Node | None:
        """Role, name, states and place of one element as they are now; None when it is gone."""
        seconds = self.settings.hang_seconds
        bus_name, path = node.bus_name, node.path
        if node.place is not None and node.parent is not None:
            cell = await self._ask(atspi.get_cell(bus_name, node.parent.path, node.place), None)
            match cell:
                case (_, str(path)) if path not in ("", atspi.NULL_PATH):
                    pass
                case _:
                    return None
        calls = (
            atspi.get_state(bus_name, path),
            atspi.get_role(bus_name, path),
            atspi.get_property(bus_name, path, atspi.ACCESSIBLE, "Name"),
            atspi.get_extents(bus_name, path, relative=node.relative),
        )
        try:
            shift = node.shift and await self._shift_now(node)
            states, role, name, extents = await asyncio.gather(
                *(self.bus.ask(call, seconds=seconds) for call in calls)
            )
            return self._fresh(node, path, shift, states[0], role[0], name[0], extents[0])
        except (CallFailed, TypeError, ValueError, LookupError):  # none, or nonsense
            return None

    def _fresh(
        self, node: Node, path: str, shift: Shift | None, states: Any, role: Any, name: Any, extents: Any
    ) -> Node | None:
        """A node as these answers describe it; None when it is defunct."""
        fresh = Node(node.bus_name, path, parent=node.parent, application=node.application, key=node.key)
        fresh.place = node.place
        fresh.states, fresh.relative, fresh.shift = state_mask(states), node.relative, shift
        fresh.shows = shows(fresh)
        fresh.role = role_of(fresh, role)
        fresh.name = name_of(fresh, name)
        fresh.box = placed(fresh, extents)
        fresh.interfaces, fresh.text, fresh.value = node.interfaces, node.text, node.value
        fresh.description = node.description
        return None if fresh.states & atspi.State.DEFUNCT else fresh

    async def _shift_now(self, node: Node) -> Shift | None:
        """By how much LibreOffice's own elements are off at this moment."""
        top = node
        while top.parent is not None and top.parent.shift is not None:
            top = top.parent
        if top.parent is None:
            return node.shift
        host, own = await asyncio.gather(
            *(self._ask(atspi.get_extents(each.bus_name, each.path), None) for each in (top.parent, top))
        )
        return Shift(host[0] - own[0], host[1] - own[1]) if host and own else node.shift

    # Applications

    async def _take_census(self, seconds: float, *, again: bool = False) -> None:
        """See who is there; whoever is new, or says only now what it is, is still to be read."""
        news = await self._census.take(seconds=seconds, again=again)
        for bus_name in news.left:
            self._mirror.forget(bus_name)
        for application in news.met:
            self._mirror.forget(application.bus_name)
            self._mirror.mark(self._mirror.add_root(application), Mark.CHILDREN)

    async def _ask(self, call: Call, otherwise: Any) -> Any:
        """The first value of an answer, or something else when there is none."""
        try:
            return first_value(await self.bus.ask(call, seconds=self.settings.hang_seconds))
        except CallFailed:
            return otherwise

    def _lose(self, bus_name: str) -> None:
        self._census.lose(bus_name)
        self._mirror.forget(bus_name)
        if self._walked is not None:
            self._walked.forget(bus_name)

    def _receive(self, signal: Signal) -> None:
        if signal.member == "NameOwnerChanged":
            if signal.sender == atspi.DAEMON and len(signal.body) == 3 and not signal.body[2]:
                self._lose(signal.body[0])
            return
        if not signal.interface.startswith("org.a11y.atspi.Event"):
            return
        self.counts.events += 1
        if signal.path == atspi.ROOT_PATH and signal.sender not in self._census.applications:
            self._census.due = True  # the registry's own: an application came or went
        news = self._mirror.apply(signal)
        if self._walked is not None:
            self._walked.apply(signal)
        if not news:
            return
        for callback in self._listeners:
            callback(signal.sender + signal.path, signal.member)


def _windows(mirror: Mirror) -> list[Node]:
    return [node for root in mirror.roots.values() for node in root.children if node.shows and node.area > 0]
