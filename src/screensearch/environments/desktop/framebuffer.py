"""Screenshots out of the memory that Xvfb draws in: a file in XWD format, mapped once."""

from __future__ import annotations

import contextlib
import mmap
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import Box, Image
from screensearch.errors import EnvironmentFailed

# XWDFile.h: 25 big-endian words, then the name of the window, then 12 bytes for each colour.
_HEADER = struct.Struct(">25I")
_COLOUR_BYTES = 12
_VERSION = 7
_Z_PIXMAP = 2


class FramebufferFailed(EnvironmentFailed):
    """The memory of the screen cannot be read, or is not laid out as pictures are read here."""


class Framebuffer:
    """The screen as it is at this moment. Reading it asks the server nothing.

    A picture can be torn when the server draws meanwhile: take it once the screen is quiet.
    """

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as problem:
            raise FramebufferFailed(f"cannot map the framebuffer {path}: {problem}") from problem
        try:
            self._bytes, self._pixels = _pixels(self._memory, path)
        except FramebufferFailed:
            self._memory.close()
            raise
        self.height, self.width, _ = self._pixels.shape

    def words(self) -> NDArray[np.uint32]:
        """The memory itself as [rows, columns] of whole pixels, for comparing."""
        return self._bytes.view(np.uint32)[..., 0]

    def image(self) -> Image:
        """The whole screen."""
        return _image(self._pixels)

    def crop(self, box: Box) -> Image:
        """The part of the screen under a rectangle, cut at the edges; at least one pixel."""
        left = min(max(int(box.x), 0), self.width - 1)
        top = min(max(int(box.y), 0), self.height - 1)
        right = min(max(int(box.x + box.width), left + 1), self.width)
        bottom = min(max(int(box.y + box.height), top + 1), self.height)
        return _image(self._pixels[top:bottom, left:right])

    def close(self) -> None:
        """Let the memory go; the object gives no pictures any more."""
        self._pixels = self._bytes = np.zeros((1, 1, 4), np.uint8)
        with contextlib.suppress(BufferError):  # somebody still compares: it goes when they do
            self._memory.close()


def _pixels(memory: mmap.mmap, path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The mapped pixels by four bytes and as red, green, blue, each [rows, columns, …]; checks the header."""
    if len(memory) < _HEADER.size:
        raise FramebufferFailed(f"{path} is too short for a framebuffer: {len(memory)} bytes")
    fields = _HEADER.unpack_from(memory)
    header_bytes, version, kind, _depth, width, height = fields[:6]
    byte_order, bits, line_bytes = fields[7], fields[11], fields[12]
    masks, colours = fields[14:17], fields[19]
    if version != _VERSION or kind != _Z_PIXMAP:
        raise FramebufferFailed(f"{path} is not a framebuffer of Xvfb (version {version}, format {kind})")
    if bits != 32 or masks != (0xFF0000, 0xFF00, 0xFF):
        raise FramebufferFailed(
            f"{path} has {bits} bits a pixel and the masks {', '.join(map(hex, masks))}; start the screen "
            "with a depth of 24"
        )
    start = header_bytes + colours * _COLOUR_BYTES
    if not width or not height or line_bytes < 4 * width or len(memory) < start + line_bytes * height:
        raise FramebufferFailed(f"{path} is too short for {width}×{height} pixels: {len(memory)} bytes")
    pixels: NDArray[np.uint8] = np.ndarray((height, width, 4), np.uint8, memory, start, (line_bytes, 4, 1))
    return pixels, pixels[..., 1:] if byte_order else pixels[..., 2::-1]


def _image(pixels: NDArray[np.uint8]) -> Image:
    rgb = np.empty(pixels.shape, np.uint8)
    for channel in range(3):  # one by one: 0.7 ms for 1024×768, where a copy of the whole takes 2.7 ms
        rgb[..., channel] = pixels[..., channel]
    return Image(pixels.shape[1], pixels.shape[0], rgb.tobytes())
