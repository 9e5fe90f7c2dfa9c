"""Pictures of a run as they go out: whole ones as PNG, small ones of a state as WebP, kept within a bound.

Nothing is written into the run. Only pictures that its log names are shown: artifacts of several runs may be
in one place.
"""

from __future__ import annotations

import io
import math
import threading
from collections import OrderedDict

import numpy as np
from PIL import Image as Pillow

from screensearch.domain.screen import Image, StateId, crop
from screensearch.explore.redaction import Sightings, stored_observation
from screensearch.record.pictures import encode_picture
from screensearch.view.entries import NONE, column
from screensearch.view.reading import Reading, UnknownState

THUMBNAIL = (160, 120)
"""The greatest width and height of a thumbnail, in pixels."""

_QUALITY = 70


class PictureMemory:
    """Encoded pictures, the latest used, up to some bytes. Any thread may use it."""

    def __init__(self, most_bytes: int = 48_000_000) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, ...], bytes] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> bytes | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: tuple[str, ...], content: bytes) -> None:
        if len(content) > self._most // 4:
            return
        with self._lock:
            self._bytes += len(content) - len(self._kept.pop(key, b""))
            self._kept[key] = content
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1])


def screenshot(reading: Reading, name: str) -> bytes:
    """A picture that the log of a run names, as PNG, without secrets. Holds the lock only to look it up."""
    return encode_picture(open_picture(reading, name))


def thumbnail_name(reading: Reading, state: StateId) -> str:
    """The name of the picture that a state's thumbnail is made of."""
    name = reading.entries.picture_of(reading.entries.founded[reading.check_state(state)])
    if name is None:
        raise UnknownState(f"there is no picture of state {state} of {reading.name}")
    return name


def thumbnail(reading: Reading, state: StateId) -> bytes:
    """The window of a state's founding screen, small, as WebP. Holds the lock only to look it up."""
    with reading.lock:
        name = thumbnail_name(reading, state)
        window = reading.entry(reading.entries.founded[state]).evidence.window
        if window is None:
            window = stored_observation(reading.run.log, reading.founding_row(state)).window.box
    image = open_picture(reading, name)
    sound = math.isfinite(window.x + window.y + window.width + window.height)
    return encode_small(crop(image, window) if sound and window.width > 0 < window.height else image)


def encode_small(image: Image, size: tuple[int, int] = THUMBNAIL) -> bytes:
    """A picture made to fit into a size, as WebP."""
    picture = Pillow.frombytes("RGB", (image.width, image.height), image.pixels)
    picture.thumbnail(size, Pillow.Resampling.BILINEAR, reducing_gap=2.0)
    content = io.BytesIO()
    picture.save(content, "WEBP", quality=_QUALITY, method=2)
    return content.getvalue()


def open_picture(reading: Reading, name: str) -> Image:
    """A picture that the log of a run names, without secrets; `UnknownState` if there is none to be shown."""
    with reading.lock:
        number = reading.entries.pictures.find(name)
        artifacts = reading.run.artifacts
    if number is None:
        raise UnknownState(f"the log of {reading.name} names no picture {name[:64]!r}")
    image = artifacts.open_image(name)
    if not reading.redaction.active:
        return image
    with reading.lock:
        clean = reading.redaction.picture(image, reading.run.log, _sightings(reading, number).values())
    if clean is None:
        raise UnknownState(
            f"picture {name} of {reading.name} is not shown: what is a secret in it is not known, since "
            "there is no screen to it (redact.at is 'export')"
        )
    return clean


def _sightings(reading: Reading, picture: int) -> Sightings:
    """The screens that were seen in a picture."""
    entries = reading.entries
    screens = column(entries.screen)
    found = Sightings()
    for place in np.flatnonzero(column(entries.picture) == picture):
        row = int(screens[place])
        if row != NONE:
            window = reading.entry(int(place) + 1).evidence.window
            found.note(row, window, first=int(np.argmax(screens == row)) == place)
    return found
