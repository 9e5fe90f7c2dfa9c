"""What is on the screen instead of a target that is missing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from screensearch.act.signature import ParsedSignature, Target, parse_signature
from screensearch.domain.action import Candidate
from screensearch.encode.grid import GRID
from screensearch.errors import FormatError

MOST = 3

_LABEL, _ROLE, _PLACE = 3.0, 1.0, 1.0  # what is the same counts so much
_LEAST = 1.5  # what is less alike is no help


def nearest_signatures(signature: str, listed: Iterable[Candidate], most: int = MOST) -> list[str]:
    """The signatures of candidates that are most like a missing one, the most alike first.

    Alike is the same kind of action on something that is called alike, has the same role, is near the place.
    """
    wanted = parse_signature(signature)
    scored = [
        (_alike(wanted, parsed), each.signature)
        for each in listed
        if (parsed := _parsed(each.signature)) is not None and parsed.template == wanted.template
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [each for score, each in scored[:most] if score >= _LEAST]


def _alike(wanted: ParsedSignature, other: ParsedSignature) -> float:
    if wanted.target is None or other.target is None:
        return 0.0
    return (
        _LABEL * difflib.SequenceMatcher(None, wanted.target.label, other.target.label).ratio()
        + _ROLE * (wanted.target.role == other.target.role)
        + _PLACE * _near(wanted.target, other.target)
    )


def _near(one: Target, other: Target) -> float:
    if one.cell is None or other.cell is None:
        return 0.0
    return 1 - max(abs(one.cell[0] - other.cell[0]), abs(one.cell[1] - other.cell[1])) / GRID


def _parsed(signature: str) -> ParsedSignature | None:
    try:
        return parse_signature(signature)
    except FormatError:
        return None
