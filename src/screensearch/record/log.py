"""The contract of a log: an append-only sequence of entries, and the screens they name.

The log is the truth; the graph, its statistics and every index are folds of it. What one backend
promises, all promise: `tests/conformance/test_logs.py` runs on each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from screensearch.domain.screen import Screen, StateId
from screensearch.domain.transition import START_FAILURES, Arrival, Entry, EpisodeId, FailedStart, Outcome
from screensearch.errors import FormatError, ScreenSearchError

START = "start"
"""The outcome of an `Arrival` in rows and counts: not an execution, so not an `Outcome`."""

LANDING = "landing"
"""The outcome of an `Arrival` in the middle of an episode: its step is an entry of another shard's log."""

FAILED_STARTS = {f"{START}:{outcome.value}": outcome for outcome in START_FAILURES}
"""The outcomes of a `FailedStart` there, such as ``start:crash``: no execution either."""


class DuplicateEntry(ScreenSearchError):
    """The log already holds an entry for that episode and step."""


class Row(NamedTuple):
    """The columns of an entry that the fold reads."""

    sequence: int
    outcome: str  # START, LANDING, one of FAILED_STARTS or the value of an Outcome
    source: StateId | None
    signature: str | None
    target: StateId | None
    reward: float | None  # the weighted total


class Outline(NamedTuple):
    """An entry as far as maps and lists of a whole log need it: its columns, its picture and its times."""

    sequence: int
    worker: int
    episode: int
    step: int
    outcome: str  # as in a `Row`
    source: StateId | None
    signature: str | None
    target: StateId | None
    founded: bool
    reward: float | None  # the weighted total
    screen: int | None
    screenshot: str | None
    act_seconds: float
    decide_seconds: float

    @property
    def row(self) -> Row:
        """What the fold reads of it."""
        return Row(self.sequence, self.outcome, self.source, self.signature, self.target, self.reward)


class DecidedScreen(NamedTuple):
    """A distinct screen, the state it was first judged to be, and whether it founded that state."""

    screen: int
    state: StateId
    founder: bool


class Checkpoint(NamedTuple):
    """A graph as folded up to `sequence`. Its digest is kept for ever, its dump only while recent."""

    sequence: int
    digest: str
    graph: bytes


def failed_start(outcome: Outcome) -> str:
    """The outcome of a `FailedStart` in rows and counts; `FormatError` for one that it cannot have."""
    text = f"{START}:{outcome.value}"
    if text not in FAILED_STARTS:
        known = ", ".join(START_FAILURES)
        raise FormatError(f"a start cannot fail with the outcome {outcome.value!r} (possible: {known})")
    return text


def row_of(sequence: int, entry: Entry) -> Row:
    """The row that a log gives for this entry. An `OK` must carry all that the statistics need."""
    if isinstance(entry, Arrival):
        return Row(sequence, LANDING if entry.step else START, None, None, entry.decision.state, None)
    if isinstance(entry, FailedStart):
        return Row(sequence, failed_start(entry.outcome), None, None, None, None)
    reward = None if entry.reward is None else entry.reward.total
    if entry.outcome is Outcome.OK and (
        entry.signature is None or entry.decision is None or reward is None or not math.isfinite(reward)
    ):
        raise FormatError(
            f"step {entry.step} of {entry.episode} is ok without a signature, a decision or a finite reward "
            f"(signature {entry.signature!r}, target {entry.target!r}, reward {reward!r})"
        )
    return Row(sequence, entry.outcome.value, entry.source, entry.signature, entry.target, reward)


class Log(Protocol):
    """An append-only log with one writer, used by one thread at a time, and any number of readers.

    Writes belong to an open batch until `commit` returns: then they are durable, all of them. A batch
    that was not committed leaves nothing. Failures to write raise `StoreFailed` and drop the batch.
    """

    @property
    def last_sequence(self) -> int:
        """The number of the latest entry, 0 when there is none. A writer counts its open batch."""
        ...

    def append(self, entry: Entry) -> int:
        """Add an entry to the open batch; returns its number, counted from 1 without gaps.

        Raises `DuplicateEntry` when its (worker, episode, step) is there already; the batch stands.
        """
        ...

    def find(self, episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        """The entry of that step, also when it is still in the open batch."""
        ...

    def add_screen(self, screen: Screen, elements: bytes) -> int:
        """Store a screen with its serialised elements, once: equal key and metadata give the same row.

        Rows are counted from 1. The first elements are kept.
        """
        ...

    def screen_id(self, screen: Screen) -> int | None:
        """The row of that screen, if it is stored."""
        ...

    def has_screen(self, row: int) -> bool:
        """Whether there is a screen of that row."""
        ...

    def commit(self) -> None:
        """Make the open batch durable. When this returns, it may be acknowledged."""
        ...

    def rollback(self) -> None:
        """Drop the open batch."""
        ...

    def read(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """All entries with a greater number, in order. Safe to leave half-read."""
        ...

    def rows(self, after: int = 0) -> Iterator[Row]:
        """The rows of the same entries: much faster, and all that the fold needs."""
        ...

    def outlines(self, after: int = 0) -> Iterator[Outline]:
        """The outlines of the same entries: three times as fast as `read`."""
        ...

    def last_episode(self, worker: int) -> int:
        """The greatest episode number of a worker, -1 when it has none."""
        ...

    def latest_entry(self, worker: int) -> Entry | None:
        """The latest step of a worker's latest episode, if it has one."""
        ...

    def screen(self, row: int) -> Screen:
        """The screen of a row; `FormatError` when there is none."""
        ...

    def elements(self, row: int) -> bytes:
        """The elements that were stored with a screen, as they were given."""
        ...

    def founder(self, state: StateId) -> int | None:
        """The row of the founding screen of one state."""
        ...

    def decided_screens(self) -> Iterator[DecidedScreen]:
        """Every distinct screen with its first decision, in order of that decision."""
        ...

    def known_screens(self) -> Iterator[tuple[DecidedScreen, Screen]]:
        """The same, each with the screen itself: what an identifier begins with."""
        ...

    def write_checkpoint(self, sequence: int, digest: str, graph: bytes) -> None:
        """Note the digest of the graph at `sequence`, and keep its dump. Part of the open batch."""
        ...

    def latest_checkpoint(self) -> Checkpoint | None:
        """The newest graph that is kept and whole; None when the log has to be folded from its start.

        The dumps are a cache: one that is not what was noted is passed over with a warning.
        """
        ...

    def damaged_checkpoints(self) -> list[str]:
        """What is wrong with the dumps that are kept, a sentence each; empty when all are whole."""
        ...

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        """Every (sequence, digest) ever noted, in order."""
        ...

    def check_pages(self) -> None:
        """Raise `FormatError` if the storage's own structure is broken, also where no reading would come by.

        Cheap enough for every opening. What it holds is not looked at: see `integrity_check`.
        """
        ...

    def integrity_check(self) -> None:
        """Read everything, as of one moment, and raise `FormatError` if the storage is damaged."""
        ...

    def give_up(self) -> None:
        """Let whatever waits for a silent storage, now or later, fail. A signal's handler may call this."""
        ...

    def close(self) -> None:
        """Drop an open batch and release everything. Safe to call twice."""
        ...
