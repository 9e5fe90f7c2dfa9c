"""Files and folders that are there whole or not at all: built beside their place, then renamed."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from screensearch.errors import ScreenSearchError, StoreFailed
from screensearch.record.durable import sync_folder


class OutExists(ScreenSearchError):
    """There is something already where the result should go."""


def check_free(out: Path, *, force: bool, ours: Callable[[Path], bool] = lambda folder: False) -> None:
    """Refuse a place that is taken. With `force`, a file may go, and a folder if it is `ours`."""
    if not out.exists() and not out.is_symlink():
        return
    if not force:
        raise OutExists(f"{out} exists: choose another place with --out, or replace it with --force")
    if out.is_dir() and not out.is_symlink() and not ours(out):
        raise OutExists(f"{out} is a folder of something else: it is not replaced; choose another --out")


@contextmanager
def placing(out: Path) -> Iterator[Path]:
    """Where to build what goes to `out`. It is moved there when the body ends, and removed if it fails."""
    with building_beside(out) as building:
        yield building
        put(building, out)


@contextmanager
def building_beside(out: Path) -> Iterator[Path]:
    """A free name in the folder of `out`, which is made if need be; what the body leaves there is removed."""
    building = _beside(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield building
        finally:
            remove(building)
    except OSError as problem:
        raise StoreFailed(
            f"cannot write {out}: {problem}; choose a place that can be written and has room"
        ) from problem


def put(made: Path, out: Path) -> None:
    """Give what was made, in the same file system, its place; what is there gives way."""
    old: Path | None = None
    if out.is_dir() and not out.is_symlink():
        old = _beside(out)
        out.rename(old)
    if made.is_file():
        with made.open("rb") as file:
            os.fsync(file.fileno())
    made.replace(out)
    sync_folder(out.parent)
    if old is not None:
        remove(old)


def _beside(out: Path) -> Path:
    return out.with_name(f".{out.name}-{uuid.uuid4().hex[:8]}")


def remove(path: Path) -> None:
    """See that there is nothing at a place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
