"""Pictures as artifacts: named by their pixels, written as plain PNG files, checked when they are read."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from screensearch.domain.screen import Image
from screensearch.errors import FormatError

_NAME = re.compile(r"[0-9a-f]{64}")
_REMEMBERED = 50_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_AS_IT_IS, _AS_ABOVE = b"\0", b"\2"  # how a row is told: PNG's filters "none" and "up"
# Six screenshots of mousepad, thunar and Calc, 1024×768, on average: level 1 took 4.1 ms and 64 kB, 3
# 4.3 ms and 60 kB, 4 7.9 ms and 51 kB, 6 9.7 ms and 48 kB; Pillow at its level 2 11.2 ms and 64 kB. Filter
# "up" for all rows took 4.8 ms and 68 kB at level 1; palettes do not fit: the letters' edges have colours.
_COMPRESS_LEVEL = 3


def name_of(image: Image) -> str:
    """The name of a picture: a hash of its size and pixels, which must fit each other."""
    if len(image.pixels) != 3 * image.width * image.height or not image.pixels:
        raise FormatError(
            f"an image of {image.width}×{image.height} needs {3 * image.width * image.height} bytes of "
            f"pixels, at least one pixel, and has {len(image.pixels)}"
        )
    content = hashlib.sha256(f"rgb {image.width}x{image.height}\n".encode())  # 3.6 ms for 1080p
    content.update(image.pixels)
    return content.hexdigest()


def place_of(name: str) -> str:
    """Where a picture is below the location of the artifacts: ``ab/cdef….png``."""
    if not _NAME.fullmatch(name):
        raise FormatError(f"{name!r} is not the name of an artifact (64 hexadecimal digits)")
    return f"{name[:2]}/{name[2:]}.png"


class NameMemory:
    """The names of pictures that are known to be durable. Forgetting one only makes it be looked at again."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        if len(self._names) >= _REMEMBERED:
            self._names.clear()
        self._names.add(name)


def encode_picture(image: Image) -> bytes:
    """A plain RGB file. Rows that equal the one above, most of a screen, are told as such."""
    size = 3 * image.width
    same = _AS_ABOVE + bytes(size)
    rows: list[bytes] = []
    above = b""
    for start in range(0, len(image.pixels), size):
        row = image.pixels[start : start + size]
        if row == above:
            rows.append(same)
        else:
            rows += (_AS_IT_IS, row)
            above = row
    eight_bits, rgb = 8, 2
    header = struct.pack(">IIBBBBB", image.width, image.height, eight_bits, rgb, 0, 0, 0)
    pixels = zlib.compress(b"".join(rows), _COMPRESS_LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + PICTURE_END


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


PICTURE_END = _chunk(b"IEND", b"")
"""What every whole picture ends with, and one that was cut short does not."""


def decode_picture(name: str, file: Path | BinaryIO, where: str) -> Image:
    """Read a picture back, and check that it is what its name says; `where` it was is told if it is not.

    A file that is not there is for the caller to tell.
    """
    try:
        with Pillow.open(file) as png:
            image = Image(png.width, png.height, png.convert("RGB").tobytes())
    except FileNotFoundError:
        raise
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as problem:
        raise FormatError(f"artifact {where} is damaged: {problem}") from problem
    if name_of(image) != name:
        raise FormatError(f"artifact {where} is damaged: its pixels do not match its name")
    return image
