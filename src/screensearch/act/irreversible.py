"""The guard of what cannot be taken back: deleting, sending, buying, overwriting, shutting down, ….

It reads labels, in English, German, French and Spanish, as whole words and with what follows them:
"Format disk" is one, the menu "Format" is none; "Send" is one, "Send to back" is none. A label that is
not vetoed may still do harm: the guard is the second wall, the sandbox is the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from screensearch.act.irreversible_words import AGREEING, ASKED_ABOUT, IRREVERSIBLE, TAKEN_BACK
from screensearch.domain.action import Candidate
from screensearch.domain.keys import parse_combination
from screensearch.domain.screen import Element, Observation
from screensearch.encode.masks import compile_pattern
from screensearch.encode.text import normalise
from screensearch.errors import FormatError

_KEYS = {
    "Delete": "Delete deletes",
    "KP_Delete": "Delete deletes",
    "shift+Delete": "shift+Delete deletes for good",
    "shift+KP_Delete": "shift+Delete deletes for good",
    "ctrl+Delete": "ctrl+Delete deletes",
    "ctrl+Return": "ctrl+Return sends",
    "ctrl+KP_Enter": "ctrl+Return sends",
    "ctrl+s": "ctrl+s overwrites the document",
    "ctrl+alt+Delete": "ctrl+alt+Delete ends the session",
    "ctrl+alt+BackSpace": "ctrl+alt+BackSpace ends the session",
    "ctrl+alt+l": "ctrl+alt+l locks the screen",
    "super+l": "super+l locks the screen",
    "Sys_Req": "Sys_Req speaks to the kernel",
    "alt+Sys_Req": "Sys_Req speaks to the kernel",
}
_ACTIVATING = ("Return", "KP_Enter", "space")

_NAVIGATING_ROLES = frozenset({"tabitem", "headeritem", "header", "edit", "document", "scrollbar", "thumb"})
"""A click on these selects, sorts or sets the caret: what they are called is not what they do."""

_CONTENT_ROLES = frozenset({"listitem", "treeitem", "dataitem", "text", "image", "group", "pane", "custom"})
_LONGEST_NAME = 80  # characters: such an element with a longer text shows content, and names no action

_MNEMONIC = re.compile(r"[&_](?=\w)")
_LONGEST_REMEMBERED = 1_000  # characters of a raw label


class Irreversible:
    """Vetoes clicks on what is called an irreversible or outward action, and the keys that do such things.

    In a dialog that asks about one, agreeing is vetoed too; so is Return where it would press such a
    button. Patterns are further regular expressions for labels (searched, case ignored).
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(
            compile_pattern(pattern, what=f"irreversible.patterns[{place}]")
            for place, pattern in enumerate(patterns)
        )

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        action = candidate.action
        if action.element is not None:
            if action.template.startswith(("focus_type@", "scroll@")):
                return None
            return self._why(action.element, observation)
        if not action.template.startswith("key@"):
            return None
        key = _plain_key(str(dict(action.arguments).get("key", "")))
        if key in _KEYS:
            return f"irreversible: {_KEYS[key]}"
        if key not in _ACTIVATING:
            return None
        for element in observation.elements:
            pressed = element.focused or (key != "space" and observation.window.kind == "dialog")
            why = self._why(element, observation) if pressed and element.clickable else None
            if why is not None:
                return f"{why} (the key {key} may press it)"
        return None

    def _why(self, element: Element, observation: Observation) -> str | None:
        if element.role in _NAVIGATING_ROLES or not element.text:
            return None
        if element.role in _CONTENT_ROLES and len(element.text) > _LONGEST_NAME:
            return None
        label = plain_label(element.text)
        found = irreversible_word(label)
        if found is not None:
            return f"irreversible: {found!r} in the label {label!r}"
        for pattern in self._patterns:
            if pattern.search(label):
                return f"irreversible: the label {label!r} matches {pattern.pattern!r}"
        if observation.window.kind == "dialog" and AGREEING.fullmatch(label):
            word = next(filter(None, map(_asked_about, _asked(observation))), None)
            if word is not None:
                return f"irreversible: {label!r} agrees to what the dialog calls {word!r}"
        return None


def plain_label(text: str) -> str:
    """A label as it is read: normalised, without the marks of access keys."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _plain(text)


def _plain(text: str) -> str:
    return _MNEMONIC.sub("", normalise(text))


_remembered = lru_cache(maxsize=8_192)(_plain)


@lru_cache(maxsize=8_192)
def irreversible_word(label: str) -> str | None:
    """The words of a plain label that name an irreversible action, or None."""
    if TAKEN_BACK.match(label):
        return None
    for pattern in IRREVERSIBLE:
        match = pattern.search(label)
        if match is not None:
            return match[0]
    return None


def _asked(observation: Observation) -> Iterable[str]:
    """What a dialog says: its title and its texts."""
    yield observation.window.title
    for element in observation.elements:
        if element.role == "text" and len(element.text) <= _LONGEST_REMEMBERED:
            yield element.text


@lru_cache(maxsize=8_192)
def _asked_about(text: str) -> str | None:
    match = ASKED_ABOUT.search(normalise(text))
    return None if match is None else match[0]


@lru_cache(maxsize=256)
def _plain_key(key: str) -> str:
    try:
        return str(parse_combination(key))
    except FormatError:
        return key
