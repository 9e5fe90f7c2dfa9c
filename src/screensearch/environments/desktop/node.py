"""One element of the accessibility bus as it was last read, and the applications that own them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from screensearch.domain.screen import Box
from screensearch.environments.desktop.atspi import Interface, State

Key = tuple[str, str]
"""A node's identity: the bus name of its application and its object path there."""

NOWHERE = Box(0, 0, 0, 0)


@dataclass(slots=True)
class AppRoot:
    """An application on the accessibility bus."""

    bus_name: str
    path: str
    name: str = ""
    pid: int = 0  # 0: unknown. As the processes of the sandbox count
    toolkit: str = ""
    version: str = ""

    @property
    def is_gtk4(self) -> bool:
        """GTK 4 never says that something shows, and has no screen coordinates."""
        return self.toolkit.lower() == "gtk" and self.version.startswith("4")

    @property
    def tells(self) -> bool:
        """Whether its toolkit tells nearly all that changes: GTK 3 does. Others leave most of it out."""
        return self.toolkit.lower() == "gtk" and self.version.startswith("3")

    @property
    def is_swing(self) -> bool:
        """Java's frames have no place, its menus are painted in them."""
        return self.toolkit == "J2SE-access-bridge"

    @property
    def is_libreoffice(self) -> bool:
        """LibreOffice places its own elements without regard to the menu bar above them."""
        return self.name == "soffice"


@dataclass(slots=True)
class Shift:
    """By how much the boxes of an application's own elements are off."""

    x: float = 0
    y: float = 0


@dataclass(slots=True, eq=False)
class Node:
    """An element. Of those that do not show, only the state is known (or what was true when they did).

    `box` is in pixels of the screen or, where `relative`, of its window: then the caller, who knows the
    window's origin, adds it.
    """

    bus_name: str
    path: str
    role: str = "unknown"
    name: str = ""
    description: str = ""  # read only where there is no name
    text: str = ""
    value: str = ""
    states: int = 0
    interfaces: int = 0
    box: Box = NOWHERE
    relative: bool = False
    shows: bool = False
    key: Key = ("", "")
    place: tuple[int, int] | None = None  # row and column, of a cell that has no lasting path
    known: bool = False  # read once: role and interfaces never change
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    application: AppRoot | None = None
    shift: Shift | None = None
    parts: tuple[str, ...] = ()  # paths of what a cell of GTK 3 is made of: its name is theirs
    span: tuple[int, ...] = ()  # of a table read by visible cells: its corners and its size
    cut: bool = False  # not all of its children were read: there are too many, or they lie too deep
    marks: int = 0  # what of it has to be read again

    def __post_init__(self) -> None:
        if not self.key[0]:
            self.key = self.bus_name, self.path

    @property
    def is_gtk3(self) -> bool:
        """Whether GTK 3 made it: LibreOffice has both its own elements and such."""
        application = self.application
        if application is None or application.toolkit.lower() != "gtk" or self.relative:
            return False
        return not (application.is_libreoffice and self.shift is not None)

    @property
    def is_sheet(self) -> bool:
        """Whether it is a table of LibreOffice: its cells are made anew whenever they are asked for."""
        return bool(self.states & State.MANAGES_DESCENDANTS) and self.shift is not None

    def can(self, interfaces: int) -> bool:
        """Whether it implements all of these interfaces."""
        return self.interfaces & interfaces == interfaces

    @property
    def label(self) -> str:
        """What a person would call it: its name, else what it holds, else what it explains."""
        return self.name or self.text or self.value or self.description

    @property
    def active(self) -> bool:
        return bool(self.states & State.ACTIVE)

    @property
    def focused(self) -> bool:
        return bool(self.states & State.FOCUSED)

    @property
    def enabled(self) -> bool:
        return bool(self.states & (State.ENABLED | State.SENSITIVE))

    @property
    def editable(self) -> bool:
        return bool(self.states & State.EDITABLE) or self.can(Interface.EDITABLE_TEXT)

    @property
    def checked(self) -> bool:
        return bool(self.states & (State.CHECKED | State.PRESSED))

    @property
    def area(self) -> float:
        return max(self.box.width, 0) * max(self.box.height, 0)

    def showing(self) -> Iterator[Node]:
        """Itself and what shows below it, parents first; also what has no area."""
        pending = [self]
        while pending:
            node = pending.pop()
            if node.shows:
                yield node
                pending.extend(reversed(node.children))

    def subtree(self) -> Iterator[Node]:
        """Itself and everything known below it, parents first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def window(self) -> Node:
        """The top-level element that it is in: itself, if it is one, or an application."""
        node = self
        while node.parent is not None and node.parent.parent is not None:
            node = node.parent
        return node

    def depth_below_shown(self) -> int:
        """How deep it lies; -1 when an ancestor of it does not show."""
        depth = 0
        parent = self.parent
        while parent is not None:
            if not parent.shows:
                return -1
            depth += 1
            parent = parent.parent
        return depth
