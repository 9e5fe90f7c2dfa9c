"""The vocabulary of AT-SPI 2: roles, states and interfaces, and the calls that ask for them.

Nothing here does any I/O. States and interfaces are bit masks: an element carries dozens, and they are
tested far more often than shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

REGISTRY: Final = "org.a11y.atspi.Registry"
ROOT_PATH: Final = "/org/a11y/atspi/accessible/root"
NULL_PATH: Final = "/org/a11y/atspi/null"
REGISTRY_PATH: Final = "/org/a11y/atspi/registry"

ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
APPLICATION: Final = "org.a11y.atspi.Application"
COMPONENT: Final = "org.a11y.atspi.Component"
TABLE: Final = "org.a11y.atspi.Table"
TEXT: Final = "org.a11y.atspi.Text"
VALUE: Final = "org.a11y.atspi.Value"
PROPERTIES: Final = "org.freedesktop.DBus.Properties"
DAEMON: Final = "org.freedesktop.DBus"
DAEMON_PATH: Final = "/org/freedesktop/DBus"

SCREEN_COORDINATES: Final = 0
WINDOW_COORDINATES: Final = 1


class State:
    """The states that are asked for, as bits of a mask; `names_of` knows all of them."""

    ACTIVE: Final = 1 << 1
    CHECKED: Final = 1 << 4
    DEFUNCT: Final = 1 << 6
    EDITABLE: Final = 1 << 7
    ENABLED: Final = 1 << 8
    EXPANDED: Final = 1 << 10
    FOCUSABLE: Final = 1 << 11
    FOCUSED: Final = 1 << 12
    PRESSED: Final = 1 << 20
    SELECTED: Final = 1 << 23
    SENSITIVE: Final = 1 << 24
    SHOWING: Final = 1 << 25
    VISIBLE: Final = 1 << 30
    MANAGES_DESCENDANTS: Final = 1 << 31


_STATE_NAMES: Final = (
    *("invalid", "active", "armed", "busy", "checked", "collapsed", "defunct", "editable"),
    *("enabled", "expandable", "expanded", "focusable", "focused", "has-tooltip", "horizontal"),
    *("iconified", "modal", "multi-line", "multiselectable", "opaque", "pressed", "resizable"),
    *("selectable", "selected", "sensitive", "showing", "single-line", "stale", "transient"),
    *("vertical", "visible", "manages-descendants", "indeterminate", "required", "truncated"),
    *("animated", "invalid-entry", "supports-autocompletion", "selectable-text", "is-default"),
    *("visited", "checkable", "has-popup", "read-only"),
)

STATE_BITS: Final = {name: 1 << bit for bit, name in enumerate(_STATE_NAMES)}

ROLES: Final = (
    *("invalid", "accelerator label", "alert", "animation", "arrow", "calendar", "canvas", "check box"),
    *("check menu item", "color chooser", "column header", "combo box", "date editor", "desktop icon"),
    *("desktop frame", "dial", "dialog", "directory pane", "drawing area", "file chooser", "filler"),
    *("focus traversable", "font chooser", "frame", "glass pane", "html container", "icon", "image"),
    *("internal frame", "label", "layered pane", "list", "list item", "menu", "menu bar", "menu item"),
    *("option pane", "page tab", "page tab list", "panel", "password text", "popup menu", "progress bar"),
    *("push button", "radio button", "radio menu item", "root pane", "row header", "scroll bar"),
    *("scroll pane", "separator", "slider", "spin button", "split pane", "status bar", "table"),
    *("table cell", "table column header", "table row header", "tearoff menu item", "terminal", "text"),
    *("toggle button", "tool bar", "tool tip", "tree", "tree table", "unknown", "viewport", "window"),
    *("extended", "header", "footer", "paragraph", "ruler", "application", "autocomplete", "editbar"),
    *("embedded", "entry", "chart", "caption", "document frame", "heading", "page", "section"),
    *("redundant object", "form", "link", "input method window", "table row", "tree item"),
    *("document spreadsheet", "document presentation", "document text", "document web", "document email"),
    *("comment", "list box", "grouping", "image map", "notification", "info bar", "level bar"),
    *("title bar", "block quote", "audio", "video", "definition", "article", "landmark", "log"),
    *("marquee", "math", "rating", "timer", "static", "math fraction", "math root", "subscript"),
    *("superscript", "description list", "description term", "description value", "footnote"),
    *("content deletion", "content insertion", "mark", "suggestion", "push button menu"),
)
"""Native role names by number, as ``atspi_role_get_name`` gives them."""

VALUED_ROLES: Final = frozenset({"slider", "spin button", "progress bar", "level bar", "dial", "rating"})
"""Roles whose value a person reads as content. A scroll bar's or a divider's is only its place."""

SECRET_ROLES: Final = frozenset({"password text"})
"""Roles whose text is never read."""


class Interface:
    """The interfaces that matter here, as bits of a mask."""

    ACTION: Final = 1
    COMPONENT: Final = 2
    EDITABLE_TEXT: Final = 4
    SELECTION: Final = 8
    TABLE: Final = 16
    TEXT: Final = 32
    VALUE: Final = 64


_INTERFACE_BITS: Final = {
    "org.a11y.atspi.Action": Interface.ACTION,
    "org.a11y.atspi.Component": Interface.COMPONENT,
    "org.a11y.atspi.EditableText": Interface.EDITABLE_TEXT,
    "org.a11y.atspi.Selection": Interface.SELECTION,
    "org.a11y.atspi.Table": Interface.TABLE,
    "org.a11y.atspi.Text": Interface.TEXT,
    "org.a11y.atspi.Value": Interface.VALUE,
}


def role_name(number: int) -> str:
    """The native name of a role; a number from the future is ``unknown``."""
    return ROLES[number] if 0 <= number < len(ROLES) else "unknown"


def interface_mask(names: Iterable[str]) -> int:
    """The interfaces an element implements, as a mask; those of no use here are left out."""
    mask = 0
    for name in names:
        mask |= _INTERFACE_BITS.get(name, 0)
    return mask


def names_of(states: int) -> list[str]:
    """The states of a mask by name, for people."""
    return [name for name, bit in STATE_BITS.items() if states & bit]


class Call(NamedTuple):
    """A method call, ready to be sent."""

    destination: str
    path: str
    interface: str
    member: str
    signature: str = ""
    body: tuple[Any, ...] = ()


def get_state(bus_name: str, path: str) -> Call:
    return Call(bus_name, path, ACCESSIBLE, "GetState")


def get_role(bus_name: str, path: str) -> Call:
    return Call(bus_name, path, ACCESSIBLE, "GetRole")


def get_interfaces(bus_name: str, path: str) -> Call:
    return Call(bus_name, path, ACCESSIBLE, "GetInterfaces")


def get_children(bus_name: str, path: str) -> Call:
    return Call(bus_name, path, ACCESSIBLE, "GetChildren")


def get_property(bus_name: str, path: str, interface: str, name: str) -> Call:
    return Call(bus_name, path, PROPERTIES, "Get", "ss", (interface, name))


def get_extents(bus_name: str, path: str, *, relative: bool = False) -> Call:
    """`relative`: in pixels of the window instead of the screen."""
    coordinates = WINDOW_COORDINATES if relative else SCREEN_COORDINATES
    return Call(bus_name, path, COMPONENT, "GetExtents", "u", (coordinates,))


def get_text(bus_name: str, path: str, end: int) -> Call:
    return Call(bus_name, path, TEXT, "GetText", "ii", (0, end))


def get_cell(bus_name: str, path: str, place: tuple[int, int]) -> Call:
    """`place`: row and column."""
    return Call(bus_name, path, TABLE, "GetAccessibleAt", "ii", place)
