"""Screenshots out of the memory that Xvfb draws in, which is a file in XWD format."""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import Image
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

    A picture can be torn when the server draws meanwhile: take it once the screen is quiet. The file is read,
    not mapped: programs on the desktop may cut it short, and whoever touched the memory behind its end would
    be killed. Here that is a `FramebufferFailed`.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as problem:
            raise FramebufferFailed(f"cannot open the framebuffer {path}: {problem}") from problem
        try:
            self._layout = _layout(self._file, path)
        except BaseException:
            os.close(self._file)
            raise
        self.height, self.width = self._layout.height, self._layout.width
        # Read into again and again: memory that is new costs more than what is written to it.
        self._lines = np.zeros((self.height, self._layout.line_bytes), np.uint8)
        self._rgb = np.zeros((self.height, self.width, 3), np.uint8)

    def rows(self, top: int, bottom: int) -> NDArray[np.uint32]:
        """These lines of the screen as [rows, columns] of whole pixels, until the next picture is taken."""
        return self._read(top, bottom).view(np.uint32)[..., 0]

    def image(self) -> Image:
        """The whole screen."""
        pixels = self._read(0, self.height)[..., self._layout.colours]
        for channel in range(3):  # one by one: 0.7 ms for 1024×768, where a copy of the whole takes 2.7 ms
            self._rgb[..., channel] = pixels[..., channel]
        return Image(self.width, self.height, self._rgb.tobytes())

    def close(self) -> None:
        """Let the file go; the object gives no pictures any more. Safe to call twice."""
        if self._file != -1:
            os.close(self._file)
            self._file = -1

    def _read(self, top: int, bottom: int) -> NDArray[np.uint8]:
        """These lines as [rows, columns, 4] bytes, in the one buffer there is."""
        if self._file == -1:
            raise FramebufferFailed("the framebuffer has been closed")
        lines, layout = self._lines[top:bottom], self._layout
        try:
            got = os.preadv(self._file, [lines.data], layout.start + top * layout.line_bytes)
        except OSError as problem:
            raise FramebufferFailed(f"the framebuffer cannot be read: {problem}") from problem
        if got < lines.nbytes:
            raise FramebufferFailed(
                f"the framebuffer was cut short: {got} of {lines.nbytes} bytes are left of what was read"
            )
        return lines[:, : 4 * self.width].reshape(bottom - top, self.width, 4)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the pixels lie in the file, four bytes each, and which of these are red, green and blue."""

    start: int
    line_bytes: int
    height: int
    width: int
    colours: slice


def _layout(file: int, path: Path) -> _Layout:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size < _HEADER.size:
        raise FramebufferFailed(f"{path} is too short for a framebuffer, or no file: {status.st_size} bytes")
    header = os.pread(file, _HEADER.size, 0)
    if len(header) < _HEADER.size:
        raise FramebufferFailed(f"{path} was cut short")
    fields = _HEADER.unpack(header)
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
    if not width or not height or line_bytes < 4 * width or status.st_size < start + line_bytes * height:
        raise FramebufferFailed(f"{path} is too short for {width}×{height} pixels: {status.st_size} bytes")
    return _Layout(start, line_bytes, height, width, slice(1, 4) if byte_order else slice(2, None, -1))
