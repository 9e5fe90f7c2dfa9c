"""Accessible nodes become elements: roles of our vocabulary, visible boxes, what can be done with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from screensearch.domain.roles import CLICKABLE_ROLES, EDITABLE_ROLES, UnknownRoles, map_role
from screensearch.domain.screen import Box, Element
from screensearch.environments.desktop.node import Key, Node
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

_EVERYWHERE = Box(-100_000, -100_000, 200_000, 200_000)

_HOLDING = frozenset({"edit", "document", "spinner", "slider", "progressbar", "scrollbar", "combobox"})
"""Roles with a content apart from their name."""

_SECRET_ROLES = frozenset({"password text"})


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

    def add(
        self, nodes: Iterable[Node], window: Box, *, owner: str | None, popups: Sequence[Box], popup: bool
    ) -> None:
        """Append the nodes of a window, in preorder.

        `owner` is the application they belong to when that is not the target. `popups` are the menus and
        lists that are open: a click outside of them only closes them, so only what is in them is live,
        and the menu bar. `popup` says that these nodes are one.
        """
        for node in nodes:
            key, parent = node.key, None if node.parent is None else node.parent.key
            if node.role in _OWN_WINDOW or parent is None:
                clip = _EVERYWHERE if popups else window
            else:
                clip = self._clips.get(parent, window)
            inside = popup or node.role in _OPENS or parent in self._opened
            if inside:
                self._opened.add(key)
            visible = shared(on_screen(node, window), clip)
            self._clips[key] = visible if node.role in _CLIPPING else clip
            if visible.width < 1 or visible.height < 1:
                continue
            live = not popups or node.role == "menu" or (inside and _in_one(visible, popups))
            self._places[key] = len(self._made)
            self.nodes[handle_of(node)] = node
            self._made.append(self._element(node, visible, owner, live))

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
            clickable=live and (role in CLICKABLE_ROLES or node.role in _CLICKED_NATIVES),
            editable=live and _takes_text(node, role),
            enabled=node.enabled,
            focused=node.focused,
            checked=node.checked,
            secret=node.role in _SECRET_ROLES,
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
    return f"{node.bus_name} {node.path}"


def on_screen(node: Node, window: Box) -> Box:
    """Where a node is on the screen, given its window: some tool kits count from the window's corner."""
    box = node.box
    return Box(box.x + window.x, box.y + window.y, box.width, box.height) if node.relative else box
