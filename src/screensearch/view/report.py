"""A report: the viewer's page with its answers in it, as one file, or as a folder if that would be too large.

It opens from disk, with no server and no network. It is whole or absent.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from screensearch.errors import ScreenSearchError
from screensearch.record.placing import building_beside, put, remove
from screensearch.view.report_contents import Contents, ReportLimits, collect
from screensearch.view.report_page import DATA_ID, data_script, document, read_parts
from screensearch.view.report_pictures import ReportPictures
from screensearch.view.shown import Shown

VERSION = 1
"""Of what the page reads."""

INDEX = "index.html"
_FILE_BYTES = 400_000  # of answers in one file of a folder


@dataclass(frozen=True, slots=True)
class Report:
    """What was written."""

    path: Path  # what to open
    bytes: int  # of everything
    states: int  # with a page
    edges: int  # likewise; those with the same ends are one
    pictures: int
    lacks: tuple[str, ...]  # a sentence for each thing that the viewer has and it has not

    @property
    def folder(self) -> Path | None:
        """The folder that must stay together; None when it is one file."""
        return self.path.parent if self.path.name == INDEX else None


def write_report(
    run: Path,
    out: Path,
    *,
    force: bool = False,
    limits: ReportLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Write the report of a run to ``NAME.html``; if it is too large for one file, to ``NAME-report/``.

    `out` may be given with the ending or without. What is there already is replaced only with `force`, and
    only if it is a report. `progress` is told how many pictures are done, of how many.
    """
    limits = limits or ReportLimits()
    parts = read_parts()
    stem = out.name.removesuffix(".html")
    file, folder = out.with_name(f"{stem}.html"), out.with_name(f"{stem.removesuffix('-report')}-report")
    _check_places(file, folder, force=force)
    with closing(Shown([run])) as shown, building_beside(file) as building:
        building.mkdir()
        reading = shown.reading(shown.names[0])
        with reading.lock:
            reading.follow()
            contents = collect(reading, limits)
            pictures = ReportPictures(building, limits.picture_bytes)
            for done, address in enumerate(contents.pictures, start=1):
                pictures.add(reading, address)
                if progress is not None:
                    progress(done, len(contents.pictures))
        contents.lacks += pictures.lacks()
        title = f"{reading.name}: {reading.redaction.text(reading.manifest.environment)}"
        if _size_in_one(contents, pictures) > limits.file_bytes:
            data = _spread(contents, pictures, building, title)
            (building / INDEX).write_text(document(parts, title=title, data=data, beside=True), "utf-8")
            made, place = building, folder
        else:
            data = _join(contents, pictures, title)
            made, place = building / file.name, file
            made.write_text(document(parts, title=title, data=data, beside=False), "utf-8")
        size = _size_of(made)
        for old in (file, folder):
            remove(old)
        put(made, place)
    opened = place / INDEX if place is folder else place
    return Report(opened, size, contents.states, contents.edges, len(pictures.files), tuple(contents.lacks))


def _size_in_one(contents: Contents, pictures: ReportPictures) -> int:
    """About the bytes of a report that is one file; base64 takes four for three."""
    answers = sum(map(len, contents.whole.values()))
    answers += sum(len(each) for part in contents.parts for each in part.answers.values())
    return answers + pictures.bytes * 4 // 3


def _join(contents: Contents, pictures: ReportPictures, title: str) -> bytes:
    """The data of a report that is one file: everything in it."""
    answers = {**contents.whole, **{at: each for part in contents.parts for at, each in part.answers.items()}}
    uris = {}
    for address, file in pictures.files.items():
        content = base64.b64encode((pictures.folder / file).read_bytes()).decode()
        uris[address] = f"data:image/webp;base64,{content}"
    return _data(contents, title, answers, uris, {})


def _spread(contents: Contents, pictures: ReportPictures, folder: Path, title: str) -> bytes:
    """Write the parts of a report as files of a folder; returns the data of its page, which loads them."""
    (folder / "data").mkdir()
    files: dict[str, str] = {}
    waiting: dict[str, msgspec.Raw] = {}
    size = number = 0
    for place, part in enumerate(contents.parts, start=1):
        waiting |= {address: msgspec.Raw(answer) for address, answer in part.answers.items()}
        size += sum(map(len, part.answers.values()))
        if size >= _FILE_BYTES or place == len(contents.parts):
            number += 1
            name = f"data/{number}.js"
            (folder / name).write_text(data_script(msgspec.json.encode(waiting)), "utf-8")
            files |= dict.fromkeys(waiting, name)
            waiting, size = {}, 0
    return _data(contents, title, contents.whole, pictures.files, files)


def _data(
    contents: Contents, title: str, answers: dict[str, bytes], pictures: dict[str, str], files: dict[str, str]
) -> bytes:
    """What the page reads, see ``web/src/api/embedded.ts``."""
    return msgspec.json.encode(
        {
            "version": VERSION,
            "title": title,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "lacks": contents.lacks,
            "answers": {address: msgspec.Raw(answer) for address, answer in answers.items()},
            "pictures": pictures,
            "files": files,
        }
    )


def _check_places(file: Path, folder: Path, *, force: bool) -> None:
    """Raise when something is in the way; `force` only ever gives up an earlier report."""
    for place in (file, folder):
        if place.exists() and not force:
            raise ScreenSearchError(f"{place} exists already: choose another --out, or use --force")
        if place.exists() and not _is_report(place):
            raise ScreenSearchError(f"{place} is no report, and is not replaced: choose another --out")


def _is_report(place: Path) -> bool:
    page = place / INDEX if place.is_dir() else place
    try:
        return f'id="{DATA_ID}"' in page.read_text("utf-8", errors="replace")
    except OSError:
        return False


def _size_of(made: Path) -> int:
    return sum(each.stat().st_size for each in (made, *made.rglob("*")) if each.is_file())
