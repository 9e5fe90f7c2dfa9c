"""What an observation shows is what is in front now, whichever windows were left unread before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from fake_bus import FakeBus, Thing
from numpy.typing import NDArray

from screensearch.domain.screen import Box
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.home import Dressing
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.tree import Tree

SCREEN = Box(0, 0, 100, 100)


class Screen:
    """The windows of an X display, as a test puts them."""

    def __init__(self) -> None:
        self.stack: list[XWindow] = []
        self.front: int | None = None
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def put(self, title: str, kind: str = "normal", *, pid: int = 4242) -> int:
        """Bring up a window, in front of the others unless it is a popup."""
        popup = kind == "popup"
        self.stack.append(
            XWindow(
                id=len(self.stack) + 1,
                box=SCREEN,
                raw_box=SCREEN,
                title=title,
                pid=pid,
                kind=kind,
                wm_class="app",
                override_redirect=popup,
                transient_for=None,
                modal=False,
            )
        )
        self.front = self.front if popup else len(self.stack)
        return len(self.stack)

    def close(self) -> None:
        self.stack.pop()
        self.front = len(self.stack)

    def windows(self) -> list[XWindow]:
        return list(self.stack)

    def active(self) -> int | None:
        return self.front

    def on_activity(self, callback: object) -> None:
        pass


class Pixels:
    height = width = 100

    def rows(self, top: int, bottom: int) -> NDArray[np.uint32]:
        return np.zeros((bottom - top, self.width), np.uint32)


async def desk_of(bus: FakeBus, **settings: Any) -> tuple[Desk, Screen]:
    loop = asyncio.get_running_loop()
    ends = {"broken": loop.create_future(), "app_end": loop.create_future()}
    chosen, screen = DesktopSettings(**settings), Screen()
    tree = await Tree.open(cast(Bus, bus), chosen)
    desk = Desk(
        cast(Session, SimpleNamespace(**ends, processes=set)),
        cast(Display, screen),
        cast(Bus, bus),
        tree,
        cast(Framebuffer, Pixels()),
        app=AppSettings(command=("app",)),
        settings=chosen,
        dressing=Dressing(display_mode="light", text_scale=1.0, placement=None, document=""),
        application="app",
        screenshots=False,
    )
    desk.vitals.meet(tree.windows()[0])
    return desk, screen


def frame(name: str, label: str, path: str = "/w", role: str = "frame") -> Thing:
    window = Thing(path, role=role, name=name, extents=(0, 0, 100, 100))
    return window.add(Thing(f"{path}/1", role="push button", name=label, extents=(20, 20, 40, 10)))


async def rename(bus: FakeBus, thing: Thing, name: str) -> None:
    thing.name = name
    bus.tell(thing, "PropertyChange", "accessible-name", 0, name)
    await bus.arrived()


async def seen(desk: Desk, *, check: bool = False) -> tuple[list[str], bool]:
    observation = (await desk.observe(check=check)).observation
    return [each.text for each in observation.elements if each.text not in ("", "main", "dialog")], (
        observation.partial
    )


async def test_a_window_behind_is_as_it_is_now_once_it_is_in_front_again() -> None:
    main, dialog = frame("main", "old"), frame("dialog", "OK", "/d", "dialog")
    bus = FakeBus(main)
    desk, screen = await desk_of(bus)
    screen.put("main")
    assert await seen(desk) == (["old"], False)
    bus.root.add(dialog)
    screen.put("dialog", "dialog")
    assert await seen(desk) == (["OK"], False)
    await rename(bus, main.children[0], "new")
    before = len(bus.asked)
    assert await seen(desk) == (["OK"], False)
    assert "/w/1" not in {call.path for call in bus.asked[before:]}  # nobody looks at it
    bus.root.children.remove(dialog)
    screen.close()
    assert await seen(desk) == (["new"], False)


async def test_the_window_that_stands_in_for_one_without_a_tree_is_current() -> None:
    main = frame("main", "old")
    bus = FakeBus(main)
    desk, screen = await desk_of(bus)
    screen.put("main")
    await seen(desk)
    screen.put("Canvas")  # publishes nothing, or not yet
    for name in ("new", "newer"):
        await rename(bus, main.children[0], name)
        assert await seen(desk) == ([name], False)


async def test_a_window_whose_name_is_not_its_title_is_read_at_once() -> None:
    main = frame("main", "old")
    bus = FakeBus(main)
    desk, screen = await desk_of(bus)
    screen.put("Something else")
    await seen(desk)
    await rename(bus, main.children[0], "new")
    before = len(bus.asked)
    assert await seen(desk) == (["new"], False)
    lists = [call for call in bus.asked[before:] if call.member == "GetChildren" and call.path != "/w"]
    assert len(lists) == 1  # one look


async def test_a_dialog_that_closes_during_a_check_leaves_the_window_behind_it_whole() -> None:
    main, dialog = frame("main", "old"), frame("dialog", "OK", "/d", "dialog")
    bus = FakeBus(main, dialog)
    desk, screen = await desk_of(bus)
    screen.put("main")
    screen.put("dialog", "dialog")
    assert await seen(desk) == (["OK"], False)
    dialog.children[0].name = "Done"  # nobody said so: the check heals
    answer = bus.post

    def close_at_its_name(call: Any, answered: Any) -> int:
        if call.path == "/d/1" and dialog in bus.root.children:
            bus.root.children.remove(dialog)
            screen.close()
        return int(answer(call, answered))

    bus.post = close_at_its_name  # type: ignore[method-assign]
    assert await seen(desk, check=True) == (["old"], False)


async def test_what_is_in_front_by_turns_is_told_as_partial() -> None:
    bus = FakeBus(frame("main", "old"), frame("dialog", "OK", "/d", "dialog"))
    desk, screen = await desk_of(bus)
    screen.put("main")
    screen.put("dialog", "dialog")
    await seen(desk)
    answer = bus.post

    def swap_at_each_look(call: Any, answered: Any) -> int:
        if call.member == "GetChildren" and call.path == bus.root.path:
            screen.front = 3 - (screen.front or 0)
        return int(answer(call, answered))

    bus.post = swap_at_each_look  # type: ignore[method-assign]
    assert (await seen(desk))[1]


async def test_of_windows_with_one_title_only_the_one_in_front_is_read() -> None:
    windows = [
        Thing(f"/{number}", role="frame", name="same", extents=(0, 0, 100, 100)).add(
            *(Thing(f"/{number}/{each}", name="x", role="label") for each in range(20))
        )
        for number in range(4)
    ]
    bus = FakeBus(windows[0])
    desk, screen = await desk_of(bus, node_limit=60)
    screen.put("same")
    for window in windows[1:]:
        bus.root.add(window)
        screen.put("same")
        await seen(desk)
        assert not (await seen(desk))[1]
    assert len(desk.tree.behind) == 3


async def test_a_main_window_that_has_the_role_of_a_list_is_no_popup_of_a_dialog() -> None:
    main, dialog = frame("main", "old", role="window"), frame("dialog", "OK", "/d", "dialog")
    popup = frame("", "Choice", "/p", "window")
    bus = FakeBus(main, dialog, popup, toolkit="Qt", version="5.15")
    desk, screen = await desk_of(bus)
    screen.put("main")
    screen.put("dialog", "dialog")
    screen.put("", "popup")
    assert await seen(desk) == (["OK", "Choice"], False)
