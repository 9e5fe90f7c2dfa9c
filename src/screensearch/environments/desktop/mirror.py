"""The tree as last read, what events say about it, and what therefore has to be read again.

Events and answers of one application arrive in the order in which it gave them, so a state that an
event reports can be taken over as it is: a later answer is a later truth. Everything else an event
names is only marked, and read again at the next refresh. What is hidden stays as it was; it is read
again once it shows. So does what is in a window behind others: its marks wait until it comes to the
front, since an application has more windows than a person looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from screensearch.domain.screen import Box
from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import State
from screensearch.environments.desktop.bus import Signal, plain
from screensearch.environments.desktop.cells import cell_key, read_visible_cells
from screensearch.environments.desktop.doubts import (
    CHOSEN,
    SCROLLING,
    SILENT_FOCUS,
    Mark,
    Origin,
    around,
    as_it_counts,
    damage_below,
    doubts,
    is_libreoffice,
    is_popover,
    may_appear,
    meets,
    tells,
)
from screensearch.environments.desktop.node import AppRoot, Key, Node
from screensearch.environments.desktop.rules import (
    LIBREOFFICE_TOP,
    holds_value,
    is_swing,
    needs_description,
    shows,
)
from screensearch.environments.desktop.walk import Reader

_FULL = 0.75
"""With this share of the nodes that there is room for, those in windows behind are forgotten."""

_MANY_BOXES = 100
"""More painted parts than that are kept as one around all of them."""

_CELL_EVENTS = frozenset(
    {
        *("ModelChanged", "VisibleDataChanged", "RowInserted", "RowDeleted", "RowReordered"),
        *("ColumnInserted", "ColumnDeleted", "ColumnReordered"),
    }
)


@dataclass(slots=True)
class Mirror:
    """What is known, and what of it is in doubt."""

    roots: dict[str, Node] = field(default_factory=dict)  # by bus name: the applications' own nodes
    index: dict[Key, Node] = field(default_factory=dict)
    marked: dict[Key, Node] = field(default_factory=dict)
    behind: frozenset[Key] = frozenset()  # windows that are not to be read now
    waiting: dict[Key, Node] = field(default_factory=dict)  # marked, in a window behind
    unseen: dict[Key, list[Box]] = field(default_factory=dict)  # by window behind: what was painted since
    lost: bool = False  # an event could not be understood: only a walk helps

    def mark(self, node: Node, marks: int) -> None:
        """These have to be read again."""
        node.marks |= marks
        self.marked[node.key] = node

    def add_root(self, application: AppRoot) -> Node:
        """A new application; its windows are still to be read."""
        root = Node(application.bus_name, application.path, role="application", name=application.name)
        root.shows, root.known, root.application = True, True, application
        root.relative = application.is_gtk4
        self.roots[root.bus_name] = root
        self.index[root.key] = root
        return root

    def mark_parents_of(self, gone: list[Node]) -> None:
        """These could not be read: whether they are still there is for their parents to say."""
        for node in gone:
            if node.parent is not None and self.index.get(node.key) is node:
                self.mark(node.parent, Mark.CHILDREN)
        gone.clear()

    def forget(self, bus_name: str) -> None:
        """An application is gone."""
        root = self.roots.pop(bus_name, None)
        for node in () if root is None else root.subtree():
            self.index.pop(node.key, None)
            self.marked.pop(node.key, None)
            self.waiting.pop(node.key, None)
            self.unseen.pop(node.key, None)

    def put_behind(self, behind: frozenset[Key]) -> None:
        """These windows are behind now, and no others: what waited in the others is due."""
        if behind == self.behind:
            return
        self.behind = behind
        waiting, self.waiting = self.waiting, {}
        for key, node in waiting.items():
            if self.index.get(key) is node:
                self.mark(node, node.marks)
        self.unseen = {key: boxes for key, boxes in self.unseen.items() if key in self.index}

    def make_room(self, node_limit: int) -> None:
        """Forget what is in windows behind once there is much of it; it is read when they come forward."""
        if len(self.index) < node_limit * _FULL:
            return
        for window in filter(None, map(self.index.get, self.behind)):
            if window.children:
                self.forget_below(window)
                self.mark(window, Mark.CHILDREN)

    def leave_behind(self, before: Mirror) -> None:
        """Nothing was read of what is in the windows behind; so those of Swing are where they were before."""
        for window in filter(None, map(self.index.get, self.behind)):
            self.mark(window, Mark.CHILDREN)
            earlier = before.index.get(window.key)
            if earlier is not None and window.area <= 0:
                window.box = earlier.box

    def shown(self) -> int:
        """How many elements show that are to be seen: not those in windows behind."""
        return sum(
            1
            for root in self.roots.values()
            for window in root.children
            if window.key not in self.behind
            for _ in window.showing()
        )

    def forget_below(self, node: Node) -> None:
        for each in node.subtree():
            if each is not node:
                self.index.pop(each.key, None)
                self.waiting.pop(each.key, None)
        node.children = []

    def is_cut(self) -> bool:
        """Whether children of an element that is to be seen were left out, for want of room."""
        return any(node.cut and node.shows and self._depth_seen(node) >= 0 for node in self.index.values())

    def _depth_seen(self, node: Node) -> int:
        """How deep a node lies; -1 when an ancestor of it does not show, or its window is behind."""
        return -1 if node.window().key in self.behind else node.depth_below_shown()

    def mark_cut(self, node_limit: int, depth_limit: int) -> None:
        """There may be room now for the children that were left out."""
        if len(self.index) >= node_limit:
            return
        for node in list(self.index.values()):
            if node.cut and node.shows and 0 <= self._depth_seen(node) < depth_limit:
                self.mark(node, Mark.CHILDREN)

    # Events

    def apply(self, signal: Signal) -> bool:
        """Take over what an event says, or mark what it names; False when it says nothing new.

        Some applications repeat themselves whenever they are asked.
        """
        node = self.index.get((signal.sender, signal.path))
        if node is None:
            return True
        try:
            kind, detail, _, subject = signal.body[:4]
            return self._apply(node, signal.member, kind, detail, plain(subject))
        except (ValueError, TypeError, AttributeError, IndexError):
            self.lost = True  # not an event as AT-SPI defines them
            return True

    def _apply(self, node: Node, member: str, kind: str, detail: int, subject: Any) -> bool:
        match member:
            case "StateChanged":
                return self._state_changed(node, kind, bool(detail))
            case "PropertyChange":
                return self._property_changed(node, kind, subject)
            case "ChildrenChanged":
                self.mark(node, Mark.CHILDREN)
            case "TextChanged":
                self.mark(node, Mark.CONTENT)
            case "SelectionChanged":
                self._chosen_changed(node)
            case "ActiveDescendantChanged":
                self._chosen_changed(node)
                chosen = self.index.get(self._key_below(node, subject[1], detail))
                if chosen is not None:
                    self.mark(chosen, Mark.STATE)
            case "Create" | "Destroy" | "Activate" | "Deactivate":
                self.mark(node, Mark.STATE)
                if node.parent is not None:
                    self.mark(node.parent, Mark.CHILDREN)
            case "VisibleDataChanged" if is_swing(node):
                # Of a label that is all it says about a new text; of a list it is said whenever that is read.
                self.mark(node, Mark.NAME | Mark.CONTENT)
                return False
            case _ if member in _CELL_EVENTS:
                self.mark(node, Mark.CHILDREN | Mark.CONTENT)
        return True

    def _property_changed(self, node: Node, kind: str, subject: Any) -> bool:
        match kind:
            case "accessible-name":
                marks = 0 if subject == node.name else Mark.NAME | Mark.BOX
            case "accessible-description":
                known = subject == node.description or not needs_description(node)
                marks = 0 if known else Mark.CONTENT
            case "accessible-value":
                marks = Mark.CONTENT if holds_value(node) else 0
            case _:
                marks = 0
        if marks:
            self.mark(node, marks)
        return bool(marks)

    def _key_below(self, node: Node, path: str, number: int) -> Key:
        """The key of a descendant; cells of a sheet are counted through, row by row."""
        if node.is_sheet and node.span:
            row, column = divmod(number, node.span[5])
            return cell_key(node, (row, column))
        return node.bus_name, path

    def _state_changed(self, node: Node, kind: str, on: bool) -> bool:
        bit = atspi.STATE_BITS.get(kind, 0)
        if bool(node.states & bit) == on:
            if on and bit == State.SHOWING and not tells(node):
                self.mark(node, Mark.ALL)  # a list of Qt that claimed to show while it had no place
            return False
        node.states ^= bit
        if node.shows and not shows(node):
            node.shows = False
        elif not node.shows and (shows(node) or is_libreoffice(node)):
            self.mark(node, Mark.STATE)  # LibreOffice shows an element and tells that it is sensitive now
        if bit == State.SENSITIVE:
            # What is inside takes part in it, and says nothing.
            for child in node.subtree():
                if child.shows and child is not node:
                    self.mark(child, Mark.STATE)
        return True

    def _chosen_changed(self, node: Node) -> None:
        """What was chosen below a node may no longer be; what is chosen now changes its pixels."""
        for child in node.subtree():
            if child.shows and child.states & CHOSEN and child is not node:
                self.mark(child, Mark.STATE)

    # Pixels

    def doubt(self, damage: Sequence[Box], origin: Origin | None = None) -> None:
        """Mark what is always in doubt, and what may have changed given the changed parts of the screen.

        An application is asked for its windows and their places each time: few calls, and all hangs on
        them. Whatever had the focus may have lost it: not every loss is told.
        """
        for root in self.roots.values():
            self.mark(root, Mark.CHILDREN)
            for window in root.children:
                self.mark(window, Mark.STATE | Mark.BOX)
                if is_swing(window) and window.children:
                    self.mark(window.children[0], Mark.BOX)
                if window.key in self.behind:
                    self._keep_damage(window, damage)
                else:
                    painted = [*self.unseen.pop(window.key, ()), *damage]
                    self._doubt(window, as_it_counts(window, painted, origin))

    def _keep_damage(self, window: Node, damage: Sequence[Box]) -> None:
        """Whose pixels these are is not asked: read too much once, when the window is in front again."""
        if damage:
            kept = self.unseen.setdefault(window.key, [])
            kept += damage
            if len(kept) > _MANY_BOXES:
                self.unseen[window.key] = [around(kept)]

    def _doubt(self, window: Node, damage: Sequence[Box]) -> None:
        pending = [(window, damage)]
        while pending:
            node, damage = pending.pop()
            if not node.shows:
                continue
            if node.states & State.FOCUSED or node.role in SILENT_FOCUS:
                self.mark(node, Mark.STATE)
            if node.shift is not None:
                self._doubt_libreoffice(node)
            if is_popover(node):
                self.mark(node, Mark.BOX)  # it grows and shrinks for a while
            touched = bool(damage) and meets(node.box, damage)
            if touched:
                self.mark(node, doubts(node))
            if touched and (node.role in SCROLLING or not tells(node)):
                for child in node.children:
                    if may_appear(child):
                        self.mark(child, Mark.STATE)
            pending.extend((child, damage_below(child, damage)) for child in node.children)

    def _doubt_libreoffice(self, node: Node) -> None:
        """What LibreOffice's own elements never tell: that they got the focus, their growth, and their shift.

        That they are off at all changes without a trace on the screen, when the pointer first comes in.
        """
        sheet_or_chosen = node.states & (State.MANAGES_DESCENDANTS | State.ACTIVE)
        in_window = node.role == "panel" and node.parent is not None and node.parent.role == LIBREOFFICE_TOP
        may_have_it = in_window or node.role == "scroll pane"
        if sheet_or_chosen or may_have_it or (node.place and node.states & CHOSEN):
            self.mark(node, Mark.STATE)
        elif node.role in ("tool bar", LIBREOFFICE_TOP):
            self.mark(node, Mark.BOX)

    def lend_places(self) -> None:
        """Windows of Swing say nothing of their place: they are where their content is."""
        for root in self.roots.values():
            if not is_swing(root):
                continue
            for window in root.children:
                window.box = next(
                    (each.box for each in window.children if each.shows and each.area > 0), window.box
                )

    # Reading again

    def read_marked(self, reader: Reader) -> None:
        """Ask for all that is marked and can be seen. What is hidden or behind keeps its marks."""
        marked, self.marked = self.marked, {}
        # All below one of these is placed by it, so it comes first.
        for key, node in sorted(marked.items(), key=lambda item: item[1].role != LIBREOFFICE_TOP):
            if self.index.get(key) is not node:
                continue
            marks, depth = node.marks, node.depth_below_shown()
            if depth < 0:
                continue  # hidden: all of it is read when it shows
            if node.window().key in self.behind:
                # Of the window itself it is asked whether it is there and where, but not what is in it.
                later = marks & ~(Mark.STATE | Mark.BOX | Mark.NAME) if depth == 1 else marks
                marks &= ~later
                node.marks = later
                if later:
                    self.waiting[key] = node
            else:
                node.marks = 0
            if marks:
                self._read_again(reader, node, marks, depth)

    def _read_again(self, reader: Reader, node: Node, marks: int, depth: int) -> None:
        if not node.shows:
            if marks & Mark.STATE:
                reader.read_node(node, depth)
            return
        if node.place is not None:
            reader.read_cell(node)
            return
        reader.nodes += 1
        if marks & Mark.STATE:
            reader.read_state(node)
        if marks & Mark.NAME:
            reader.read_name(node)
        if marks & Mark.BOX:
            if node.role == LIBREOFFICE_TOP and node.shift is not None and node.parent is not None:
                self._read_box(reader, node.parent, depth - 1)
            self._read_box(reader, node, depth)
        if marks & Mark.CONTENT:
            reader.read_content(node)
        if marks & Mark.CHILDREN:
            reader.read_below(node, depth, deep=False)
        elif marks & Mark.SPAN:
            read_visible_cells(reader, node, depth, deep=False, unless_same=True)

    def _read_box(self, reader: Reader, node: Node, depth: int) -> None:
        """Read where an element is; when it moved, so may have all below it."""
        before = node.box, node.shift and (node.shift.x, node.shift.y)

        def moved() -> None:
            if before == (node.box, node.shift and (node.shift.x, node.shift.y)):
                return
            reader.read_state(node)
            if node.key in self.behind:
                for child in node.children:
                    self.mark(child, Mark.BOX | Mark.STATE)
                return
            for child in node.children:
                if child.place is not None:
                    continue  # the sheet's rows and columns tell
                if child.shows:
                    self._read_box(reader, child, depth + 1)
                elif may_appear(child):
                    reader.read_node(child, depth + 1)
            if node.states & State.MANAGES_DESCENDANTS:
                read_visible_cells(reader, node, depth, deep=False, unless_same=True)

        reader.read_box(node, moved)
