"""Screens of an application that does not exist: an accountant's, with views, menus, dialogs and lists.

A face is a number; its words are drawn from that number, so that the same face always gives the same screen.
What stays the same in many faces (the window, its bars, where things are) is its sheet, and has one picture.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from PIL import Image as Pillow
from PIL import ImageDraw

from screensearch.act.signature import signature_of
from screensearch.domain.action import Action
from screensearch.domain.screen import Box, Element, Image, Observation, Window

APPLICATION, HELPER = "ledger", "ledger-print"
SIZE = (640, 480)
MODES = ("light", "dark", "high contrast")
SCALES = (1.0, 1.5)
VARIANTS = 10  # sheets of one window in one mode and size
TYPED = ("hello", "2026", "12.50")

VIEWS = ("customers", "invoices", "payments", "products", "suppliers", "journal", "taxes", "reports")
MENUS = (
    "file",
    "edit",
    "view",
    "insert",
    "accounts",
    "tools",
    "help",
    "recent files",
    "columns",
    "export as",
)
DIALOGS = (
    *("open", "save as", "print", "preferences", "find and replace", "new customer", "new invoice"),
    *("edit payment", "tax rates", "currency", "about ledger", "import statement", "close the year"),
    *("backup", "restore", "sort by", "filter rows", "choose a date", "users", "page set-up"),
)
POPUPS = ("calendar", "suggestions", "row actions", "colour")


def _each(words: str) -> tuple[str, ...]:
    return (*words.split(),)


_VERBS = _each(
    "add apply archive assign attach book cancel check close copy correct count delete duplicate edit enter "
    "export file filter group hide import insert link list lock mark match merge move open pay post preview "
    "print rename repeat replace reverse save schedule select send share show sort split start stop undo"
)
_KINDS = _each(
    "annual average blank closed daily default domestic draft due early external final first foreign gross "
    "hidden internal late local monthly net new old open overdue paid partial pending planned previous "
    "private public quarterly recent regular rejected signed special standard total unpaid urgent valid "
    "weekly yearly"
)
_THINGS = _each(
    "account address advance agent agreement amount asset audit balance bank batch bill branch budget buyer "
    "card carrier case cash category charge claim client code column company contact contract cost country "
    "credit currency customer date debit debt deposit discount document dollar employee entry estimate euro "
    "expense fee field folder form fund goods grant group holiday income index insurance interest invoice "
    "item journal label lease letter line loan margin market member memo month note number office order "
    "owner page partner password payment penalty period person plan policy price product profit project "
    "purchase quantity quote rate receipt record refund region rent report request return row salary sale "
    "sample section seller service share sheet shipment shop signature staff stamp statement stock store "
    "subject subsidy supplier table tax team template term ticket total transfer trip unit user vendor "
    "voucher wage warehouse week"
)


class Slot(NamedTuple):
    """A place on a sheet; without a label its words are the face's own."""

    role: str
    box: Box
    label: str | None = None
    clickable: bool = False
    editable: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """What a whole episode has in common."""

    mode: str
    scale: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """A window as it is laid out, in one setting."""

    setting: Setting
    window: int  # a place in WINDOWS
    variant: int


@dataclass(frozen=True, slots=True)
class Face:
    """One screen to be: a sheet and the number that its words are drawn from."""

    sheet: Sheet
    number: int


WINDOWS = (
    *((f"{view} - Ledger", "main", APPLICATION) for view in VIEWS),
    *((menu, "menu", APPLICATION) for menu in MENUS),
    *(
        (dialog, "dialog", HELPER if dialog in ("print", "page set-up") else APPLICATION)
        for dialog in DIALOGS
    ),
    *((popup, "popup", APPLICATION) for popup in POPUPS),
)
"""Title, kind and application of every window that there is."""


def settings() -> list[Setting]:
    """All that an episode may begin with."""
    return [Setting(mode, scale) for mode in MODES for scale in SCALES]


def draw_face(draw: random.Random, setting: Setting, number: int) -> Face:
    """A face at random: mostly views and dialogs."""
    kind = draw.choices(("main", "menu", "dialog", "popup"), (5, 2, 4, 1))[0]
    window = draw.choice([place for place, each in enumerate(WINDOWS) if each[1] == kind])
    return Face(Sheet(setting, window, draw.randrange(VARIANTS)), number)


def first_face(setting: Setting) -> Face:
    """What the application opens with."""
    return Face(Sheet(setting, 0, 0), MODES.index(setting.mode) * len(SCALES) + SCALES.index(setting.scale))


def observe(face: Face, noise: int = 0) -> Observation:
    """The observation of a face. `noise` changes the words of a main window's status bar, no more."""
    title, kind, application = WINDOWS[face.sheet.window]
    slots = slots_of(face.sheet.window, face.sheet.variant)
    words = random.Random(face.number)
    elements = [
        Element(
            slot.role,
            _words(words) if slot.label is None else slot.label,
            slot.box,
            application,
            clickable=slot.clickable,
            editable=slot.editable,
            value=_amount(words) if slot.editable else "",
            parent=0 if place else None,
        )
        for place, slot in enumerate(slots)
    ]
    if kind == "main":
        status = f"{noise + 1} of {words.randrange(20, 900)} rows selected"
        elements.append(Element("statusbar", status, Box(0, 462, 640, 18), application, parent=0))
    shown = Window(title, kind, slots[0].box, application)
    return Observation(
        tuple(elements), shown, display_mode=face.sheet.setting.mode, text_scale=face.sheet.setting.scale
    )


def capture_screen() -> Observation:
    """What is seen when another application takes the input."""
    box = Box(120, 90, 400, 300)
    link = Element(
        "hyperlink", "www.example.org/ledger/help", Box(140, 130, 240, 18), "browser", clickable=True
    )
    return Observation(
        (Element("window", "Help - Browser", box, "browser"), link),
        Window("Help - Browser", "main", box, "browser"),
    )


def signatures_at(observation: Observation) -> tuple[str, ...]:
    """What can be done there, as signatures."""
    window = observation.window.box
    actions: list[Action] = []
    for element in observation.elements:
        if element.clickable:
            actions.append(Action("focus_click@1", element))
        if element.editable:
            actions += (Action("focus_type@1", element, (("text", text),)) for text in TYPED)
    actions.append(Action("key@1", None, (("key", "Escape"),)))
    return tuple(dict.fromkeys(str(signature_of(action, window)) for action in actions))


@lru_cache(maxsize=1_000)
def slots_of(window: int, variant: int) -> tuple[Slot, ...]:
    """Where things are in a window; the first slot is the window itself."""
    title, kind, _ = WINDOWS[window]
    draw = random.Random(window * VARIANTS + variant)
    if kind == "main":
        return (*_main(title, draw),)
    if kind == "dialog":
        return (*_dialog(title, draw),)
    return (*_list(title, draw, wide=kind == "menu"),)


def _main(title: str, draw: random.Random) -> list[Slot]:
    slots = [Slot("window", Box(0, 0, *SIZE), title), Slot("menubar", Box(0, 0, 640, 20), "")]
    slots += [
        Slot("menuitem", Box(8 + 56 * i, 0, 52, 20), each, clickable=True) for i, each in enumerate(MENUS[:7])
    ]
    slots += [
        Slot("button", Box(8 + 62 * i, 24, 58, 22), each, clickable=True)
        for i, each in enumerate(draw.sample(_VERBS, 6))
    ]
    slots.append(Slot("edit", Box(470, 24, 160, 22), "search", clickable=True, editable=True))
    slots += [
        Slot("treeitem", Box(4, 54 + 22 * i, 130, 20), each, clickable=True) for i, each in enumerate(VIEWS)
    ]
    left, top = 144, 54
    for row in range(draw.randint(9, 14)):
        slots.append(Slot("listitem", Box(left, top + 26 * row, 340, 22), clickable=True))
        slots.append(Slot("text", Box(left + 346, top + 26 * row, 140, 22)))
    return slots


def _dialog(title: str, draw: random.Random) -> list[Slot]:
    rows = draw.randint(3, 8)
    left, top, height = 120.0, 60.0, 90.0 + 36 * rows
    slots = [
        Slot("window", Box(left, top, 400, height), title),
        Slot("text", Box(left + 20, top + 8, 360, 18)),
    ]
    for row in range(rows):
        y = top + 34 + 36 * row
        kind = draw.choice(("edit", "edit", "checkbox", "combobox"))
        slots.append(Slot("text", Box(left + 20, y, 140, 24)))
        slots.append(Slot(kind, Box(left + 170, y, 200, 24), None, clickable=True, editable=kind == "edit"))
    slots += [
        Slot("button", Box(left + 140 + 84 * i, top + height - 40, 78, 28), each, clickable=True)
        for i, each in enumerate(("help", "cancel", draw.choice(("ok", "save", "apply"))))
    ]
    return slots


def _list(title: str, draw: random.Random, *, wide: bool) -> list[Slot]:
    rows = draw.randint(6, 14)
    left, width = float(draw.randrange(8, 300, 56)), 240.0 if wide else 150.0
    slots = [Slot("menu" if wide else "list", Box(left, 22, width, 24.0 * rows + 8), title)]
    role = "menuitem" if wide else "listitem"
    slots += [
        Slot(role, Box(left + 4, 26 + 24 * row, width - 8, 22), None, clickable=True) for row in range(rows)
    ]
    return slots


def _words(draw: random.Random) -> str:
    first = draw.choice(_VERBS if draw.random() < 0.4 else _KINDS)
    words = f"{first} {draw.choice(_THINGS)}"
    return words if draw.random() < 0.7 else f"{words} {_amount(draw)}"


def _amount(draw: random.Random) -> str:
    return f"{draw.randrange(1, 99_999)}.{draw.randrange(100):02}"


_COLOURS = {
    "light": ("#f4f5f7", "#ffffff", "#c8ccd4", "#23272f", "#9aa3b2"),
    "dark": ("#1d2027", "#282c35", "#444b59", "#e6e9ef", "#6d7687"),
    "high contrast": ("#000000", "#000000", "#ffff00", "#ffffff", "#00ffff"),
}


def draw_picture(sheet: Sheet) -> Image:
    """The picture of a sheet: its own labels, and lines where a face has words."""
    behind, raised, line, ink, words = _COLOURS[sheet.setting.mode]
    picture = Pillow.new("RGB", SIZE, behind)
    pen = ImageDraw.Draw(picture)
    lengths = random.Random(sheet.window * VARIANTS + sheet.variant)
    if WINDOWS[sheet.window][1] != "main":
        pen.rectangle((0, 0, SIZE[0], 20), fill=raised, outline=line)
    for place, slot in enumerate(slots_of(sheet.window, sheet.variant)):
        x, y, right, bottom = _corners(slot.box)
        framed = place == 0 or slot.role in ("button", "edit", "combobox", "checkbox", "menubar")
        if framed:
            pen.rectangle((x, y, right - 1, bottom - 1), fill=raised, outline=line)
        middle = (y + bottom) // 2
        if slot.label is None:
            length = int((right - x - 12) * lengths.uniform(0.3, 0.95))
            pen.rectangle((x + 6, middle - 2, x + 6 + length, middle + 2), fill=words)
        elif place and slot.label:
            pen.text((x + 6, middle - 6), slot.label, fill=ink)
    return Image(*SIZE, picture.tobytes())


def _corners(box: Box) -> tuple[int, int, int, int]:
    return int(box.x), int(box.y), int(box.x + box.width), int(box.y + box.height)
