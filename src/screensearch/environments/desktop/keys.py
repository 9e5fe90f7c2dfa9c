"""Keys by name and text by keysym, and which keycode of a keyboard gives them. Knows no connection.

Names are those of X without their prefix (``Escape``, ``Page_Up``, ``F10``, ``space``), in any case, or a
single character. A keysym stands for a character: Latin-1 directly, all others by their code point.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from screensearch.domain.keys import KEYSYMS as _NAMED
from screensearch.errors import FormatError

_ALIASES = {
    "enter": "Return",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "pageup": "Page_Up",
    "pagedown": "Page_Down",
    "prior": "Page_Up",
    "next": "Page_Down",
}
_BY_LOWER_NAME = {name.lower(): keysym for name, keysym in _NAMED.items()} | {
    alias: _NAMED[name] for alias, name in _ALIASES.items()
}
_MODIFIERS = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "shift": "Shift_L",
    "super": "Super_L",
}

RETURN, TAB, SHIFT, CAPS_LOCK = _NAMED["Return"], _NAMED["Tab"], _NAMED["Shift_L"], _NAMED["Caps_Lock"]


@dataclass(frozen=True, slots=True)
class Combination:
    """A key with the modifiers that are held meanwhile, all as keysyms, in the order they were named."""

    modifiers: tuple[int, ...]
    key: int


def parse_combination(text: str) -> Combination:
    """Read ``Escape``, ``ctrl+shift+s``, ``alt+F4``, ``ctrl++`` or ``alt`` (the key alone).

    With ctrl, alt or super a letter means its key, whatever its case: shift must be named.
    """
    head, name = _split(text)
    modifiers: list[int] = []
    for part in head:
        modifier = _MODIFIERS.get(part.lower())
        if modifier is None:
            raise FormatError(f"{text!r} is not a key: {part!r} is no modifier{_hint(part, _MODIFIERS)}")
        if _NAMED[modifier] not in modifiers:
            modifiers.append(_NAMED[modifier])
    if set(modifiers) - {SHIFT} and len(name) == 1:
        name = name.lower()
    return Combination(tuple(modifiers), _keysym_of_name(name, text))


def keysym_of_character(character: str) -> int:
    """The keysym of one character; a newline is Return and a tab is Tab."""
    if character in "\n\r":
        return RETURN
    if character == "\t":
        return TAB
    point = ord(character)
    if 0x20 <= point <= 0x7E or 0xA0 <= point <= 0xFF:
        return point
    if point < 0xA0 or 0xD800 <= point <= 0xDFFF:
        raise FormatError(f"the character U+{point:04X} cannot be typed: no key stands for it")
    return 0x01000000 + point


def keysyms_of_text(text: str) -> list[int]:
    """What to press, one keysym after the other, so that `text` arrives."""
    return [keysym_of_character(character) for character in text.replace("\r\n", "\n")]


@dataclass(frozen=True, slots=True)
class Stroke:
    """A keycode to press, with or without shift."""

    code: int
    shift: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """Strokes that one state of the keyboard can make, after `assign` put keysyms on spare keycodes.

    `reuses`: one of those keycodes meant another character before, which the application must have
    handled first: it looks a keycode up when it handles the key, not when the key was pressed.
    """

    assign: tuple[tuple[int, int], ...]
    strokes: tuple[Stroke, ...]
    reuses: bool


class Keyboard:
    """Which keycode and level gives a keysym, and the spare keycodes for those that no key gives."""

    def __init__(self, first_code: int, rows: Sequence[Sequence[int]]) -> None:
        self._assigned: dict[int, int] = {}  # keycode → keysym, least recently used first
        self.read(first_code, rows)

    def read(self, first_code: int, rows: Sequence[Sequence[int]]) -> None:
        """Take the keyboard as it now is: `rows` holds the keysyms of each keycode."""
        self._strokes: dict[int, Stroke] = {}
        self._free: list[int] = []
        for code, row in enumerate(rows, first_code):
            if self._assigned.get(code) == row[0] != 0:
                continue
            self._assigned.pop(code, None)
            if not any(row):
                self._free.append(code)
            for level, keysym in enumerate(row[:2]):
                if keysym:
                    self._strokes.setdefault(keysym, Stroke(code, level == 1))

    @property
    def assigned(self) -> Mapping[int, int]:
        """The spare keycodes in use and their keysyms, the least recently used first."""
        return self._assigned

    def segments(self, keysyms: Iterable[int]) -> Iterator[Segment]:
        """Cut a row of keysyms into segments; each must be carried out before the next is asked for."""
        assign: dict[int, int] = {}
        strokes: list[Stroke] = []
        reuses = False
        here: set[int] = set()  # spare keycodes that this segment presses
        for keysym in keysyms:
            stroke = self._strokes.get(keysym)
            if stroke is None:
                code = next((each for each, given in self._assigned.items() if given == keysym), None)
                if code is None:
                    if not self._free and not self._assigned:
                        raise FormatError(
                            f"the keyboard has no key for keysym {keysym:#x}, and none to spare"
                        )
                    if not self._free and here >= set(self._assigned):
                        yield Segment(tuple(assign.items()), tuple(strokes), reuses)
                        assign, strokes, here = {}, [], set()
                    if self._free:
                        code = self._free.pop(0)
                    else:
                        code = next(each for each in self._assigned if each not in here)
                        reuses = True
                    assign[code] = keysym
                self._assigned.pop(code, None)
                self._assigned[code] = keysym
                here.add(code)
                stroke = Stroke(code, shift=False)
            strokes.append(stroke)
        yield Segment(tuple(assign.items()), tuple(strokes), reuses)


def _split(text: str) -> tuple[list[str], str]:
    """The modifiers and the key of a combination; a plus at the end is the key plus."""
    if text == "+" or text.endswith("++"):
        return [part for part in text[:-1].rstrip("+").split("+") if part], "plus"
    *head, name = text.split("+")
    return head, name


def _keysym_of_name(name: str, text: str) -> int:
    if len(name) == 1:
        return keysym_of_character(name)
    lower = name.lower()
    if lower in _MODIFIERS:
        return _NAMED[_MODIFIERS[lower]]
    keysym = _BY_LOWER_NAME.get(lower)
    if keysym is None:
        raise FormatError(f"{text!r} is not a key: {name!r} is unknown{_hint(name, (*_NAMED, *_MODIFIERS))}")
    return keysym


def _hint(name: str, known: Iterable[str]) -> str:
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else f" (known: {', '.join(by_lower.values())})"
