"""Reading the files of studies: what is damaged is named, with what to do about it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from screensearch.errors import FormatError, NewerFormat

FROM_A_COPY = "restore it from a copy"


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
