"""A fault that was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

BACK_SECONDS = 120.0
"""For a run to be at work again: far more than it takes, since the machine may be busy."""


class TooLate(Exception):
    """There is nothing, or nothing any more, that the fault could be done to. It did not strike."""


def nothing() -> None:
    """There is nothing to do."""


@dataclass(frozen=True, slots=True)
class Struck:
    """What was done: when it began, since when all could be well again, and what is left to do for that.

    A fault that the test itself prolongs, as that of a database that is away, is over at `since`; all others
    begin then. Some of the former stop nobody, or only some: all other workers have to go on from `begun`
    on. Nanoseconds of the monotonic clock.
    """

    begun: int
    since: int
    mend: Callable[[], None] = nothing
    undo: Callable[[], None] = nothing  # let what is frozen go on; if it was given up, see that it ends
    stops: frozenset[int] | None = None  # the workers that cannot go on before `since`; None for all


def at_once(mend: Callable[[], None] = nothing, undo: Callable[[], None] = nothing) -> Struck:
    """It was done this moment, and what it stops can be replaced from now on."""
    now = time.monotonic_ns()
    return Struck(now, now, mend, undo)


def now_over(begun: int, *, stops: frozenset[int] | None = None) -> Struck:
    """It has lasted since then, and needs no mending."""
    return Struck(begun, time.monotonic_ns(), stops=stops)
