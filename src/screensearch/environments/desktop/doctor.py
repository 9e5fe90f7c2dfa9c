"""What works on this machine and what does not, layer by layer: the checks of `screensearch doctor`.

Each check says what it saw, and the command that helps. One that fails does not end the examination: what
can still be looked at is. Every check has a deadline, and whatever was started is stopped.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import shutil
from collections.abc import Callable, Sequence

import numpy as np

from screensearch.domain.screen import Image, crop
from screensearch.environments.desktop.atspi import DAEMON, DAEMON_PATH
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.checkup import Ailment, Check, Checkup, Seen, without_advice
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.home import DOUBLE_CLICK_MILLISECONDS, Dressing
from screensearch.environments.desktop.limits import ProcessBound
from screensearch.environments.desktop.packages import apt_line, installed_packages
from screensearch.environments.desktop.programs import (
    LAUNCHER_PACKAGE,
    PROGRAMS,
    Program,
    accessibility_launcher,
)
from screensearch.environments.desktop.remedies import (
    mapped_files,
    processes_in,
    toolkit_of,
    why_no_sandbox,
)
from screensearch.environments.desktop.sandbox import (
    SessionFailed,
    find_program,
    walls,
)
from screensearch.environments.desktop.session import SCRIPT, Session
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.start import LAUNCHED_SECONDS
from screensearch.environments.desktop.start_checks import see_documents, try_script
from screensearch.environments.desktop.tree import Tree

_TOOL_SECONDS = 10.0
_ANSWER_SECONDS = 10.0  # for a display or a bus that is up
_REST_SECONDS = 0.3  # a tree that did not change for so long is counted
_GROW_SECONDS = 5.0  # or after so long
_COUNTING_ADVICE = "do not run as root, on Linux 5.14 or later; as root it takes 6.14"
_WINDOWS = frozenset({"normal", "dialog", "utility"})


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
        self._changed = asyncio.Event()
        self._namespace = 0  # of the processes on the desktop

    async def run(self) -> list[Check]:
        tools = [
            await self._checkup.check(f"tool: {name}", self._tool(name, program), _TOOL_SECONDS * 2)
            for name, program in PROGRAMS.items()
        ]
        tools.append(await self._checkup.check("tool: at-spi-bus-launcher", self._launcher(), _TOOL_SECONDS))
        walled: bool | None = True
        if self._settings.sandbox:
            walled = await self._checkup.check("sandbox", self._sandbox(), _TOOL_SECONDS)
        startable = True
        if self._app is not None:
            startable = bool(await self._checkup.check("program", self._program(self._app), _TOOL_SECONDS))
            if self._app.packages:
                await self._checkup.check("packages", self._packages(self._app, startable), 3 * _TOOL_SECONDS)
        if walled is None or None in tools:
            self._checkup.skip("desktop", "the tools and the sandbox above come first")
        else:
            await self._desktop(self._app if startable else None)
        return self._checkup.checks

    # -- what is installed --------------------------------------------------------------------

    async def _tool(self, name: str, program: Program) -> Seen[str]:
        path = shutil.which(name)
        if path is None:
            raise Ailment(f"there is no {name} here ({program.purpose})", apt_line((program.package,)))
        version = None
        if program.version_flag:
            _, said = await _run([path, program.version_flag])
            version = re.search(r"\d+(\.\d+)+", said)
        return Seen(f"{version[0]}, {path}" if version else path, path)

    async def _launcher(self) -> Seen[str]:
        try:
            path = accessibility_launcher()
        except SessionFailed as problem:
            raise Ailment("there is no at-spi-bus-launcher here", apt_line((LAUNCHER_PACKAGE,))) from problem
        return Seen(path, path)

    async def _sandbox(self) -> Seen[bool]:
        """The walls that a session has, around a program that only succeeds."""
        path = shutil.which("bwrap")
        if path is None:
            raise Ailment("cannot be tried without bwrap", apt_line((PROGRAMS["bwrap"].package,)))
        descriptors = [os.open(os.devnull, os.O_WRONLY)]
        try:
            built = walls(["true"], script=SCRIPT, info=descriptors[0], home_bytes=2**20)
            descriptors += built.descriptors
            status, said = await _run([path, *built.arguments[1:], "true"], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        if status != 0:
            words = " ".join(said.split())
            why, remedy = why_no_sandbox(words)
            raise Ailment(f"{why} (bwrap says: {words[:200] or f'status {status}'})", remedy)
        return Seen("the walls of a session stand, a program within them ran", True)

    async def _program(self, app: AppSettings) -> Seen[bool]:
        try:
            path = find_program(app.command[0])
        except SessionFailed as problem:
            raise Ailment(without_advice(problem), apt_line(app.packages)) from problem
        return Seen(path, True)

    async def _packages(self, app: AppSettings, startable: bool) -> Seen[bool]:
        there = await asyncio.to_thread(installed_packages, app.packages)
        if there is None:
            return Seen("there is no dpkg to ask", True, "warn")
        missing = [package for package in app.packages if package not in there]
        if not missing:
            return Seen(", ".join(app.packages), True)
        text = f"not installed: {', '.join(missing)}"
        if not startable:
            raise Ailment(text, apt_line(missing))
        return Seen(f"{text}; the program is there all the same", True, "warn", apt_line(missing))

    # -- a desktop ----------------------------------------------------------------------------

    async def _desktop(self, app: AppSettings | None) -> None:
        started = self._start(app or AppSettings(command=("true",)))
        session = await self._checkup.check(
            "desktop", started, self._settings.start_seconds + _ANSWER_SECONDS
        )
        if session is None:
            return
        self._namespace = _namespace(session)
        try:
            await self._on_desktop(session, app)
        finally:
            await self._checkup.check("stop", self._stop(session), 3 * _ANSWER_SECONDS)

    async def _start(self, app: AppSettings) -> Seen[Session]:
        session = await Session.start(app, self._settings, _first_dressing(app))
        return Seen("display, buses and window manager are up", session)

    async def _stop(self, session: Session) -> Seen[bool]:
        await session.stop()
        if not self._settings.sandbox:
            return Seen("stopped", True)
        left = processes_in(self._namespace)
        if left:
            raise Ailment(f"processes are left behind: {', '.join(map(str, left))}")
        return Seen("nothing is left behind", True)

    async def _on_desktop(self, session: Session, app: AppSettings | None) -> None:
        if self._settings.sandbox:
            await self._checkup.check("limits", self._limits(session), _ANSWER_SECONDS)
        display = await self._checkup.check("display", self._display(session), 2 * _ANSWER_SECONDS)
        await self._checkup.check("session bus", self._session_bus(session), 2 * _ANSWER_SECONDS)
        bus = await self._checkup.check(
            "accessibility bus", self._accessibility_bus(session), 2 * _ANSWER_SECONDS
        )
        picture = await self._checkup.check("framebuffer", self._framebuffer(session), _ANSWER_SECONDS)
        try:
            if app is None:
                return
            if app.documents and self._settings.sandbox:
                await self._checkup.check("documents", see_documents(session, app), _ANSWER_SECONDS)
            if display is None:
                self._checkup.skip("window", "the display comes first")
                return
            tree = (
                await self._checkup.check("registry", self._registry(bus), _ANSWER_SECONDS) if bus else None
            )
            await self._application(session, app, display, bus, tree, picture)
        finally:
            for each in (display, bus, picture):
                if each is not None:
                    each.close()

    async def _limits(self, session: Session) -> Seen[bool]:
        memory, most = self._settings.memory_megabytes, self._settings.process_limit
        if session.process_bound is ProcessBound.NONE:
            text = f"each process {memory} MB, and any number of processes: they cannot be bounded here"
            return Seen(text, True, "warn", _COUNTING_ADVICE)
        return Seen(f"each process {memory} MB; {most} processes, by {session.process_bound.value}", True)

    async def _display(self, session: Session) -> Seen[Display]:
        display = await Display.connect(
            session.display_socket,
            seconds=_ANSWER_SECONDS,
            double_click_seconds=DOUBLE_CLICK_MILLISECONDS * 1.25 / 1000,
        )
        display.on_activity(self._changed.set)
        width, height = display.size
        return Seen(f"{width}×{height}, with DAMAGE, XFIXES, XTEST and X-Resource", display)

    async def _session_bus(self, session: Session) -> Seen[bool]:
        bus = await Bus.connect(session.session_bus, session.uid, seconds=_ANSWER_SECONDS)
        try:
            (names,) = await bus.call(DAEMON, DAEMON_PATH, DAEMON, "ListNames", seconds=_ANSWER_SECONDS)
        finally:
            bus.close()
        return Seen(f"answers, {len(names)} names on it", True)

    async def _accessibility_bus(self, session: Session) -> Seen[Bus]:
        bus = await Bus.connect(session.accessibility_bus, session.uid, seconds=_ANSWER_SECONDS)
        return Seen(f"answers as {bus.name}", bus)

    async def _registry(self, bus: Bus) -> Seen[Tree]:
        tree = await Tree.open(bus, self._settings)
        tree.on_activity(lambda source, kind: self._changed.set())
        return Seen("takes our wish for events", tree)

    async def _framebuffer(self, session: Session) -> Seen[Framebuffer]:
        picture = Framebuffer(session.framebuffer)
        return Seen(f"{picture.width}×{picture.height} pixels, read", picture)

    # -- the application ----------------------------------------------------------------------

    async def _application(
        self,
        session: Session,
        app: AppSettings,
        display: Display,
        bus: Bus | None,
        tree: Tree | None,
        picture: Framebuffer | None,
    ) -> None:
        patience = self._settings.start_seconds + _ANSWER_SECONDS
        window = await self._checkup.check("window", self._window(session, app, display), patience)
        readable = None
        if window is None:
            self._checkup.skip("tree", "a window comes first")
        elif tree is not None:
            readable = await self._checkup.check(
                "tree", self._elements(session, tree), patience + _GROW_SECONDS
            )
        first = "a window"
        if app.start and window is not None:
            first = "the start script"
            window = await self._started(session, app, display, bus, tree if readable else None, picture)
        if window is None:
            for name in ("input", "screenshot"):
                self._checkup.skip(name, f"{first} comes first")
            return
        await self._checkup.check("input", self._input(display, window), 2 * self._settings.hang_seconds)
        if picture is not None:
            await self._checkup.check("screenshot", self._screenshot(display, picture), _ANSWER_SECONDS)

    async def _started(
        self,
        session: Session,
        app: AppSettings,
        display: Display,
        bus: Bus | None,
        tree: Tree | None,
        picture: Framebuffer | None,
    ) -> XWindow | None:
        """The window that is in front after the start script, if it comes to its end."""
        if bus is None or tree is None or picture is None:
            self._checkup.skip("start script", "the tree and the framebuffer come first")
            return None
        desk = Desk(
            session,
            display,
            bus,
            tree,
            picture,
            app=app,
            settings=self._settings,
            dressing=_first_dressing(app),
            application=app.name or app.command[0],
            screenshots=False,
        )
        seconds = self._settings.start_seconds
        done = await self._checkup.check(
            "start script",
            try_script(desk, app, seconds=seconds),
            (1 + len(app.start)) * (seconds + _ANSWER_SECONDS),
        )
        return _shown(display)[-1] if done and _shown(display) else None

    async def _window(self, session: Session, app: AppSettings, display: Display) -> Seen[XWindow]:
        await session.launch()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.start_seconds
        ended = math.inf  # when its process was first seen to have ended
        while True:
            self._changed.clear()
            shown = _shown(display)
            if shown:
                return Seen(f"{shown[-1].title!r}", shown[-1])
            if session.broken.done():
                raise Ailment(session.broken.result())
            said = " | ".join(session.output().split("\n")[-4:]).strip(" |")
            now = loop.time()
            if session.app_end.done():
                ended = min(ended, now)
            # A launcher may end well and leave its program to come up; but not for long.
            if now - ended > LAUNCHED_SECONDS or (ended <= now and not session.app_end.result().clean):
                how = session.app_end.result().describe()
                raise Ailment(f"{app.command[0]} {how} without a window; it said: {said or 'nothing'}")
            if loop.time() > deadline:
                text = f"none within {self._settings.start_seconds:g} s; it said: {said or 'nothing'}"
                raise Ailment(text, "raise desktop.start_seconds if it needs longer")
            await self._any_change(min(0.5, max(0.0, deadline - loop.time())))

    async def _elements(self, session: Session, tree: Tree) -> Seen[bool]:
        """Wait for elements, then until no more of them come."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.start_seconds
        while True:
            self._changed.clear()
            refreshed = await tree.refresh()
            shown = [(sum(1 for _ in tree.showing(each)), each) for each in tree.windows()]
            if any(number > 1 for number, _ in shown):
                break
            if loop.time() > deadline or (session.app_end.done() and not session.app_end.result().clean):
                raise self._no_tree(tree)
            await self._any_change(min(0.5, max(0.0, deadline - loop.time())))
        deadline = loop.time() + _GROW_SECONDS
        while await self._any_change(_REST_SECONDS) and loop.time() < deadline:
            self._changed.clear()
            refreshed = await tree.refresh()
        number, node = max(
            ((sum(1 for _ in tree.showing(each)), each) for each in tree.windows()),
            key=lambda each: each[0],
            default=shown[0],
        )
        owner = next((each for each in tree.applications if each.bus_name == node.bus_name), None)
        toolkit = f"{owner.toolkit} {owner.version}".strip() if owner else ""
        text = f"{number} elements show, toolkit {toolkit or 'unknown'}"
        if refreshed.partial:
            remedy = "raise desktop.node_limit, depth_limit or walk_seconds if something is missing"
            return Seen(f"{text}, partial", True, "warn", remedy)
        return Seen(text, True)

    def _no_tree(self, tree: Tree) -> Ailment:
        names = ", ".join(each.name or each.bus_name for each in tree.applications) or "nobody"
        mapped = {file for process in processes_in(self._namespace) for file in mapped_files(process)}
        toolkit = toolkit_of(mapped)
        text = f"no window with elements within {self._settings.start_seconds:g} s; on the bus: {names}"
        if toolkit is None:
            return Ailment(
                f"{text}; its toolkit is not one that is known to publish a tree",
                "explore programs of GTK, Qt, LibreOffice or Java; see docs/explanation/toolkits.md",
            )
        return Ailment(f"{text}; {toolkit.name}: {toolkit.reason}", toolkit.remedy)

    async def _input(self, display: Display, window: XWindow) -> Seen[bool]:
        """Move the pointer over the window and press Shift, which does nothing anywhere."""
        box = window.box
        display.move_pointer(box.x + box.width / 2, box.y + box.height / 2)
        display.press("Shift_L")
        if not await display.answers(window.id, seconds=self._settings.hang_seconds):
            raise Ailment(f"it handled no X event for {self._settings.hang_seconds:g} s: it hangs")
        if display.focus() is None:
            raise Ailment("no window has the keyboard: what is typed goes nowhere")
        return Seen("the pointer moved over it, a key was pressed, and it handled both", True)

    async def _screenshot(self, display: Display, picture: Framebuffer) -> Seen[bool]:
        shown = _shown(display)
        image = crop(picture.image(), shown[-1].box) if shown else picture.image()
        colours = colours_of(image)
        if colours < 2:
            raise Ailment("the window is all of one colour: the application paints nothing")
        return Seen(f"{image.width}×{image.height}, {colours} colours", True)

    async def _any_change(self, seconds: float) -> bool:
        """Wait until something changes; False when nothing did for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True


def _first_dressing(app: AppSettings) -> Dressing:
    """The first choice from each range of the profile."""
    return Dressing(
        display_mode=app.display_modes[0],
        text_scale=app.text_scales[0],
        placement=app.placements[0] if app.placements else None,
        document=app.documents[0] if app.documents else "",
    )


def _shown(display: Display) -> list[XWindow]:
    """The windows that a person would call so, the topmost last."""
    return [each for each in display.windows() if each.kind in _WINDOWS]


def _namespace(session: Session) -> int:
    """The inode of the process namespace of a session; 0 when it has died meanwhile."""
    try:
        return os.stat(f"/proc/{session.pid}/ns/pid").st_ino
    except OSError:
        return 0


def colours_of(image: Image) -> int:
    """How many colours a picture has."""
    pixels = np.frombuffer(image.pixels, np.uint8).reshape(-1, 3).astype(np.uint32)
    return int(np.unique(pixels[:, 0] << 16 | pixels[:, 1] << 8 | pixels[:, 2]).size)


async def _run(command: list[str], descriptors: Sequence[int] = ()) -> tuple[int, str]:
    """Run a tool to its end; its status and all it said. The deadline of the check kills it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        pass_fds=descriptors,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode(errors="replace")
