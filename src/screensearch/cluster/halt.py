"""Whether a run on a cluster is to end: asked by all who would begin something new."""

from __future__ import annotations

import asyncio
import time


class Halt:
    """Not asked for, asked for, or insisted on."""

    def __init__(self) -> None:
        self.why = ""
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()  # steps under way need not be waited for
        self._since: float | None = None

    def ask(self, why: str) -> None:
        """Steps under way may finish, and no more are taken. Who asks first says why."""
        if self._since is None:
            self.why, self._since = why, time.monotonic()
            self.asked.set()

    def insist(self, why: str) -> None:
        self.ask(why)
        self.insisted.set()

    @property
    def seconds(self) -> float:
        """How long ago it was asked for; 0 when it was not."""
        return 0.0 if self._since is None else time.monotonic() - self._since
