"""Is this file a whole log of ours? Answered from its bytes, before SQLite is let near it.

SQLite repairs, creates side files and recovers as soon as it opens a database; a file that is newer
than us, cut short or something else must stay as it is.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from screensearch.errors import FormatError, RunNotFound, StoreFailed
from screensearch.record.format import check_version

APPLICATION_ID = int.from_bytes(b"SScr", "big")

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_WAL_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24


def check_log_file(path: Path, *, owned: bool = False) -> None:
    """Raise when the log is missing, not ours, newer, or shorter than it says. Changes nothing.

    Pages that a killed owner had not yet copied into the file may be in its write-ahead log: those
    count as present. While an owner is at work (`owned`) the two files move under us, so their sizes
    prove nothing; the owner checked them when it began.
    """
    try:
        _check(path, owned)
    except FileNotFoundError as problem:
        raise RunNotFound(f"there is no log at {path}") from problem
    except OSError as problem:
        raise StoreFailed(f"cannot read the log {path}: {problem}; check its permissions") from problem


def _check(path: Path, owned: bool) -> None:
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
        size = os.fstat(file.fileno()).st_size
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise FormatError(
            f"{path} is no log: it has {size} bytes and does not begin as a SQLite database does; "
            "restore it from a copy"
        )
    (application,) = struct.unpack_from(">I", header, 68)
    (version,) = struct.unpack_from(">I", header, 60)
    if application != APPLICATION_ID:
        raise FormatError(f"{path} is a SQLite database of another program (application id {application:#x})")
    check_version(version, str(path))
    if not owned:
        _check_size(path, header, size)


def _check_size(path: Path, header: bytes, size: int) -> None:
    page_size = struct.unpack_from(">H", header, 16)[0]
    page_size = 65536 if page_size == 1 else page_size
    (pages,) = struct.unpack_from(">I", header, 28)
    pending, committed_pages = _pages_in_wal(path.with_name(path.name + "-wal"), page_size)
    expected = committed_pages or pages
    present = size // page_size
    missing = [page for page in range(present + 1, expected + 1) if page not in pending]
    if missing:
        raise FormatError(
            f"{path} is truncated: it has {size} bytes but should have {expected * page_size} "
            f"({len(missing)} of {expected} pages are missing); restore it from a copy"
        )


def _pages_in_wal(path: Path, page_size: int) -> tuple[set[int], int]:
    """The pages that committed transactions left in a write-ahead log, and the database size they set.

    Frames of an earlier round carry other salts, and frames after the last commit never happened.
    """
    pages: set[int] = set()
    try:
        wal = path.open("rb")
    except FileNotFoundError:
        return pages, 0
    committed = 0
    with wal:
        salts = wal.read(_WAL_HEADER_BYTES)[16:24]
        uncommitted: set[int] = set()
        while len(frame := wal.read(_FRAME_HEADER_BYTES)) == _FRAME_HEADER_BYTES and frame[8:16] == salts:
            page, size_after_commit = struct.unpack_from(">II", frame)
            uncommitted.add(page)
            wal.seek(page_size, os.SEEK_CUR)
            if size_after_commit:
                pages |= uncommitted
                uncommitted.clear()
                committed = size_after_commit
    return pages, committed
