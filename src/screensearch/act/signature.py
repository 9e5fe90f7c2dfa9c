"""What an action is, stable across runs (paper, section 3, "Action identity").

``template@version::cell|role|label|application::arguments``. In labels and applications a space is
written ``_``, and the characters that mean something here are escaped (``_`` as ``%5F``, ``|`` as
``%7C``, ``:`` as ``%3A``, ``%`` as ``%25``), so that two different actions never share a signature and
`parse_signature` gives back the parts. Typed text is kept exactly, as JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from screensearch.act.templates import check_action, check_arguments, template_of
from screensearch.domain.action import Action, Argument, Signature
from screensearch.domain.roles import ROLES, map_role
from screensearch.domain.screen import Box, Element
from screensearch.encode.grid import GRID, cell_at, cell_name, centre_of
from screensearch.encode.masks import Masks
from screensearch.encode.text import normalise
from screensearch.errors import FormatError

NONE = "none"
UNKNOWN_CELL = "unknown"

_ESCAPES = {"%": "%25", "_": "%5F", "|": "%7C", ":": "%3A", " ": "_"}
_TABLE = str.maketrans(_ESCAPES)
_UNESCAPES = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile("%25|%5F|%7C|%3A|_")
_CELL = re.compile(r"r(0|[1-9]\d?)_c(0|[1-9]\d?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Target:
    """What an action is aimed at. `cell` is None when the element's box is no place."""

    cell: tuple[int, int] | None
    role: str
    label: str
    application: str

    def __str__(self) -> str:
        cell = UNKNOWN_CELL if self.cell is None else cell_name(*self.cell)
        return f"{cell}|{self.role}|{_escape(self.label)}|{_escape(self.application)}"


@dataclass(frozen=True, slots=True)
class ParsedSignature:
    """The parts of a signature; `arguments` are sorted by name."""

    template: str
    target: Target | None
    arguments: tuple[tuple[str, Argument], ...]

    def signature(self) -> Signature:
        """The signature with these parts."""
        return Signature(self.template, target_text(self.target), arguments_text(self.arguments))


def target_of(element: Element, window: Box, masks: Masks | None = None) -> Target:
    """What an element is aimed at as, on the 30×30 grid over the active window.

    The label is what the masks leave of the text, as in the element's atoms.
    """
    centre = centre_of(element.box, window)
    label = normalise(element.text)
    return Target(
        None if centre is None else cell_at(centre),
        map_role(element.role),
        label if masks is None else masks.apply(label, centre),
        _application(element.application),
    )


_application = lru_cache(maxsize=256)(normalise)  # few names, asked for with every element


def target_text(target: Target | None) -> str:
    """The middle part of a signature: ``cell|role|label|application`` or ``none``."""
    return NONE if target is None else str(target)


def arguments_text(arguments: tuple[tuple[str, Argument], ...]) -> str:
    """The last part of a signature: sorted compact JSON, or ``none``."""
    if not arguments:
        return NONE
    return json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def signature_of(action: Action, window: Box, masks: Masks | None = None) -> Signature:
    """The identity of an action. Raises `FormatError` for one that its template does not allow."""
    check_action(action)
    target = None if action.element is None else target_of(action.element, window, masks)
    return Signature(action.template, target_text(target), arguments_text(action.arguments))


def parse_signature(text: str) -> ParsedSignature:
    """The parts of a signature: the inverse of writing it. Raises `FormatError` for other texts."""
    parts = text.split("::", 2)
    if len(parts) != 3:
        raise _not_one(text, "it has fewer than three parts")
    name, target_part, arguments_part = parts
    template = template_of(name)
    target = None if target_part == NONE else _parse_target(text, target_part)
    if (target is None and template.element == "required") or (target and template.element == "absent"):
        raise _not_one(text, f"for {name} the element is {template.element}")
    parsed = ParsedSignature(name, target, _parse_arguments(text, arguments_part))
    check_arguments(template, parsed.arguments)
    if str(parsed.signature()) != text:
        raise _not_one(text, f"it would be written {str(parsed.signature())[:200]!r}")
    return parsed


def _parse_target(text: str, part: str) -> Target:
    fields = part.split("|")
    if len(fields) != 4:
        raise _not_one(text, "its target has not four fields")
    cell_text, role, label, application = fields
    cell: tuple[int, int] | None = None
    if cell_text != UNKNOWN_CELL:
        match = _CELL.fullmatch(cell_text)
        cell = None if match is None else (int(match[1]), int(match[2]))
        if cell is None or max(cell) >= GRID:
            raise _not_one(text, f"{cell_text!r} is no cell of the grid")
    if role not in ROLES:
        raise _not_one(text, f"{role!r} is no role")
    return Target(cell, role, _unescape(label), _unescape(application))


def _parse_arguments(text: str, part: str) -> tuple[tuple[str, Argument], ...]:
    if part == NONE:
        return ()
    try:
        values = json.loads(part)
    except (ValueError, RecursionError) as problem:
        raise _not_one(text, f"its arguments are not JSON ({problem})") from problem
    if not isinstance(values, dict) or not values:
        raise _not_one(text, "its arguments are not a JSON object with entries")
    return tuple(sorted(values.items()))


def _escape(text: str) -> str:
    return text.translate(_TABLE)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: _UNESCAPES[match[0]], text)


def _not_one(text: str, why: str) -> FormatError:
    return FormatError(f"{text[:200]!r} is not an action signature: {why}")
