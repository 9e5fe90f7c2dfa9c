"""How each role looks: one small function per role, in the colours of a display mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from screensearch.domain.screen import Box, Element, Window

Corners = tuple[float, float, float, float]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a display mode."""

    desktop: str
    window: str
    bar: str
    field: str
    line: str
    text: str
    faint: str
    accent: str
    chosen: str
    button: str
    title: str


LIGHT = Palette(
    "#5b7f9c",
    "#f6f7f9",
    "#e9ecf0",
    "#ffffff",
    "#c3c9d1",
    "#1d2430",
    "#8b94a1",
    "#2f6fd0",
    "#d5e4fa",
    "#fdfdfe",
    "#dfe4ea",
)
DARK = Palette(
    "#1c2733",
    "#24282f",
    "#2d323a",
    "#1b1e23",
    "#454c57",
    "#e7eaef",
    "#79828f",
    "#6aa4f5",
    "#31496b",
    "#353b45",
    "#1f2329",
)
TILE_COLOURS = ("#d0705a", "#5a94d0", "#6aa966", "#b083c9", "#d6a449", "#4fa8a3", "#c9678f", "#7d8796")


@lru_cache(maxsize=32)
def _font(size: int) -> Font:
    return ImageFont.load_default(size=size)


@lru_cache(maxsize=8_192)
def _fitted(text: str, width: int, size: int) -> str:
    """The text, cut with an ellipsis where it does not fit; what cannot be painted is replaced."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    font = _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "...") > width:
        text = text[:-1]
    return text + "..." if text else ""


@lru_cache(maxsize=8_192)
def _written(text: str, size: int, anchor: str) -> tuple[Pictures.Image, int, int]:
    """The shape of a text and where it is from its anchor. Kept: to shape texts is most of painting."""
    font = _font(size)
    left, top, right, bottom = (round(edge) for edge in font.getbbox(text, anchor=anchor))
    shape = Pictures.new("L", (max(right - left, 1), max(bottom - top, 1)))
    ImageDraw.Draw(shape).text((-left, -top), text, fill=255, font=font, anchor=anchor)
    return shape, left, top


class Painter:
    """Paints elements of one display mode and text size onto a picture."""

    def __init__(self, picture: Pictures.Image, palette: Palette, text_pixels: int) -> None:
        self.draw = ImageDraw.Draw(picture)
        self.palette = palette
        self.size = text_pixels

    def box(self, at: Corners, fill: str | None, line: str | None = None, radius: float = 4) -> None:
        self.draw.rounded_rectangle(at, radius, fill=fill, outline=line)

    def text(
        self, at: Corners, text: str, colour: str, *, centred: bool = False, size: int = 0, pad: float = 6
    ) -> None:
        """One line, vertically centred in the box."""
        size = size or self.size
        left, top, right, bottom = at
        shown = _fitted(text, int(right - left - 2 * pad), size)
        x, anchor = ((left + right) / 2, "mm") if centred else (left + pad, "lm")
        shape, beside, above = _written(shown, size, anchor)
        self.draw.bitmap((round(x) + beside, round((top + bottom) / 2) + above), shape, fill=colour)

    def tick(self, at: Corners, colour: str) -> None:
        left, top, right, bottom = at
        width, height = right - left, bottom - top
        points = [
            (left + 0.2 * width, top + 0.55 * height),
            (left + 0.42 * width, top + 0.75 * height),
            (left + 0.8 * width, top + 0.25 * height),
        ]
        self.draw.line(points, fill=colour, width=2)

    def window(self, window: Window, at: Corners) -> None:
        left, top, right, bottom = at
        self.box(
            (left + 3, top + 4, right + 4, bottom + 5),
            "#00000055" if window.kind == "dialog" else "#2a3a48",
            radius=8,
        )
        self.box(at, self.palette.window, self.palette.line, radius=6)

    def element(self, element: Element) -> None:
        at = corners(element.box)
        colour = self.palette.text if element.enabled else self.palette.faint
        PAINTERS.get(element.role, _label)(self, element, at, colour)


def corners(box: Box) -> Corners:
    """The corners of a box; one without extent is a point."""
    return box.x, box.y, box.x + max(box.width - 1, 0), box.y + max(box.height - 1, 0)


Paint = Callable[[Painter, Element, Corners, str], None]


def _nothing(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    """Containers that have no look of their own."""


def _label(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    painter.text(at, element.text, colour)


def _bar(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    painter.box(at, painter.palette.bar, radius=0)


def _titlebar(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    painter.box(at, painter.palette.title, radius=6)
    painter.text(at, element.text, colour, centred=True)


def _field(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    palette = painter.palette
    painter.box(at, palette.field, palette.accent if element.focused else palette.line)
    painter.text(at, element.text, colour if element.editable else palette.faint)


def _sheet(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    """Documents, lists and tables: paper for what lies on them."""
    painter.box(at, painter.palette.field, painter.palette.line)


def _button(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    palette = painter.palette
    left, top, right, bottom = at
    if element.handle.startswith("title."):
        _window_button(painter, element, at)
        return
    inset = (left + 2, top + 2, right - 2, bottom - 2)
    painter.box(inset, palette.chosen if element.checked else palette.button, palette.line)
    if bottom - top < 48:
        painter.text(inset, element.text, colour, centred=True, pad=2)
        return
    tile = TILE_COLOURS[sum(map(ord, element.text)) % len(TILE_COLOURS)] if element.enabled else palette.faint
    middle = (left + right) / 2
    painter.box((middle - 9, top + 7, middle + 9, top + 25), tile, radius=5)
    icon = (middle - 9, top + 7, middle + 9, top + 25)
    painter.text(icon, element.text[:1], "#ffffff", centred=True, size=13, pad=0)
    painter.text((left, bottom - 26, right, bottom - 4), element.text, colour, centred=True, pad=3)


def _window_button(painter: Painter, element: Element, at: Corners) -> None:
    left, top, right, bottom = at
    x, y, colour = (left + right) / 2, (top + bottom) / 2, painter.palette.text
    if element.text == "Minimise":
        painter.draw.line((x - 5, y + 4, x + 5, y + 4), fill=colour)
    elif element.text == "Maximise":
        painter.draw.rectangle((x - 5, y - 5, x + 5, y + 5), outline=colour)
    else:
        painter.draw.line((x - 5, y - 5, x + 5, y + 5), fill=colour)
        painter.draw.line((x - 5, y + 5, x + 5, y - 5), fill=colour)


def _menu(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    painter.box((left + 3, top + 3, right + 5, bottom + 6), "#5a6572", radius=5)
    painter.box((left, top, right + 2, bottom + 3), painter.palette.field, painter.palette.line)


def _menuitem(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    if element.handle.startswith("menubar."):
        painter.text(at, element.text, colour, centred=True)
        return
    if element.checked:
        painter.tick((left + 5, top + 6, left + 21, bottom - 6), painter.palette.accent)
    painter.text((left + 20, top, right, bottom), element.text, colour)


def _item(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    palette = painter.palette
    if element.checked:
        painter.box((left + 2, top, right - 2, bottom), palette.chosen)
    tile = TILE_COLOURS[sum(map(ord, element.text)) % len(TILE_COLOURS)]
    middle = (top + bottom) / 2
    painter.box(
        (left + 8, middle - 6, left + 19, middle + 6), tile if element.enabled else palette.line, radius=3
    )
    painter.text((left + 20, top, right, bottom), element.text, colour)


def _checkbox(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    palette = painter.palette
    middle = (top + bottom) / 2
    if right - left < 100:  # a switch
        painter.box(
            (left + 6, middle - 9, left + 44, middle + 9),
            palette.accent if element.checked else palette.faint,
            radius=9,
        )
        x = left + 35 if element.checked else left + 15
        painter.draw.ellipse((x - 7, middle - 7, x + 7, middle + 7), fill="#ffffff")
        return
    square = (left + 6, middle - 8, left + 22, middle + 8)
    painter.box(square, palette.accent if element.checked else palette.field, palette.line, radius=3)
    if element.checked:
        painter.tick(square, "#ffffff")
    painter.text((left + 24, top, right, bottom), element.text, colour)


def _radio(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    palette = painter.palette
    middle = (top + bottom) / 2
    painter.draw.ellipse(
        (left + 6, middle - 8, left + 22, middle + 8), fill=palette.field, outline=palette.faint
    )
    if element.checked:
        painter.draw.ellipse((left + 10, middle - 4, left + 18, middle + 4), fill=palette.accent)
    painter.text((left + 24, top, right, bottom), element.text, colour)


def _choice(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    """Combo boxes and spinners: a field with an arrow."""
    _, top, right, bottom = at
    painter.box(at, painter.palette.field, painter.palette.line)
    painter.text((at[0], top, right - 20, bottom), element.text, colour)
    x, y = right - 14, (top + bottom) / 2
    painter.draw.polygon([(x - 5, y - 2), (x + 5, y - 2), (x, y + 4)], fill=painter.palette.faint)


def _slider(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    y, x = (top + bottom) / 2, left + 0.7 * (right - left)
    painter.draw.line((left + 6, y, right - 6, y), fill=painter.palette.line, width=4)
    painter.draw.line((left + 6, y, x, y), fill=painter.palette.accent, width=4)
    painter.draw.ellipse(
        (x - 8, y - 8, x + 8, y + 8), fill=painter.palette.button, outline=painter.palette.accent
    )


def _progress(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    y = (top + bottom) / 2
    painter.box((left + 4, y - 7, right - 4, y + 7), painter.palette.field, painter.palette.line, radius=7)
    painter.box((left + 4, y - 7, (left + right) / 2, y + 7), painter.palette.accent, radius=7)


def _scrollbar(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    middle = (left + right) / 2
    painter.box((middle - 5, top, middle + 5, bottom), painter.palette.bar, radius=5)
    painter.box((middle - 4, top + 8, middle + 4, top + (bottom - top) / 2), painter.palette.faint, radius=4)


def _image(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    sky = TILE_COLOURS[sum(map(ord, element.text)) % len(TILE_COLOURS)]
    painter.box((left + 3, top + 3, right - 3, bottom - 3), sky, painter.palette.line, radius=6)
    if bottom - top < 40:
        painter.text(at, element.text, "#ffffff", centred=True)
        return
    width, height = right - left, bottom - top
    hill = [
        (left + 6, bottom - 6),
        (left + 0.4 * width, top + 0.4 * height),
        (left + 0.75 * width, bottom - 6),
    ]
    far = [
        (left + 0.45 * width, bottom - 6),
        (left + 0.7 * width, top + 0.55 * height),
        (right - 6, bottom - 6),
    ]
    painter.draw.polygon(far, fill="#ffffff")
    painter.draw.polygon(hill, fill="#f3f3ee")


def _link(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    painter.text(at, element.text, painter.palette.accent)
    width = _font(painter.size).getlength(_fitted(element.text, int(right - left - 12), painter.size))
    y = (top + bottom) / 2 + painter.size * 0.6
    painter.draw.line((left + 6, y, left + 6 + width, y), fill=painter.palette.accent)


def _rule(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, top, right, bottom = at
    y = (top + bottom) / 2
    painter.draw.line((left, y, right, y), fill=painter.palette.line)


def _header(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    tall = at[3] - at[1] > 40
    painter.text(
        at, element.text, colour if tall else painter.palette.faint, size=painter.size + (8 if tall else 0)
    )


def _tabitem(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    left, _, right, bottom = at
    palette = painter.palette
    painter.box(at, palette.field if element.checked else palette.bar, palette.line)
    painter.text(at, element.text, colour, centred=True)
    if element.checked:
        painter.draw.line((left + 6, bottom - 1, right - 6, bottom - 1), fill=palette.accent, width=3)


def _group(painter: Painter, element: Element, at: Corners, colour: str) -> None:
    painter.box(at, None, painter.palette.line)
    painter.text(at, element.text, painter.palette.faint)


PAINTERS: dict[str, Paint] = {
    "titlebar": _titlebar,
    "menubar": _bar,
    "toolbar": _bar,
    "statusbar": _bar,
    "pane": _nothing,
    "tree": _nothing,
    "tab": _nothing,
    "document": _sheet,
    "list": _sheet,
    "table": _sheet,
    "edit": _field,
    "button": _button,
    "menu": _menu,
    "menuitem": _menuitem,
    "listitem": _item,
    "treeitem": _item,
    "dataitem": _label,
    "checkbox": _checkbox,
    "radiobutton": _radio,
    "combobox": _choice,
    "spinner": _choice,
    "slider": _slider,
    "progressbar": _progress,
    "scrollbar": _scrollbar,
    "image": _image,
    "hyperlink": _link,
    "separator": _rule,
    "header": _header,
    "tabitem": _tabitem,
    "group": _group,
}
