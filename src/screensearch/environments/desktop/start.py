"""The start of an application: waiting for its first window, and telling why there is none."""

from __future__ import annotations

import asyncio

from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.mute import MuteWatch
from screensearch.environments.desktop.remedies import toolkit_behind
from screensearch.environments.desktop.vitals import ApplicationEnded, ApplicationHangs
from screensearch.errors import EnvironmentFailed, HopelessStart

_START_CHECKS = 3
"""How often the mirror is checked at the start, at most, until a check finds nothing."""

LAUNCHED_SECONDS = 3.0
"""How long a command that ended with status 0 may leave without a window or a name on the bus."""

_NO_PROGRAM = (126, 127)
"""The statuses of a shell that cannot run a program."""


class TreeUnavailable(HopelessStart):
    """The application started but showed no accessible window."""


async def first_window(desk: Desk) -> None:
    """Wait for the first window with something in it, and learn which programs are the application.

    One that ends or hangs before it has one raises that; one that shows what cannot be read raises
    `TreeUnavailable`.
    """
    await _Start(desk).wait()


class _Start:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ended_at: float | None = None  # when its process was first seen to have ended
        self._mute = MuteWatch(desk.session, desk.display, desk.tree)

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._desk.settings.start_seconds
        while True:
            self._raise_if_it_did_not_start()
            await self._desk.refresh()
            if self._desk.meet():
                break
            mute = self._mute.verdict()
            if mute is not None:
                program = self._desk.app.command[0]
                raise TreeUnavailable(f"{program!r} shows a window, but publishes no tree: {mute.reason}")
            left = deadline - loop.time()
            if left <= 0:
                await self._raise_if_it_hangs_at_its_start()
                raise TreeUnavailable(self._why_no_window())
            await self._desk.changed(min(left, 0.5))
        # What is filled in as the window appears must not be taken for an effect of the first action.
        # A tool kit that is still starting says little of what it does, so the mirror is checked as well.
        for _ in range(_START_CHECKS):
            await self._desk.vitals.answered()
            await self._desk.rest(quiet_seconds=self._desk.settings.start_quiet_seconds)
            self._desk.vitals.check_alive()
            await self._desk.refresh()
            if not (await self._desk.tree.check()).mismatches:
                return

    def _raise_if_it_did_not_start(self) -> None:
        if self._desk.session.broken.done():
            raise EnvironmentFailed(self._desk.session.broken.result())
        if not self._desk.session.app_end.done():
            return
        end, now = self._desk.session.app_end.result(), asyncio.get_running_loop().time()
        if self._ended_at is None:
            self._ended_at = now
        # A launcher may end well and leave its program to come up; but not for long without a trace of it.
        gone = now - self._ended_at > LAUNCHED_SECONDS
        if end.clean and (not gone or self._desk.tree.applications or self._desk.display.windows()):
            return
        if end.status in _NO_PROGRAM:
            raise HopelessStart(
                f"{self._desk.app.command[0]!r} {end.describe()}, which is how a shell says that there is no "
                f"such program, or none that can be run; {self._desk.vitals.last_words()}"
            )
        raise ApplicationEnded(f"{end.describe()} before it showed a window", clean=end.clean)

    async def _raise_if_it_hangs_at_its_start(self) -> None:
        """Tell a program that does not come on from one that runs, but shows nothing that can be read.

        It had all of `start_seconds`: no grace is added to that.
        """
        seconds = self._desk.settings.hang_seconds
        windows, on_bus = self._desk.display.windows(), self._desk.tree.applications
        if not windows and not on_bus:
            raise ApplicationHangs(
                f"it showed no window and did not come to the accessibility bus in "
                f"{self._desk.settings.start_seconds:g} s (desktop.start_seconds)"
            )
        for window in windows:
            if not await self._desk.display.answers(window.id, seconds=seconds):
                self._raise_if_it_did_not_start()
                raise ApplicationHangs(f"it handled no X event for {seconds:g} s")
        for each in on_bus:
            if not await self._desk.tree.ping(each.bus_name, seconds=seconds):
                self._raise_if_it_did_not_start()
                if each in self._desk.tree.applications:
                    raise ApplicationHangs(f"it answered nothing on the accessibility bus for {seconds:g} s")

    def _why_no_window(self) -> str:
        seconds = self._desk.settings.start_seconds
        windows = self._desk.display.windows()
        shown = [each.title or each.wm_class for each in windows]
        toolkit = toolkit_behind(windows, session=self._desk.session.pid)
        why = "" if toolkit is None else f"; {toolkit.reason}"
        on_bus = [each.name for each in self._desk.tree.applications]
        return (
            f"{self._desk.app.command[0]!r} published no accessible window within {seconds:g} s "
            f"(windows on the screen: {', '.join(shown) or 'none'}; on the accessibility bus: "
            f"{', '.join(on_bus) or 'none'}){why}; run `screensearch doctor` to see which layer is missing"
        )
