"""The pictures of a report: compressed with loss, each in its own size, until the room for them is used up.

They keep their width and height, so that what is drawn over them is where it belongs.
"""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image as Pillow

from screensearch.domain.screen import Image
from screensearch.errors import ScreenSearchError
from screensearch.view.pictures import open_picture, thumbnail
from screensearch.view.reading import Reading

_QUALITY = 55


class ReportPictures:
    """Pictures by their address in the viewer, as files in a folder."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self.files: dict[str, str] = {}  # address: path in the folder
        self.bytes = 0
        self.unread = 0  # damaged, missing, or not to be shown
        self.beyond = 0  # there was no room for them
        self._most = most_bytes

    def add(self, reading: Reading, address: str) -> None:
        """Take a picture in. One that cannot be had is left out and counted."""
        if self.bytes >= self._most:
            self.beyond += 1
            return
        kind, _, name = address.removeprefix(f"runs/{reading.name}/").partition("/")
        name = name.removesuffix(".png")
        try:
            small = kind == "thumbnails"
            content = thumbnail(reading, int(name)) if small else _encode(open_picture(reading, name))
        except (ScreenSearchError, ValueError):
            self.unread += 1
            return
        place = self.folder / kind / f"{name}.webp"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        self.bytes += len(content)
        self.files[address] = f"{kind}/{name}.webp"

    def lacks(self) -> list[str]:
        """What is to be said about those that are not here."""
        said = []
        if self.beyond:
            said.append(f"{self.beyond:,} pictures did not fit in; the viewer shows them.")
        if self.unread:
            said.append(f"{self.unread:,} pictures could not be read or may not be shown.")
        return said


def _encode(image: Image) -> bytes:
    content = io.BytesIO()
    picture = Pillow.frombytes("RGB", (image.width, image.height), image.pixels)
    picture.save(content, "WEBP", quality=_QUALITY, method=3)
    return content.getvalue()
