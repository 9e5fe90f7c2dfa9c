"""An application on the false bus, a hand that changes it as users do, and a naive reading to hold it to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from fake_bus import SHOWN, FakeBus, Thing
from hypothesis import strategies as st

from screensearch.domain.screen import Box
from screensearch.environments.desktop.atspi import Interface, State
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.node import Node
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.environments.desktop.tree import Tree

ROLES = ("panel", "push button", "label", "text", "scroll pane", "menu", "menu item", "password text")


async def open_tree(bus: FakeBus, **settings: Any) -> Tree:
    return await Tree.open(cast(Bus, bus), DesktopSettings(**settings))


def naive(thing: Thing) -> list[tuple[Any, ...]]:
    """All that shows, read without any cleverness."""
    if not thing.states & State.SHOWING:
        return []
    reads_text = thing.interfaces & Interface.TEXT and thing.role != "password text"
    if thing.role == "label" and thing.name:
        reads_text = 0
    box = Box(*thing.extents) if thing.interfaces & Interface.COMPONENT else Box(0, 0, 0, 0)
    text = thing.text if reads_text else ""
    row = (thing.path, thing.role, thing.name, text, thing.states, box)
    return [row, *(each for child in thing.children for each in naive(child))]


def mirrored(window: Node) -> list[tuple[Any, ...]]:
    return [(node.path, node.role, node.name, node.text, node.states, node.box) for node in window.showing()]


def everything(tree: Tree) -> list[tuple[Any, ...]]:
    return [each for window in tree.windows() for each in mirrored(window)]


def expected(bus: FakeBus, *, without: Collection[str] = ()) -> list[tuple[Any, ...]]:
    return [
        each
        for window in bus.root.children
        for each in naive(window)
        if window.extents[2] > 0 and window.extents[3] > 0 and window.path not in without
    ]


class Puppeteer:
    """Does to an application what users do, with the events and the damage that GTK would give."""

    def __init__(self, bus: FakeBus, draw: st.DataObject) -> None:
        self.bus, self.draw = bus, draw
        self.damage: list[Box] = []
        self.made = 0

    def choose(self, *, windows: bool = False) -> Thing | None:
        things = [
            thing
            for window in self.bus.root.children
            for thing in window.below()
            if windows or thing is not window
        ]
        return self.draw.draw(st.sampled_from(things), label="thing") if things else None

    def make(self) -> Thing:
        self.made += 1
        x, y = self.draw.draw(st.tuples(st.integers(0, 90), st.integers(0, 90)))
        role = self.draw.draw(st.sampled_from(ROLES))
        text = Interface.TEXT if role in ("text", "label", "password text") else 0
        shown = self.draw.draw(st.booleans())
        return Thing(
            f"/new/{self.made}",
            role=role,
            name=self.draw.draw(st.sampled_from(("", "a", "b"))),
            text="words",
            states=SHOWN if shown else State.VISIBLE,
            interfaces=Interface.COMPONENT | text,
            extents=(x, y, 10, 10),
        )

    def act(self) -> None:
        verbs = (
            *("add", "pack", "remove", "rename", "write", "show", "focus", "disable", "move", "reorder"),
            "window",
        )
        getattr(self, self.draw.draw(st.sampled_from(verbs), label="act"))()

    def add(self) -> None:
        parent = self.choose(windows=True)
        if parent is not None and parent.role != "menu item":  # in GTK 3 these have none
            child = self.make()
            if child.role != "menu item":
                child.add(self.make())
            parent.add(child)
            self.bus.tell(parent, "ChildrenChanged", "add", len(parent.children) - 1, ("", child.path))

    def pack(self) -> None:
        """Attach something to a grid. Nobody says so, but it can be seen."""
        parent = self.choose(windows=True)
        if parent is not None and parent.role in ("frame", "panel", "scroll pane"):
            parent.children.insert(0, child := self.make())
            child.parent = parent
            self.damage.append(Box(*parent.extents))

    def remove(self) -> None:
        thing = self.choose()
        if thing is not None and thing.parent is not None:
            thing.parent.children.remove(thing)
            self.bus.tell(thing.parent, "ChildrenChanged", "remove", 0, ("", thing.path))

    def rename(self) -> None:
        thing = self.choose(windows=True)
        if thing is not None:
            thing.name = self.draw.draw(st.sampled_from(("", "a", "c")))
            self.bus.tell(thing, "PropertyChange", "accessible-name", 0, thing.name)

    def write(self) -> None:
        thing = self.choose()
        if thing is not None and thing.interfaces & Interface.TEXT:
            thing.text += "!"
            self.bus.tell(thing, "TextChanged", "insert", 0, "!")

    def show(self) -> None:
        """Show or hide something with all below it: each says so for itself."""
        thing = self.choose(windows=True)
        if thing is not None:
            shown = not thing.states & State.SHOWING
            for each in thing.below():
                each.states = each.states | State.SHOWING if shown else each.states & ~State.SHOWING
                self.bus.tell(each, "StateChanged", "showing", int(shown))

    def focus(self) -> None:
        """Only who gets the focus says so."""
        thing = self.choose()
        if thing is not None:
            for window in self.bus.root.children:
                for each in window.below():
                    each.states &= ~State.FOCUSED
            thing.states |= State.FOCUSED
            self.bus.tell(thing, "StateChanged", "focused", 1)

    def disable(self) -> None:
        """What is inside takes part in it, and says nothing."""
        thing = self.choose()
        if thing is not None:
            on = not thing.states & State.SENSITIVE
            for each in thing.below():
                each.states = each.states | State.SENSITIVE if on else each.states & ~State.SENSITIVE
            self.bus.tell(thing, "StateChanged", "sensitive", int(on))

    def move(self) -> None:
        """Nobody says so, but it can be seen."""
        thing = self.choose()
        if thing is not None:
            before = thing.extents
            thing.extents = (before[0] + 3, before[1] + 5, before[2], before[3])
            self.damage += [Box(*before), Box(*thing.extents)]

    def reorder(self) -> None:
        thing = self.choose(windows=True)
        if thing is not None:
            thing.children.reverse()
            self.bus.tell(thing, "ChildrenChanged", "add", 0, ("", ""))

    def window(self) -> None:
        """Open or close a window. Nobody says so."""
        windows = self.bus.root.children
        if len(windows) > 1 and self.draw.draw(st.booleans()):
            del windows[-1]
        else:
            self.bus.root.add(self.make())


def an_application() -> FakeBus:
    return FakeBus(
        Thing("/w", role="frame", name="main", extents=(0, 0, 100, 100)).add(
            Thing("/w/bar", role="panel").add(
                Thing("/w/file", role="menu", name="File").add(
                    Thing("/w/open", role="menu item", name="Open", states=State.VISIBLE),
                    Thing("/w/quit", role="menu item", name="Quit", states=State.VISIBLE),
                ),
            ),
            Thing("/w/edit", role="text", text="hello", interfaces=Interface.COMPONENT | Interface.TEXT),
        )
    )
