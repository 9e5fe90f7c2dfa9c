"""A scene: one screen without noise, as the elements an accessibility backend would report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from screensearch.domain.screen import Box, Element, Window
from screensearch.environments.synthetic.model import UNIT_HEIGHT, UNIT_WIDTH, Pane, State, Widget

DESKTOP_WIDTH, DESKTOP_HEIGHT = 1280, 900
"""Pixels of the screen at the default size; larger windows get a proportionally larger desktop."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the main window is this episode, and how large a layout unit is there."""

    x: int
    y: int
    scale: float = 1.0

    def box(self, column: float, row: float, width: float, height: float) -> Box:
        """Layout units to screen pixels."""
        unit_width, unit_height = UNIT_WIDTH * self.scale, UNIT_HEIGHT * self.scale
        return Box(
            self.x + round(column * unit_width),
            self.y + round(row * unit_height),
            round(width * unit_width),
            round(height * unit_height),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What a pane looks like now. Compared by identity: a scene is cached and reused."""

    window: Window
    elements: tuple[Element, ...]
    display_mode: str = "light"
    text_scale: float = 1.0
    focusable: Mapping[str, int] = field(default_factory=dict)  # value of `focus` → element
    clocks: tuple[int, ...] = ()  # elements whose text is the time
    unordered: tuple[int, ...] = ()  # neighbours in a list without a fixed order


@lru_cache(maxsize=65_536)
def element(
    role: str,
    text: str,
    box: Box,
    application: str,
    clickable: bool,
    editable: bool,
    enabled: bool,
    checked: bool,
    parent: int | None,
    handle: str,
) -> Element:
    """Most controls of a new screen were on an earlier one: scenes share their elements."""
    return Element(role, text, box, application, clickable, editable, enabled, False, checked, parent, handle)


LOOSE = frozenset({"toolbar", "statusbar"})
"""Roles whose centre may lie on the border of a cell, so that a pixel of noise changes an atom or two."""


def _settled(start: float, extent: float) -> float:
    """The extent, a little smaller where the centre would lie on the border of a cell.

    Round numbers put half of all centres exactly there, where one pixel would move a whole toolbar
    to other cells: far more than any real layout does.
    """
    centre = start + extent / 2
    return extent - 0.2 if abs(centre - round(centre)) < 0.02 else extent


def place(widget: Widget, origin: tuple[float, float], placement: Placement) -> Box:
    """Where a widget is on the screen, in a window that begins at `origin` (layout units)."""
    left, top, width, height = widget.at
    if widget.role not in LOOSE:
        width, height = _settled(left, width), _settled(top, height)
    return placement.box(origin[0] + left, origin[1] + top, width, height)


def compose(
    pane: Pane, state: State, widgets: tuple[Widget, ...], placement: Placement, application: str
) -> Scene:
    """Lay a pane's widgets out in screen pixels."""
    indexes = {widget.key: index for index, widget in enumerate(widgets)}
    elements = tuple(
        element(
            widget.role,
            widget.text,
            place(widget, pane.at, placement),
            application,
            widget.click is not None,
            widget.type is not None,
            widget.enabled,
            widget.checked,
            indexes.get(widget.parent),
            widget.key,
        )
        for widget in widgets
    )
    return Scene(
        window=Window(pane.title(state), pane.kind, placement.box(*pane.at, *pane.size), application),
        elements=elements,
        display_mode=str(state["display_mode"]),
        text_scale=float(state["text_scale"]),
        focusable={widget.focus: indexes[widget.key] for widget in widgets if widget.focus},
        clocks=tuple(i for i, widget in enumerate(widgets) if widget.noise == "clock"),
        unordered=tuple(i for i, widget in enumerate(widgets) if widget.noise == "unordered"),
    )
