"""An accessibility bus without a bus: applications as plain values, which answer as real ones do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call, Interface, State
from screensearch.environments.desktop.bus import CallFailed, CallTimedOut, Reply, Signal

SHOWN = State.VISIBLE | State.SHOWING | State.ENABLED | State.SENSITIVE

_NAMES = {
    Interface.ACTION: "org.a11y.atspi.Action",
    Interface.COMPONENT: "org.a11y.atspi.Component",
    Interface.TABLE: "org.a11y.atspi.Table",
    Interface.TEXT: "org.a11y.atspi.Text",
    Interface.VALUE: "org.a11y.atspi.Value",
}


@dataclass(eq=False, repr=False)
class Thing:
    """An element as its application knows it."""

    path: str
    role: str = "panel"
    name: str = ""
    text: str = ""
    states: int = SHOWN
    interfaces: int = Interface.COMPONENT
    extents: tuple[int, int, int, int] = (0, 0, 10, 10)
    children: list[Thing] = field(default_factory=list)
    parent: Thing | None = None
    silent: bool = False  # answers nothing

    def __repr__(self) -> str:
        return self.path

    def add(self, *children: Thing) -> Thing:
        for child in children:
            child.parent = self
            self.children.append(child)
        return self

    def below(self) -> Iterator[Thing]:
        yield self
        for child in self.children:
            yield from child.below()


class FakeBus:
    """What `Tree` needs of a bus: one application named ``:1.5`` on it."""

    NAME = ":1.5"

    def __init__(self, *windows: Thing, toolkit: str = "gtk", version: str = "3.24") -> None:
        self.root = Thing(atspi.ROOT_PATH, role="application", name="app", states=0).add(*windows)
        self.toolkit, self.version = toolkit, version
        self.calls = 0
        self.asked: list[Call] = []
        self.present = True
        self.closed: Future[str] = Future()  # of no event loop, unlike that of a real one
        self.special: dict[tuple[str, str], Callable[[Call], Reply | None]] = {}  # (path, member)
        self._on_signal: list[Callable[[Signal], None]] = []
        self._waiting: dict[int, Callable[[Reply], None]] = {}

    # What a bus does

    def on_signal(self, callback: Callable[[Signal], None]) -> None:
        self._on_signal.append(callback)

    async def add_match(self, rule: str, *, seconds: float) -> None:
        await asyncio.sleep(0)

    def post(self, call: Call, answered: Callable[[Reply], None]) -> int:
        self.calls += 1
        serial = self.calls
        self.asked.append(call)
        self._waiting[serial] = answered
        reply = self.answer(call)
        if reply is not None:
            asyncio.get_running_loop().call_soon(self._answer, serial, reply)
        return serial

    def _answer(self, serial: int, reply: Reply) -> None:
        answered = self._waiting.pop(serial, None)
        if answered is not None:
            answered(reply)

    def forget(self, serial: int) -> None:
        self._waiting.pop(serial, None)

    async def ask(self, call: Call, *, seconds: float) -> list[Any]:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        serial = self.post(call, future.set_result)
        try:
            async with asyncio.timeout(seconds):
                reply = await future
        except TimeoutError:
            self.forget(serial)
            raise CallTimedOut(call.member) from None
        if isinstance(reply, CallFailed):
            raise reply
        return reply

    # What applications do

    def tell(self, thing: Thing, member: str, kind: str = "", detail: int = 0, subject: Any = 0) -> None:
        """An event of an element."""
        self.tell_raw(thing.path, member, [kind, detail, 0, subject, {}])

    def tell_raw(self, path: str, member: str, body: list[Any]) -> None:
        """Events and answers arrive in the order in which they were given: `arrived` waits for them."""
        signal = Signal(self.NAME, path, "org.a11y.atspi.Event.Object", member, body)
        asyncio.get_running_loop().call_soon(self._hear, signal)

    def _hear(self, signal: Signal) -> None:
        for callback in self._on_signal:
            callback(signal)

    async def arrived(self) -> None:
        await asyncio.sleep(0)

    def answer(self, call: Call) -> Reply | None:
        """The answer of whom a call is for; None: there is none."""
        special = self.special.get((call.path, call.member))
        if special is not None:
            return special(call)
        if call.destination == atspi.REGISTRY:
            return [[(self.NAME, atspi.ROOT_PATH)] if self.present else []]
        if call.destination == atspi.DAEMON:
            return [4242]
        thing = next((each for each in self.root.below() if each.path == call.path), None)
        if thing is None:
            return CallFailed("org.freedesktop.DBus.Error.UnknownObject")
        return None if thing.silent else self._of(thing, call)

    def _of(self, thing: Thing, call: Call) -> Reply:
        match call.member:
            case "GetState":
                return [[thing.states & 0xFFFFFFFF, thing.states >> 32]]
            case "GetRole":
                return [atspi.ROLES.index(thing.role)]
            case "GetInterfaces":
                return [[name for bit, name in _NAMES.items() if thing.interfaces & bit]]
            case "GetChildren":
                return [[(self.NAME, child.path) for child in thing.children]]
            case "GetExtents":
                return [thing.extents]
            case "GetText":
                return [thing.text[: call.body[1]]]
            case "Get":
                values = {
                    "Name": thing.name,
                    "Description": "",
                    "ChildCount": len(thing.children),
                    "CurrentValue": 0.5,
                    "ToolkitName": self.toolkit,
                    "Version": self.version,
                }
                return [values[call.body[1]]]
        return CallFailed("org.freedesktop.DBus.Error.UnknownMethod")
