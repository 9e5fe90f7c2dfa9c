"""What happened: identification decisions, choices, rewards, and the entries of the log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from screensearch.domain.screen import Box, StateId


class Outcome(StrEnum):
    """How an execution ended. Only `OK` feeds N, Q, successors and ambiguity."""

    OK = "ok"
    CAPTURE = "capture"  # another application's window took the input
    CRASH = "crash"  # the application was ended by a signal, or ended with a status that is not 0
    HANG = "hang"  # the application stopped answering
    EXIT = "exit"  # the application ended by itself with status 0, as by File > Quit
    MISSED = "missed"  # the target had moved or vanished: nothing was clicked
    UNDECIDED = "undecided"  # the selector gave no action that could be carried out: nothing was done
    LOST = "lost"  # the worker or its machine failed: says nothing about the application


START_FAILURES = (Outcome.CRASH, Outcome.HANG, Outcome.EXIT)
"""What can become of an application before its first screen is there."""


@dataclass(frozen=True, slots=True, order=True)
class EpisodeId:
    """One episode: the worker that ran it and its number there."""

    worker: int
    number: int

    def __str__(self) -> str:
        return f"w{self.worker}e{self.number}"


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The second-best state over the threshold: how close the decision was."""

    state: StateId
    score: float


ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Decision:
    """Which state a screen belongs to, and why.

    `how` is ``memo`` (these atoms were decided before), ``match`` (joined a state over the
    threshold), ``new`` (founded a state) or ``elsewhere`` (decided by the owner of another shard, whose
    log has the screen). Scores compare with the state's founding screen.
    """

    state: StateId
    how: str
    score: float = 1.0
    role_jaccard: float = 1.0
    text_jaccard: float = 1.0
    runner_up: RunnerUp | None = None

    @property
    def founded(self) -> bool:
        """Whether this screen is the first of its state."""
        return self.how == "new"


@dataclass(frozen=True, slots=True)
class Choice:
    """The action chosen, and the figures the selector saw when it chose."""

    signature: str
    snapshot: int  # sequence number of the graph that the selection saw
    candidates: int
    prior: float
    value: float
    visits: int
    score: float
    vetoed: int = 0  # candidates that were removed: by the guard, or since they had failed too often


@dataclass(frozen=True, slots=True)
class Reward:
    """The three terms of eq. 5, before their weights, and the weighted total."""

    state: bool
    edge: bool
    ambiguity: float
    total: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the artifacts of a step are, by content hash, and how long its parts took."""

    screenshot: str | None = None
    act_seconds: float = 0.0  # performing and settling
    decide_seconds: float = 0.0  # encoding, identification and selection
    window: Box | None = None  # where the window is in the screenshot, if there is one


@dataclass(frozen=True, slots=True)
class Arrival:
    """The first screen of an episode: an entry of the log with step 0.

    With a greater step it is the screen on which a step of another shard has ended in this one.
    """

    episode: EpisodeId
    decision: Decision
    screen: int  # row of the screen table
    evidence: Evidence
    configuration: tuple[tuple[str, str], ...] = ()  # what varied: seeded content, display mode, …
    step: int = 0


@dataclass(frozen=True, slots=True)
class FailedStart:
    """An episode that ended before it had a first screen: an entry of the log with step 0.

    It leads to no state and feeds no statistics; it is a finding.
    """

    episode: EpisodeId
    outcome: Outcome  # one of START_FAILURES
    evidence: Evidence
    configuration: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what the environment said about it
    step: int = 0

    @property
    def decision(self) -> None:
        """None: there was no screen to decide about."""
        return None

    @property
    def screen(self) -> None:
        """None, likewise."""
        return None


@dataclass(frozen=True, slots=True)
class Transition:
    """One logged execution: an entry of the log with step ≥ 1.

    `decision` and `screen` say where it ended; both are absent when nothing could be observed.
    A capture keeps its screen but has no decision: it is not a state of this application. A step that ended
    in another shard has a decision but no screen: that one's log has it.
    """

    episode: EpisodeId
    step: int
    source: StateId
    signature: str | None  # absent for `UNDECIDED`, and for `LOST` when the choice died with the worker
    outcome: Outcome
    decision: Decision | None
    screen: int | None
    choice: Choice | None
    reward: Reward | None
    evidence: Evidence
    note: str = ""  # what the environment said about a failure, or a selector about why it chose nothing

    @property
    def target(self) -> StateId | None:
        """The state it ended in, if it ended in one."""
        return None if self.decision is None else self.decision.state


Entry = Arrival | FailedStart | Transition
