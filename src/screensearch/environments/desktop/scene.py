"""Which window takes the input, what is open above it, and whose they are.

X knows what is mapped, in which order, and which window is active; the accessibility bus knows what
is in them. The two are joined here by process, title and place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screensearch.domain.screen import Box
from screensearch.environments.desktop.display import XWindow
from screensearch.environments.desktop.node import Node

_POPUPS = frozenset({"menu", "popup"})
_TOP_LEVELS = frozenset({"normal", "dialog", "utility"})
_POPUP_ROLES = frozenset({"popup menu", "menu", "window", "list", "list box", "combo box"})


@dataclass(frozen=True, slots=True)
class Scene:
    """What a person would say is in front: a window, and the menus or lists open above it."""

    window: XWindow
    popups: tuple[XWindow, ...]  # bottom to top

    @property
    def front(self) -> XWindow:
        """The window that the next key press goes to."""
        return self.popups[-1] if self.popups else self.window


def scene(windows: Sequence[XWindow], active: int | None) -> Scene | None:
    """What is in front, given the mapped windows from bottom to top; None when nothing is."""
    tops = _top_levels(windows)
    window = next((each for each in tops if each.id == active), tops[-1] if tops else None)
    popups = [each for each in windows if _takes_input(each)]
    if window is None:
        # A splash screen or a bare menu: better seen than nothing.
        others = [each for each in windows if each.kind != "tooltip"]
        return Scene(others[-1], ()) if others else None
    return Scene(window, tuple(popups))


def _takes_input(window: XWindow) -> bool:
    """Whether it is a menu or a list that holds the pointer. Tool kits keep tiny hidden ones mapped."""
    popup = window.kind in _POPUPS or (window.override_redirect and window.kind == "normal")
    return popup and window.raw_box.width > 4 and window.raw_box.height > 4


def top_level_of(window: XWindow, accessibles: Sequence[Node], process_of: dict[str, int]) -> Node | None:
    """The accessible of an X window: of its process; then by title, if only that neither has one; then by
    activity, which some windows claim after they lost it; then by place."""
    best: tuple[tuple[bool, bool, float], Node] | None = None
    for node in accessibles:
        process = process_of.get(node.bus_name)
        if window.pid is not None and process is not None and process != window.pid:
            continue
        rank = (node.name == window.title, node.active, -_distance(node, window))
        if best is None or rank > best[0]:
            best = rank, node
    return None if best is None else best[1]


def popups_of(
    window: Node, accessibles: Sequence[Node], windows: Sequence[XWindow], process_of: dict[str, int]
) -> list[Node]:
    """Open menus and lists of the same application that are top-levels of their own.

    By its role, a window of Qt may be such a list or the main one; that has a window of the screen.
    """
    tops = {(each.pid, each.title) for each in _top_levels(windows)}
    return [
        node
        for node in accessibles
        if node.key != window.key
        and node.bus_name == window.bus_name
        and node.role in _POPUP_ROLES
        and not (node.name and (process_of.get(node.bus_name), node.name) in tops)
    ]


def _top_levels(windows: Sequence[XWindow]) -> list[XWindow]:
    return [each for each in windows if each.kind in _TOP_LEVELS and not each.override_redirect]


def _distance(node: Node, window: XWindow) -> float:
    box, other = node.box, window.box
    return (
        abs(box.x - other.x)
        + abs(box.y - other.y)
        + abs(box.width - other.width)
        + abs(box.height - other.height)
    )


def shared(one: Box, other: Box) -> Box:
    """What two boxes have in common; of no size when that is nothing."""
    x, y = max(one.x, other.x), max(one.y, other.y)
    right = min(one.x + one.width, other.x + other.width)
    bottom = min(one.y + one.height, other.y + other.height)
    return Box(x, y, max(0.0, right - x), max(0.0, bottom - y))
