"""Accessible nodes become elements: roles of our vocabulary, visible boxes, what can be done with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from screensearch.domain.roles import CLICKABLE_ROLES, EDITABLE_ROLES, UnknownRoles, map_role
from screensearch.domain.screen import Box, Element
from screensearch.environments.desktop.atspi import SECRET_ROLES
from screensearch.environments.desktop.node import Key, Node
from screensearch.environments.desktop.rules import is_swing
from screensearch.environments.desktop.scene import shared

_CLIPPING = frozenset(
    {"viewport", "scroll pane", "table", "tree table", "tree", "list", "list box", "layered pane", "terminal"}
)
"""Roles that show only part of what they hold: what lies outside of them cannot be seen or clicked."""

_OWN_WINDOW = frozenset({"menu", "popup menu", "window", "tool tip", "dialog", "alert"})
"""Roles that may open outside of their parent: the parent's edge does not cut them."""

_CLICKED_NATIVES = frozenset({"icon", "desktop icon", "switch", "arrow", "toggle button", "canvas"})
"""Native roles that are clicked although what they map to is not, always."""

_OPENS = frozenset({"menu", "popup menu", "window", "combo box"})
"""Roles whose children may show in a window of their own."""

Origin = tuple[float, float]
"""Where coordinates count from: (0, 0) is the corner of the screen."""

_MARGIN = 24  # pixels

_ROWS = frozenset({"listitem", "treeitem", "dataitem", "button"})
"""Roles that may hold their name in a label of their own."""

_EVERYWHERE = Box(-100_000, -100_000, 200_000, 200_000)

_HOLDING = frozenset({"edit", "document", "spinner", "slider", "progressbar", "scrollbar", "combobox"})
"""Roles with a content apart from their name."""


class Elements:
    """Makes elements of the nodes of one window, outer before inner, with their parents."""

    def __init__(self, application: str, unknown: UnknownRoles) -> None:
        self._application = application
        self._unknown = unknown
        self._made: list[Element] = []
        self.nodes: dict[str, Node] = {}  # by handle: what each element was made of
        self._places: dict[Key, int] = {}  # key → index of the element
        self._clips: dict[Key, Box] = {}  # key → what of its children can be seen
        self._opened: set[Key] = set()  # keys of what is in an open menu or list
        self.origins: dict[str, Origin] = {}  # by handle: where its node's coordinates count from
        self._origins: dict[Key, Origin] = {}
        self._surfaces: dict[Key, Box] = {}  # key of a popover → the surface of its own that it has
        self._hidden: set[Key] = set()  # keys of what is in something of no size
        self._unnamed: dict[Key, int] = {}  # key → index of the element above it that lacks a name

    def add(
        self, nodes: Iterable[Node], window: Box, *, owner: str | None, popups: Sequence[Box], popup: bool
    ) -> None:
        """Append the nodes of a window, in preorder.

        `owner` is the application they belong to when that is not the target. `popups` are the menus and
        lists that are open: a click outside of them only closes them, so only what is in them is live,
        and the menu bar. `popup` says that these nodes are one.
        """
        nodes = list(nodes)
        self._surfaces |= _popovers(nodes, popups)
        for node in nodes:
            key, parent = node.key, None if node.parent is None else node.parent.key
            if parent in self._hidden or _folded(node):
                self._hidden.add(key)
                continue
            self._place(node, parent, window)
            if node.role in _OWN_WINDOW or parent is None or key in self._surfaces:
                clip = _EVERYWHERE if popups else window
            else:
                clip = self._clips.get(parent, window)
            inside = popup or node.role in _OPENS or parent in self._opened or key in self._surfaces
            if inside:
                self._opened.add(key)
            visible = shared(on_screen(node, self._origins[key]), clip)
            self._clips[key] = visible if node.role in _CLIPPING else clip
            if visible.width < 1 or visible.height < 1:
                continue
            live = not popups or node.role == "menu" or (inside and _in_one(visible, popups))
            self._places[key] = len(self._made)
            self.nodes[handle_of(node)] = node
            self.origins[handle_of(node)] = self._origins[key]
            self._made.append(self._element(node, visible, owner, live))
            self._lend_name(node, parent)

    def _place(self, node: Node, parent: Key | None, window: Box) -> None:
        """Find where the node's own coordinates count from."""
        if not node.relative:
            self._origins[node.key] = _lag(node)
            return
        above = None if parent is None else self._origins.get(parent)
        if above is None:  # the window itself: it counts from inside the border that it draws
            edge = (window.width - node.box.width) / 2, (window.height - node.box.height) / 2
            above = window.x + max(0, edge[0]), window.y + max(0, edge[1])
        surface = self._surfaces.get(node.key)
        if surface is None or node.parent is None:
            self._origins[node.key] = above
            return
        # A popover of GTK 4 has a surface of its own, and counts from its parent's corner as if it had not.
        corner = node.parent.box
        self._origins[node.key] = (surface.x - corner.x, surface.y - corner.y)

    def _lend_name(self, node: Node, parent: Key | None) -> None:
        """A row without a name is called by the first label in it."""
        place = self._places[node.key]
        made = self._made[place]
        if parent in self._unnamed and made.text:
            lent = self._unnamed[parent]
            self._made[lent] = replace(self._made[lent], text=made.text)
            self._unnamed = {key: each for key, each in self._unnamed.items() if each != lent}
        elif parent in self._unnamed:
            self._unnamed[node.key] = self._unnamed[parent]
        elif made.role in _ROWS and not made.text and not made.value:
            self._unnamed[node.key] = place

    def _element(self, node: Node, visible: Box, owner: str | None, live: bool) -> Element:
        role = map_role(node.role, family="atspi", unknown=self._unknown)
        # A field is called one thing and holds another; a label is what it says.
        holds = node.editable or role in _HOLDING
        return Element(
            role=role,
            text=node.name or node.description if holds else node.label,
            value=node.text or node.value if holds else "",
            box=visible,
            application=self._application if owner is None else owner,
            clickable=live
            and (role in CLICKABLE_ROLES or node.role in _CLICKED_NATIVES)
            and node.key not in self._surfaces,
            editable=live and _takes_text(node, role),
            enabled=node.enabled,
            focused=node.focused,
            checked=node.checked,
            secret=node.role in SECRET_ROLES,
            process=None if node.application is None else node.application.pid,
            parent=None if node.parent is None else self._places.get(node.parent.key),
            handle=handle_of(node),
        )

    def finish(self) -> tuple[Element, ...]:
        """Everything added."""
        return tuple(self._made)


def _takes_text(node: Node, role: str) -> bool:
    """Whether typing goes into it. A cell takes text only while it has the focus, as in a spreadsheet."""
    if not node.editable:
        return False
    if role == "dataitem":
        return node.focused
    return role in EDITABLE_ROLES or node.role == "paragraph"


def _in_one(box: Box, others: Sequence[Box]) -> bool:
    """Whether the centre of a box lies in one of some others."""
    x, y = box.x + box.width / 2, box.y + box.height / 2
    return any(
        other.x <= x < other.x + other.width and other.y <= y < other.y + other.height for other in others
    )


def handle_of(node: Node) -> str:
    """How an element refers to its node."""
    return " ".join(node.key)


def on_screen(node: Node, origin: Origin) -> Box:
    """Where a node is on the screen, given where its coordinates count from."""
    box = node.box
    return Box(box.x + origin[0], box.y + origin[1], box.width, box.height)


def _popovers(nodes: Sequence[Node], surfaces: Sequence[Box]) -> dict[Key, Box]:
    """The popovers of GTK 4: for each surface the node that fills it best, but for an arrow and a margin.

    What a popover holds may fill the surface as well: the outermost is taken.
    """
    found: dict[Key, Box] = {}
    for surface in surfaces:
        best = _MARGIN + 1.0
        for node in nodes:
            if not node.relative or node.parent is None or node.parent.parent is None or node.key in found:
                continue
            off = max(abs(node.box.width - surface.width), abs(node.box.height - surface.height))
            if off < best:
                best, popover = off, node.key
        if best <= _MARGIN:
            found[popover] = surface
    return found


def _lag(node: Node) -> Origin:
    """By how much an item of an open menu of Swing is off: it is placed as if the menu had not opened.

    The items fill their menu but for its border, so that both have the same middle.
    """
    menu = node.parent
    if menu is None or menu.role != "popup menu" or not is_swing(node) or "menu" not in node.role:
        return (0, 0)
    boxes = [each.box for each in menu.children if each.shows and each.area > 0] or [node.box]
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return (
        round(menu.box.x + menu.box.width / 2 - (left + right) / 2),
        round(menu.box.y + menu.box.height / 2 - (top + bottom) / 2),
    )


def _folded(node: Node) -> bool:
    """Whether it is in something of no size, like the second menu bar that LibreOffice keeps.

    A size below zero says only that nothing is known: so it is with a tab that is not shown while its
    page is, and with the windows of Swing.
    """
    above = node.parent
    if above is None or above.parent is None or above.parent.parent is None:
        return False
    return above.box.width == 0 or above.box.height == 0
