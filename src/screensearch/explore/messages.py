"""What a worker and the store say to each other: one report per step, one receipt back.

The report of a step carries the screen it ended on, and the receipt carries all that the next
choice needs, so that a step costs one round trip. Every message is a frozen value; on a wire it is
msgpack, in one process it is passed as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Choice, EpisodeId, Evidence, Outcome


@dataclass(frozen=True, slots=True)
class Sighting:
    """A screen as a worker reports it.

    `row` is its place in the screen table if an earlier receipt told the worker; only otherwise
    does the screen itself travel, with the table of its elements.
    """

    row: int | None = None
    screen: Screen | None = None
    elements: bytes = b""


@dataclass(frozen=True, slots=True)
class Begin:
    """An episode begins: this is its first screen."""

    episode: EpisodeId
    sighting: Sighting
    evidence: Evidence
    configuration: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BeginFailed:
    """An episode ended before it had a first screen."""

    episode: EpisodeId
    outcome: Outcome
    evidence: Evidence
    configuration: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Land:
    """A step of another shard ended on a screen of this one. The report of the step follows, over there."""

    episode: EpisodeId
    step: int
    sighting: Sighting
    evidence: Evidence
    configuration: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One action was executed. `sighting` is absent when nothing could be observed after it.

    It is absent, too, when the step ended in another shard, which has `landed` it in a state. `choice` is
    absent when nothing was chosen, and so nothing executed: the outcome is `UNDECIDED`, the screen that of
    before.
    """

    episode: EpisodeId
    step: int
    source: StateId
    choice: Choice | None
    outcome: Outcome
    sighting: Sighting | None
    evidence: Evidence
    note: str = ""
    landed: StateId | None = None


Message = Begin | BeginFailed | Land | Report
"""What becomes an entry of the log, and is answered with a receipt once it is durable."""

DECIDED = (Outcome.OK, Outcome.MISSED, Outcome.UNDECIDED)
"""Outcomes after which the application is still there, so that its screen is a state."""


def step_of(message: Message) -> int:
    """The step of its episode that a message is about; a beginning is step 0."""
    return message.step if isinstance(message, Report | Land) else 0


@dataclass(frozen=True, slots=True)
class Announce:
    """A choice is about to be executed. Needs no answer; lets other workers prefer another one."""

    episode: EpisodeId
    signature: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of an action at a state: N and Q."""

    visits: int
    value: float


@dataclass(frozen=True, slots=True)
class Here:
    """Where a worker is, with the statistics that its next choice may use."""

    state: StateId
    row: int
    ambiguity: float
    tried: dict[str, Tried]
    spent: dict[str, str] = field(default_factory=dict)  # signatures to be left alone here, and why


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a begin, a failed one or a report, given once it is durable.

    `snapshot` is the committed sequence number that `here` describes. `here` is absent when the
    episode is over (the application is gone or was left). `proceed` says whether the run wants
    another step from this worker, `begun` whether it has a step of any worker by now.
    """

    snapshot: int
    proceed: bool
    here: Here | None
    begun: bool = False


ScreenId = tuple[str, Metadata]
"""What makes two screens the same row of the screen table: their atoms and their metadata."""


def screen_id(screen: Screen) -> ScreenId:
    return (screen.key, screen.metadata)
