"""How a generated screen looks: a number becomes sixty controls (see `generator` for why they differ)."""

from __future__ import annotations

from functools import lru_cache

from screensearch.domain.screen import Element, Window
from screensearch.environments.synthetic.layout import Item as MenuItem
from screensearch.environments.synthetic.layout import labels, menu_widgets, status_bar, title_bar, tool_bar
from screensearch.environments.synthetic.model import Widget
from screensearch.environments.synthetic.scene import Placement, Scene, element, place

BASE = 64
DIGITS = 4
CODES: int = BASE**DIGITS

_WORDS = """
Anchor Archive Autumn Badger Basket Beacon Bridge Button Candle Canvas Carbon Castle Cellar Circle
Cobalt Copper Cotton Crystal Dragon Ember Falcon Feather Forest Garden Ginger Granite Harbour Hazel
Island Ivory Jasmine Juniper Kettle Ladder Lantern Lemon Linen Magnet Maple Marble Meadow Mirror Needle
Nickel Orchard Otter Paper Pebble Pepper Pillow Plum Quarry Ribbon River Saddle Saffron Silver Spruce
Summit Thistle Timber Velvet Walnut Willow
"""
WORDS = tuple(_WORDS.split())

LAYOUTS = (  # rows of four controls; role of the actions; roles of the rest, by column
    (9, "button", ("text", "text", "edit", "text")),
    (10, "listitem", ("listitem", "text", "text", "image")),
    (11, "button", ("dataitem", "dataitem", "text", "checkbox")),
    (12, "treeitem", ("text", "radiobutton", "text", "text")),
)
"""Few on purpose: screens are told apart by their words, as the bound in `generator` assumes."""


@lru_cache(maxsize=16)
def _furniture(placement: Placement) -> tuple[Element, ...]:
    """Common to all screens; the last is the clock."""
    tools = (MenuItem("home", "Home"), MenuItem("back", "Back"))
    widgets = (
        *title_bar("Workbench"),
        *tool_bar(tools),
        Widget("hint", "text", "Pick a card", (12, 2.5, 5, 1)),
        Widget("search", "edit", "Go to", (20, 2.5, 9, 1)),
        Widget("pane", "pane", "", (0, 4, 30, 25)),
        # Its centre is a pixel from the border of a cell: the one text that a shift may move.
        Widget("edge", "text", "Pinned", (9, 28, 3.95, 1)),
        *status_bar(("Ready", "Online", "Profile: you", "Zoom: 100%")),
    )
    clickable = {"tool.home": "home", "tool.back": "back"}
    return tuple(
        element(
            w.role,
            w.text,
            place(w, (0, 0), placement),
            "workbench",
            w.key in clickable,
            w.role == "edit",
            True,
            False,
            None,
            clickable.get(w.key, w.key),
        )
        for w in widgets
    )


@lru_cache(maxsize=64)
def _faces(
    layout: int, seed: int, branching: int, placement: Placement
) -> tuple[tuple[tuple[Element, ...], int], ...]:
    """For every slot: its 64 possible elements in the order of the digit, and which digit it follows."""
    rows, action_role, roles = LAYOUTS[layout]
    faces = []
    for slot in range(rows * 4):
        row, column = divmod(slot, 4)
        action = slot < branching
        role = action_role if action else roles[column]
        factor, offset = (seed >> slot % 32 | 1) & 63, seed >> (slot % 29) & 63
        box = placement.box(1 + 7 * column, 5 + 2 * row, 5, 1)
        by_digit = tuple(
            element(
                role,
                WORDS[(digit * factor + offset + slot) % BASE],
                box,
                "workbench",
                action,
                False,
                True,
                False,
                None,
                f"slot.{slot}",
            )
            for digit in range(BASE)
        )
        faces.append((by_digit, (row + column) % DIGITS))
    return tuple(faces)


@lru_cache(maxsize=16)
def _window(placement: Placement) -> Window:
    return Window("Workbench", "main", placement.box(0, 0, 30, 30), "workbench")


def screen_scene(screen: int, seed: int, branching: int, placement: Placement) -> Scene:
    """The scene of a screen number. Costs one look-up per control."""
    code = _code(screen, seed)
    digits = (code & 63, code >> 6 & 63, code >> 12 & 63, code >> 18)
    layout = code % len(LAYOUTS)
    furniture = _furniture(placement)
    cards = tuple([face[digits[which]] for face, which in _faces(layout, seed, branching, placement)])
    end = len(furniture) + len(cards)  # one column, one role: a list that has no fixed order
    loose = (end - 12, end - 8, end - 4) if branching <= len(cards) - 12 else ()
    return Scene(
        window=_window(placement),
        elements=furniture + cards,
        clocks=(len(furniture) - 1,),
        unordered=loose,
    )


@lru_cache(maxsize=16)
def foreign_scene(placement: Placement) -> Scene:
    """A window of another application."""
    items = [MenuItem(str(i), text) for i, text in enumerate(("Accept", "Later", "Never"))]
    widgets = (
        *title_bar("Visitor", 16),
        *labels("visitor", ("An update is ready", "Restart to finish", "It takes a minute"), (1, 2), 12),
        *menu_widgets(items, (1, 7), 6),
    )
    elements = tuple(
        element(
            w.role,
            w.text,
            place(w, (7, 8), placement),
            "visitor",
            w.role == "menuitem",
            False,
            True,
            False,
            None,
            f"visitor.{i}",
        )
        for i, w in enumerate(widgets)
    )
    return Scene(Window("Visitor", "main", placement.box(7, 8, 16, 12), "visitor"), elements)


def holds(screen: int, seed: int, handle: str) -> bool:
    """Whether a control with this handle is on the screen."""
    kind, _, number = handle.partition(".")
    if kind == "slot":
        return number.isdecimal() and int(number) < 4 * LAYOUTS[_code(screen, seed) % len(LAYOUTS)][0]
    return handle in _furniture_handles()


@lru_cache(maxsize=1)
def _furniture_handles() -> frozenset[str]:
    return frozenset(element.handle for element in _furniture(Placement(0, 0)))


def _code(screen: int, seed: int) -> int:
    """The screen's number, scrambled: an odd factor is a bijection modulo 64⁴."""
    return (screen * (seed | 1) + (seed >> 7)) % CODES
