"""The start of a worker's process, as far as the cluster knows of it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from screensearch.cluster.engine import Gone, where_placed


class Start:
    """What is known of a worker before its first word: whether it waits for a slot, or has one and is mute.

    A process that does not reach Ray within a minute is replaced by Ray itself; one that is stuck later, in
    an import or frozen, is waited for by nobody else.
    """

    def __init__(self, actor: Any, seconds: float) -> None:
        self._actor, self._seconds = actor, seconds
        self._looked = time.monotonic()
        self.node = ""  # that it has a process on, when that was last looked at

    async def look(self) -> str:
        """Why to wait no longer, if so: it was placed, and is as mute so many seconds later.

        The cluster is not asked oftener than that, since hundreds may wait for a slot.
        """
        if time.monotonic() - self._looked < self._seconds:
            return ""
        try:
            placed = await asyncio.to_thread(where_placed, self._actor)
        except Gone:
            return ""
        self._looked = time.monotonic()
        before, self.node = self.node, "" if placed is None else placed[0]
        if placed is None or self.node != before:
            return ""
        return f"its process on {placed[1]} did not say a word for {self._seconds:g} s, so it was ended"
