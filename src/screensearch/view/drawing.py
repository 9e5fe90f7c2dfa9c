"""Two screens side by side as one picture: what they share, and what only one of them has, marked on both."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from screensearch.errors import StoreFailed
from screensearch.view.comparisons import Explanation, ScreenSide
from screensearch.view.messages import ElementInfo, Rectangle
from screensearch.view.pictures import screenshot
from screensearch.view.reading import Reading

SHARED = (0, 114, 178)  # blue and orange: told apart also by who sees no red or green
ONLY_HERE = (213, 94, 0)

_MARGIN = 16
_AROUND = 8  # pixels of the screen around the window that are kept
_LINE = 22
_LARGEST = 4_000  # pixels of a side: a window of nonsense must not take all memory
_SMALLEST = 40
_LONGEST = 30  # characters of an atom that are written
_PLAIN = (1024, 768)  # where there is neither a picture nor a window
_INK, _PALE, _PAPER = (30, 30, 30), (110, 110, 110), (255, 255, 255)


def draw(reading: Reading, explained: Explanation, path: Path) -> None:
    """Write the picture of an explanation as PNG. A screen without a screenshot is drawn as its elements."""
    only = (set(explained.only_first), set(explained.only_second))
    panels = [
        _panel(reading, side, here)
        for side, here in zip((explained.first, explained.second), only, strict=True)
    ]
    heading = 4 * _LINE
    width = sum(panel.width for panel in panels) + 3 * _MARGIN
    height = max(panel.height for panel in panels) + heading + 2 * _MARGIN
    sheet = Pillow.new("RGB", (max(width, 760), height), _PAPER)
    pen = ImageDraw.Draw(sheet)
    verdict = "one state" if explained.one_state else "two states"
    _write(
        pen,
        (_MARGIN, _MARGIN),
        f"{explained.first.name} and {explained.second.name}: {verdict} by {explained.identifier}, score "
        f"{explained.score:.4f}, threshold {explained.threshold:g} "
        f"(roles {explained.role_jaccard:.4f}, texts {explained.text_jaccard:.4f})",
        bold=True,
    )
    _legend(pen, _MARGIN + _LINE + 4, explained)
    left = _MARGIN
    for panel, side, here in zip(panels, (explained.first, explained.second), only, strict=True):
        name = side.name if side.state is None else f"{side.name} (state {side.state})"
        _write(pen, (left, heading + _MARGIN - _LINE), f"{name}: {_listed(here)}")
        sheet.paste(panel, (left, heading + _MARGIN))
        left += panel.width + _MARGIN
    content = io.BytesIO()
    sheet.save(content, "PNG", optimize=False)
    try:
        path.write_bytes(content.getvalue())
    except OSError as problem:
        raise StoreFailed(f"cannot write the picture {path}: {problem}; choose another place") from problem


def _listed(atoms: set[str]) -> str:
    """How many atoms a screen has alone, and the first of them."""
    if not atoms:
        return "no atom that the other has not"
    words = ", ".join(atom if len(atom) <= _LONGEST else atom[:_LONGEST] + "…" for atom in sorted(atoms)[:2])
    return f"only here {len(atoms)}: {words}{', …' if len(atoms) > 2 else ''}"


def _legend(pen: ImageDraw.ImageDraw, top: int, explained: Explanation) -> None:
    pen.rectangle((_MARGIN, top + 3, _MARGIN + 22, top + 15), outline=SHARED, width=1)
    _write(pen, (_MARGIN + 30, top), f"gives atoms that both have ({len(explained.shared)})")
    pen.rectangle((_MARGIN + 290, top + 3, _MARGIN + 312, top + 15), outline=ONLY_HERE, width=3)
    _write(pen, (_MARGIN + 320, top), "gives an atom that the other has not")
    if explained.differing_filters:
        names = ", ".join(explained.differing_filters)
        _write(pen, (_MARGIN, top + _LINE - 2), f"never compared: they differ in {names}")


def _panel(reading: Reading, side: ScreenSide, only_here: set[str]) -> Pillow.Image:
    """One screen, cut to its window, with its elements marked."""
    picture = _picture(reading, side)
    area = _area(side.window_box, picture)
    left, top, right, bottom = area
    if picture is None:
        panel = Pillow.new("RGB", (right - left, bottom - top), (245, 245, 245))
    else:
        panel = picture.crop(area)
    pen = ImageDraw.Draw(panel)
    differing = []
    for element in side.elements:
        box = _clipped(element.box, area)
        if box is None or element.role_atom is None:
            continue
        if element.role_atom in only_here or (element.text_atom or "") in only_here:
            differing.append((element, box))
        else:
            pen.rectangle(box, outline=SHARED, width=1)
            _label(pen, element, box, picture)
    for element, box in differing:  # on top of the others
        pen.rectangle(box, outline=ONLY_HERE, width=3)
        _label(pen, element, box, picture)
    pen.rectangle((0, 0, panel.width - 1, panel.height - 1), outline=_PALE)
    return panel


def _label(
    pen: ImageDraw.ImageDraw, element: ElementInfo, box: tuple[int, ...], picture: Pillow.Image | None
) -> None:
    """What an element says, where no picture shows it."""
    words = " ".join(f"{element.text} {element.value}".split())[:60]
    if picture is None and words:
        _write(pen, (box[0] + 3, box[1] + 2), words, size=11)


def _picture(reading: Reading, side: ScreenSide) -> Pillow.Image | None:
    sequence = int(side.name[1:]) if side.name.startswith("@") else reading.entries.founded[int(side.name)]
    name = reading.entries.picture_of(sequence)
    return None if name is None else Pillow.open(io.BytesIO(screenshot(reading, name))).convert("RGB")


def _area(window: Rectangle | None, picture: Pillow.Image | None) -> tuple[int, int, int, int]:
    """What of the screen is drawn: the window and a little around it, within the picture if there is one."""
    whole = _PLAIN if picture is None else picture.size
    if window is None or not (window[2] >= 1 and window[3] >= 1):
        return (0, 0, *whole)
    x, y, width, height = (max(-_LARGEST, min(_LARGEST, round(each))) for each in window)
    left, top, right, bottom = x - _AROUND, y - _AROUND, x + width + _AROUND, y + height + _AROUND
    if picture is not None:
        left, top = max(0, min(left, whole[0] - _SMALLEST)), max(0, min(top, whole[1] - _SMALLEST))
        right, bottom = min(right, whole[0]), min(bottom, whole[1])
    return left, top, max(right, left + _SMALLEST), max(bottom, top + _SMALLEST)


def _clipped(box: Rectangle, area: tuple[int, int, int, int]) -> tuple[int, int, int, int] | None:
    """A box in the drawn area, or None if nothing of it is there."""
    x, y, width, height = box
    if not (width > 0 and height > 0):
        return None
    left, top, right, bottom = area
    x1, y1 = max(x, left) - left, max(y, top) - top
    x2, y2 = min(x + width, right) - left - 1, min(y + height, bottom) - top - 1
    return None if x2 < x1 or y2 < y1 else (round(x1), round(y1), round(x2), round(y2))


def _write(
    pen: ImageDraw.ImageDraw, at: tuple[int, int], words: str, *, bold: bool = False, size: int = 14
) -> None:
    shown = "".join(letter if letter.isprintable() else "·" for letter in words)
    font = ImageFont.load_default(size)
    pen.text(at, shown, fill=_INK, font=font, stroke_width=0)
    if bold:  # the built-in font has one weight
        pen.text((at[0] + 1, at[1]), shown, fill=_INK, font=font)
