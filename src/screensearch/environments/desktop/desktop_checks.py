"""What the doctor looks at of a desktop: it comes up, each layer of it answers, and nothing is left of it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from screensearch.environments.desktop.atspi import DAEMON, DAEMON_PATH
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.checkup import Ailment, Seen
from screensearch.environments.desktop.deadlines import in_time
from screensearch.environments.desktop.display import Display
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.home import CLICKS_APART_SECONDS, Dressing
from screensearch.environments.desktop.limits import ProcessBound
from screensearch.environments.desktop.remedies import processes_in
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.tree import Tree

ANSWER_SECONDS = 10.0  # for a display or a bus that is up
_COUNTING_ADVICE = "do not run as root, on Linux 5.14 or later; as root it takes 6.14"


@dataclass(slots=True)
class Bench:
    """A desktop under examination, and the layers of it that were reached; one that was not is None."""

    session: Session
    namespace: int  # of the processes on it: an inode, or 0 when it has died meanwhile
    display: Display | None = None
    bus: Bus | None = None
    tree: Tree | None = None
    framebuffer: Framebuffer | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # the display or the tree told something

    async def any_change(self, seconds: float) -> bool:
        """Wait until something changes; False when nothing did for so long."""
        return await in_time(self.changed.wait(), seconds)

    def close(self) -> None:
        """Let go of all that was reached; the session goes on."""
        for each in (self.display, self.bus, self.framebuffer):
            if each is not None:
                each.close()


async def bring_up(app: AppSettings, settings: DesktopSettings) -> Seen[Bench]:
    """Start a desktop on which the application is not started yet."""
    session = await Session.start(app, settings, first_dressing(app))
    return Seen("display, buses and window manager are up", Bench(session, _namespace(session)))


async def take_down(bench: Bench, *, sandbox: bool) -> Seen[bool]:
    """Stop the desktop; in a sandbox no process may outlive it."""
    await bench.session.stop()
    if not sandbox:
        return Seen("stopped", True)
    left = processes_in(bench.namespace)
    if left:
        raise Ailment(f"processes are left behind: {', '.join(map(str, left))}")
    return Seen("nothing is left behind", True)


async def see_limits(session: Session, settings: DesktopSettings) -> Seen[bool]:
    """Whether memory and processes are bounded, and by what."""
    memory, most = settings.memory_megabytes, settings.process_limit
    if session.process_bound is ProcessBound.NONE:
        text = f"each process {memory} MB, and any number of processes: they cannot be bounded here"
        return Seen(text, True, "warn", _COUNTING_ADVICE)
    return Seen(f"each process {memory} MB; {most} processes, by {session.process_bound.value}", True)


async def reach_display(bench: Bench) -> Seen[Display]:
    """Connect to the display, and hear of its changes."""
    display = await Display.connect(
        bench.session.display_socket,
        seconds=ANSWER_SECONDS,
        double_click_seconds=CLICKS_APART_SECONDS,
    )
    display.on_activity(bench.changed.set)
    width, height = display.size
    return Seen(f"{width}×{height}, with DAMAGE, XFIXES, XTEST and X-Resource", display)


async def see_session_bus(session: Session) -> Seen[bool]:
    """Ask the session bus who is on it."""
    bus = await Bus.connect(session.session_bus, session.uid, seconds=ANSWER_SECONDS)
    try:
        (names,) = await bus.call(DAEMON, DAEMON_PATH, DAEMON, "ListNames", seconds=ANSWER_SECONDS)
    finally:
        bus.close()
    return Seen(f"answers, {len(names)} names on it", True)


async def reach_accessibility_bus(session: Session) -> Seen[Bus]:
    """Connect to the accessibility bus."""
    bus = await Bus.connect(session.accessibility_bus, session.uid, seconds=ANSWER_SECONDS)
    return Seen(f"answers as {bus.name}", bus)


async def reach_registry(bench: Bench, bus: Bus, settings: DesktopSettings) -> Seen[Tree]:
    """Ask the registry of the accessibility bus for events, and hear of them."""
    tree = await Tree.open(bus, settings)
    tree.on_activity(lambda source, kind: bench.changed.set())
    return Seen("takes our wish for events", tree)


async def reach_framebuffer(session: Session) -> Seen[Framebuffer]:
    """Map the memory in which the display is painted."""
    framebuffer = Framebuffer(session.framebuffer)
    return Seen(f"{framebuffer.width}×{framebuffer.height} pixels, read", framebuffer)


def first_dressing(app: AppSettings) -> Dressing:
    """The first choice from each range of the profile."""
    return Dressing(
        display_mode=app.display_modes[0],
        text_scale=app.text_scales[0],
        placement=app.placements[0] if app.placements else None,
        document=app.documents[0] if app.documents else "",
    )


def _namespace(session: Session) -> int:
    try:
        return os.stat(f"/proc/{session.pid}/ns/pid").st_ino
    except OSError:
        return 0
