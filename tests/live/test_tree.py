"""The mirror of real applications, driven at random, equals a full walk after every step."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from screensearch.domain.screen import Box
from screensearch.environments.desktop.atspi import Interface
from screensearch.environments.desktop.bus import Bus
from screensearch.environments.desktop.display import Display
from screensearch.environments.desktop.node import Node
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.environments.desktop.settle import Quiet
from screensearch.environments.desktop.tree import Tree

if TYPE_CHECKING:
    from live.conftest import Start

SECONDS = 30.0
STEPS = 40

LEAVES = re.compile(
    r"quit|close|exit|detach|new window|new tab|full ?screen|help|about|contents|root|print", re.I
)
"""What would end the application or lead out of it."""


class Driver:
    """A desktop that is driven without an environment around it."""

    def __init__(self, session: Session, display: Display, tree: Tree) -> None:
        self.session, self.display, self.tree = session, display, tree
        self.quiet = Quiet(0.08)
        self.damage: list[Box] = []
        self.heard = 0
        display.on_activity(self._painted)
        tree.on_activity(self._hear)

    def _hear(self, source: str, kind: str) -> None:
        self.heard += 1
        self.quiet.note((source, kind))

    def _painted(self) -> None:
        self.damage += self.display.take_damage()
        self.quiet.note("pixels")

    async def settle(self) -> None:
        await self.display.sync()
        for application in self.tree.applications:
            await self.tree.ping(application.bus_name, seconds=SECONDS)
        await self.quiet.settle(2.0)

    async def refresh(self) -> None:
        damage, self.damage = self.damage, []
        await self.tree.refresh(damage)

    async def first_window(self) -> None:
        async with asyncio.timeout(SECONDS):
            while not self.tree.windows():
                await self.quiet.changed(0.5)
                await self.refresh()
        await self.settle()
        await self.refresh()

    def shown(self) -> list[Node]:
        windows = self.tree.windows()
        active = [window for window in windows if window.active] or windows
        return [node for window in active for node in self.tree.showing(window)]

    def step(self, dice: random.Random) -> str:
        """One random thing that a user might do."""
        self.quiet.begin()
        nodes = self.shown()
        able = [n for n in nodes if n.enabled and n.can(Interface.ACTION) and not LEAVES.search(n.label)]
        chance = dice.random()
        if chance < 0.6 and able:
            node = dice.choice(able)
            self.display.click(node.box.x + node.box.width / 2, node.box.y + node.box.height / 2)
            return f"click {node.role} {node.label!r}"
        if chance < 0.75:
            letter = dice.choice("abc12")
            self.display.type_text(letter)
            return f"type {letter}"
        if chance < 0.85:
            node = dice.choice(nodes)
            direction = dice.choice(("up", "down"))
            middle = node.box.x + node.box.width / 2, node.box.y + node.box.height / 2
            self.display.scroll(*middle, direction, 3)
            return f"scroll {direction} over {node.role}"
        key = dice.choice(("Tab", "Down", "Up", "Escape", "Escape"))
        self.display.press(key)
        return f"press {key}"


@asynccontextmanager
async def driven(session: Session) -> AsyncIterator[Driver]:
    display = await Display.connect(session.display_socket, seconds=SECONDS)
    bus = await Bus.connect(session.accessibility_bus, session.uid, seconds=SECONDS)
    try:
        driver = Driver(session, display, await Tree.open(bus, DesktopSettings()))
        await session.launch()
        await driver.first_window()
        yield driver
    finally:
        bus.close()
        display.close()


@pytest.mark.parametrize(("command", "seed"), [(("mousepad",), 3), (("thunar", "/usr/share/doc"), 4)])
async def test_the_mirror_equals_a_walk_after_every_random_step(
    start: Start, command: tuple[str, ...], seed: int
) -> None:
    async with driven(await start(*command)) as driver:
        dice, history = random.Random(seed), list[str]()
        compared = 0
        for _ in range(STEPS):
            history.append(driver.step(dice))
            await driver.settle()
            await driver.refresh()
            heard = driver.heard
            check = await driver.tree.check()
            if check.partial or driver.heard != heard:
                continue  # it was still changing while it was walked
            compared += 1
            assert check.differences == (), history[-3:]
        assert compared > STEPS // 2
        assert driver.tree.windows()


async def test_a_refresh_asks_a_fraction_of_what_a_walk_asks(start: Start) -> None:
    async with driven(await start("mousepad")) as driver:
        walk = await driver.tree.walk()
        driver.display.type_text("a")
        await driver.settle()
        damage, driver.damage = driver.damage, []
        refresh = await driver.tree.refresh(damage)
        assert refresh.calls * 2 < walk.calls
        (text,) = [node for node in driver.shown() if node.role == "text"]
        assert text.text == "a"


async def test_menus_dialogs_and_their_elements_come_and_go(start: Start) -> None:
    async with driven(await start("mousepad")) as driver:
        (menu,) = [node for node in driver.shown() if node.role == "menu" and node.name == "File"]
        driver.display.click(menu.box.x + 5, menu.box.y + 5)
        await driver.settle()
        await driver.refresh()
        items = [node.name for node in driver.shown() if node.role == "menu item"]
        assert any(name.startswith("Open") for name in items)
        driver.display.press("Escape")
        driver.display.press("ctrl+o")
        async with asyncio.timeout(SECONDS):
            while not any(window.role == "file chooser" for window in driver.tree.windows()):
                await driver.quiet.changed(0.5)
                await driver.refresh()
        await driver.settle()
        await driver.refresh()
        assert {"push button", "toggle button", "file chooser"} <= {node.role for node in driver.shown()}
        driver.display.press("Escape")
        async with asyncio.timeout(SECONDS):
            while any(window.role == "file chooser" for window in driver.tree.windows()):
                await driver.quiet.changed(0.5)
                await driver.refresh()


async def test_an_application_that_ends_leaves_the_tree(start: Start) -> None:
    async with driven(await start("mousepad")) as driver:
        assert [each.name for each in driver.tree.applications] == ["mousepad"]
        driver.display.press("ctrl+q")
        async with asyncio.timeout(SECONDS):
            while driver.tree.applications:
                await driver.quiet.changed(0.5)
        assert driver.tree.windows() == []
