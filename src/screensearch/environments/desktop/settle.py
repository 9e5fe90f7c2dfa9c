"""When a screen has settled: no accessibility event and no changed pixel for a while.

Some things never rest: a spinner, a caret that blinks, a label that counts. What goes on and on from
one and the same source, long after the input that it might have answered, is restless, and is not
waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field

from screensearch.environments.desktop.deadlines import in_time

_TICK_SECONDS = 0.015
"""Activity closer together than this counts once: a repaint comes as many rectangles and events."""

_RESTLESS_TICKS = 4
_RESTLESS_SECONDS = 0.35
"""A source is restless when it was active in so many ticks, over so long a time after the input."""


@dataclass(slots=True)
class _Source:
    """What one source did since the last input."""

    last: float
    ticks: int = 1


@dataclass(slots=True)
class Quiet:
    """Notes activity by source, and waits until there is none that matters."""

    quiet_seconds: float
    _since: float = 0.0  # when the input was given
    _sources: dict[Hashable, _Source] = field(default_factory=dict)
    _restless: set[Hashable] = field(default_factory=set)  # known from earlier settling
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, source: Hashable) -> None:
        """Something happened there."""
        now = asyncio.get_running_loop().time()
        known = self._sources.get(source)
        if known is None:
            self._sources[source] = _Source(now)
        else:
            if now - known.last > _TICK_SECONDS:
                known.ticks += 1
            known.last = now
        self._changed.set()

    def begin(self) -> None:
        """An input is about to be given: what happens from here on may be its effect."""
        # A source that kept still since the last input has found its rest.
        self._restless &= self._sources.keys()
        self._sources.clear()
        self._since = asyncio.get_running_loop().time()

    async def changed(self, seconds: float) -> bool:
        """Wait until something happens; False when nothing did for so long."""
        self._changed.clear()
        return await in_time(self._changed.wait(), seconds)

    async def settle(self, seconds: float, *, quiet_seconds: float | None = None) -> bool:
        """Wait for quiet; False when there was none within so many seconds."""
        needed = self.quiet_seconds if quiet_seconds is None else quiet_seconds
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            now = loop.time()
            rest = self._quiet_from(begun) + needed - now
            if rest <= 0:
                return True
            left = begun + seconds - now
            if left <= 0:
                return False
            await self.changed(min(rest, left))

    def _quiet_from(self, begun: float) -> float:
        """When the last activity of a source that matters was."""
        latest = begun
        for name, source in self._sources.items():
            if name in self._restless:
                continue
            if source.ticks >= _RESTLESS_TICKS and source.last - self._since >= _RESTLESS_SECONDS:
                self._restless.add(name)
            else:
                latest = max(latest, source.last)
        return latest
