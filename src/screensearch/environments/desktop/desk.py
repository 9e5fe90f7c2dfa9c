"""One desktop at work: the session with its display, its accessibility tree and its pictures.

Opened for one episode and closed with it. It sees, waits and gives input; what an action comes to is
the environment's matter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from screensearch.domain.roles import UnknownRoles
from screensearch.domain.screen import Box, Observation, Window
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.changes import Changes
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.elements import Elements, Origin
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.home import CLICKS_APART_SECONDS, Dressing
from screensearch.environments.desktop.node import Key, Node
from screensearch.environments.desktop.scene import Scene, popups_of, scene, top_level_of
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.settle import Quiet
from screensearch.environments.desktop.tree import Refresh, Tree
from screensearch.environments.desktop.vitals import ApplicationEnded, Vitals

log = logging.getLogger(__name__)

_CELL = 32
"""Damage is told apart by squares of so many pixels: a spinner's rectangles differ a little."""


_LOOKS = 3
"""How often the tree is read again because another window came to the front meanwhile."""


@dataclass(frozen=True, slots=True)
class View:
    """What is to be seen: the observation, and whose window is in front."""

    observation: Observation
    foreign: str | None  # the application in front, if it is not the target


class Desk:
    """A desktop with the application on it."""

    def __init__(
        self,
        session: Session,
        display: Display,
        bus: Bus,
        tree: Tree,
        framebuffer: Framebuffer,
        *,
        app: AppSettings,
        settings: DesktopSettings,
        dressing: Dressing,
        application: str,
        screenshots: bool,
    ) -> None:
        self.session = session
        self.display = display
        self.tree = tree
        self.vitals = Vitals(session, display, bus, tree, settings, also=app.also)
        self.application = application
        self._bus = bus
        self._framebuffer = framebuffer
        self.app = app
        self.settings = settings
        self._dressing = dressing
        self._screenshots = screenshots
        self._quiet = Quiet(settings.quiet_seconds)
        self._damage: list[Box] = []  # what was painted since it was last taken
        self._changes = Changes(framebuffer)
        self._unknown = UnknownRoles()
        self._processes: set[int] = set()  # that ran before the latest input
        self._last_window: int | None = None  # the application's window that was last in front
        self._last_front: tuple[int, Key] | None = None  # the window last observed, on either side
        self._nodes: dict[str, Node] = {}  # by handle: what the latest observation showed
        self._origins: dict[str, Origin] = {}  # likewise: where its coordinates count from
        tree.origin = self._box_of_window
        display.on_activity(self._display_changed)
        tree.on_activity(self._tree_changed)

    @classmethod
    async def open(
        cls,
        app: AppSettings,
        settings: DesktopSettings,
        dressing: Dressing,
        *,
        application: str,
        screenshots: bool,
        clipboard: str | None = None,
    ) -> Desk:
        """Bring up a new desktop and start the application on it; `first_window` waits for it to show.

        `clipboard`, if given, is on the clipboard before the application starts.
        """
        session = await Session.start(app, settings, dressing)
        opened: list[Callable[[], object]] = []
        try:
            seconds = settings.start_seconds
            display = await Display.connect(
                session.display_socket,
                seconds=seconds,
                double_click_seconds=CLICKS_APART_SECONDS,
            )
            opened.append(display.close)
            bus = await Bus.connect(session.accessibility_bus, session.uid, seconds=seconds)
            opened.append(bus.close)
            tree = await Tree.open(bus, settings)
            framebuffer = Framebuffer(session.framebuffer)
            opened.append(framebuffer.close)
            desk = cls(
                session,
                display,
                bus,
                tree,
                framebuffer,
                app=app,
                settings=settings,
                dressing=dressing,
                application=application,
                screenshots=screenshots,
            )
            display.announce_accessibility(session.accessibility_address)
            if clipboard is not None:
                display.hold_clipboard(clipboard)
            await display.sync()
            await session.launch()
        except BaseException:
            for close in reversed(opened):
                close()
            await session.stop()
            raise
        return desk

    async def close(self) -> None:
        """End the application and its desktop."""
        counts = self.tree.counts
        log.info(
            "mirror of %s: %d events, %d calls, %d walks, %d mismatches found and healed, %d partial",
            self.application,
            counts.events,
            counts.calls,
            counts.walks,
            counts.mismatches,
            counts.partial,
        )
        try:
            self._framebuffer.close()
            self.display.close()
            self._bus.close()
        finally:
            await self.session.stop()

    # -- waiting ------------------------------------------------------------------------------

    def _display_changed(self) -> None:
        damage = self.display.take_damage()
        self._damage += damage
        for box in damage:
            self._quiet.note(
                ("pixels", *(int(part) // _CELL for part in (box.x, box.y, box.width, box.height)))
            )
        if not damage:
            self._quiet.note("windows")

    def _tree_changed(self, source: str, kind: str) -> None:
        self._quiet.note((source, kind))

    def expect(self) -> None:
        """An input is about to be given."""
        self._quiet.begin()
        self._processes = self.session.processes()

    async def settle(self) -> bool:
        """Wait until the effect of the last input is there; False when the screen would not rest."""
        await self.display.sync()
        await self.vitals.answered()
        settled = await self._quiet.settle(self.settings.settle_seconds)
        # Asked again: what it does once it is idle may keep it busy as well.
        frozen = await self.vitals.answered() > self.settings.quiet_seconds
        if await self._started_something() or frozen:
            settled = await self._quiet.settle(self.settings.settle_seconds)
        self.vitals.check_alive()
        return settled

    async def _started_something(self) -> bool:
        """Whether the input started another program; then its window is waited for, or its end.

        It needs longer to come up than the application to come to rest, and must not be taken for the
        effect of the next action.
        """
        started = self.session.processes() - self._processes
        if not started:
            return False
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.settings.window_seconds
        before = {each.id for each in self.display.windows()}
        while any(map(self.session.runs, started)) and (left := deadline - loop.time()) > 0:
            await self._quiet.changed(min(left, 0.1))  # the end of a process makes no event
            if {each.id for each in self.display.windows()} - before:
                break
        self._processes |= started
        return True

    async def settle_briefly(self) -> None:
        """Wait until the application has handled the last input, but not for what it paints."""
        await self.display.sync()
        await self.vitals.answered()

    async def rest(self, *, quiet_seconds: float) -> bool:
        """Wait until nothing has happened for so long; False when the screen would not rest."""
        return await self._quiet.settle(self.settings.settle_seconds, quiet_seconds=quiet_seconds)

    async def changed(self, seconds: float) -> bool:
        """Wait until something happens; False when nothing did for so long."""
        return await self._quiet.changed(seconds)

    async def wait(self, seconds: float) -> None:
        """Do nothing until something happens by itself, but not longer than so many seconds."""
        self.expect()
        await self._quiet.changed(seconds)

    # -- aiming -------------------------------------------------------------------------------

    async def look_again(self, handle: str) -> Node | None:
        """The element of a handle as it is at this moment; None when it is gone or does not show."""
        node = self._nodes.get(handle)
        fresh = None if node is None else await self.tree.read_now(node)
        return fresh if fresh is not None and fresh.shows else None

    def origin_of(self, handle: str) -> Origin:
        """Where the coordinates of an element's node count from."""
        return self._origins.get(handle, (0, 0))

    def covering(self, point: tuple[int, int]) -> str | None:
        """The title of a window that lies over those in front at that point. Tool tips give way."""
        seen = self._scene()
        front = set() if seen is None else {seen.window.id, *(each.id for each in seen.popups)}
        for window in reversed(self.display.windows()):
            box = window.raw_box
            inside = box.x <= point[0] < box.x + box.width and box.y <= point[1] < box.y + box.height
            if inside and window.kind != "tooltip":
                return None if window.id in front else window.title or window.wm_class
        return None

    # -- seeing -------------------------------------------------------------------------------

    async def refresh(self, *, check: bool = False) -> Refresh:
        """Bring the mirror of what is in front up to date with what was said and painted since the last time.

        With `check`, compare it with a full walk. Partial when the front would not stay the same.
        """
        for look in range(_LOOKS):
            behind = self._behind(certain=look > 0)
            refreshed = await self.tree.refresh(self._take_damage(), behind=behind)
            if check and not self._left_out():
                await self.tree.check()
                check = False
            if not self._left_out():
                return refreshed
        return replace(refreshed, partial=True)

    def meet(self) -> bool:
        """Whether a window with elements shows; if so, its program is the application."""
        seen = self._scene()
        node = None if seen is None else self._accessible(seen.window)
        if node is None or sum(1 for _ in self.tree.showing(node)) < 2:
            return False
        self.vitals.meet(node)
        return True

    def _take_damage(self) -> list[Box]:
        """Where pixels changed since the last time: applications paint far more than they change."""
        painted, self._damage = self._damage, []
        return self._changes.take(painted)

    def _scene(self) -> Scene | None:
        return scene(self.display.windows(), self.display.active())

    def _behind(self, *, certain: bool) -> frozenset[Key]:
        """The windows of which the observation tells nothing, so that they need not be read.

        Not `certain`: a window in front whose title none of them has is taken for a new one.
        """
        seen = self._scene()
        if seen is None:
            return frozenset()
        front = self._front(seen)
        if front and not certain and front[0].name != seen.window.title:
            known = self._last_front == (seen.window.id, front[0].key)
            front = front if known else front[1:]
        keys = {each.key for each in front}
        return frozenset(each.key for each in self.tree.windows() if each.key not in keys)

    def _left_out(self) -> bool:
        """Whether something that is in front now was taken for behind when the tree was read."""
        seen = self._scene()
        return seen is not None and any(each.key in self.tree.behind for each in self._front(seen))

    def _front(self, seen: Scene) -> list[Node]:
        """What is in front, on the accessibility bus: a window, and popups that are top-levels as well."""
        node = self._accessible(seen.window)
        if node is None or not seen.popups:
            return [] if node is None else [node]
        windows, accessibles = self.display.windows(), self.tree.windows()
        return [node, *popups_of(node, accessibles, windows, self._process_of())]

    def _process_of(self) -> dict[str, int]:
        return {each.bus_name: each.pid for each in self.tree.applications}

    def _accessible(self, window: XWindow) -> Node | None:
        return top_level_of(window, self.tree.windows(), self._process_of())

    def _box_of_window(self, node: Node) -> Box | None:
        """The X window of an accessible one that counts from its own corner."""
        process = self._process_of().get(node.bus_name)
        mine = [each for each in self.display.windows() if each.pid == process]
        named = [each for each in mine if each.title == node.name]
        return (named or mine)[-1].box if mine else None

    async def observe(self, *, check: bool = False) -> View:
        """See what is there now; with `check`, compare the mirror with a full walk first."""
        partial = (await self.refresh(check=check)).partial
        # What was read of an application that went meanwhile is not what it showed.
        self.vitals.check_alive()
        await self.vitals.present()
        seen = self._scene() or await self._bring_back()
        if seen is None:
            raise ApplicationEnded("closed its last window", clean=True)
        if self.vitals.owner_of(seen.window) is None:
            self._last_window = seen.window.id
        return self._view(seen, partial)

    def glimpse(self) -> Observation | None:
        """What is on the screen and known of it, without asking anybody; None when there is no window."""
        seen = self._scene()
        return None if seen is None else self._view(seen, partial=True).observation

    async def _bring_back(self) -> Scene | None:
        """Nothing is on the screen: a window that was only put aside is fetched, as from a task bar."""
        if self._last_window is None:
            return None
        self.expect()
        self.display.activate(self._last_window)
        await self.settle()
        await self.refresh()
        return self._scene()

    def _view(self, seen: Scene, partial: bool) -> View:
        foreign = self.vitals.owner_of(seen.front) or self.vitals.owner_of(seen.window)
        front = self._front(seen)
        node = front[0] if front else None
        self._last_front = None if node is None else (seen.window.id, node.key)
        elements = Elements(self.application, self._unknown)
        window_box = seen.window.box
        menus: list[str] = []
        painted = False  # whether a menu is open without a window of its own
        if node is not None:
            nodes = list(self.tree.showing(node))
            popups = [each.raw_box for each in seen.popups] or _painted_menus(nodes)
            painted = bool(popups) and not seen.popups
            for top in front:
                inside = nodes if top is node else list(self.tree.showing(top))
                elements.add(inside, window_box, owner=foreign, popups=popups, popup=top is not node)
                menus += _open_menus(inside)
        kind = "menu" if painted else _kind(seen, node)
        self._nodes, self._origins = elements.nodes, elements.origins
        title = " > ".join(menus) if kind == "menu" else seen.window.title
        return View(
            Observation(
                elements=elements.finish(),
                window=Window(
                    title=title,
                    kind=kind,
                    box=window_box,
                    application=foreign or self.application,
                ),
                display_mode=self._dressing.display_mode,
                text_scale=self._dressing.text_scale,
                partial=partial or node is None,
                screenshot=self._framebuffer.image() if self._screenshots else None,
            ),
            foreign,
        )


def _kind(seen: Scene, node: Node | None) -> str:
    if seen.popups:
        return "menu" if any(each.kind == "menu" for each in seen.popups) else "popup"
    if seen.window.kind == "dialog" or (node is not None and node.role in _DIALOGS):
        return "dialog"
    return "main"


_DIALOGS = frozenset({"dialog", "alert", "file chooser", "color chooser", "font chooser"})


def _painted_menus(nodes: list[Node]) -> list[Box]:
    """Open menus that the tool kit paints inside its window, as Swing does: X knows nothing of them."""
    return [node.box for node in nodes if node.role == "popup menu" and node.area > 0]


def _open_menus(nodes: list[Node]) -> list[str]:
    """The names of the menus that are open, outer first."""
    holders = {
        node.parent.key
        for node in nodes
        if node.parent is not None and (node.role.endswith("menu item") or node.role == "menu")
    }
    return [node.name for node in nodes if node.role == "menu" and node.key in holders and node.name]
