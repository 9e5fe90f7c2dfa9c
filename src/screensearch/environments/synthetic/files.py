"""A file manager. Hidden: what is held for pasting, and whether a locked folder may be entered.

`Payroll` opens or is denied as a permission has it that no listing shows; the Access tab of the
Properties dialog discloses it. `Request access` is answered some time later. Pasting starts a
transfer that doing anything else cancels, and whose row goes away by itself: a click on its button can
come too late.
"""

from __future__ import annotations

from collections.abc import Sequence

from screensearch.environments.synthetic.effects import chance, compute, crash, hang, put, when
from screensearch.environments.synthetic.layout import (
    Dialog,
    Item,
    display_variables,
    fixed,
    foreign_pane,
    inactive,
    labels,
    menu_bar,
    menu_pane,
    menu_widgets,
    notice,
    status_bar,
    title_bar,
    tool_bar,
)
from screensearch.environments.synthetic.model import App, Effect, Event, Pane, State, Variable, Widget

MENUS = ("Edit", "View")
PLACES = ("home", "documents", "pictures", "trash")
INBOX = "pictures"
"""The one folder that takes what is pasted; deleting works in the documents."""

LISTINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "office": {
        "home": ("Calendar.ics", "Contacts.vcf", "Notes.md", "Passwords.kdbx", "Profile.json", "Welcome.pdf"),
        "documents": ("Agenda.odt", "Contract.pdf", "Invoice.ods", "Letter.odt", "Report.odt", "Slides.odp"),
        "pictures": ("Beach.jpg", "Castle.jpg", "Garden.jpg", "Harbour.jpg", "Lake.jpg", "Summit.jpg"),
        "payroll": ("April.ods", "February.ods", "January.ods", "March.ods", "May.ods"),
        "trash": ("Old draft.odt",),
    },
    "studio": {
        "home": ("Archive.zip", "Brushes.abr", "Fonts.tar", "Licences.txt", "Palette.gpl", "Readme.md"),
        "documents": (
            "Brief.odt",
            "Budget.ods",
            "Credits.odt",
            "Moodboard.odg",
            "Script.odt",
            "Timeline.ods",
        ),
        "pictures": ("Cover.png", "Draft.png", "Final.png", "Logo.svg", "Poster.png", "Sketch.png"),
        "payroll": ("Artists.ods", "Editors.ods", "Freelance.ods", "Writers.ods"),
        "trash": ("Rejected.png",),
    },
}
SIZES = ("12 KB", "48 KB", "3 KB", "250 KB", "1.2 MB", "96 KB", "7 KB")
KINDS = {"md": "Text", "odt": "Document", "ods": "Sheet", "odp": "Slides", "odg": "Drawing", "pdf": "PDF"}

MAIN = put(window="main")


def _go(folder: str) -> Effect:
    return put(folder=folder, selected=-1, window="main")


ENTER_PAYROLL = when(lambda s: s["access"] == "granted", _go("payroll"), put(window="denied", selected=-1))
HOLD = {how: put(held=how, window="main") for how in ("copy", "cut")}
PASTE = when(
    lambda s: s["folder"] == INBOX and bool(s["held"]),
    compute(lambda s: {"transfer": True, "held": "" if s["held"] == "cut" else "copy", "window": "main"}),
    put(status="Nothing to paste", window="main"),
)
DELETE = put(window="confirm")
TRASH_IT = put(trashed=True, selected=-1, window="main")
PROPERTIES = put(window="properties.general", selected=-1)


def _names(state: State) -> tuple[str, ...]:
    """What the folder lists now: seeded files, less the deleted one, plus the pasted one."""
    folder = str(state["folder"])
    listing = LISTINGS[str(state["content"])]
    names = listing[folder]
    if folder == "documents" and state["trashed"]:
        names = names[1:]
    if folder == "trash" and state["trashed"]:
        names = (*names, listing["documents"][0])
    return (*names, "Pasted item") if folder == INBOX and state["pasted"] else names


def _selected(state: State) -> str:
    names = _names(state)
    index = int(state["selected"])
    return names[index] if 0 <= index < len(names) else ""


def _kind(name: str) -> str:
    return KINDS.get(name.rpartition(".")[2], "File")


def _rows(state: State) -> tuple[Widget, ...]:
    """The listing, as rows with details or as a grid of icons. The first two entries can be selected."""
    widgets: list[Widget] = []
    names = _names(state)
    for i, name in enumerate(names):
        chosen = state["selected"] == i
        click = put(selected=i) if i < 2 else None
        if state["view"] == "list":
            row = 7.0 + i * 2
            widgets += [
                Widget(
                    f"file.{i}", "listitem", name, (8, row, 9, 1), click=click, checked=chosen, parent="files"
                ),
                Widget(f"size.{i}", "text", SIZES[i % len(SIZES)], (18, row, 3, 1), parent=f"file.{i}"),
                Widget(f"kind.{i}", "text", _kind(name), (22, row, 3, 1), parent=f"file.{i}"),
                Widget(f"date.{i}", "text", f"{3 + 4 * i} March", (26, row, 3, 1), parent=f"file.{i}"),
            ]
        else:
            at = (9.0 + 5 * (i % 4), 7.0 + 5 * (i // 4), 3.0, 3.0)
            widgets += [
                Widget(f"icon.{i}", "image", _kind(name), at, parent=f"file.{i}"),
                Widget(
                    f"file.{i}",
                    "listitem",
                    name,
                    (at[0] - 1, at[1] + 3, 5, 1),
                    click=click,
                    checked=chosen,
                    parent="files",
                ),
            ]
    if state["folder"] == "documents":
        widgets.append(
            Widget("payroll", "treeitem", "Payroll", (8, 21, 9, 1), click=ENTER_PAYROLL, parent="files")
        )
    if state["view"] == "list":
        columns = (("Name", 8, 9), ("Size", 18, 3), ("Type", 22, 3), ("Modified", 26, 3))
        heads = (Widget(f"head.{text}", "header", text, (c, 5, w, 1)) for text, c, w in columns)
        return (*heads, *widgets)
    return tuple(widgets)


def _transfer(state: State) -> tuple[Widget, ...]:
    if not state["transfer"]:
        return ()
    return (
        Widget("transfer", "group", "File transfer", (8, 26, 21, 2)),
        Widget("transfer.label", "text", "Transferring item", (9, 26, 6, 2), parent="transfer"),
        Widget("transfer.bar", "progressbar", "50%", (16, 26, 7, 2), parent="transfer"),
        Widget("transfer.pause", "button", "Pause transfer", (23, 26, 3, 2), parent="transfer"),
        Widget(
            "transfer.cancel",
            "button",
            "Cancel transfer",
            (26, 26, 3, 2),
            click=put(status="Transfer cancelled"),
            parent="transfer",
        ),
    )


def _tools(state: State) -> Sequence[Item]:
    chosen = bool(_selected(state))
    return (
        Item("up", "Up", _go("home"), enabled=state["folder"] != "home"),
        Item("reload", "Reload", compute(lambda s: {"selected": -1})),
        Item("list", "List", put(view="list"), checked=state["view"] == "list"),
        Item("icons", "Icons", put(view="icons"), checked=state["view"] == "icons"),
        Item(
            "delete",
            "Delete",
            DELETE,
            enabled=chosen and state["folder"] == "documents" and not state["trashed"],
        ),
        Item("paste", "Paste", PASTE),
        Item("restore", "Restore", put(trashed=False, selected=-1), enabled=bool(state["trashed"])),
        Item("open", "Open", put(window="viewer"), enabled=chosen),
        Item("more", "More", put(window="context"), enabled=chosen),
    )


def _main(state: State) -> tuple[Widget, ...]:
    folder = str(state["folder"])
    places = tuple(
        Widget(
            f"place.{name}",
            "treeitem",
            name.capitalize(),
            (0, 6 + 2 * i, 7, 1),
            click=_go(name),
            checked=name == folder,
            parent="places",
        )
        for i, name in enumerate(PLACES)
    )
    devices = ("Disk", "Backup", "Camera", "Network")
    return (
        *title_bar(f"{folder.capitalize()} - Files"),
        *menu_bar(MENUS),
        *tool_bar(_tools(state)),
        Widget("address", "edit", f"/{folder}", (19, 2.5, 10, 1)),
        Widget("places.label", "text", "Places", (0, 4, 7, 1)),
        Widget("places", "tree", "Places", (0, 5, 7, 12)),
        *places,
        Widget("devices.label", "text", "Devices", (0, 18, 7, 1)),
        *(
            Widget(f"device.{i}", "treeitem", name, (0, 19 + i, 7, 1), noise="unordered")
            for i, name in enumerate(devices)
        ),
        Widget("tags.label", "text", "Tags", (0, 24, 7, 1)),
        *labels("tag", ("Work", "Family", "Urgent", "Later"), (0, 25), 7, role="treeitem"),
        Widget("scroll", "scrollbar", "Scroll", (29, 6, 1, 20)),
        Widget("files", "list", folder.capitalize(), (8, 6, 21, 20)),
        *_rows(state),
        *_transfer(state),
        *status_bar(
            (
                str(state["status"]) or f"{len(_names(state))} items",
                f"Selected: {_selected(state) or 'none'}",
                "Trash: 2 items" if state["trashed"] else "Trash: 1 item",
                "Free: 40.2 GB" if state["pasted"] else "Free: 41.0 GB",
            )
        ),
    )


MAIN_SHOWS = ("content", "folder", "selected", "view", "pasted", "trashed", "transfer", "status")
MAIN_PANE = Pane(
    "main",
    "main",
    lambda state: "Files",
    MAIN_SHOWS,
    _main,
    keys={"ctrl+v": PASTE, "backspace": _go("home"), "f5": compute(lambda s: {"selected": -1})},
)


def _edit_menu(state: State) -> Sequence[Item]:
    chosen = bool(_selected(state))
    return (
        Item("copy", "Copy", HOLD["copy"], enabled=chosen),
        Item("cut", "Cut", HOLD["cut"], enabled=chosen),
        Item("paste", "Paste", PASTE),
        Item("properties", "Properties...", PROPERTIES),
        Item("undo", "Undo", None, enabled=False),
    )


def _view_menu(state: State) -> Sequence[Item]:
    # Two features that were never tested together: the thumbnailer dies on a pasted item.
    broken = state["pasted"] and state["folder"] == INBOX
    return (
        Item("list", "As List", put(view="list", window="main"), checked=state["view"] == "list"),
        Item("icons", "As Icons", put(view="icons", window="main"), checked=state["view"] == "icons"),
        Item("thumbnails", "Make Thumbnails", crash("thumbnailer: bad header") if broken else MAIN),
        Item("home", "Go Home", _go("home")),
    )


def _context(state: State) -> tuple[Widget, ...]:
    items = (
        Item("open", "Open With...", put(window="viewer")),
        Item("copy", "Copy", HOLD["copy"]),
        Item("cut", "Cut", HOLD["cut"]),
        Item("properties", "Properties", PROPERTIES),
        Item("checksum", "Checksum", hang("checksum of a file that is gone") if state["trashed"] else MAIN),
    )
    return (*inactive(_main(state)), *menu_widgets(items, (14, 9), 6))


CONTEXT_PANE = Pane(
    "context", "popup", lambda s: "Actions - Files", MAIN_SHOWS, _context, keys={"escape": MAIN}, dismiss=MAIN
)


def _tabs(active: str) -> tuple[Widget, ...]:
    return (
        Widget("tabs", "tab", "", (0.5, 1.5, 10, 1)),
        *(
            Widget(
                f"tab.{name}",
                "tabitem",
                name.capitalize(),
                (0.5 + 5 * i, 1.5, 5, 1),
                click=put(window=f"properties.{name}"),
                checked=name == active,
                parent="tabs",
            )
            for i, name in enumerate(("general", "access"))
        ),
    )


def _general_body(state: State) -> tuple[Widget, ...]:
    folder = str(state["folder"])
    facts = ("Name", "Location", "Items", "Owner")
    values = (folder.capitalize(), f"/{folder}", str(len(_names(state))), "you")
    return (*_tabs("general"), *labels("fact", facts, (0.5, 3.5), 4), *labels("value", values, (5, 3.5), 8))


def _access_body(state: State) -> tuple[Widget, ...]:
    answers = {"granted": "Allowed", "denied": "Not allowed", "asked": "Waiting for an answer"}
    return (
        *_tabs("access"),
        Widget("who", "text", "Access to Payroll", (0.5, 3.5, 6, 1)),
        Widget("answer", "text", answers[str(state["access"])], (7, 3.5, 6, 1)),
        Widget(
            "ask",
            "button",
            "Request access",
            (0.5, 5, 6, 1.25),
            # The owner may answer at once.
            click=chance(0.5, put(access="asked"), put(access="granted")),
            enabled=state["access"] == "denied",
        ),
        Widget(
            "revoke",
            "button",
            "Give up access",
            (7, 5, 6, 1.25),
            click=put(access="denied"),
            enabled=state["access"] == "granted",
        ),
    )


DIALOGS = (
    Dialog(
        "properties.general",
        "Properties",
        (14, 10),
        fixed(Item("close", "Close", MAIN)),
        _general_body,
        shows=("content", "folder", "pasted", "trashed"),
        keys={"escape": MAIN},
    ),
    Dialog(
        "properties.access",
        "Properties",
        (14, 10),
        fixed(Item("close", "Close", MAIN)),
        _access_body,
        shows=("access",),
        keys={"escape": MAIN},
    ),
    Dialog(
        "denied",
        "Access denied",
        (13, 7),
        fixed(Item("ok", "OK", MAIN)),
        notice("Warning", "why", ("You may not open Payroll.", "Ask its owner for access.")),
        keys={"enter": MAIN, "escape": MAIN},
    ),
    Dialog(
        "confirm",
        "Move to trash",
        (13, 7),
        fixed(Item("cancel", "Cancel", MAIN), Item("delete", "Move to Trash", TRASH_IT)),
        lambda state: (
            Widget("sign", "image", "Question", (0.5, 1.5, 2, 2)),
            Widget("ask", "text", "Move the first entry to the trash?", (3, 1.5, 9, 1)),
            Widget("never", "checkbox", "Do not ask again", (3, 3, 6, 1)),
        ),
        keys={"escape": MAIN},
    ),
)

FILES = App(
    name="files",
    application="files",
    variables=(
        Variable("window", ("main",)),
        Variable("content", tuple(LISTINGS), inert=True),
        Variable("folder", ("home",)),
        Variable("selected", (-1,)),
        Variable("view", ("list",)),
        Variable("pasted", (False,)),
        Variable("trashed", (False,)),
        Variable("transfer", (False,)),
        Variable("status", ("",)),
        Variable("held", ("",), hidden=True),
        Variable("access", ("denied", "granted"), hidden=True),
        *display_variables(inert=True),
    ),
    panes=(
        MAIN_PANE,
        menu_pane(MAIN_PANE, MENUS, "Edit", _edit_menu),
        menu_pane(MAIN_PANE, MENUS, "View", _view_menu),
        CONTEXT_PANE,
        *(dialog.pane("main") for dialog in DIALOGS),
        foreign_pane("viewer", "Viewer", "viewer", ("Page 1 of 1", "Zoom 100%", "Rotate", "Share")),
    ),
    events=(
        Event("access answered", lambda s: s["access"] == "asked", lambda s: {"access": "granted"}, 0.2, 0.2),
        Event(
            "transfer ends",
            lambda s: bool(s["transfer"]),
            lambda s: {"pasted": True, "transfer": False},
            before=0.35,
            after=0.0,
        ),
    ),
    transient=("status", "transfer"),
)
