"""A settings panel. Hidden: whether the machine is managed, what Apply does, and which field has focus.

Changes are staged on a page and take effect with Apply. In one hidden mode Apply acts at once, in the
other it asks first; on a managed machine the network page refuses. The strip at the bottom shows what
is in effect on every page, so that most screens hide nothing. The display page changes the screen's
metadata: display mode and text size.
"""

from __future__ import annotations

from collections.abc import Callable

from screensearch.environments.synthetic.effects import by_argument, compute, crash, hang, put, when, write
from screensearch.environments.synthetic.layout import (
    Dialog,
    Item,
    fixed,
    foreign_pane,
    labels,
    notice,
    status_bar,
    title_bar,
)
from screensearch.environments.synthetic.model import App, Event, Pane, State, Variable, Widget

PAGES = ("system", "display", "network", "accounts", "updates")

FACTS: dict[str, tuple[tuple[str, str], ...]] = {
    "workshop": (
        ("Device name", "workshop-3"),
        ("Processor", "Eight cores, 2.6 GHz"),
        ("Memory", "16 GB"),
        ("Graphics", "Integrated"),
        ("Disk", "512 GB, 41 GB free"),
        ("System", "Release 12.4"),
        ("Kernel", "6.1.0"),
        ("Serial number", "WX-20431"),
        ("Battery", "None"),
        ("Firmware", "1.8"),
        ("Warranty", "Until March"),
        ("Support", "Extended"),
    ),
    "library": (
        ("Device name", "library-11"),
        ("Processor", "Four cores, 1.9 GHz"),
        ("Memory", "8 GB"),
        ("Graphics", "Dedicated"),
        ("Disk", "256 GB, 7 GB free"),
        ("System", "Release 12.1"),
        ("Kernel", "6.0.3"),
        ("Serial number", "LB-00917"),
        ("Battery", "87 %"),
        ("Firmware", "2.0"),
        ("Warranty", "Expired"),
        ("Support", "Community"),
    ),
}

MAIN = put(window="main")
ROWS = 8
"""How many facts of the system page fit; scrolling shows the rest."""


def _apply(state: State) -> State:
    """What the staged change does when it takes effect."""
    staged = str(state["staged"])
    changes: State = {"staged": "", "window": "main", "status": "Applied"}
    if staged == "wifi":
        return {**changes, "wifi": not state["wifi"]}
    if staged == "dark":
        return {**changes, "display_mode": "light" if state["display_mode"] == "dark" else "dark"}
    if staged == "text":
        return {**changes, "text_scale": 1.0 if state["text_scale"] == 1.25 else 1.25}
    return changes


APPLY_NOW = compute(_apply)
APPLY = when(
    lambda s: bool(s["managed"]) and s["page"] == "network",
    put(window="managed"),
    when(lambda s: s["apply_mode"] == "ask", put(window="confirm"), APPLY_NOW),
)


def _go(page: str) -> dict[str, str | bool]:
    return {"page": page, "staged": "", "scrolled": False, "window": "main"}


def _toggle(key: str, text: str, row: float, state: State, staged: str, on: bool) -> tuple[Widget, ...]:
    """A switch: its staged position, and the word for it."""
    shown = on != (state["staged"] == staged)
    flip = compute(lambda s: {"staged": "" if s["staged"] == staged else staged})
    return (
        Widget(f"{key}.label", "text", text, (9, row, 8, 1)),
        Widget(key, "checkbox", text, (20, row, 2, 1), click=flip, checked=shown),
        Widget(f"{key}.word", "text", "On" if shown else "Off", (23, row, 2, 1)),
    )


def _system(state: State) -> tuple[Widget, ...]:
    facts = FACTS[str(state["content"])]
    shown = facts[len(facts) - ROWS :] if state["scrolled"] else facts[:ROWS]
    scroll = by_argument(down=put(scrolled=True), up=put(scrolled=False))
    return (
        Widget("facts", "table", "About this device", (8, 6, 21, ROWS * 2), scroll=scroll),
        *(
            widget
            for i, (name, value) in enumerate(shown)
            for widget in (
                Widget(f"fact.{i}", "dataitem", name, (9, 6 + 2 * i, 7, 1), parent="facts"),
                Widget(f"value.{i}", "text", value, (18, 6 + 2 * i, 9, 1), parent="facts"),
            )
        ),
        Widget("facts.bar", "scrollbar", "Scroll", (29, 6, 1, ROWS * 2), scroll=scroll),
        Widget("system.rename", "button", "Rename device", (9, 23, 6, 2), click=put(window="rename")),
        Widget("system.restart", "button", "Restart advice", (17, 23, 6, 2), click=put(window="advice")),
    )


def _display(state: State) -> tuple[Widget, ...]:
    dark = _toggle("dark", "Dark mode", 7, state, "dark", state["display_mode"] == "dark")
    large = _toggle("large", "Large text", 9, state, "text", state["text_scale"] == 1.25)
    return (
        *dark,
        *large,
        Widget("brightness.label", "text", "Brightness", (9, 11, 8, 1)),
        Widget("brightness", "slider", "70", (18, 11, 9, 1)),
        Widget("refresh.label", "text", "Refresh rate", (9, 13, 8, 1)),
        Widget("refresh", "spinner", "60 Hz", (18, 13, 5, 1)),
        Widget("night.label", "text", "Night light", (9, 15, 8, 1)),
        Widget("night", "combobox", "Sunset to sunrise", (18, 15, 8, 1)),
        Widget("preview", "image", "Monitor preview", (12, 17, 12, 7)),
    )


def _network(state: State) -> tuple[Widget, ...]:
    # A rescan while the radio is off waits for an answer that never comes.
    rescan = put(status="Scanned") if state["wifi"] else hang("waiting for a radio that is off")
    near = ("Harbour", "Attic", "Cellar", "Orchard", "Meadow")
    return (
        *_toggle("wifi", "Wireless", 7, state, "wifi", bool(state["wifi"])),
        Widget("rescan", "button", "Scan again", (9, 9, 5, 2), click=rescan),
        Widget("near.label", "text", "Networks in range", (9, 12, 8, 1)),
        Widget("near", "list", "Networks", (9, 13, 12, 6)),
        *(
            Widget(f"near.{i}", "listitem", name, (9, 13 + i, 12, 1), parent="near", noise="unordered")
            for i, name in enumerate(near if state["wifi"] else ())
        ),
        Widget("proxy", "hyperlink", "Proxy help", (9, 21, 6, 1), click=put(window="browser")),
        Widget("address.label", "text", "Address", (9, 23, 5, 1)),
        Widget("address", "text", "192.0.2.17" if state["wifi"] else "Not connected", (15, 23, 7, 1)),
    )


def _accounts(state: State) -> tuple[Widget, ...]:
    """Two fields, and a button that clears the one with the focus: nothing but focus says which."""
    clear = compute(lambda s: {str(s["focus"]): ""})
    return (
        *(
            widget
            for i, (name, text) in enumerate((("first", "First name"), ("last", "Last name")))
            for widget in (
                Widget(f"{name}.label", "text", text, (9, 7 + 2 * i, 6, 1)),
                Widget(
                    f"{name}.field",
                    "edit",
                    str(state[name]),
                    (16, 7 + 2 * i, 10, 1),
                    click=put(focus=name),
                    type=write(name, focus=name),
                    focus=name,
                ),
            )
        ),
        Widget("clear", "button", "Clear field", (9, 12, 5, 2), click=clear),
        Widget("photo", "image", "Profile picture", (20, 15, 6, 7)),
        *labels(
            "signin", ("Password", "Security key", "Recovery codes", "Guests"), (9, 16), 8, role="listitem"
        ),
        Widget(
            "advanced",
            "button",
            "Advanced",
            (9, 22, 5, 2),
            # Switches what Apply does, without a word about it.
            click=compute(lambda s: {"apply_mode": "now" if s["apply_mode"] == "ask" else "ask"}),
        ),
    )


def _updates(state: State) -> tuple[Widget, ...]:
    large = state["text_scale"] == 1.25
    history = ("Security fixes", "Fonts", "Printer drivers", "Time zones", "Kernel", "Firmware")
    return (
        Widget("check", "button", "Check now", (9, 7, 5, 2), click=put(status="Checking...")),
        Widget(
            "notes",
            "button",
            "Release notes",
            (16, 7, 6, 2),
            click=crash("text layout: negative width") if large else put(window="browser"),
        ),
        Widget("history.label", "text", "History", (9, 10, 6, 1)),
        *(
            widget
            for i, name in enumerate(history)
            for widget in (
                Widget(f"history.{i}", "dataitem", name, (9, 12 + 2 * i, 8, 1)),
                Widget(f"when.{i}", "text", f"{2 + 3 * i} May", (19, 12 + 2 * i, 4, 1)),
            )
        ),
    )


BODIES: dict[str, Callable[[State], tuple[Widget, ...]]] = {
    "system": _system,
    "display": _display,
    "network": _network,
    "accounts": _accounts,
    "updates": _updates,
}


def _main(state: State) -> tuple[Widget, ...]:
    page = str(state["page"])
    staged = bool(state["staged"])
    tips = ("Keyboard", "Sound", "Power", "Privacy", "Printers")
    return (
        *title_bar(f"Settings - {FACTS[str(state['content'])][0][1]}"),
        Widget("search", "edit", "Find a setting", (0.5, 2, 6, 1)),
        Widget("nav", "list", "Pages", (0, 4, 7, 11)),
        *(
            Widget(
                f"nav.{name}",
                "listitem",
                name.capitalize(),
                (0, 4 + 2 * i, 7, 1),
                click=put(**_go(name)),
                checked=name == page,
                parent="nav",
            )
            for i, name in enumerate(PAGES)
        ),
        Widget("more.label", "text", "More", (0, 17, 7, 1)),
        *labels("more", tips, (0, 18), 7, role="listitem"),
        Widget("heading", "header", page.capitalize(), (8, 2, 12, 2)),
        Widget("crumbs", "text", f"Settings > {page.capitalize()}", (8, 4, 12, 1)),
        *BODIES[page](state),
        Widget("rule", "separator", "", (8, 26, 21, 1)),
        Widget("staged", "text", "1 change not applied" if staged else "No changes", (8, 27, 8, 1)),
        Widget("apply", "button", "Apply", (25, 27, 4, 1), click=APPLY, enabled=staged),
        Widget("revert", "button", "Revert", (20, 27, 4, 1), click=put(staged=""), enabled=staged),
        *status_bar(
            (
                str(state["status"]) or "Ready",
                "Wireless on" if state["wifi"] else "Wireless off",
                f"{str(state['display_mode']).capitalize()} mode",
                f"Text {float(state['text_scale']):.0%}",
                f"{state['first'] or 'No name'} {state['last'] or ''}".strip(),
            )
        ),
    )


def _rename_body(state: State) -> tuple[Widget, ...]:
    return (
        Widget("device.label", "text", "New name", (0.5, 1.75, 4, 1)),
        Widget("device", "edit", str(state["device"]), (5, 1.75, 8, 1), type=write("device")),
        Widget("device.hint", "text", "Letters, digits and hyphens", (0.5, 3.25, 9, 1)),
    )


CLOSE_RENAME = put(window="main", device="")

DIALOGS = (
    Dialog(
        "confirm",
        "Apply changes",
        (13, 7),
        fixed(Item("cancel", "Cancel", MAIN), Item("yes", "Apply", APPLY_NOW)),
        notice("Question", "ask", ("Apply the staged change?", "This can be reverted later.")),
        keys={"enter": APPLY_NOW, "escape": MAIN},
    ),
    Dialog(
        "managed",
        "Managed device",
        (13, 7),
        fixed(Item("ok", "OK", put(window="main", staged=""))),
        notice("Lock", "why", ("Your organisation decides this.", "Nothing was changed.")),
        keys={"escape": put(window="main", staged="")},
    ),
    Dialog(
        "rename",
        "Rename device",
        (14, 7),
        lambda state: (
            Item("cancel", "Cancel", CLOSE_RENAME),
            Item(
                "ok", "Rename", put(window="main", device="", status="Renamed"), enabled=bool(state["device"])
            ),
        ),
        _rename_body,
        shows=("device",),
        keys={"escape": CLOSE_RENAME},
    ),
    Dialog(
        "advice",
        "Restart advice",
        (13, 7),
        fixed(Item("ok", "OK", MAIN)),
        lambda state: labels("advice", ("No restart is needed.", "Last start: Monday"), (0.5, 1.5), 10),
        keys={"enter": MAIN, "escape": MAIN},
    ),
)

SETTINGS = App(
    name="settings",
    application="settings",
    variables=(
        Variable("window", ("main",)),
        Variable("content", tuple(FACTS), inert=True),
        Variable("page", ("system",)),
        Variable("scrolled", (False,)),
        Variable("staged", ("",)),
        Variable("wifi", (True,)),
        Variable("first", ("",), text=True),
        Variable("last", ("",), text=True),
        Variable("device", ("",), text=True),
        Variable("status", ("",)),
        Variable("focus", ("first",), hidden=True),
        Variable("apply_mode", ("now", "ask"), hidden=True),
        Variable("managed", (False, True), hidden=True),
        Variable("display_mode", ("light",)),
        Variable("text_scale", (1.0,)),
    ),
    panes=(
        Pane(
            "main",
            "main",
            lambda state: "Settings",
            ("content", "page", "scrolled", "staged", "wifi", "first", "last", "status"),
            _main,
        ),
        *(dialog.pane("main") for dialog in DIALOGS),
        foreign_pane(
            "browser", "Help - Web", "web-browser", ("Support", "Search results", "Forum", "Contact")
        ),
    ),
    events=(
        Event(
            "update check",
            lambda s: s["status"] == "Checking...",
            lambda s: {"status": "Up to date"},
            before=0.0,
            after=0.4,
        ),
    ),
    transient=("status",),
)
