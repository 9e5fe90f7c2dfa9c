"""Messages on a socket: a length, then msgpack. Both ends live on one machine and trust each other."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from screensearch.errors import FormatError
from screensearch.explore.messages import Announce, Begin, BeginFailed, Land, Receipt, Report

LENGTH = struct.Struct("<I")
LONGEST = 256 * 1024 * 1024
"""Longer frames are refused: a screen with a million elements is a few hundred megabytes."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker process is told when it starts: all it needs to be one."""

    worker: int
    environment: str
    settings: dict[str, Any]  # the document of the resolved settings
    folder: str
    seed: int
    first_episode: int
    futile: int  # starts in a row without a step that this worker has behind it
    artifacts: str = ""  # where the screenshots go; without a place, into the folder
    run: str = ""  # the id of the run, for the worker's log
    log_format: str = "text"


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker's last words: it cannot go on, and why."""

    message: str
    gave_up: bool = False  # after too many starts without a step: the run is to end with these words
    never_started: bool = False  # it gave up, and it was the application that failed the last start
    hopeless: bool = False  # another start would end the same way
    retired: bool = False  # said to a worker: another one has taken its place
    misplaced: bool = False  # said to a worker: another shard has to do with what it has seen
    store_failed: bool = False  # what it brought could not be kept: the run is to end with these words


Frame = Assignment | Failed | Begin | BeginFailed | Report | Land | Announce | Receipt
_TYPES: tuple[type[Any], ...] = (Assignment, Failed, Begin, BeginFailed, Report, Land, Announce, Receipt)
_TAG = {kind: bytes([index]) for index, kind in enumerate(_TYPES)}
_ENCODER = msgspec.msgpack.Encoder()
_DECODERS = tuple(msgspec.msgpack.Decoder(kind) for kind in _TYPES)


def pack(frame: Frame) -> bytes:
    """The bytes of one frame as a stream carries it."""
    body = pack_body(frame)
    return LENGTH.pack(len(body)) + body


def pack_body(frame: Frame) -> bytes:
    """One frame without its length: what `unpack` reads."""
    try:
        return _TAG[type(frame)] + _ENCODER.encode(frame)
    except (UnicodeEncodeError, OverflowError, TypeError) as problem:
        raise FormatError(f"a {type(frame).__name__} cannot be sent: {problem}") from problem


def unpack(data: bytes | memoryview) -> Frame:
    """One frame without its length."""
    try:
        frame: Frame = _DECODERS[data[0]].decode(data[1:])
    except (IndexError, msgspec.MsgspecError) as problem:
        raise FormatError(f"a message between owner and worker does not decode: {problem}") from problem
    return frame


class Frames:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Every frame that is complete now."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= LENGTH.size:
            (length,) = LENGTH.unpack_from(buffer, start)
            if length > LONGEST:
                raise FormatError(f"a message of {length} bytes is longer than {LONGEST} bytes")
            end = start + LENGTH.size + length
            if len(buffer) < end:
                break
            yield unpack(bytes(buffer[start + LENGTH.size : end]))
            start = end
        del buffer[:start]
