"""How far each run of a campaign has come: campaign.json, and who conducts the campaign now.

The runs themselves are the truth; this says what the campaign made of them. It is written whole, so that a
reader finds the old one or the new one.
"""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import msgspec

from screensearch.errors import FormatError, NewerFormat, RunBusy, SettingsError, StoreFailed
from screensearch.explore.budget import StopRule
from screensearch.explore.progress import Progress, Summary
from screensearch.record.durable import sync_folder, write_durably
from screensearch.record.locks import is_locked, take_lock

FORMAT = 1
FILE = "campaign.json"

LEFTOVER_SECONDS = 120.0
"""How long to wait for runs of a campaign that was killed: they finish the steps under way, and end."""

_LOCK = "campaign.lock"
_AT_WORK = "campaign.runs.lock"
_LOOK_SECONDS = 0.1


class RunState(enum.StrEnum):
    """What a campaign knows of a run."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"  # by its stop rule
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    SKIPPED = "skipped"  # what it explores is not installed


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to so far."""

    steps: int = 0
    states: int = 0
    edges: int = 0
    captures: int = 0
    crashes: int = 0
    hangs: int = 0
    exits: int = 0
    missed: int = 0
    lost: int = 0
    undecided: int = 0

    @classmethod
    def of(cls, told: Progress | Summary) -> Figures:
        return cls(**{each.name: getattr(told, each.name) for each in fields(cls)})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run is not finished: the kind of error, and its words."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands."""

    state: RunState = RunState.WAITING
    figures: Figures = field(default_factory=Figures)
    seconds: float = 0.0  # of all its explorations together
    stop: StopRule | None = None  # the rule it was last explored under
    ended: str = ""  # which part of the rule ended it
    digest: str = ""  # of its graph
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Document:
    format: int
    runs: dict[str, Standing]


class CampaignRecord:
    """The standing of every run that a campaign in this folder ever had, by name."""

    def __init__(self, folder: Path, runs: Mapping[str, Standing]) -> None:
        self._path = folder / FILE
        self._runs = dict(runs)

    @classmethod
    def read(cls, folder: Path) -> CampaignRecord:
        """The record of a folder, empty when there is none."""
        path = folder / FILE
        try:
            content = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return cls(folder, {})
        except OSError as problem:
            raise StoreFailed(f"cannot read {path}: {problem}; check its permissions") from problem
        try:
            format_ = msgspec.json.decode(content, type=_Format).format
            if format_ > FORMAT:
                raise NewerFormat(
                    f"{path} has format {format_}, but this release reads up to {FORMAT}; upgrade it"
                )
            return cls(folder, msgspec.json.decode(content, type=_Document).runs)
        except (msgspec.DecodeError, SettingsError) as problem:
            raise FormatError(f"{path} is malformed: {problem}; restore it from a copy") from problem

    def __contains__(self, name: str) -> bool:
        return name in self._runs

    def __getitem__(self, name: str) -> Standing:
        """Where a run stands; one that is not known waits."""
        return self._runs.get(name, Standing())

    def nobody_conducts(self) -> None:
        """What is noted as running was interrupted: its campaign is gone."""
        for name, standing in self._runs.items():
            if standing.state is RunState.RUNNING:
                self._runs[name] = replace(standing, state=RunState.INTERRUPTED)

    def put(self, name: str, standing: Standing) -> None:
        """Note where a run stands; `save` makes it durable."""
        self._runs[name] = standing

    def save(self) -> None:
        """Make it durable."""
        content = msgspec.json.format(msgspec.json.encode(_Document(FORMAT, self._runs)), indent=2) + b"\n"
        try:
            write_durably(self._path, content)
            sync_folder(self._path.parent)
        except OSError as problem:
            raise StoreFailed(
                f"cannot write {self._path}: {problem}; check its permissions and free space"
            ) from problem


class _Format(msgspec.Struct):
    format: int


# -- one conductor --------------------------------------------------------------------------------


@contextmanager
def conducted(folder: Path) -> Iterator[None]:
    """Be the one process that conducts the campaign of a folder, which is made if it is not there.

    The kernel frees it when the process ends, in any way.
    """
    handle = _open(folder, _LOCK)
    try:
        if not take_lock(handle):
            raise RunBusy(
                f"the campaign at {folder} is conducted by another process: wait for it, stop it, or give "
                "another --out"
            )
        yield
    finally:
        os.close(handle)


def is_conducted(folder: Path) -> bool:
    """Whether a process conducts the campaign of a folder now. Changes nothing."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        return is_locked(handle)
    finally:
        os.close(handle)


@contextmanager
def at_work(folder: Path, on_wait: Callable[[], None], seconds: float = LEFTOVER_SECONDS) -> Iterator[int]:
    """A handle for the processes of the runs to inherit: as long as one of them lives, it is taken.

    So a campaign that was killed is gone on with only when its last process has ended. They end by
    themselves, once the steps under way are recorded; `on_wait` is called if that is not yet so.
    """
    handle = _open(folder, _AT_WORK)
    try:
        if not take_lock(handle):
            on_wait()
            deadline = time.monotonic() + seconds
            while not take_lock(handle):
                if time.monotonic() > deadline:
                    raise RunBusy(
                        f"a run that an earlier command at {folder} began did not end within {seconds:g} s: "
                        f"stop its process (`fuser {folder / _AT_WORK}` tells which), or give another --out"
                    )
                time.sleep(_LOOK_SECONDS)
        yield handle
    finally:
        os.close(handle)


def _open(folder: Path, name: str) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        raise StoreFailed(
            f"cannot conduct a campaign at {folder}: {problem}; choose a place that can be written"
        ) from problem
