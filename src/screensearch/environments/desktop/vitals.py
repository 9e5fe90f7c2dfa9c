"""Which programs are the application, whether they still run, and whether they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.node import Node
from screensearch.environments.desktop.scene import scene
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.environments.desktop.tree import Tree
from screensearch.errors import EnvironmentFailed


class ApplicationEnded(Exception):
    """The application's process ended; says how."""

    def __init__(self, how: str, *, clean: bool) -> None:
        super().__init__(how)
        self.clean = clean


class ApplicationHangs(Exception):
    """The application answers nothing."""


class Vitals:
    """The application on one desktop, as its processes, its windows and the bus show it."""

    def __init__(
        self,
        session: Session,
        display: Display,
        bus: Bus,
        tree: Tree,
        settings: DesktopSettings,
        *,
        also: Iterable[str],
    ) -> None:
        self._session = session
        self._display = display
        self._bus = bus
        self._tree = tree
        self._settings = settings
        self._targets: set[str] = set()  # bus names that are the application
        self._names: set[str] = {each.casefold() for each in also}  # and names that are
        self._delay_seconds = 0.0  # the longest that it answered nothing, though it did then

    def meet(self, node: Node) -> None:
        """The program of this element is the application, and so are others of its name."""
        self._targets.add(node.bus_name)
        self._names |= {
            each.name.casefold()
            for each in self._tree.applications
            if each.bus_name == node.bus_name and each.name
        }

    async def answered(self) -> float:
        """Wait until the application has handled the input, and told what it tells of that; how long it took.

        One that answers nothing for `hang_seconds` may only be slow: it is given `grace_seconds` more, and
        `take_delay` tells of it.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        silence = await self._silence(self._settings.hang_seconds)
        if silence is None:
            return loop.time() - began
        meanwhile = ""
        if grace := self._settings.grace_seconds:
            busy = self._busy_seconds()
            silence = await self._silence(grace)
            if silence is None:
                took = loop.time() - began
                self._delay_seconds = max(self._delay_seconds, took)
                return took
            spent = self._busy_seconds() - busy
            meanwhile = f" (in the last {grace:g} s it kept a processor busy for {spent:.1f} s)"
        raise ApplicationHangs(f"{silence} for {loop.time() - began:.0f} s{meanwhile}")

    async def _silence(self, seconds: float) -> str | None:
        """Ask whether it has handled the input; what it left unanswered for so long, or None.

        X asks it first, since it answers that in turn with the input; then the bus, since what it told
        there before the answer has arrived before it.
        """
        seen = scene(self._display.windows(), self._display.active())
        if seen is not None and not await self._display.answers(seen.window.id, seconds=seconds):
            self.check_alive()
            return "it handled no X event"
        for name in await self.present():
            if await self._tree.ping(name, seconds=seconds):
                continue
            self.check_alive()
            if name in await self.present():
                return "it answered nothing on the accessibility bus"
        return None

    def _busy_seconds(self) -> float:
        """How long the application has kept processors busy so far."""
        mine = {each.pid for each in self._tree.applications if each.bus_name in self._targets}
        return sum(map(self._session.processor_seconds, mine))

    def take_delay(self) -> float:
        """For how many seconds it answered nothing since the last call, when it was slow; else 0."""
        delay, self._delay_seconds = self._delay_seconds, 0.0
        return delay

    async def present(self) -> set[str]:
        """The application's names on the bus. When the last is gone, so is the application, or about to be.

        A further program of the application may come and go.
        """
        present = {each.bus_name for each in self._tree.applications}
        if self._targets and not present & self._targets:
            await self._ending()
        self._targets &= present
        return set(self._targets)

    def check_alive(self) -> None:
        """Raise when the application, or the desktop under it, is gone."""
        if self._session.broken.done():
            raise EnvironmentFailed(self._session.broken.result())
        if self._session.app_end.done():
            end = self._session.app_end.result()
            if end.clean and self._still_there():
                return  # a launcher that started the application and left
            raise ApplicationEnded(end.describe(), clean=end.clean)
        for connection in (self._display, self._bus):
            if connection.closed.done():
                raise EnvironmentFailed(connection.closed.result())

    def _still_there(self) -> bool:
        return any(each.bus_name in self._targets for each in self._tree.applications)

    async def _ending(self) -> None:
        """It left the bus: its process is about to end, or it has closed its last window."""
        try:
            async with asyncio.timeout(self._settings.hang_seconds):
                await asyncio.shield(self._session.app_end)
        except TimeoutError:
            raise ApplicationEnded(
                "left the accessibility bus and went on without a window", clean=True
            ) from None
        self.check_alive()

    def owner_of(self, window: XWindow) -> str | None:
        """The application of a window, if it is not the target."""
        for each in self._tree.applications:
            if each.pid == window.pid:
                if each.bus_name in self._targets or each.name.casefold() in self._names:
                    self._targets.add(each.bus_name)
                    return None
                return each.name or window.wm_class or "unknown"
        processes = {each.pid for each in self._tree.applications if each.bus_name in self._targets}
        if window.pid is None or window.pid in processes:
            return None
        return window.wm_class or window.title or "unknown"

    def last_words(self) -> str:
        """What the application wrote last to its output."""
        said = self._session.output().strip().splitlines()
        return f"it said: {' | '.join(said[-5:])}" if said else "it said nothing"
