"""The names of keys, and combinations of them: ``Escape``, ``F10``, ``ctrl+s``, ``ctrl+shift+Page_Down``.

Names are those of X, exactly; a single character stands for itself. `Combination` writes each key in
one way (``ctrl+shift+minus`` for ``shift+ctrl+-``), so that two spellings never make two actions.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from screensearch.errors import FormatError

MODIFIERS: Mapping[str, int] = {"ctrl": 0xFFE3, "alt": 0xFFE9, "shift": 0xFFE1, "super": 0xFFEB}
"""What may be held down, in the order in which it is written, with the keysym of its left key."""

_PUNCTUATION = """
    space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus
    comma minus period slash
"""
_MORE_PUNCTUATION = "colon semicolon less equal greater question at"
_BRACKETS = "bracketleft backslash bracketright asciicircum underscore grave"
_BRACES = "braceleft bar braceright asciitilde"


def _row(first: int, names: str) -> dict[str, int]:
    """Names of consecutive keysyms."""
    return {name: first + place for place, name in enumerate(names.split())}


KEYSYMS: Mapping[str, int] = {
    "BackSpace": 0xFF08,
    "Tab": 0xFF09,
    "ISO_Left_Tab": 0xFE20,
    "Return": 0xFF0D,
    "Pause": 0xFF13,
    "Scroll_Lock": 0xFF14,
    "Sys_Req": 0xFF15,
    "Escape": 0xFF1B,
    "Delete": 0xFFFF,
    **_row(0xFF50, "Home Left Up Right Down Page_Up Page_Down End Begin"),
    **_row(0xFF60, "Select Print Execute Insert"),
    **_row(0xFF65, "Undo Redo Menu Find Cancel Help Break"),
    "Num_Lock": 0xFF7F,
    "Caps_Lock": 0xFFE5,
    "KP_Enter": 0xFF8D,
    **_row(0xFF95, "KP_Home KP_Left KP_Up KP_Right KP_Down KP_Page_Up KP_Page_Down KP_End KP_Begin"),
    **_row(0xFF9E, "KP_Insert KP_Delete"),
    **_row(0xFFAA, "KP_Multiply KP_Add KP_Separator KP_Subtract KP_Decimal KP_Divide"),
    **{f"KP_{digit}": 0xFFB0 + digit for digit in range(10)},
    **{f"F{number}": 0xFFBD + number for number in range(1, 36)},
    "Shift_L": 0xFFE1,
    "Shift_R": 0xFFE2,
    "Control_L": 0xFFE3,
    "Control_R": 0xFFE4,
    "Alt_L": 0xFFE9,
    "Alt_R": 0xFFEA,
    "Super_L": 0xFFEB,
    "Super_R": 0xFFEC,
    **_row(0x20, _PUNCTUATION),
    **_row(0x3A, _MORE_PUNCTUATION),
    **_row(0x5B, _BRACKETS),
    **_row(0x7B, _BRACES),
}
"""The keysym of every named key."""

_NAMES = {keysym: name for name, keysym in KEYSYMS.items() if keysym < 0x7F}

_OTHER_NAMES = {
    "esc": "Escape",
    "enter": "Return",
    "del": "Delete",
    "ins": "Insert",
    "pgup": "Page_Up",
    "pgdn": "Page_Down",
    "pgdown": "Page_Down",
    "prior": "Page_Up",
    "next": "Page_Down",
    "spacebar": "space",
    "contextmenu": "Menu",
    "apps": "Menu",
    "control": "ctrl",
    "ctl": "ctrl",
    "strg": "ctrl",
    "option": "alt",
    "meta": "super",
    "win": "super",
    "cmd": "super",
}
"""What other programs call them: refused like any other unknown name, but with the right remedy."""

_LATIN_1 = 0x100
_UNICODE_KEYSYM = 0x0100_0000


@dataclass(frozen=True, slots=True)
class Combination:
    """A key and what is held down with it; modifiers are in the order of `MODIFIERS`."""

    modifiers: tuple[str, ...]
    key: str
    keysym: int

    def __str__(self) -> str:
        """The one way this combination is written."""
        return "+".join((*self.modifiers, self.key))


def parse_combination(text: str) -> Combination:
    """The combination that a text names. Raises `FormatError`, with a near miss, for any other text.

    With ctrl, alt or super a letter means its key, whatever its case: shift must be named.
    """
    plain = text[:-1] + "plus" if text == "+" or text.endswith("++") else text
    *held, key = plain.split("+")
    if not key:
        raise FormatError(f"{text[:80]!r} names no key")
    for modifier in held:
        if modifier not in MODIFIERS:
            raise FormatError(f"no modifier {modifier[:80]!r} in {text[:80]!r}{_hint(modifier, MODIFIERS)}")
    if len(set(held)) < len(held):
        raise FormatError(f"{text[:80]!r} holds a modifier twice")
    if len(key) == 1 and set(held) - {"shift"}:
        key = key.lower()
    keysym = _keysym(text, key)
    modifiers = tuple(each for each in MODIFIERS if each in held)
    return Combination(modifiers, _NAMES.get(keysym, key), keysym)


def keysym_of(character: str) -> int:
    """The keysym that types one character. (A line break and a tab are keys of their own: name those.)"""
    code = ord(character)
    return code if code < _LATIN_1 else _UNICODE_KEYSYM + code


def _keysym(text: str, key: str) -> int:
    keysym = KEYSYMS.get(key)
    if keysym is not None:
        return keysym
    if len(key) == 1 and unicodedata.category(key)[0] not in "CZ":
        return keysym_of(key)
    inside = "" if text == key else f" in {text[:80]!r}"
    raise FormatError(f"no key {key[:80]!r}{inside}{_hint(key, KEYSYMS)}")


def _hint(name: str, known: Mapping[str, int]) -> str:
    folded = {each.casefold(): each for each in known}
    plain = name.casefold()
    other = _OTHER_NAMES.get(plain.replace("_", "").replace(" ", ""))
    if other in known:
        return f"; did you mean {other!r}?"
    near = difflib.get_close_matches(plain, folded, n=1)
    if near:
        return f"; did you mean {folded[near[0]]!r}?"
    if known is MODIFIERS:
        return f" (known: {', '.join(known)})"
    return "; keys have the names that X gives them, such as Escape, F10, Page_Down or s"
