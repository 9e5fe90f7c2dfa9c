"""Artifacts in a bucket, or at another place that is reached by a URL.

They are content-addressed, so that two who bring the same picture at once do no harm: each writes all of it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from screensearch.domain.screen import Image
from screensearch.errors import FormatError, SettingsError, StoreFailed
from screensearch.record.pictures import (
    PICTURE_END,
    NameMemory,
    decode_picture,
    encode_picture,
    name_of,
    place_of,
)
from screensearch.record.remote_files import RemoteFiles

PATIENCE_SECONDS = 30.0
"""How long a place that fails, or says nothing, is tried again: half of what a worker may be silent for."""

CHECK_SECONDS = 10.0
"""How long a place is tried that is checked before a run: whoever started it is waiting."""

LOOKS_AT_ONCE = 8
"""How many pictures are looked for at the same time."""

PROBE = "writable.txt"
_PROBE_CONTENT = b"ScreenSearch writes this file to see whether it can.\n"
_ABSENT = place_of("0" * 64)  # no picture has this name, as far as anyone knows


class RemoteArtifacts:
    """PNG files below a URL, ``ab/cdef….png`` as in a folder. Nothing is opened before it is needed."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._files = RemoteFiles(url, PATIENCE_SECONDS)
        self._durable = NameMemory()

    def put_image(self, image: Image) -> str:
        """Store an image, if it is not there yet; returns its name."""
        name = name_of(image)
        if name not in self._durable:
            if not self._is_whole(name):
                self._files.write(place_of(name), encode_picture(image))
            self._durable.add(name)
        return name

    def open_image(self, name: str) -> Image:
        """Read an image back, and check that it is what its name says."""
        content = self._files.read(place_of(name))
        if content is None:
            raise FormatError(f"artifact {name} is missing from {self.url}")
        return decode_picture(name, io.BytesIO(content), self.where(name))

    def missing(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are not stored, or not to their end."""
        listed = list(names)
        with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
            return {
                name
                for name, whole in zip(listed, pool.map(self._is_whole, listed), strict=True)
                if not whole
            }

    def where(self, name: str) -> str:
        """The URL of the artifact of that name."""
        return f"{self.url}/{place_of(name)}"

    def check(self) -> None:
        """Write a small file and read it, or raise. It stays there: to delete takes a right of its own."""
        if self._files.kind == "memory":
            raise SettingsError(
                f"{self.url} is forgotten with the process that writes to it: choose a place that lasts"
            )
        files = RemoteFiles(self.url, CHECK_SECONDS)
        files.write(PROBE, _PROBE_CONTENT)
        if files.read(PROBE) != _PROBE_CONTENT:
            raise StoreFailed(f"{self.url} does not give back what was written to it: {PROBE} differs")
        files.read_end(
            _ABSENT, len(PICTURE_END)
        )  # without the right to list, S3 forbids to know that it is not there

    def _is_whole(self, name: str) -> bool:
        """Whether a picture is there to its end, which one that was cut short in a file system lacks."""
        return self._files.read_end(place_of(name), len(PICTURE_END)) == PICTURE_END
