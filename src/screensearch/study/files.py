"""The files of studies: what is damaged is named, with what to do; one process writes to a folder."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from screensearch.errors import FormatError, NewerFormat, RunBusy, StoreFailed
from screensearch.record.locks import take_lock

FROM_A_COPY = "restore it from a copy"
LOCK = "study.lock"


@contextmanager
def naming(path: Path, remedy: str = FROM_A_COPY) -> Iterator[None]:
    """Decode what a file holds; if that fails, the error says which file it is."""
    try:
        yield
    except NewerFormat as problem:  # nothing is wrong with the file
        raise NewerFormat(f"cannot read {path}: {problem}") from problem
    except FormatError as problem:
        raise FormatError(f"cannot read {path}: {problem}; {remedy}") from problem


def compressed_lines(path: Path) -> list[bytes]:
    """The lines of a compressed file, all of them or an error."""
    try:
        return gzip.decompress(path.read_bytes()).splitlines()
    except (OSError, EOFError, zlib.error) as problem:
        raise FormatError(f"cannot read {path}: {problem}; {FROM_A_COPY}") from problem


@contextmanager
def conducted(folder: Path) -> Iterator[None]:
    """Be the one process that runs the study of a folder, which is made if it is not there.

    Another would clear away what episodes under way work on. The kernel frees it when the process ends, in
    any way.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        raise StoreFailed(
            f"cannot write {folder / LOCK}: {problem}; check its permissions and free space"
        ) from problem
    try:
        if not take_lock(handle):
            raise RunBusy(
                f"the study at {folder} is run by another process: wait for it, stop it, or give "
                "another --out"
            )
        yield
    finally:
        os.close(handle)
