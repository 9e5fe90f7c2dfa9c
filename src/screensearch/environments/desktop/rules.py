"""What of an element is read, and what its application's answers mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from screensearch.domain.screen import Box
from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Interface, State
from screensearch.environments.desktop.bus import plain
from screensearch.environments.desktop.node import Node

TEXT_LIMIT = 4000
"""Characters of a text that are read."""

LIBREOFFICE_TOP = "root pane"
"""Where LibreOffice's own elements begin."""

_CLASS_NAME = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")


def shows(node: Node) -> bool:
    """Whether an element can be seen, as far as it says so. GTK 4 never sets `showing`."""
    if node.states & State.DEFUNCT:
        return False
    return bool(node.states & (State.VISIBLE if node.relative else State.SHOWING))


def is_swing(node: Node) -> bool:
    return node.application is not None and node.application.is_swing


def holds_text(node: Node) -> bool:
    """Whether its text is read: never a secret, and not what its name says already."""
    if not node.interfaces & Interface.TEXT or node.role in atspi.SECRET_ROLES:
        return False
    same = node.role == "label" or (node.role == "table cell" and node.is_gtk3)
    return not (same and node.name)


def holds_value(node: Node) -> bool:
    return bool(node.interfaces & Interface.VALUE) and node.role in atspi.VALUED_ROLES


def needs_description(node: Node) -> bool:
    """Whether its description is all that tells a person what it is for."""
    return (
        not node.name
        and node.role not in ("table cell", "separator")
        and bool(node.interfaces & Interface.ACTION)
    )


def state_mask(words: Sequence[int]) -> int:
    """Two words of 32 bits, as a mask."""
    return (words[0] if words else 0) | (words[1] << 32 if len(words) > 1 else 0)


def text_of(value: Any) -> str:
    text = plain(value)
    return text[:TEXT_LIMIT] if isinstance(text, str) else ""


def role_of(node: Node, number: int) -> str:
    """The native role of an element. Swing calls the items of a list labels."""
    role = atspi.role_name(number)
    in_list = node.parent is not None and node.parent.role == "list" and is_swing(node)
    return "list item" if role == "label" and in_list else role


def name_of(node: Node, value: Any) -> str:
    """The name of an element. GTK 4 gives its class where it has none: ``GtkMenuButton`` says nothing."""
    name = text_of(value)
    return "" if node.relative and node.role != "label" and _CLASS_NAME.fullmatch(name) else name


def placed(node: Node, extents: Sequence[int]) -> Box:
    """The box of an element, put right where its application is known to be off."""
    x, y, width, height = extents
    shift = node.shift
    if width <= 0 and is_swing(node):
        return node.box  # a frame: it has the place that it is lent by what is in it
    if node.role == "popup menu" and is_swing(node) and node.parent is not None and node.parent.area > 0:
        return node.parent.box  # it fills its panel, and says that it is where it was opened from
    if shift is None:
        return Box(x, y, width, height)
    if node.role == LIBREOFFICE_TOP and node.parent is not None and node.parent.area > 0:
        # All of LibreOffice's own elements below share this shift.
        shift.x, shift.y = node.parent.box.x - x, node.parent.box.y - y
    return Box(x + shift.x, y + shift.y, width, height)
