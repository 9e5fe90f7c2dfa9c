"""One shard of a run as its conductor knows it: who owns it, how that one is, and who would be next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from screensearch.cluster.doubts import Doubts
from screensearch.cluster.engine import end
from screensearch.cluster.names import OwnerReport, OwnerView, Place
from screensearch.domain.shard import ShardKey
from screensearch.errors import AcknowledgedLost
from screensearch.explore.progress import Figures


class Doubt(Enum):
    """Why another owner may be needed soon."""

    SILENT = "the owner does not answer"
    CUT_OFF = "the database does not answer the owner"


@dataclass(frozen=True)
class Ready:
    """An owner that has not opened its log."""

    generation: int
    name: str
    actor: Any
    doubt: Doubt | None = None  # for which it was started; None if it was needed at once


@dataclass
class Shard:
    """One shard over its owners."""

    number: int
    steps: int | None  # that its owners may grant in all, those taken before included
    key: ShardKey | None = None
    held: bool = False  # an owner of this exploration has had its log
    take_over: bool = False  # whoever else seems to have its log is to be replaced, until it was held
    place: Place | None = None
    actor: Any = None
    report: OwnerReport | None = None
    serving: asyncio.Event = field(default_factory=asyncio.Event)  # there is an owner that answers
    watching: asyncio.Task[None] | None = None
    in_vain: int = 0  # owners in a row that could not open the log, for whatever reason
    refusals: int = 0  # owners in a row that could not open the log where they were
    slow_starts: int = 0  # owners in a row whose process did not start in time
    slow_openings: int = 0  # owners in a row that did not open the log in time
    avoid: str = ""  # the node on which its latest owner became silent, was cut off or could not open its log
    ready: Ready | None = None  # the next owner, if this one is in doubt
    latest: int = 0  # generation that was placed
    doubts: dict[Doubt, Doubts] = field(default_factory=lambda: {each: Doubts() for each in Doubt})
    recorded: int = 0  # the number of the last entry that was ever told to be durable

    @property
    def figures(self) -> Figures:
        return Figures() if self.report is None else self.report.figures

    @property
    def left(self) -> int:
        """How many steps it may still grant, as far as was heard."""
        return 0 if self.report is None else self.report.left or 0

    @property
    def silent_seconds(self) -> float:
        """For how long the database owes its owner an answer, as far as was heard."""
        return 0.0 if self.report is None else self.report.silent_seconds

    def hear(self, report: OwnerReport) -> None:
        """How its owner is: that knows best which screens it has, since what it has recorded stays."""
        self.report, self.key = report, report.key or self.key
        self.recorded = max(self.recorded, report.recorded)
        self.held = self.held or report.epoch > 0

    def check_kept(self, report: OwnerReport) -> None:
        """Raise if a new owner has found less in the log than was there: the one before could not tell."""
        if report.recorded < self.recorded:
            raise AcknowledgedLost(
                f"the log of shard {self.number} ends with entry {report.recorded}, and the acknowledged "
                f"entries {report.recorded + 1}..{self.recorded} are lost: the database was restored, or a "
                "replica that had not got them is in its place. Nothing more is written; resuming the run "
                "goes on from what is there"
            )

    def dismiss(self) -> None:
        """End the owner that was to be the next one, if there is one."""
        if self.ready is not None:
            end(self.ready.actor)
            self.ready = None

    def dismiss_for_now(self) -> None:
        """The same, since the doubt was for nothing."""
        if self.ready is not None and self.ready.doubt is not None:
            self.doubts[self.ready.doubt].were_for_nothing()
        self.dismiss()

    def end_watch(self) -> None:
        """See to no other owner from now on."""
        if self.watching is not None:
            self.watching.cancel()
        self.dismiss()

    def view(self) -> OwnerView:
        state, report = "serving" if self.serving.is_set() else "opening", self.report
        generation = self.latest if self.place is None else self.place.generation
        if report is None:
            return OwnerView(self.number, generation, state)
        return OwnerView(
            shard=self.number,
            generation=generation,
            state=state,
            node=report.node,
            process=report.process,
            queue=report.queue,
            answer_seconds=report.answer_seconds,
            epoch=report.epoch,
            metrics=report.metrics,
        )
