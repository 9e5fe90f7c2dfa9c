"""Reading elements and all that shows below them, bounded in nodes, depth and time.

An element's state comes first: what does not show is kept as a bare node and read no further.
Applications lie (a child that is its own ancestor, two thousand million children, sizes below zero,
no answer at all): every branch here ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call, Interface, State
from screensearch.environments.desktop.bus import Bus, CallFailed, Conversation, Reply, plain
from screensearch.environments.desktop.cells import CROWD, CROWDED_ROLES, read_visible_cells
from screensearch.environments.desktop.node import NOWHERE, Key, Node, Shift
from screensearch.environments.desktop.rules import (
    LIBREOFFICE_TOP,
    TEXT_LIMIT,
    holds_text,
    holds_value,
    is_swing,
    name_of,
    needs_description,
    placed,
    role_of,
    shows,
    state_mask,
    text_of,
)
from screensearch.environments.desktop.settings import DesktopSettings

PART_LIMIT = 20
"""Parts of a cell that are read."""

_CHILDLESS = frozenset({"menu item", "check menu item", "radio menu item", "separator"})
"""Of GTK 3: an item with a menu below it is a `menu`."""

_LIBREOFFICE_HOSTS = frozenset({"panel", "filler"})
"""Of LibreOffice's own elements those that may host elements of GTK again."""


@dataclass(slots=True)
class Reader:
    """Reads into nodes. One reader serves one walk or one refresh; `index` has every node it knows."""

    bus: Bus
    settings: DesktopSettings
    index: dict[Key, Node] = field(default_factory=dict)
    partial: bool = False
    late: bool = False  # time ran out: what was asked for last is not known
    nodes: int = 0
    gone: list[Node] = field(default_factory=list)  # elements that could not be read any more
    unfinished: list[Node] = field(default_factory=list)  # tables whose cells could not be found yet
    moves: bool = False  # whether an element may turn up under another parent than it had
    moved: set[Key] = field(default_factory=set)
    behind: frozenset[Key] = frozenset()  # windows that nothing is read below of
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        self.conversation = Conversation(self.bus)

    async def finish(self, seconds: float) -> None:
        """Wait until all is read; what is not by then is missing, and the reading is partial."""
        if not await self.conversation.finish(seconds):
            self.late = True
        if self.late or self.conversation.puzzles:
            self.partial = True

    def ask(self, call: Call, then: Callable[[Any], None]) -> None:
        """Ask, and go on with the first value of the answer; an error ends this branch."""

        def answered(reply: Reply) -> None:
            if not isinstance(reply, CallFailed) and reply:
                then(reply[0])

        self.conversation.ask(call, answered)

    # An element, from its state on

    def read_node(self, node: Node, depth: int) -> None:
        """Read an element and, where it shows, everything below it."""

        def answered() -> None:
            node.marks = 0
            if node.shows:
                self.read_shown(node, depth)

        self.read_state(node, answered)

    def read_shown(self, node: Node, depth: int) -> None:
        """Read all of an element that is known to show."""
        self.nodes += 1
        bus_name, path = node.bus_name, node.path

        def know_role(number: int) -> None:
            node.role = role_of(node, number)

        def know_interfaces(names: list[str]) -> None:
            node.interfaces = atspi.interface_mask(names)
            node.known = True
            self.read_place(node, lambda: self.read_below(node, depth))
            self.read_content(node)

        if node.known:
            self.read_name(node)
            self.read_place(node, lambda: self.read_below(node, depth))
            self.read_content(node)
            return
        self.ask(atspi.get_role(bus_name, path), know_role)
        self.read_name(node)
        # Asked after role and name, and answered after them: an application answers in order.
        self.ask(atspi.get_interfaces(bus_name, path), know_interfaces)

    def read_state(self, node: Node, then: Callable[[], None] = lambda: None) -> None:
        """Read the state of an element, and go on unless it is gone."""

        def answered(reply: Reply) -> None:
            if isinstance(reply, CallFailed) or not reply:
                node.states, node.shows = State.DEFUNCT, False
                self.gone.append(node)
                return
            node.states = state_mask(reply[0])
            node.shows = shows(node)
            then()

        self.conversation.ask(atspi.get_state(node.bus_name, node.path), answered)

    def read_name(self, node: Node) -> None:
        """Read the name of an element, or the names of its parts."""
        if node.parts:
            self.read_names_of_parts(node)
            return

        def know_name(value: Any) -> None:
            named = bool(node.name)
            node.name = name_of(node, value)
            if node.known and named != bool(node.name):
                # With a name its text or its description may say nothing more, and without one they may.
                node.text = node.text if holds_text(node) else ""
                self.read_content(node)

        self.ask(atspi.get_property(node.bus_name, node.path, atspi.ACCESSIBLE, "Name"), know_name)

    def read_parts(self, node: Node) -> None:
        """Read what a cell of GTK 3 is made of: an icon, a text, a box to tick.

        They are no nodes of their own: GTK places each as in the row that it drew last, and the cell
        itself has no name.
        """

        def know_parts(references: Sequence[tuple[str, str]]) -> None:
            node.parts = tuple(path for _, path in references[:PART_LIMIT])
            self.read_names_of_parts(node)

        self.ask(atspi.get_children(node.bus_name, node.path), know_parts)

    def read_names_of_parts(self, node: Node) -> None:
        names: list[str] = []

        def know_name(reply: Reply) -> None:
            names.append("" if isinstance(reply, CallFailed) or not reply else text_of(reply[0]))
            if len(names) == len(node.parts):
                node.name = " ".join(dict.fromkeys(filter(None, names)))  # they often say the same

        for path in node.parts:
            self.conversation.ask(
                atspi.get_property(node.bus_name, path, atspi.ACCESSIBLE, "Name"), know_name
            )

    def read_content(self, node: Node) -> None:
        """Read the text or the value of an element, or its description where it has no name."""
        bus_name, path = node.bus_name, node.path

        def know_text(value: Any) -> None:
            # Its name may have come meanwhile, and say the same.
            node.text = text_of(value) if holds_text(node) else ""

        def know_value(value: Any) -> None:
            number = plain(value)
            node.value = f"{number:g}" if isinstance(number, (int, float)) else ""

        def know_description(value: Any) -> None:
            node.description = text_of(value)

        if holds_text(node):
            self.ask(atspi.get_text(bus_name, path, TEXT_LIMIT), know_text)
        if holds_value(node):
            self.ask(atspi.get_property(bus_name, path, atspi.VALUE, "CurrentValue"), know_value)
        if needs_description(node):
            self.ask(atspi.get_property(bus_name, path, atspi.ACCESSIBLE, "Description"), know_description)

    def read_cell(self, cell: Node, *, again: bool = True) -> None:
        """Read state and text of a cell that is known by its place; its path may have to be found anew."""
        if not cell.path:
            self.find_cell(cell, lambda: self.read_cell(cell, again=False))
            return

        def know_state(reply: Reply) -> None:
            if isinstance(reply, CallFailed) or not reply:
                if again:
                    self.find_cell(cell, lambda: self.read_cell(cell, again=False))
                return
            cell.states = state_mask(reply[0])
            cell.shows = shows(cell)
            cell.marks = 0
            if cell.shows:
                self.nodes += 1
                self.read_content(cell)

        self.conversation.ask(atspi.get_state(cell.bus_name, cell.path), know_state)

    def find_cell(self, cell: Node, then: Callable[[], None]) -> None:
        """Ask a table for one of its cells, by row and column."""
        table = cell.parent
        assert table is not None
        assert cell.place is not None

        def know_path(reference: tuple[str, str]) -> None:
            if reference[1] != atspi.NULL_PATH:
                cell.path = reference[1]
                then()

        self.ask(atspi.get_cell(table.bus_name, table.path, cell.place), know_path)

    # Where it is

    def read_place(self, node: Node, then: Callable[[], None]) -> None:
        """Read where an element is, for the first time, then go on, wherever that is."""
        parent, application = node.parent, node.application
        node.shift = None if parent is None else parent.shift
        if not node.interfaces & Interface.COMPONENT:
            then()
        elif application is None or not application.is_libreoffice:
            self.read_box(node, then)
        elif node.role == LIBREOFFICE_TOP and node.shift is None:
            node.shift = Shift()
            self.read_box(node, then)
        elif node.shift is not None and node.role in _LIBREOFFICE_HOSTS:

            def know_attributes(reply: Reply) -> None:
                if not isinstance(reply, CallFailed) and reply and reply[0].get("toolkit") == "gtk":
                    node.shift = None
                self.read_box(node, then)

            self.conversation.ask(
                Call(node.bus_name, node.path, atspi.ACCESSIBLE, "GetAttributes"), know_attributes
            )
        else:
            self.read_box(node, then)

    def read_box(self, node: Node, then: Callable[[], None] | None = None) -> None:
        """Read where an element is, then go on, wherever that is."""

        def answered(reply: Reply) -> None:
            node.box = NOWHERE if isinstance(reply, CallFailed) or not reply else placed(node, reply[0])
            if then is not None:
                then()

        call = atspi.get_extents(node.bus_name, node.path, relative=node.relative)
        self.conversation.ask(call, answered)

    # What is below it

    def read_below(self, node: Node, depth: int, *, deep: bool = True) -> None:
        """Read the children of an element: all, or of a big table those that can be seen.

        Not `deep`: those that were its children before are taken as they are known.
        """
        if node.key in self.behind:
            return
        if depth >= self.settings.depth_limit:
            self.partial = node.cut = True
        elif node.role == "table cell" and node.is_gtk3:
            self.read_parts(node)
        elif (node.role in _CHILDLESS and node.is_gtk3) or (node.role == "menu" and is_swing(node)):
            # The items of an open menu of Swing are below a popup in the layered pane as well.
            self.read_adopted(node, (), depth, deep=deep)
        elif node.states & State.MANAGES_DESCENDANTS:
            read_visible_cells(self, node, depth, deep=deep)
        elif node.role in CROWDED_ROLES:

            def know_count(value: Any) -> None:
                if plain(value) > CROWD and node.interfaces & Interface.TABLE:
                    read_visible_cells(self, node, depth, deep=deep)
                else:
                    self.read_children(node, depth, deep=deep)

            self.ask(atspi.get_property(node.bus_name, node.path, atspi.ACCESSIBLE, "ChildCount"), know_count)
        else:
            self.read_children(node, depth, deep=deep)

    def read_children(self, node: Node, depth: int, *, deep: bool = True) -> None:
        """Ask for the children and read them."""

        def know_children(references: Sequence[tuple[str, str]]) -> None:
            self.read_adopted(node, references, depth, deep=deep)

        self.ask(atspi.get_children(node.bus_name, node.path), know_children)

    def read_adopted(
        self, node: Node, references: Iterable[tuple[str, str]], depth: int, *, deep: bool
    ) -> None:
        """Make these the children of a node, forget those that no longer are, and read the new ones."""
        children: list[Node] = []
        fresh: list[Node] = []
        mine = {child.key: child for child in node.children}
        listed: set[Key] = set()
        node.cut = False
        for bus_name, path in references:
            key = (bus_name, path)
            if path == atspi.NULL_PATH or key in listed:
                continue
            listed.add(key)
            child = mine.pop(key, None)
            if child is None:
                if key in self.index and not self.take_away(key, node):
                    continue
                if len(self.index) >= self.settings.node_limit:
                    self.partial = node.cut = True
                    continue  # those that are known already stay
                child = Node(
                    bus_name, path, parent=node, application=node.application, relative=node.relative
                )
                self.index[key] = child
                fresh.append(child)
            elif deep:
                fresh.append(child)
            children.append(child)
        node.children = children
        for lost in mine.values():
            self.drop(lost)
        for child in fresh:
            self.read_node(child, depth + 1)

    def take_away(self, key: Key, parent: Node) -> bool:
        """Let an element that is known elsewhere move to a new parent: once, and not to below itself."""
        node = self.index[key]
        ancestor: Node | None = parent
        while ancestor is not None and ancestor is not node:
            ancestor = ancestor.parent
        if ancestor is node or key in self.moved or not self.moves:
            return False
        if is_swing(node) and parent.role == "combo box" and node.parent is not None and node.parent.shows:
            return False  # its list is also below the panel that it is painted in
        self.moved.add(key)
        if node.parent is not None:
            node.parent.children = [child for child in node.parent.children if child is not node]
        self.drop(node)
        return True

    def drop(self, node: Node) -> None:
        """Forget a node and everything below it."""
        for each in node.subtree():
            if self.index.get(each.key) is each:
                del self.index[each.key]
