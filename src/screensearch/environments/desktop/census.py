"""Which applications are on the accessibility bus, and what each says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call
from screensearch.environments.desktop.bus import Bus, CallFailed, CallTimedOut, first_value
from screensearch.environments.desktop.node import AppRoot
from screensearch.environments.desktop.rules import text_of

_MEETING_SHARE = 0.5  # of the time that is left: whoever does answer must still be read
_SILENCE = object()

_EVENTS = (
    "object:children-changed",
    *(
        f"object:state-changed:{state}"
        for state in (
            *("showing", "active", "checked", "editable", "expanded", "focused", "indeterminate"),
            *("pressed", "selected", "sensitive"),
        )
    ),
    *(f"object:property-change:accessible-{what}" for what in ("name", "description", "value")),
    "object:text-changed",
    "object:visible-data-changed",
    "object:model-changed",
    "object:active-descendant-changed",
    "object:selection-changed",
    "object:row-inserted",
    "object:row-deleted",
    "object:row-reordered",
    "object:column-inserted",
    "object:column-deleted",
    "object:column-reordered",
    "window:create",
    "window:destroy",
    "window:activate",
    "window:deactivate",
)
"""What is asked of the applications. Each event costs time in the application, the daemon and here."""

_GTK4_EVENTS = ("object:state-changed:visible",)


@dataclass(frozen=True, slots=True)
class News:
    """What a census found: the names of who left, and who came or only now says what it is."""

    left: list[str]
    met: list[AppRoot]


@dataclass(slots=True)
class Census:
    """The applications on a bus. One that did not say all in time is listed too, and is a stranger."""

    bus: Bus
    applications: dict[str, AppRoot] = field(default_factory=dict)
    strangers: set[str] = field(default_factory=set)
    due: bool = True  # an application may have come
    _meeting: set[str] = field(default_factory=set)
    _more_events: bool = False

    async def ask_for_events(self, *, seconds: float) -> None:
        """Have the applications send events: unasked they send none."""
        await self._register(_EVENTS, seconds)

    async def take(self, *, seconds: float, again: bool = False) -> News:
        """Ask the registry who is there and meet the new ones, all at once; `again`: the strangers, too.

        Takes no longer than `seconds`, of which half are for those who do not answer.
        """
        self.due = False
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        answer = await self.bus.ask(atspi.get_children(atspi.REGISTRY, atspi.ROOT_PATH), seconds=seconds)
        present: dict[str, str] = dict(answer[0])
        left = list(self.applications.keys() - present.keys())
        for bus_name in left:
            self.lose(bus_name)
        known = self.applications.keys() - (self.strangers if again else ())
        new = {bus_name: path for bus_name, path in present.items() if bus_name not in known}
        self._meeting = set(new)
        patience = _MEETING_SHARE * (deadline - loop.time())
        answers = await asyncio.gather(*(self._meet(*each, patience) for each in new.items()))
        met = [each for each in answers if self._admit(*each)]
        if any(each.is_gtk4 for each, _ in met) and not self._more_events:
            self._more_events = True
            await self._register(_GTK4_EVENTS, max(0.0, deadline - loop.time()))
        return News(left, [each for each, _ in met])

    def lose(self, bus_name: str) -> None:
        """An application has left."""
        self.applications.pop(bus_name, None)
        self.strangers.discard(bus_name)
        self._meeting.discard(bus_name)

    def _admit(self, application: AppRoot, introduced: bool) -> bool:
        """List an application that is still there; False when that tells nothing new of it."""
        bus_name = application.bus_name
        if bus_name not in self._meeting or (not introduced and bus_name in self.applications):
            return False
        self.applications[bus_name] = application
        if introduced:
            self.strangers.discard(bus_name)
        else:
            self.strangers.add(bus_name)
        return True

    async def _meet(self, bus_name: str, path: str, seconds: float) -> tuple[AppRoot, bool]:
        """Ask an application for its name, its toolkit and its process; and whether all was answered."""
        process = Call(
            atspi.DAEMON, atspi.DAEMON_PATH, atspi.DAEMON, "GetConnectionUnixProcessID", "s", (bus_name,)
        )
        calls = (
            process,
            atspi.get_property(bus_name, path, atspi.ACCESSIBLE, "Name"),
            atspi.get_property(bus_name, path, atspi.APPLICATION, "ToolkitName"),
            atspi.get_property(bus_name, path, atspi.APPLICATION, "Version"),
        )
        answers = await asyncio.gather(*(self._ask(call, seconds) for call in calls))
        pid, name, toolkit, version = ("" if answer is _SILENCE else answer for answer in answers)
        application = AppRoot(bus_name, path, text_of(name), int(pid or 0), str(toolkit), str(version))
        return application, _SILENCE not in answers

    async def _ask(self, call: Call, seconds: float) -> Any:
        """The first value of an answer; an error is none, which is an answer as well."""
        try:
            return first_value(await self.bus.ask(call, seconds=seconds))
        except CallTimedOut:
            return _SILENCE
        except CallFailed:
            return ""

    async def _register(self, events: Sequence[str], seconds: float) -> None:
        calls = (
            Call(
                atspi.REGISTRY, atspi.REGISTRY_PATH, atspi.REGISTRY, "RegisterEvent", "sass", (event, (), "")
            )
            for event in events
        )
        await asyncio.gather(*(self.bus.ask(call, seconds=seconds) for call in calls))
