"""A run is a folder: its manifest, its log, its artifacts, and the lock of its owner.

    run.json      what was run: environment, resolved settings, seed, versions
    log.sqlite    the truth, unless the manifest names a store for it
    artifacts/    screenshots by content, unless the manifest names another place for them
    truth/        what a synthetic world knows about itself; written and read by studies only
    coverage/     which lines of an application were run, if that was counted; likewise
    owner.lock    held by the one process that writes

Nothing here repairs: a run that cannot be opened is left as it is, to the byte.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from screensearch.errors import FormatError, LogExists, RunBusy, RunNotFound, ScreenSearchError, StoreFailed
from screensearch.record.artifacts import ARTIFACTS, Artifacts, open_artifacts
from screensearch.record.durable import sync_folder, write_durably
from screensearch.record.format import FORMAT_VERSION, check_version
from screensearch.record.locks import is_locked, take_lock
from screensearch.record.log import Log
from screensearch.record.stores import Store, find_store

TRUTH = "truth"

_MANIFEST = "run.json"
_LOCK = "owner.lock"

_held: set[int] = set()
"""Locks of this process. A forked child closes its copies: else it would hold them after our death."""


class RunExists(ScreenSearchError):
    """There is something at the place where a new run should go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The run whose log another one was made from."""

    run: str  # its id
    folder: str  # its name, for people: it may have moved since
    entries: int  # how far its log was read
    digest: str  # of its graph there


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a run is of, and how it was configured."""

    run: str  # its id
    created: str  # ISO 8601, given by the caller: nothing here reads a clock
    environment: str  # such as ``synthetic:notepad``
    seed: int
    settings: dict[str, Any]  # the resolved settings, as JSON values
    version: str  # of this project
    store: str = ""  # address of the database that has the log; without one it is in the folder
    artifacts: str = ""  # folder or URL of the screenshots; without one they are in the folder
    format: int = FORMAT_VERSION
    remerged_from: Provenance | None = None  # if its states were made anew from another run's log


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run that was found whole. Opening its log to write needs `own`."""

    path: Path
    manifest: Manifest

    @property
    def store(self) -> Store:
        """Where the log is."""
        return find_store(self.manifest.store, self.path, self.manifest.run)

    @property
    def artifacts(self) -> Artifacts:
        """Where the screenshots are. Each asking opens them anew."""
        return open_artifacts(self.manifest.artifacts, self.path)

    def read_log(self) -> Log:
        """The log, for reading, also while another process owns the run."""
        return self.store.open_to_read(owned=owner_of(self.path) is not None)

    def write_log(self, *, take_over: bool = False) -> Log:
        """The log, for writing. Only within `own`; see `Store.open_to_write`."""
        return self.store.open_to_write(take_over=take_over)


def create_run(folder: Path, manifest: Manifest) -> RunFolder:
    """Make a new run, whole or not at all. The folder must not exist, or be empty."""
    with _translated("create", folder, "choose a folder in a place that can be written"):
        if folder.exists() and not folder.is_dir():
            raise RunExists(f"{folder} is a file: choose a folder for the run")
        if folder.exists() and any(folder.iterdir()):
            raise RunExists(f"{folder} is not empty: choose another folder, or resume the run that is there")
        folder.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            building.chmod(0o755)
            if not manifest.artifacts:
                (building / ARTIFACTS).mkdir()
            (building / TRUTH).mkdir()
            (building / _LOCK).touch()
            with _made(find_store(manifest.store, building, manifest.run)):
                content = msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"
                write_durably(building / _MANIFEST, content)
                building.rename(folder)
            sync_folder(folder)
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(building, ignore_errors=True)  # gone already when all went well
    return RunFolder(folder, manifest)


@contextmanager
def _made(store: Store) -> Iterator[None]:
    """Make the log, for as long as the body does not fail: a database must not keep one without its run."""
    try:
        store.create()  # which may have made it though it fails, as by a connection that is lost
        yield
    except LogExists:
        raise
    except BaseException:
        with suppress(ScreenSearchError):
            store.discard()
        raise


def read_manifest(folder: Path) -> Manifest:
    """What the run at that place is of. Its log is not looked at."""
    with _translated("read", folder, "check its permissions"):
        try:
            content = (folder / _MANIFEST).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as problem:
            why = (
                f"it has no {_MANIFEST}"
                if folder.is_dir()
                else "it is a file, and a run is a folder"
                if folder.exists()
                else "there is no such folder"
            )
            raise RunNotFound(f"there is no run at {folder}: {why}") from problem
    return _decode_manifest(folder / _MANIFEST, content)


def open_run_folder(folder: Path, *, to_write: bool = False) -> RunFolder:
    """Find a run and check, from its bytes alone, that this version can read it, or go on with it."""
    run = RunFolder(folder, read_manifest(folder))
    run.store.check(owned=owner_of(folder) is not None, to_write=to_write)
    return run


@contextmanager
def _translated(verb: str, folder: Path, remedy: str) -> Iterator[None]:
    """Turn what the operating system refuses into a failure of storage."""
    try:
        yield
    except OSError as problem:
        raise StoreFailed(f"cannot {verb} the run at {folder}: {problem}; {remedy}") from problem


class _Version(msgspec.Struct):
    format: int
    version: str = "an unknown version"


def _decode_manifest(path: Path, content: bytes) -> Manifest:
    try:
        written = msgspec.json.decode(content, type=_Version)
        check_version(written.format, str(path), f"screensearch {written.version}")
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as problem:
        raise FormatError(f"{path} is malformed: {problem}; restore it from a copy") from problem


@contextmanager
def own(folder: Path) -> Iterator[RunFolder]:
    """Be the one process that writes to a run. The kernel frees it when the process ends, in any way."""
    run = open_run_folder(folder, to_write=True)
    remedy = "check its permissions and free space, or copy it to a place that can be written"
    with _translated("own", folder, remedy):
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with _translated("own", folder, remedy):
            if not take_lock(handle):
                raise RunBusy(
                    f"the run at {folder} is owned by process {_read_owner(handle)}: "
                    "wait for it, stop it, or explore into another folder"
                )
            _held.add(handle)
            run.store.check(owned=False, to_write=True)
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        try:
            yield run
        finally:
            os.ftruncate(handle, 0)
    finally:
        _held.discard(handle)
        os.close(handle)


def owner_of(folder: Path) -> str | None:
    """The process id of a run's owner, if it has one now. Changes nothing."""
    with _translated("read", folder, "check its permissions"):
        try:
            handle = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return _read_owner(handle) if is_locked(handle) else None
        finally:
            os.close(handle)


def _read_owner(handle: int) -> str:
    return os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"


def _close_locks_of_parent() -> None:
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_close_locks_of_parent)
