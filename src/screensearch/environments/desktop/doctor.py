"""What works on this machine and what does not, layer by layer: the checks of `screensearch doctor`.

Each check says what it saw, and the command that helps. One that fails does not end the examination: what
can still be looked at is. Every check has a deadline, and whatever was started is stopped.
"""

from __future__ import annotations

from collections.abc import Callable

from screensearch.environments.desktop.app_checks import (
    GROW_SECONDS,
    launch,
    see_elements,
    see_packages,
    see_program,
    see_screenshot,
    try_input,
    windows_of,
)
from screensearch.environments.desktop.checkup import Check, Checkup
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.desktop_checks import (
    ANSWER_SECONDS,
    Bench,
    bring_up,
    first_dressing,
    reach_accessibility_bus,
    reach_display,
    reach_framebuffer,
    reach_registry,
    see_limits,
    see_session_bus,
    take_down,
)
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.machine_checks import see_launcher, see_tool, try_walls
from screensearch.environments.desktop.programs import PROGRAMS
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.start_checks import see_documents, try_script

_TOOL_SECONDS = 10.0


async def examine(
    app: AppSettings | None, settings: DesktopSettings, told: Callable[[Check], None] = lambda check: None
) -> list[Check]:
    """Check every layer, up to the application if there is one; `told` hears of each check as it ends."""
    return await _Examination(app, settings, told).run()


class _Examination:
    def __init__(
        self, app: AppSettings | None, settings: DesktopSettings, told: Callable[[Check], None]
    ) -> None:
        self._app = app
        self._settings = settings
        self._checkup = Checkup(told)

    async def run(self) -> list[Check]:
        check = self._checkup.check
        tools = [
            await check(f"tool: {name}", see_tool(name, program), _TOOL_SECONDS * 2)
            for name, program in PROGRAMS.items()
        ]
        tools.append(await check("tool: at-spi-bus-launcher", see_launcher(), _TOOL_SECONDS))
        walled: bool | None = True
        if self._settings.sandbox:
            walled = await check("sandbox", try_walls(), _TOOL_SECONDS)
        app, startable = self._app, True
        if app is not None:
            startable = bool(await check("program", see_program(app), _TOOL_SECONDS))
            if app.packages:
                await check("packages", see_packages(app, startable=startable), 3 * _TOOL_SECONDS)
        if walled is None or None in tools:
            self._checkup.skip("desktop", "the tools and the sandbox above come first")
        else:
            await self._desktop(app if startable else None)
        return self._checkup.checks

    async def _desktop(self, app: AppSettings | None) -> None:
        started = bring_up(app or AppSettings(command=("true",)), self._settings)
        bench = await self._checkup.check("desktop", started, self._settings.start_seconds + ANSWER_SECONDS)
        if bench is None:
            return
        try:
            try:
                await self._layers(bench)
                if app is not None:
                    await self._application(bench, app)
            finally:
                bench.close()
        finally:
            stopped = take_down(bench, sandbox=self._settings.sandbox)
            await self._checkup.check("stop", stopped, 3 * ANSWER_SECONDS)

    async def _layers(self, bench: Bench) -> None:
        check, session = self._checkup.check, bench.session
        if self._settings.sandbox:
            await check("limits", see_limits(session, self._settings), ANSWER_SECONDS)
        bench.display = await check("display", reach_display(bench), 2 * ANSWER_SECONDS)
        await check("session bus", see_session_bus(session), 2 * ANSWER_SECONDS)
        bench.bus = await check("accessibility bus", reach_accessibility_bus(session), 2 * ANSWER_SECONDS)
        bench.framebuffer = await check("framebuffer", reach_framebuffer(session), ANSWER_SECONDS)

    async def _application(self, bench: Bench, app: AppSettings) -> None:
        check, seconds = self._checkup.check, self._settings.start_seconds
        if app.documents and self._settings.sandbox:
            await check("documents", see_documents(bench.session, app), ANSWER_SECONDS)
        display = bench.display
        if display is None:
            self._checkup.skip("window", "the display comes first")
            return
        if bench.bus is not None:
            bench.tree = await check(
                "registry", reach_registry(bench, bench.bus, self._settings), ANSWER_SECONDS
            )
        patience = seconds + ANSWER_SECONDS
        window = await check("window", launch(bench, display, app, seconds=seconds), patience)
        if window is None:
            self._checkup.skip("tree", "a window comes first")
        elif bench.tree is not None:
            elements = see_elements(bench, display, bench.tree, seconds=seconds)
            if not await check("tree", elements, patience + GROW_SECONDS):
                bench.tree = None  # nothing that follows can be read in it
        first = "a window"
        if app.start and window is not None:
            first = "the start script"
            window = await self._started(bench, display, app)
        if window is None:
            for name in ("input", "screenshot"):
                self._checkup.skip(name, f"{first} comes first")
            return
        hang_seconds = self._settings.hang_seconds
        await check("input", try_input(display, window, seconds=hang_seconds), 2 * hang_seconds)
        if bench.framebuffer is not None:
            await check("screenshot", see_screenshot(display, bench.framebuffer), ANSWER_SECONDS)

    async def _started(self, bench: Bench, display: Display, app: AppSettings) -> XWindow | None:
        """The window that is in front after the start script, if it comes to its end."""
        if bench.bus is None or bench.tree is None or bench.framebuffer is None:
            self._checkup.skip("start script", "the tree and the framebuffer come first")
            return None
        desk = Desk(
            bench.session,
            display,
            bench.bus,
            bench.tree,
            bench.framebuffer,
            app=app,
            settings=self._settings,
            dressing=first_dressing(app),
            application=app.name or app.command[0],
            screenshots=False,
        )
        seconds = self._settings.start_seconds
        done = await self._checkup.check(
            "start script",
            try_script(desk, app, seconds=seconds),
            (1 + len(app.start)) * (seconds + ANSWER_SECONDS),
        )
        return windows_of(display)[-1] if done and windows_of(display) else None
