"""Where a secret is covered in a picture: wherever a window was that showed it."""

from __future__ import annotations

import zlib
from contextlib import closing
from pathlib import Path

import screensearch as ss
from screensearch.domain.document import encode_observation
from screensearch.domain.screen import Box, Element, Image, Observation, Window
from screensearch.encode.encoder import Encoder
from screensearch.explore.redaction import Redaction, Sightings
from screensearch.record.sqlite_log import SqliteLog

SMALL, LARGE = Box(0, 0, 100, 100), Box(200, 0, 200, 200)


def test_a_screen_is_covered_at_every_place_of_its_window_in_one_picture(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("redact.at=export",))
    field = Element("edit", "", Box(10, 60, 30, 20), "toy", editable=True, value="secret", secret=True)
    seen = Observation((field,), Window("Toy", "main", SMALL, "toy"))
    with closing(SqliteLog.create(tmp_path / "log.sqlite")) as log:
        row = log.add_screen(Encoder(settings.encode).encode(seen), zlib.compress(encode_observation(seen)))
        log.commit()
        sightings = Sightings()
        sightings.note(row, SMALL, first=True)
        sightings.note(row, LARGE, first=False)
        sightings.note(row, SMALL, first=False)
        assert len(sightings) == 2
        white = Image(400, 200, b"\xff" * (400 * 200 * 3))
        clean = Redaction(settings).picture(white, log, sightings.values())
    assert clean is not None

    def pixel(x: int, y: int) -> bytes:
        return clean.pixels[3 * (400 * y + x) :][:3]

    assert pixel(25, 70) == pixel(250, 140) == b"\x40\x40\x40"
    assert pixel(150, 100) == b"\xff\xff\xff"
