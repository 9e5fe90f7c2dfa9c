"""Values as versioned JSON: ``{"format": "screensearch.observation", "version": 1, "body": …}``.

What is stored outlives the program that stored it, so a document says what it is. A newer version is
refused by name (`NewerFormat`); anything else that is not as it should be is a `FormatError` that
names the place, as in ``$.body.window.box.x``.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeVar

import msgspec

from screensearch.domain.screen import Box, Observation
from screensearch.domain.text import storable
from screensearch.errors import FormatError, NewerFormat

Value = TypeVar("Value")

OBSERVATION = "observation"
OBSERVATION_VERSION = 1

_NOWHERE = Box(0.0, 0.0, -1.0, -1.0)


@dataclasses.dataclass(frozen=True, slots=True)
class _Envelope:
    format: str
    version: int
    body: msgspec.Raw


def encode_document(kind: str, value: Any, *, version: int = 1) -> bytes:
    """A value as a document. JSON has no NaN or infinity: they would become null, so keep them out."""
    try:
        return msgspec.json.encode({"format": f"screensearch.{kind}", "version": version, "body": value})
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError) as problem:
        raise FormatError(f"this {kind} cannot be written as JSON: {problem}") from problem


def decode_document(data: bytes, kind: str, type: type[Value], *, version: int = 1) -> Value:  # noqa: A002
    """The value of a document of that kind, checked against its type; fields it does not know are skipped."""
    envelope = _decode(data, _Envelope, kind, root="$")
    if envelope.format != f"screensearch.{kind}":
        raise FormatError(
            f"this is a document of format {envelope.format!r}, not 'screensearch.{kind}' - at `$.format`"
        )
    if envelope.version > version:
        raise NewerFormat(
            f"this {kind} has version {envelope.version}, this program reads up to {version}; "
            "upgrade screensearch to read it"
        )
    if envelope.version < 1:
        raise FormatError(f"{kind} version {envelope.version} never existed - at `$.version`")
    return _decode(envelope.body, type, kind, root="$.body")


def _decode(data: bytes | msgspec.Raw, type: type[Value], kind: str, *, root: str) -> Value:  # noqa: A002
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.ValidationError as problem:
        message = str(problem)
        place = message.replace("`$", f"`{root}", 1) if "`$" in message else f"{message} - at `{root}`"
        raise FormatError(f"this is not a valid {kind}: {place}") from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise FormatError(f"this {kind} is not readable JSON: {problem} - at `{root}`") from problem


def encode_observation(observation: Observation) -> bytes:
    """An observation as a document, without its screenshot, which is an artifact of its own.

    JSON cannot hold all that a backend may report: a lone surrogate is written as U+FFFD, a box with
    a NaN or an infinity as one of negative size, a text scale of that kind as 0, a parent beyond 64 bits
    as none. An encoder reads the same screen from the result.
    """
    if observation.screenshot is not None:
        observation = dataclasses.replace(observation, screenshot=None)
    try:
        data = encode_document(OBSERVATION, observation, version=OBSERVATION_VERSION)
    except FormatError:
        return encode_document(OBSERVATION, _storable_observation(observation), version=OBSERVATION_VERSION)
    # A quote inside a text is escaped, so these bytes can only be a number that became null.
    if any(f'"{name}":null'.encode() in data for name in ("x", "y", "width", "height", "text_scale")):
        return encode_document(OBSERVATION, _storable_observation(observation), version=OBSERVATION_VERSION)
    return data


def decode_observation(data: bytes) -> Observation:
    """The observation of a document made by `encode_observation`."""
    return decode_document(data, OBSERVATION, Observation, version=OBSERVATION_VERSION)


def _storable_observation(observation: Observation) -> Observation:
    window = observation.window
    return dataclasses.replace(
        observation,
        elements=tuple(
            dataclasses.replace(
                element,
                role=storable(element.role),
                text=storable(element.text),
                value=storable(element.value),
                box=_box(element.box),
                application=storable(element.application),
                parent=None if abs(element.parent or 0) >= 2**63 else element.parent,
                handle=storable(element.handle),
            )
            for element in observation.elements
        ),
        window=dataclasses.replace(
            window,
            title=storable(window.title),
            kind=storable(window.kind),
            box=_box(window.box),
            application=storable(window.application),
        ),
        display_mode=storable(observation.display_mode),
        text_scale=observation.text_scale if math.isfinite(observation.text_scale) else 0.0,
    )


def _box(box: Box) -> Box:
    return box if all(map(math.isfinite, (box.x, box.y, box.width, box.height))) else _NOWHERE
