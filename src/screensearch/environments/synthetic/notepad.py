"""A notepad. Hidden: what the clipboard holds, and whether an update of it is on its way.

The controls of the paper (section 8.3) live here. Episodes start with ``alpha`` or ``beta`` on the
clipboard, and Paste shows which: hidden state. `Sync clipboard` starts an update that lands at some
later time, so that Paste differs within one condition: timing. Paste can be undone: a probe. The
File menu shows nothing: an escape. In read-only mode nothing hidden matters.
"""

from __future__ import annotations

from collections.abc import Sequence

from screensearch.environments.synthetic.effects import compute, crash, hang, put, when, write
from screensearch.environments.synthetic.layout import (
    Dialog,
    Item,
    display_variables,
    fixed,
    foreign_pane,
    labels,
    menu_bar,
    menu_pane,
    status_bar,
    title_bar,
    tool_bar,
)
from screensearch.environments.synthetic.model import App, Event, Pane, State, Variable, Widget

MENUS = ("File", "Edit", "View", "Help")
RACE = 0.4
"""How likely the delayed clipboard update lands before the next action (6 of 10 do not, as in the paper)."""

CONTENTS: dict[str, tuple[str, ...]] = {
    "minutes": (
        "Minutes of the Tuesday meeting",
        "Present: Ada, Grace, Barbara, Edsger",
        "1. Budget for the autumn",
        "The draft was accepted with two changes.",
        "2. Moving the archive",
        "Boxes are to be labelled by the fifteenth.",
        "3. Any other business",
        "The kettle needs replacing.",
    ),
    "recipe": (
        "Plum cake, from grandmother",
        "Needs: 500 g plums, 200 g flour",
        "120 g butter, 100 g sugar",
        "Two eggs and a pinch of salt",
        "Halve the plums, keep the juice.",
        "Beat butter and sugar until pale.",
        "Bake for forty minutes at 180 degrees.",
        "Let it rest before cutting.",
    ),
}
RECENT = ("shopping.txt", "travel.txt", "ideas.md", "letter.txt", "todo.txt", "quotes.txt", "wifi.txt")
OUTLINE = ("Heading", "Paragraph", "Quotation", "List", "Footnote")

MAIN = put(window="main")


def _editable(state: State) -> bool:
    return not state["readonly"]


def _flipped(state: State) -> State:
    return {"clipboard": "beta" if state["clipboard"] == "alpha" else "alpha", "syncing": False}


PASTE = compute(lambda state: {"pasted": state["clipboard"], "window": "main"})
UNDO = compute(lambda state: {"window": "main", ("pasted" if state["pasted"] else "typed"): ""})
SAVE = put(status="Saving...", window="main")
TYPE = write("typed")
FIND = put(window="find", query="", result="")
NEW = put(pasted="", typed="", window="main")
ENLARGE = when(lambda state: bool(state["wrap"]), put(text_scale=1.25), hang("the long lines never settled"))


def _has_text(state: State) -> bool:
    return bool(state["pasted"] or state["typed"])


def _tools(state: State) -> Sequence[Item]:
    editable = _editable(state)
    return (
        Item("new", "New", NEW, enabled=editable),
        Item("open", "Open", put(window="chooser")),
        Item("save", "Save", SAVE, enabled=state["status"] != "Saved"),
        Item("print", "Print", put(window="printer")),
        Item("paste", "Paste", PASTE, enabled=editable),
        Item("undo", "Undo", UNDO, enabled=editable and _has_text(state)),
        Item("find", "Find", FIND),
        Item("font", "Font", put(window="font")),
    )


def _main(state: State) -> tuple[Widget, ...]:
    editable = _editable(state)
    lines = CONTENTS[str(state["content"])]
    width = 17 if state["wrap"] else 20
    page = tuple(
        Widget(f"line.{i}", "text", line, (9, 6 + i, width, 1), parent="page") for i, line in enumerate(lines)
    )
    own = tuple(
        Widget(f"own.{name}", "text", str(state[name]), (9, 15 + i, 16, 1), parent="page")
        for i, name in enumerate(("pasted", "typed"))
        if state[name]
    )
    ruler = tuple(
        Widget(f"ruler.{i}", "text", str(i * 2), (9 + 2 * i, 4, 1, 1), parent="ruler") for i in range(10)
    )
    return (
        *title_bar(f"{'*' if _has_text(state) else ''}{state['content']}.txt - Notepad"),
        *menu_bar(MENUS),
        *tool_bar(_tools(state)),
        Widget("search", "edit", "Search this document", (22, 2.5, 7, 1), type=write("query", window="find")),
        Widget("side.recent", "text", "Recent", (0, 4, 7, 1)),
        Widget("recent", "list", "", (0, 5, 7, len(RECENT))),
        *(
            Widget(f"recent.{i}", "listitem", name, (0, 5 + i, 7, 1), parent="recent", noise="unordered")
            for i, name in enumerate(RECENT)
        ),
        Widget("side.styles", "text", "Styles", (0, 14, 7, 1)),
        *labels("style", OUTLINE, (0, 15), 7, role="listitem"),
        Widget("ruler", "pane", "", (8, 4, 21, 1)),
        *ruler,
        Widget(
            "page",
            "document",
            "Text editor",
            (8, 5, 21, 23),
            type=TYPE if editable else None,
            enabled=editable,
        ),
        *page,
        *own,
        *status_bar(
            (
                str(state["status"]) or "Ready",
                f"Lines: {len(lines) + len(own)}",
                "Wrap: on" if state["wrap"] else "Wrap: off",
                "Read only" if state["readonly"] else "Editing",
                f"Zoom: {float(state['text_scale']):.0%}",
                "UTF-8",
            )
        ),
    )


MAIN_PANE = Pane(
    "main",
    "main",
    lambda state: "Notepad",
    ("content", "pasted", "typed", "wrap", "readonly", "status"),
    _main,
    keys={
        "ctrl+v": when(_editable, PASTE),
        "ctrl+z": when(_editable, UNDO),
        "ctrl+f": FIND,
        "f1": put(window="about"),
    },
)


def _file_menu(state: State) -> Sequence[Item]:
    return (
        Item("new", "New", NEW, enabled=_editable(state)),
        Item("open", "Open...", put(window="chooser")),
        Item("saveas", "Save As...", put(window="saveas", name="")),
        Item("pagesetup", "Page Setup...", put(window="font")),
        Item("print", "Print...", put(window="printer")),
        Item("close", "Close", None, enabled=False),
    )


def _edit_menu(state: State) -> Sequence[Item]:
    editable = _editable(state)
    return (
        Item("undo", "Undo", UNDO, enabled=editable and _has_text(state)),
        Item("copytitle", "Copy Greeting", put(clipboard="alpha", syncing=False, window="main")),
        Item("copyname", "Copy Signature", put(clipboard="beta", syncing=False, window="main")),
        Item("paste", "Paste", PASTE, enabled=editable),
        Item("sync", "Sync Clipboard", put(syncing=True, window="main")),
        Item("find", "Find...", FIND),
    )


def _view_menu(state: State) -> Sequence[Item]:
    return (
        Item(
            "wrap",
            "Word Wrap",
            compute(lambda s: {"wrap": not s["wrap"], "window": "main"}),
            checked=bool(state["wrap"]),
        ),
        Item(
            "readonly",
            "Read Only",
            compute(lambda s: {"readonly": not s["readonly"], "window": "main"}),
            checked=bool(state["readonly"]),
        ),
        Item("font", "Font...", put(window="font")),
    )


def _help_menu(state: State) -> Sequence[Item]:
    return (
        Item("help", "Online Help", put(window="browser")),
        Item(
            "report", "Send Feedback", when(_editable, put(window="main"), crash("null document in feedback"))
        ),
        Item("about", "About Notepad", put(window="about")),
    )


def _result(state: State) -> State:
    found = bool(state["query"]) and state["query"] in (state["pasted"], state["typed"])
    return {"result": "1 match" if found else "Cannot find it"}


CLOSE_FIND = put(window="main", query="", result="")
NEXT = compute(_result)


def _find_body(state: State) -> tuple[Widget, ...]:
    return (
        Widget("query.label", "text", "Find what", (0.5, 1.5, 4, 1)),
        Widget("query", "edit", str(state["query"]), (5, 1.5, 9, 1), type=write("query", result="")),
        Widget("option.case", "checkbox", "Match case", (0.5, 3, 5, 1)),
        Widget("option.around", "checkbox", "Wrap around", (6, 3, 5, 1), checked=True),
        Widget("direction", "group", "Direction", (0.5, 4.25, 13.5, 1)),
        Widget("direction.up", "radiobutton", "Up", (4, 4.25, 3, 1)),
        Widget("direction.down", "radiobutton", "Down", (8, 4.25, 3, 1), checked=True),
        Widget("result", "text", str(state["result"]) or "Type a word", (0.5, 5.5, 9, 1)),
    )


def _font_body(state: State) -> tuple[Widget, ...]:
    scale = float(state["text_scale"])
    sizes = tuple(
        Widget(
            f"size.{value}",
            "radiobutton",
            f"{text} ({value:.0%})",
            (8, 2.5 + i * 1.25, 6, 1),
            click=effect,
            checked=scale == value,
        )
        for i, (value, text, effect) in enumerate(
            ((1.0, "Regular", put(text_scale=1.0)), (1.25, "Large", ENLARGE))
        )
    )
    return (
        Widget("family", "list", "Family", (0.5, 2.5, 6, 5)),
        *labels("family", ("Mono", "Sans", "Serif", "Slab"), (0.5, 2.5), 6, parent="family", role="listitem"),
        Widget("font.label", "text", "Family", (0.5, 1.25, 6, 1)),
        Widget("size.label", "text", "Size", (8, 1.25, 6, 1)),
        *sizes,
        Widget("sample", "text", "The quick brown fox", (0.5, 8, 13, 1)),
    )


def _save_body(state: State) -> tuple[Widget, ...]:
    return (
        Widget("name.label", "text", "File name", (0.5, 1.5, 4, 1)),
        Widget("name", "edit", str(state["name"]), (5, 1.5, 10, 1), type=write("name")),
        Widget("places", "list", "Places", (0.5, 3, 5, 5)),
        *labels(
            "place",
            ("Home", "Documents", "Desktop", "Downloads"),
            (0.5, 3),
            5,
            parent="places",
            role="listitem",
        ),
        Widget("files", "list", "Files", (6, 3, 9.5, 5)),
        *labels(
            "file", ("diary.txt", "minutes.txt", "recipe.txt"), (6, 3), 9.5, parent="files", role="listitem"
        ),
        Widget("encoding", "combobox", "UTF-8", (0.5, 8.5, 5, 1)),
    )


def _about_body(state: State) -> tuple[Widget, ...]:
    return (
        Widget("logo", "image", "Notepad logo", (0.5, 1.5, 3, 3)),
        *labels("about", ("Notepad", "Version 4.2", "A small editor", "Licence: Apache-2.0"), (4, 1.5), 8),
        Widget("site", "hyperlink", "Visit the website", (4, 5.5, 6, 1), click=put(window="browser")),
    )


DIALOGS = (
    Dialog(
        "find",
        "Find",
        (15, 9),
        fixed(Item("next", "Find Next", NEXT), Item("close", "Close", CLOSE_FIND)),
        _find_body,
        shows=("query", "result"),
        keys={"enter": NEXT, "escape": CLOSE_FIND},
    ),
    Dialog("font", "Font", (15, 12), fixed(Item("close", "Close", MAIN)), _font_body, keys={"escape": MAIN}),
    Dialog(
        "saveas",
        "Save As",
        (16, 13),
        lambda state: (
            Item("save", "Save", put(window="main", name="", status="Saved"), enabled=bool(state["name"])),
            Item("cancel", "Cancel", put(window="main", name="")),
        ),
        _save_body,
        shows=("name",),
        keys={"escape": put(window="main", name="")},
    ),
    Dialog(
        "about", "About Notepad", (13, 10), fixed(Item("ok", "OK", MAIN)), _about_body, keys={"escape": MAIN}
    ),
)

NOTEPAD = App(
    name="notepad",
    application="notepad",
    variables=(
        Variable("window", ("main",)),
        Variable("content", tuple(CONTENTS), inert=True),
        Variable("pasted", ("",)),
        Variable("typed", ("",), text=True),
        Variable("query", ("",), text=True),
        Variable("name", ("",), text=True),
        Variable("result", ("",)),
        Variable("status", ("",)),
        Variable("wrap", (True,)),
        Variable("readonly", (False,)),
        Variable("clipboard", ("alpha", "beta"), hidden=True),
        Variable("syncing", (False,), hidden=True),
        *display_variables(inert=False),
    ),
    panes=(
        MAIN_PANE,
        menu_pane(MAIN_PANE, MENUS, "File", _file_menu),
        menu_pane(MAIN_PANE, MENUS, "Edit", _edit_menu),
        menu_pane(MAIN_PANE, MENUS, "View", _view_menu),
        menu_pane(MAIN_PANE, MENUS, "Help", _help_menu),
        *(dialog.pane("main") for dialog in DIALOGS),
        foreign_pane(
            "chooser",
            "Open a file",
            "file-chooser",
            ("Home", "Documents", "letter.txt", "minutes.txt", "recipe.txt"),
        ),
        foreign_pane(
            "printer", "Print service", "print-service", ("Printer: Office", "Copies: 1", "Pages: all", "A4")
        ),
        foreign_pane(
            "browser", "Help - Web", "web-browser", ("Welcome", "Getting started", "Shortcuts", "Contact")
        ),
    ),
    events=(
        Event("clipboard sync", lambda s: bool(s["syncing"]), _flipped, before=RACE, after=0.0),
        Event(
            "save", lambda s: s["status"] == "Saving...", lambda s: {"status": "Saved"}, before=0.0, after=0.5
        ),
    ),
    transient=("status",),
)
