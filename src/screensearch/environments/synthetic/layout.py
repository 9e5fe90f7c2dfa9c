"""The furniture every application shares: title bar, menus, toolbar, lists, dialogs, status bar.

Positions are layout units (see `model`): column, row, width, height within the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from screensearch.environments.synthetic.effects import put
from screensearch.environments.synthetic.model import Effect, Pane, State, Variable, Widget

NOON = "12:00"
"""What a clock shows where there is no noise."""


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a menu, a toolbar or a row of buttons. Without an effect it cannot be clicked."""

    key: str
    text: str
    click: Effect | None = None
    enabled: bool = True
    checked: bool = False


def display_variables(*, inert: bool) -> tuple[Variable, ...]:
    """Display mode and text size: screen metadata, part of every application's state."""
    return (Variable("display_mode", ("light",), inert=inert), Variable("text_scale", (1.0,), inert=inert))


def title_bar(title: str, width: float = 30) -> tuple[Widget, ...]:
    """A title and the three window buttons, which belong to the window manager: not clickable."""
    buttons = tuple(
        Widget(f"title.{name.lower()}", "button", name, (width - 3 + i, 0, 1, 1), parent="title")
        for i, name in enumerate(("Minimise", "Maximise", "Close"))
    )
    return (Widget("title", "titlebar", title, (0, 0, width, 1)), *buttons)


def menu_bar(menus: Sequence[str]) -> tuple[Widget, ...]:
    """The menu bar in the second row. Each name opens the pane ``menu.<name>``."""
    items = tuple(
        Widget(
            f"menubar.{name.lower()}",
            "menuitem",
            name,
            (i * 2, 1, 2, 1),
            click=put(window=f"menu.{name.lower()}"),
            parent="menubar",
        )
        for i, name in enumerate(menus)
    )
    return (Widget("menubar", "menubar", "", (0, 1, 30, 1)), *items)


def tool_bar(items: Sequence[Item], row: float = 2, width: float = 2) -> tuple[Widget, ...]:
    """A row of buttons, two units high."""
    buttons = tuple(
        Widget(
            f"tool.{item.key}",
            "button",
            item.text,
            (i * width, row, width, 2),
            click=item.click,
            enabled=item.enabled,
            checked=item.checked,
            parent="toolbar",
        )
        for i, item in enumerate(items)
    )
    return (Widget("toolbar", "toolbar", "", (0, row, 30, 2)), *buttons)


def status_bar(texts: Sequence[str], width: float = 30, row: float = 29) -> tuple[Widget, ...]:
    """Evenly spaced facts, and a clock at the right end."""
    pitch = (width - 2) / len(texts)
    facts = tuple(
        Widget(f"status.{i}", "text", text, (i * pitch, row, pitch, 1), parent="status")
        for i, text in enumerate(texts)
    )
    clock = Widget("status.clock", "text", NOON, (width - 2, row, 2, 1), parent="status", noise="clock")
    return (Widget("status", "statusbar", "", (0, row, width, 1)), *facts, clock)


def labels(
    key: str,
    texts: Sequence[str],
    at: tuple[float, float],
    width: float,
    *,
    parent: str = "",
    role: str = "text",
) -> tuple[Widget, ...]:
    """A column of one-row texts."""
    return tuple(
        Widget(f"{key}.{i}", role, text, (at[0], at[1] + i, width, 1), parent=parent)
        for i, text in enumerate(texts)
    )


def inactive(widgets: Sequence[Widget]) -> tuple[Widget, ...]:
    """The same controls while another window holds the input."""
    return tuple(replace(w, click=None, type=None, scroll=None) for w in widgets)


def menu_pane(
    main: Pane, menus: Sequence[str], name: str, items: Callable[[State], Sequence[Item]], width: float = 6
) -> Pane:
    """An open menu over the main window: the bar still works, anything else closes the menu."""
    lower = name.lower()
    column = 2.0 * [menu.lower() for menu in menus].index(lower)
    back = put(window=main.name)

    def draw(state: State) -> tuple[Widget, ...]:
        shown = main.draw(state)
        under = (
            widget if widget.key.startswith("menubar.") else passive
            for widget, passive in zip(shown, inactive(shown), strict=True)
        )
        return (*under, *menu_widgets(items(state), (column, 2), width))

    def title(state: State) -> str:
        return f"{name} - {main.title(state)}"

    return Pane(f"menu.{lower}", "menu", title, main.shows, draw, keys={"escape": back}, dismiss=back)


def menu_widgets(items: Sequence[Item], at: tuple[float, float], width: float) -> tuple[Widget, ...]:
    """The items of an open menu or context menu."""
    column, row = at
    rows = tuple(
        Widget(
            f"item.{item.key}",
            "menuitem",
            item.text,
            (column, row + i, width, 1),
            click=item.click,
            enabled=item.enabled,
            checked=item.checked,
            parent="menu",
        )
        for i, item in enumerate(items)
    )
    return (Widget("menu", "menu", "", (column, row, width, len(items))), *rows)


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog by its parts: `body` draws between the title bar and the buttons."""

    name: str
    title: str
    size: tuple[float, float]
    buttons: Callable[[State], Sequence[Item]]
    body: Callable[[State], tuple[Widget, ...]]
    shows: tuple[str, ...] = ()
    keys: Mapping[str, Effect] = field(default_factory=dict)
    kind: str = "dialog"
    application: str = ""

    def pane(self, behind: str) -> Pane:
        width, height = self.size

        def draw(state: State) -> tuple[Widget, ...]:
            buttons = tuple(
                Widget(
                    f"button.{item.key}",
                    "button",
                    item.text,
                    (width - 4 * (count + 1) - 0.5, height - 2, 3.5, 1.25),
                    click=item.click,
                    enabled=item.enabled,
                )
                for count, item in enumerate(reversed(self.buttons(state)))
            )
            return (*title_bar(self.title, width), *self.body(state), *buttons)

        def title(state: State) -> str:
            return self.title

        return Pane(
            self.name,
            self.kind,
            title,
            self.shows,
            draw,
            size=self.size,
            at=(15 - width / 2, 13 - height / 2),
            keys=self.keys,
            behind=behind,
            application=self.application,
        )


def notice(sign: str, key: str, texts: Sequence[str]) -> Callable[[State], tuple[Widget, ...]]:
    """The body of a message box, whatever the state: a sign, and some lines beside it."""

    def body(state: State) -> tuple[Widget, ...]:
        return Widget("sign", "image", sign, (0.5, 1.5, 2, 2)), *labels(key, texts, (3, 1.5), 9)

    return body


def fixed(*items: Item) -> Callable[[State], Sequence[Item]]:
    """The same buttons whatever the state."""

    def buttons(state: State) -> Sequence[Item]:
        return items

    return buttons


def foreign_pane(name: str, title: str, application: str, texts: Sequence[str]) -> Pane:
    """A window of another application over the main one: reaching it is a capture."""

    def body(state: State) -> tuple[Widget, ...]:
        return labels("row", texts, (0.5, 1.5), 14)

    buttons = fixed(Item("cancel", "Cancel", put(window="main")))
    return Dialog(name, title, (16, 12), buttons, body, kind="main", application=application).pane("main")
