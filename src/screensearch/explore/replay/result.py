"""What came of replaying a route: each walk, how often each step came out, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from screensearch.domain.screen import StateId
from screensearch.errors import EnvironmentFailed, ScreenSearchError
from screensearch.explore.replay.route import Route, tell_expected


class ReplayFailed(ScreenSearchError, AssertionError):
    """A replay did not come out as it should: something about the application."""


class Verdict(StrEnum):
    """How a walk ended. All but `BROKEN` say something about the application."""

    REACHED = "reached"  # what the route leads to came out
    STRAYED = "strayed"  # another state came out
    MISSING = "missing"  # the target of an action was not on the screen
    REFUSED = "refused"  # a guard forbids the action as the screen is now
    MISSED = "missed"  # the target moved or vanished while it was aimed at
    CRASH = "crash"
    HANG = "hang"
    EXIT = "exit"
    CAPTURE = "capture"  # another application's window took the input
    SURVIVED = "survived"  # it was to fail, and did not
    BROKEN = "broken"  # the environment failed: nothing was learned about the application


@dataclass(frozen=True, slots=True)
class Seen:
    """A screen of a walk, beside what was expected there."""

    step: int  # 0: the start
    expected: StateId
    state: StateId | None  # None: none of the states that are known
    score: float  # against the expected state's founding screen
    as_expected: bool
    picture: str | None = None  # its file, if pictures were kept


@dataclass(frozen=True, slots=True)
class Walk:
    """One try."""

    number: int  # from 1
    verdict: Verdict
    step: int  # at which it ended; 0: the start
    note: str  # what happened, a sentence; empty when the goal was reached
    seen: tuple[Seen, ...]
    nearest: tuple[str, ...]  # signatures that are there instead of a missing target
    seconds: float

    @property
    def reached(self) -> bool:
        return self.verdict is Verdict.REACHED


@dataclass(frozen=True, slots=True)
class StepCount:
    """How often a step was done, and how often it came out as expected."""

    step: int  # 0: the start
    done: int
    as_expected: int


@dataclass(frozen=True, slots=True)
class Replay:
    """All walks of a route."""

    route: Route
    walks: tuple[Walk, ...]

    @property
    def tried(self) -> int:
        """Walks that say something about the application."""
        return sum(walk.verdict is not Verdict.BROKEN for walk in self.walks)

    @property
    def broken(self) -> int:
        """Walks that the environment did not carry out."""
        return len(self.walks) - self.tried

    @property
    def reached(self) -> int:
        return sum(walk.reached for walk in self.walks)

    @property
    def rate(self) -> float:
        """The share of walks that reached the goal among those that were carried out; 0 if none was."""
        return self.reached / self.tried if self.tried else 0.0

    @property
    def steps(self) -> list[StepCount]:
        """How often each step came out, the start first."""
        counted = []
        for step in range(len(self.route.steps) + 1):
            done = [walk for walk in self.walks if _did(walk, step)]
            well = sum(_came_out(walk, step) for walk in done)
            counted.append(StepCount(step, len(done), well))
        return counted

    def check(self, rate: float = 1.0) -> None:
        """Raise `ReplayFailed` unless at least this share of the walks reached the goal.

        Raises `EnvironmentFailed` if that cannot be said, because walks were not carried out.
        """
        if self.tried and self.rate < rate:
            first = next(walk for walk in self.walks if walk.verdict not in (Verdict.REACHED, Verdict.BROKEN))
            raise ReplayFailed(
                f"{self.reached} of {self.tried} walks reached {tell_expected(self.route.goal)}; the first "
                f"that did not: {first.note}"
            )
        broken = next((walk for walk in self.walks if walk.verdict is Verdict.BROKEN), None)
        if broken is not None:
            raise EnvironmentFailed(f"{self.broken} of {len(self.walks)} walks broke off: {broken.note}")


def _did(walk: Walk, step: int) -> bool:
    """Whether a walk came as far as this step, and something was learned of it."""
    return step < walk.step or (step == walk.step and walk.verdict is not Verdict.BROKEN)


def _came_out(walk: Walk, step: int) -> bool:
    if step == walk.step and walk.verdict is not Verdict.STRAYED:
        return walk.reached
    return any(seen.as_expected for seen in walk.seen if seen.step == step)
