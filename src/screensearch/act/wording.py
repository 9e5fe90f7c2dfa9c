"""Actions in words: what a person reads where a machine reads a signature."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from screensearch.act.signature import ParsedSignature, Target, parse_signature
from screensearch.act.templates import (
    DOUBLE_CLICK,
    FOCUS_CLICK,
    FOCUS_TYPE,
    KEY,
    RIGHT_CLICK,
    SCROLL,
    WAIT,
)
from screensearch.encode.grid import cell_name
from screensearch.errors import FormatError

_LONGEST_TEXT = 60  # characters of a text that are shown

_CLICKS = {FOCUS_CLICK.id: "click", DOUBLE_CLICK.id: "double-click", RIGHT_CLICK.id: "right-click"}

_ROLES = {
    "checkbox": "check box",
    "combobox": "combo box",
    "custom": "element",
    "dataitem": "cell",
    "edit": "field",
    "headeritem": "column header",
    "hyperlink": "link",
    "listitem": "list item",
    "menubar": "menu bar",
    "menuitem": "menu item",
    "progressbar": "progress bar",
    "radiobutton": "radio button",
    "scrollbar": "scroll bar",
    "spinner": "spin button",
    "splitbutton": "split button",
    "statusbar": "status bar",
    "tabitem": "tab",
    "titlebar": "title bar",
    "toolbar": "tool bar",
    "treeitem": "tree item",
}
"""What a person calls a role, where it is not the role's own name."""


def describe_action(signature: str) -> str:
    """An action in words, such as ``click "save" (button)``; what is no signature stays as it is.

    Two actions may be the same in words: where that matters, see `describe_actions`.
    """
    return _described(signature, placed=False)


def describe_actions(signatures: Iterable[str]) -> dict[str, str]:
    """Each signature in words. Those that would read the same are told apart by their cell of the grid.

    Those that still would, such as two long texts that are cut, stay signatures.
    """
    words = {each: describe_action(each) for each in signatures}
    often = Counter(words.values())
    placed = {
        each: _described(each, placed=True) if often[text] > 1 else text for each, text in words.items()
    }
    often = Counter(placed.values())
    return {each: each if often[text] > 1 else text for each, text in placed.items()}


def _described(signature: str, *, placed: bool) -> str:
    try:
        action = parse_signature(signature)
    except FormatError:
        return signature
    return _words(action, placed) or signature


def _words(action: ParsedSignature, placed: bool) -> str | None:
    arguments = dict(action.arguments)
    target = None if action.target is None else _aim(action.target, placed)
    if action.template in _CLICKS:
        return f"{_CLICKS[action.template]} {target}"
    if action.template == FOCUS_TYPE.id:
        return f"type {_quoted(str(arguments['text']))} into {target}"
    if action.template == SCROLL.id:
        inside = "" if target is None else f" in {target}"
        return f"scroll {arguments['direction']} by {arguments['amount']}{inside}"
    if action.template == KEY.id:
        return f"press {arguments['key']}"
    return "wait" if action.template == WAIT.id else None


def _aim(target: Target, placed: bool) -> str:
    role = _ROLES.get(target.role, target.role)
    place = "no known place" if target.cell is None else cell_name(*target.cell)
    if not target.label:
        return f"the {role} at {place}"
    return f"{_quoted(target.label)} ({role}{f' at {place}' if placed else ''})"


def _quoted(text: str) -> str:
    """On one line, and not endless."""
    shown = text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
    return json.dumps(shown, ensure_ascii=False)
