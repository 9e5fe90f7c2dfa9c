"""What may have changed without an event, given which pixels changed: it is read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screensearch.domain.screen import Box
from screensearch.environments.desktop.atspi import State
from screensearch.environments.desktop.node import Node


class Mark:
    """What of a node has to be read again."""

    STATE = 1
    NAME = 2
    BOX = 4
    CONTENT = 8
    CHILDREN = 16
    SPAN = 32  # of a table: which cells can be seen
    ALL = STATE | NAME | BOX | CONTENT | CHILDREN


Origin = Callable[[Node], Box | None]
"""Where the window of a top-level element is on the screen, if that is known."""

_ANYWHERE = Box(-1e6, -1e6, 2e6, 2e6)

CHOSEN = State.FOCUSED | State.SELECTED | State.ACTIVE

SCROLLING = frozenset({"viewport", "scroll pane", "layered pane"})
"""Below these an element may begin or cease to show without any event."""


def as_it_counts(window: Node, damage: Sequence[Box], origin: Origin | None) -> Sequence[Box]:
    """Damage in the coordinates of a window; of one whose place is not known, any damage may be its own."""
    if not window.relative or not damage:
        return damage
    place = None if origin is None else origin(window)
    if place is None:
        return (_ANYWHERE,)
    return [Box(box.x - place.x, box.y - place.y, box.width, box.height) for box in damage]


def damage_below(node: Node, damage: Sequence[Box]) -> Sequence[Box]:
    """Damage for an element, given that for its parent. Of a popover it is not known where it is."""
    return (_ANYWHERE,) if damage and is_popover(node) else damage


def is_popover(node: Node) -> bool:
    """Whether it is in a window of its own, as what juts out of its parent in GTK 4."""
    parent = node.parent
    if not node.relative or parent is None or parent.role in SCROLLING:
        return False
    if parent.area <= 0 or node.role == "menu":
        return node.area > 0
    mine, others = node.box, parent.box
    return not (
        others.x <= mine.x
        and others.y <= mine.y
        and mine.x + mine.width <= others.x + others.width
        and mine.y + mine.height <= others.y + others.height
    )


def tells(node: Node) -> bool:
    return node.application is None or node.application.tells


def is_libreoffice(node: Node) -> bool:
    return node.application is not None and node.application.is_libreoffice


def doubts(node: Node) -> int:
    """What changed pixels put in doubt. Cells and tabs change without any event; others only move so."""
    if not tells(node):
        return Mark.ALL
    if node.states & State.MANAGES_DESCENDANTS:
        return Mark.BOX | Mark.SPAN
    if node.role in _SILENT:
        return Mark.BOX | Mark.STATE | Mark.NAME | Mark.CONTENT
    if node.shift is not None and node.states & State.FOCUSABLE:
        return Mark.BOX | Mark.STATE | Mark.CONTENT  # LibreOffice's own: it may have got the focus
    if is_libreoffice(node) and node.states & State.EDITABLE:
        return Mark.BOX | Mark.CONTENT  # it fills its fields without a word: the size of the letters
    if node.role in _CONTAINERS:
        return Mark.BOX | Mark.CHILDREN
    return Mark.BOX | Mark.NAME if node.role in _RENAMED else Mark.BOX


_CONTAINERS = frozenset(
    {
        *("frame", "window", "dialog", "alert", "panel", "filler", "grouping", "header", "split pane"),
        *("scroll pane", "viewport", "layered pane", "tool bar", "menu bar", "status bar", "info bar"),
        *("list box", "page tab list"),
    }
)
"""Roles of GTK 3 whose children come without a word when they are attached to a grid or packed into a
box: LibreOffice gets its menu bar so, after its window."""

_RENAMED = frozenset({"push button", "toggle button"})
"""Roles whose name is that of a label inside, which alone tells when it changes."""

SILENT_FOCUS = frozenset({"root pane", "document spreadsheet", "document text", "document presentation"})
"""Roles of LibreOffice that get the focus without a word."""

_SILENT = frozenset({"table cell", "page tab"})


def meets(box: Box, others: Sequence[Box]) -> bool:
    """Whether a box shares a pixel with one of the others. A box of no size may be anywhere."""
    left, top, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    if right <= left or bottom <= top:
        return True
    return any(
        other.x < right and left < other.x + other.width and other.y < bottom and top < other.y + other.height
        for other in others
    )


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box that has all of these inside."""
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right = max(box.x + box.width for box in boxes)
    bottom = max(box.y + box.height for box in boxes)
    return Box(left, top, right - left, bottom - top)


def may_appear(node: Node) -> bool:
    """Whether a hidden element may begin to show without an event: scrolled into view, not popped up."""
    parent = node.parent
    if node.shows or (parent is not None and parent.role in _POPPING):
        return False
    return bool(node.states & State.VISIBLE) or not tells(node)


_POPPING = frozenset({"menu", "combo box", "popup menu"})
