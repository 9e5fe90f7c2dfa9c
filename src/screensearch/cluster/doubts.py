"""How soon a process may again be started in doubt: the later, the more often that was for nothing."""

from __future__ import annotations

import math
import time

FIRST_PAUSE_SECONDS = 5.0
"""For so long none is started after one that was not needed; after each further one, twice as long."""

LONGEST_PAUSE_SECONDS = 60.0
"""But no longer. After so long without a doubt, the next one is the first again."""


class Doubts:
    """Whether one owner or worker is still there. Where much is busy, a start in doubt only adds to that."""

    def __init__(self) -> None:
        self._latest = -math.inf  # when one was found to be for nothing
        self._pause = 0.0  # since then

    @property
    def may_be(self) -> bool:
        """Whether a process may be started in doubt now."""
        return time.monotonic() - self._latest >= self._pause

    def were_for_nothing(self) -> None:
        now = time.monotonic()
        quiet = now - self._latest >= self._pause + LONGEST_PAUSE_SECONDS
        self._pause = FIRST_PAUSE_SECONDS if quiet else min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        self._latest = now
