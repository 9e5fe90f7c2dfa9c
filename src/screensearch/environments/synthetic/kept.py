"""Enumerations kept in the user's cache: one costs a second, and every process of a run would do it again.

A file is of no use once anything has changed that an enumeration depends on: it names the sources it was
made by. What cannot be read or written is made anew; nobody is told, since nothing is lost.
"""

from __future__ import annotations

import contextlib
import os
import platform
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec

from screensearch.environments.synthetic.model import Value


class Enumeration(msgspec.Struct, frozen=True):
    """The reachable states, each with its look, and of each look whether it is aliased."""

    states: dict[tuple[Value, ...], str]
    aliased: dict[str, bool]


class _File(msgspec.Struct, array_like=True, frozen=True):
    sources: str
    states: list[tuple[tuple[Value, ...], str]]
    aliased: dict[str, bool]


Keep = Callable[[Callable[[], Enumeration]], Enumeration]
"""Finds an enumeration, or makes it and keeps it."""


def kept(name: str, enumerate_all: Callable[[], Enumeration]) -> Enumeration:
    """What an earlier process has kept under this name, or else made now and kept for later ones."""
    with contextlib.suppress(OSError, ValueError, msgspec.DecodeError):
        found = msgspec.msgpack.decode(_file(name).read_bytes(), type=_File)
        if found.sources == SOURCES:
            return Enumeration(dict(found.states), found.aliased)
    made = enumerate_all()
    with contextlib.suppress(OSError):
        packed = msgspec.msgpack.encode(_File(SOURCES, list(made.states.items()), made.aliased))
        _write(_file(name), packed)
    return made


def _file(name: str) -> Path:
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not caches:
        try:
            caches = str(Path("~/.cache").expanduser())
        except RuntimeError as problem:  # a user without a home
            raise OSError(*problem.args) from problem
    file = f"{blake2b(name.encode(), digest_size=12).hexdigest()}.msgpack"
    return Path(caches) / "screensearch" / "enumerations" / file


def _digest_of_sources() -> str:
    digest = blake2b(platform.python_version().encode(), digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


SOURCES = _digest_of_sources()
"""Of all that the declared applications are made of, as they are now that they are loaded: in a process that
lives long, they may be others on the disk by the time that one is enumerated."""


def _write(file: Path, data: bytes) -> None:
    """All of it or nothing: another process may read it at this moment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as partial:
        try:
            partial.write(data)
            partial.close()
            os.replace(partial.name, file)
        except OSError:
            os.unlink(partial.name)
            raise
