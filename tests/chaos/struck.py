"""A fault that was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

BACK_SECONDS = 120.0
"""For a run to be at work again: far more than it takes, since the machine may be busy."""


class TooLate(Exception):
    """There is nothing, or nothing any more, that the fault could be done to. It did not strike."""


@dataclass(frozen=True, slots=True)
class Struck:
    """What was done: since when all could be well again, and what is left to do for that.

    A fault that the test itself prolongs, as that of a database that is away, is over at `since`; all others
    begin then. Nanoseconds of the monotonic clock.
    """

    since: int
    mend: Callable[[], None]
    undo: Callable[[], None] = lambda: None  # let what is frozen go on, whether it was given up or not


def at_once() -> Struck:
    """It needs no mending."""
    return Struck(time.monotonic_ns(), lambda: None)
