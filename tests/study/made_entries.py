"""Entries of a log made by hand: an episode as its start and its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from screensearch.domain.transition import (
    Arrival,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    FailedStart,
    Outcome,
    Transition,
)

Told = tuple[int, str, int] | tuple[int, str, Outcome]
"""From a state, by an action, to a state; or how it went wrong."""


def episode(
    steps: Sequence[Told],
    *,
    number: int = 0,
    worker: int = 0,
    configuration: tuple[tuple[str, str], ...] = (),
) -> Iterator[Entry]:
    """The entries of one episode, which began where its first step did."""
    name = EpisodeId(worker, number)
    first = steps[0][0] if steps else 0
    yield Arrival(name, Decision(first, "memo"), 1 + first, Evidence(), configuration)
    for place, (source, signature, came) in enumerate(steps, start=1):
        target = None if isinstance(came, Outcome) else came
        yield Transition(
            name,
            place,
            source,
            signature,
            came if isinstance(came, Outcome) else Outcome.OK,
            None if target is None else Decision(target, "memo"),
            None if target is None else 1 + target,
            None,
            None,
            Evidence(),
        )


def walk(states: Sequence[int], signature: str = "go") -> list[Told]:
    """Steps from state to state, all by one action."""
    return [(source, signature, target) for source, target in pairwise(states)]


def failed_start(number: int) -> FailedStart:
    return FailedStart(EpisodeId(0, number), Outcome.CRASH, Evidence())
