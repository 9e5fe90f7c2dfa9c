"""Method calls as bytes on the wire of D-Bus. Small on purpose: only what is ever sent from here.

Calls of one kind differ in the object they go to and in their serial number alone. All else is built
once, with the object's path as the last header field, and kept.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from screensearch.environments.desktop.atspi import Call

_INTERFACE, _MEMBER, _DESTINATION, _SIGNATURE = 2, 3, 6, 8
_START = struct.Struct("<4sIII").pack  # a call in version 1 of the protocol; sizes and serial number
_CALL = b"l\1\0\1"
_PATH_FIELD = struct.Struct("<4sI").pack
_LONGEST_NAME = 255
_KEPT = 5000
"""Kinds of calls that are kept; beyond that all are forgotten, and built again when they are made."""

_OBJECT = re.compile(r"/|(?:/[A-Za-z0-9_]+)+").fullmatch
_NAME = re.compile(
    r":[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+|[A-Za-z_-][A-Za-z0-9_-]*(?:\.[A-Za-z_-][A-Za-z0-9_-]*)+"
)

Kind = tuple[str, str, str, str, tuple[Any, ...]]


class Envelopes:
    """The bytes of calls."""

    def __init__(self) -> None:
        self._kept: dict[Kind, tuple[bytes, bytes]] = {}

    def seal(self, call: Call, serial: int) -> bytes:
        """The message of a call, with that serial number.

        Raises ValueError when it would be none: the daemon drops whoever sends such a thing, and
        applications may name any nonsense as the address of an element.
        """
        destination, path, interface, member, signature, values = call
        kind = (destination, interface, member, signature, values)
        if not _OBJECT(path):
            raise ValueError(f"{path!r} is not the path of an object")
        parts = self._kept.get(kind)
        if parts is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            parts = self._kept[kind] = _parts(kind)
        fields, body = parts
        place = path.encode()
        length = len(fields) + 9 + len(place)
        return b"".join(
            (
                _START(_CALL, len(body), serial, length),
                fields,
                _PATH_FIELD(b"\1\1o\0", len(place)),
                place,
                _PADDING[-length % 8],  # the text's own end, and up to where a body may begin
                body,
            )
        )


_PADDING = tuple(b"\0" * (1 + missing) for missing in range(8))


def _parts(kind: Kind) -> tuple[bytes, bytes]:
    """The header fields but for the path, filled up to where that begins, and the body."""
    destination, interface, member, signature, values = kind
    if not _NAME.fullmatch(destination) or len(destination) > _LONGEST_NAME:
        raise ValueError(f"{destination!r} is not a name on a bus")
    body = bytearray()
    try:
        for each, value in zip(_kinds(signature), values, strict=True):
            _write(body, each, value)
    except struct.error as problem:
        raise ValueError(f"cannot send {values!r}: {problem}") from problem
    fields = bytearray()
    for code, each, text in (
        (_DESTINATION, "s", destination),
        (_INTERFACE, "s", interface),
        (_MEMBER, "s", member),
        (_SIGNATURE, "g", signature),
    ):
        if text:
            _align(fields, 8)
            fields.append(code)
            _write(fields, "g", each)
            _write(fields, each, text)
    _align(fields, 8)
    return bytes(fields), bytes(body)


def _kinds(signature: str) -> list[str]:
    """The complete types of a signature, of those that are ever sent: basic ones, and arrays of strings."""
    kinds: list[str] = []
    array = ""
    for letter in signature:
        if letter == "a":
            array = "a"
        else:
            kinds.append(array + letter)
            array = ""
    return kinds


def _write(out: bytearray, kind: str, value: Any) -> None:
    if kind in ("s", "o"):
        text = value.encode()
        _align(out, 4)
        out += struct.pack("<I", len(text)) + text + b"\0"
    elif kind == "g":
        text = value.encode()
        out += bytes((len(text),)) + text + b"\0"
    elif kind in ("i", "u"):
        _align(out, 4)
        out += struct.pack(f"<{'i' if kind == 'i' else 'I'}", value)
    elif kind == "as":
        _align(out, 4)
        start = len(out)
        out += b"\0\0\0\0"
        for each in value:
            _write(out, "s", each)
        out[start : start + 4] = struct.pack("<I", len(out) - start - 4)
    else:
        raise ValueError(f"cannot send a value of type {kind!r}")


def _align(out: bytearray, size: int) -> None:
    """Fill up to a multiple of `size`. Both the header fields and the body start at one of 8."""
    out += b"\0" * (-len(out) % size)
