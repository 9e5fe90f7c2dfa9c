"""What the parts of a run are called on a cluster, and what they tell each other besides messages."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from screensearch.domain.shard import ShardKey
from screensearch.errors import ScreenSearchError, StoreFailed
from screensearch.explore.budget import StopRule
from screensearch.explore.progress import Figures, Progress, Summary
from screensearch.explore.wire import Assignment, Failed

NAMESPACE = "screensearch"
"""Actors of other programs on the same cluster have others."""

SLOT = "desktop"
"""The resource that a worker takes one of: a node offers as many as it can bear."""


def conductor_name(run: str) -> str:
    return f"{run}/conductor"


def run_of_conductor(name: str) -> str:
    return name.removesuffix("/conductor")


def owner_name(run: str, shard: int, generation: int) -> str:
    return f"{run}/owner/{shard}/{generation}"


def worker_name(run: str, worker: int, life: int) -> str:
    return f"{run}/worker/{worker}/{life}"


@dataclass(frozen=True, slots=True)
class Job:
    """All that a conductor needs to lead an exploration, also after it was itself started anew."""

    run: str
    folder: str
    environment: str
    seed: int
    settings: dict[str, Any]  # the document of the resolved settings
    store: str
    artifacts: str
    log_format: str
    metrics: str  # where conductor and owners serve them, each on its node: [HOST:]PORT, or "" for nowhere
    version: str  # of this project: nodes with another one take no part
    workers: int
    stop: StopRule
    take_over: bool = False  # the log, at the start, from whoever seems to have it
    exploration: str = field(default_factory=lambda: secrets.token_hex(8))
    """Its id, the same for all owners and over the lives of the conductor, who is given this job."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one life of a worker is told."""

    run: str
    life: int
    assignment: Assignment
    version: str


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """How a worker is, in its own words."""

    node: str
    node_id: str
    process: int
    silent_seconds: float  # since it last heard of an owner, or was started
    waits: bool  # for an owner, which is not its fault
    shard: int  # that its episode is in
    steps: int  # of this life
    starts: int  # since the last of them
    told_to_end: bool  # it has no step under way any more
    begun: bool = True  # it was told what to do
    ended: bool = False
    failed: Failed | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the owner of a shard is to be found."""

    shard: int
    generation: int
    name: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """With what another life of a worker can begin."""

    episode: int  # that it has not used
    life: int  # the latest that the owner knows of


class OwnerBroke(StoreFailed):
    """An owner failed over one of the messages that it had taken, by a fault of its own."""


class WrongVersion(ScreenSearchError):
    """A node has another version of this project than the one that the run was started with."""


def check_version(wanted: str) -> None:
    """Raise `WrongVersion` unless this node has that one."""
    ours = version("screensearch")
    if ours != wanted:
        raise WrongVersion(
            f"this node has screensearch {ours}, the run was started with {wanted}: install that one there"
        )


@dataclass(frozen=True, slots=True)
class OwnerReport:
    """How an owner is: its figures, and what keeps it busy."""

    node: str
    node_id: str
    process: int
    figures: Figures
    key: ShardKey | None  # of the shard, once it has a screen
    limit: int | None  # steps that it grants in all, those taken included; None without a limit
    left: int | None  # those that it may still grant
    under_way: int  # those that it has granted and not recorded yet
    queue: int  # messages that wait for their answer
    answer_seconds: float  # how long the oldest of them waits, or the latest did: commit included
    epoch: int
    metrics: str  # where they are served, if they are
    failure: str = ""  # why it can write no more
    recorded: int = 0  # the number of the last entry that is durable
    silent_seconds: float = 0.0  # for how long the database owes it an answer and has said nothing
    lost: bool = False  # it can write no more since the database lost what was acknowledged
    opening: bool = False  # it was told to open its log, and is not done
    stuck_seconds: float = 0.0  # for how long it has got to nothing, since something blocks it


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong and was dealt with."""

    time: float  # since the epoch; of two troubles of a run, the later has a later one
    what: str
    why: str
    worker: int | None = None
    shard: int | None = None

    def fields(self) -> dict[str, object]:
        """What a record of it in a log has besides its message."""
        return {"worker": self.worker, "shard": self.shard, "figures": {"why": self.why}}


@dataclass(frozen=True, slots=True)
class ConductorView:
    """The conductor, for people."""

    node: str = ""
    process: int = 0
    metrics: str = ""  # where those of the whole run are served, if they are


WAITS = "waiting for a slot"
STARTS = "starting"
WORKS = "working"
RESTS = "failing, tried again later"
ENDED = "ended"


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker, for people."""

    worker: int
    life: int
    state: str  # one of those above
    node: str = ""
    process: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class OwnerView:
    """One owner, for people."""

    shard: int
    generation: int
    state: str  # opening, serving
    node: str = ""
    process: int = 0
    queue: int = 0
    answer_seconds: float = 0.0
    epoch: int = 0
    metrics: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A run on a cluster at one moment."""

    run: str
    folder: str
    environment: str
    phase: str  # starting, exploring, stopping, ended
    progress: Progress
    workers: tuple[WorkerView, ...]
    owners: tuple[OwnerView, ...]
    troubles: tuple[Trouble, ...] = ()  # the latest, in the order of their time
    summary: Summary | None = None  # once it has ended
    problem: str = ""  # why it ended, if not well
    never_started: bool = False
    conductor: ConductorView = ConductorView()

    @property
    def trouble(self) -> str:
        """The latest of them, in words."""
        return self.troubles[-1].what if self.troubles else ""
