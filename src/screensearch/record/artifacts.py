"""Screenshots by content: the same picture is stored once, whoever brings it, and named by its hash.

An artifact is durable when `put_image` returns, so that no row of the log can name a missing one.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from pathlib import Path

from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from screensearch.domain.screen import Image
from screensearch.errors import FormatError, StoreFailed
from screensearch.record.durable import sync_folder, write_durably

_NAME = re.compile(r"[0-9a-f]{64}")
_REMEMBERED = 50_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_AS_IT_IS, _AS_ABOVE = b"\0", b"\2"  # how a row is told: PNG's filters "none" and "up"
# Six screenshots of mousepad, thunar and Calc, 1024×768, on average: level 1 took 4.1 ms and 64 kB, 3
# 4.3 ms and 60 kB, 4 7.9 ms and 51 kB, 6 9.7 ms and 48 kB; Pillow at its level 2 11.2 ms and 64 kB. Filter
# "up" for all rows took 4.8 ms and 68 kB at level 1; palettes do not fit: the letters' edges have colours.
_COMPRESS_LEVEL = 3


class Artifacts:
    """A folder of PNG files, ``ab/cdef….png``. Any number of processes may write to it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._durable: set[str] = set()  # names that need not be looked at again
        self._shards: set[Path] = set()  # those whose own place in the folder is durable

    def put_image(self, image: Image) -> str:
        """Store an image, if it is not there yet; returns its name."""
        if len(image.pixels) != 3 * image.width * image.height or not image.pixels:
            raise FormatError(
                f"an image of {image.width}×{image.height} needs {3 * image.width * image.height} bytes of "
                f"pixels, at least one pixel, and has {len(image.pixels)}"
            )
        name = _name(image)
        if name not in self._durable:
            try:
                self._make_durable(name, image)
            except OSError as problem:
                raise StoreFailed(f"cannot store an artifact in {self.folder}: {problem}") from problem
            if len(self._durable) >= _REMEMBERED:
                self._durable.clear()
            self._durable.add(name)
        return name

    def path(self, name: str) -> Path:
        """Where the artifact of that name is, or would be."""
        if not _NAME.fullmatch(name):
            raise FormatError(f"{name!r} is not the name of an artifact (64 hexadecimal digits)")
        return self.folder / name[:2] / f"{name[2:]}.png"

    def has(self, name: str) -> bool:
        """Whether the artifact is stored."""
        return self.path(name).exists()

    def open_image(self, name: str) -> Image:
        """Read an image back, and check that it is what its name says."""
        path = self.path(name)
        try:
            with Pillow.open(path) as png:
                image = Image(png.width, png.height, png.convert("RGB").tobytes())
        except FileNotFoundError as problem:
            raise FormatError(f"artifact {name} is missing from {self.folder}") from problem
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as problem:
            raise FormatError(f"artifact {path} is damaged: {problem}") from problem
        if _name(image) != name:
            raise FormatError(f"artifact {path} is damaged: its pixels do not match its name")
        return image

    def _make_durable(self, name: str, image: Image) -> None:
        path = self.path(name)
        shard = path.parent
        if shard not in self._shards:
            shard.mkdir(parents=True, exist_ok=True)
            sync_folder(self.folder)
            self._shards.add(shard)
        if not path.exists():
            write_durably(path, _png(image))
        # Both folders are synced also when another process made what is in them: its own sync may
        # still be to come.
        sync_folder(shard)


def _png(image: Image) -> bytes:
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
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def _name(image: Image) -> str:
    content = hashlib.sha256(f"rgb {image.width}x{image.height}\n".encode())  # 3.6 ms for 1080p
    content.update(image.pixels)
    return content.hexdigest()
