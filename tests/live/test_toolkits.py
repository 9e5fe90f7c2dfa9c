"""Every toolkit is seen and driven alike: the same small form in each, through the public contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from screensearch.domain.action import Action
from screensearch.domain.screen import Box, Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.protocol import Environment, Means, Result
from screensearch.environments.specification import open_environment

APPS = Path(__file__).parent / "apps"
PYTHON = "/usr/bin/python3"  # the system's own, which the bindings of the toolkits are installed for
COLOURS = ("Red", "Green", "Blue")
WAITS = 10

FORMS = {
    "gtk3": (str(APPS / "trouble.py"), "inputs", "list"),
    "gtk4": (PYTHON, str(APPS / "gtk4_app.py")),
    "qt5": (PYTHON, str(APPS / "qt_app.py"), "5"),
    "qt6": (PYTHON, str(APPS / "qt_app.py"), "6"),
    "swing": ("java", str(APPS / "SwingApp.java")),
}


@dataclass
class Driver:
    """An application under test, with the latest observation of it."""

    name: str
    environment: Environment
    seen: Observation

    async def perform(self, template: str, element: Element | None = None, **arguments: str) -> Result:
        """One action that must come off."""
        result = await self.environment.perform(Action(f"{template}@1", element, tuple(arguments.items())))
        assert result.outcome is Outcome.OK, f"{template}: {result.outcome}, {result.note}\n{self}"
        assert result.observation is not None
        self.seen = result.observation
        return result

    async def until(self, holds: Callable[[], object]) -> None:
        """Waits for what an action leads to: beside much else a toolkit may answer before it has painted."""
        for _ in range(WAITS):
            if holds():
                return
            await self.perform("wait")
        assert holds(), f"not after {WAITS} waits:\n{self}"

    async def window(self, *kinds: str) -> None:
        """Waits for a window of one of these kinds to be in front."""
        await self.until(lambda: self.seen.window.kind in kinds)

    def all(self, role: str, text: str | None = None) -> list[Element]:
        """What shows with a role, and with a text if one is given."""
        return [
            element for element in self.seen.elements if element.role == role and text in (None, element.text)
        ]

    def one(self, role: str, text: str | None = None) -> Element:
        """The only element with a role, and with a text if one is given."""
        found = self.all(role, text)
        assert len(found) == 1, f"{len(found)} elements with role {role!r} and text {text!r}:\n{self}"
        return found[0]

    def choice(self, text: str) -> Element:
        """What to click to choose an item of an open list; toolkits give it different roles."""
        found = [each for each in self.seen.elements if each.text == text and each.clickable and each.enabled]
        assert found, f"nothing to click with text {text!r}:\n{self}"
        return found[-1]

    def shows(self, text: str) -> bool:
        """Whether any element shows a text, as its name or as its content."""
        return any(text in (element.text, element.value) for element in self.seen.elements)

    def __str__(self) -> str:
        lines = [
            f"  {each.role} {each.text!r} value={each.value!r} {each.box} "
            f"{'clickable ' if each.clickable else ''}{'editable ' if each.editable else ''}"
            for each in self.seen.elements
        ]
        return "\n".join([f"{self.seen.window}", *lines])


@asynccontextmanager
async def driving(name: str, *command: str) -> AsyncIterator[Driver]:
    """The application, started; everything of it is gone afterwards."""
    means = Means(
        screenshots=False,
        app=AppSettings(name=name, command=command),
        desktop=DesktopSettings(start_seconds=20),
    )
    environment = open_environment(f"desktop:{name}", means)
    try:
        start = await environment.reset(1)
        yield Driver(name, environment, start.observation)
    finally:
        await environment.close()


def inside(inner: Box, outer: Box) -> bool:
    """Whether one box lies within another."""
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


async def a_form_is_seen_with_roles_texts_and_boxes(app: Driver) -> None:
    window = app.seen.window
    assert window.kind == "main"
    assert not app.seen.partial
    button = app.one("button", "Press me")
    assert button.clickable
    assert button.enabled
    assert button.box.width >= 20
    assert button.box.height >= 10
    assert inside(button.box, window.box), f"{button.box} is not inside {window.box}"
    assert app.one("menuitem", "File").clickable
    assert any(each.editable for each in app.all("edit"))
    assert app.one("checkbox", "Remember").clickable
    assert app.one("combobox").clickable
    rows = [each.text for each in app.seen.elements if each.text in ("Alpha", "Beta", "Apple", "Banana")]
    assert len(set(rows)) == 2


async def a_click_on_a_button_changes_the_label(app: Driver) -> None:
    assert not app.shows("Pressed")
    await app.perform("focus_click", app.one("button", "Press me"))
    await app.until(lambda: app.all("text", "Pressed"))
    assert app.one("text", "Pressed")


async def a_check_box_says_that_it_is_checked(app: Driver) -> None:
    assert not app.one("checkbox", "Remember").checked
    await app.perform("focus_click", app.one("checkbox", "Remember"))
    await app.until(lambda: app.one("checkbox", "Remember").checked)
    await app.perform("focus_click", app.one("checkbox", "Remember"))
    await app.until(lambda: not app.one("checkbox", "Remember").checked)


async def typed_text_shows_in_the_entry(app: Driver) -> None:
    entry = next(each for each in app.all("edit") if each.editable and not each.secret)
    assert entry.value == ""
    await app.perform("focus_type", entry, text="Hello, World 1")
    await app.until(lambda: [each.value for each in app.all("edit") if each.value] == ["Hello, World 1"])


async def a_menu_opens_shows_its_items_and_closes(app: Driver) -> None:
    assert not app.shows("Open…")
    await app.perform("focus_click", app.one("menuitem", "File"))
    await app.until(lambda: app.seen.window.kind == "menu" and app.all("menuitem", "Open…"))
    item = app.one("menuitem", "Open…")
    assert item.clickable
    assert item.box.y > app.one("menuitem", "File").box.y
    await app.perform("key", key="Escape")
    await app.perform("key", key="Escape")  # some only leave the item with the first
    await app.window("main")
    await app.until(lambda: not app.shows("Open…"))


async def a_menu_item_opens_a_dialog_that_can_be_closed(app: Driver) -> None:
    menu = "Help" if app.name == "gtk3" else "File"
    await app.perform("focus_click", app.one("menuitem", menu))
    await app.until(lambda: app.all("menuitem", "About"))
    await app.perform("focus_click", app.one("menuitem", "About"))
    await app.window("dialog")
    closing = next(each for each in app.all("button") if each.text in ("OK", "Close") and each.clickable)
    await app.perform("focus_click", closing)
    await app.window("main")
    assert app.one("button", "Press me")


async def an_item_of_a_combo_box_can_be_chosen(app: Driver) -> None:
    assert not app.shows("Green")
    await app.perform("focus_click", app.one("combobox"))
    await app.window("menu", "popup")
    await app.until(lambda: all(app.shows(colour) for colour in COLOURS))
    await app.perform("focus_click", app.choice("Green"))
    await app.window("main")
    await app.until(lambda: not app.shows("Blue"))
    box = app.one("combobox").box
    chosen = [each for each in app.seen.elements if "Green" in (each.text, each.value)]
    assert any(inside(each.box, box) for each in chosen), f"{box} does not show it:\n{app}"


CHECKS = (
    a_form_is_seen_with_roles_texts_and_boxes,
    a_click_on_a_button_changes_the_label,
    a_check_box_says_that_it_is_checked,
    typed_text_shows_in_the_entry,
    a_menu_opens_shows_its_items_and_closes,
    a_menu_item_opens_a_dialog_that_can_be_closed,
    an_item_of_a_combo_box_can_be_chosen,
)
"""In this order: each leaves the window as the next one needs it."""


@pytest.mark.parametrize("toolkit", FORMS)
async def test_a_form_is_seen_and_driven_as_in_every_toolkit(toolkit: str) -> None:
    async with driving(toolkit, *FORMS[toolkit]) as app:  # one desktop for all: it takes long to come up
        for check in CHECKS:
            await check(app)


async def test_libreoffice_is_seen_and_its_menus_open() -> None:
    command = ("soffice", "--writer", "--norestore", "--nologo", "--nofirststartwizard")
    async with driving("writer", *command) as app:
        assert app.seen.window.kind == "main"
        assert "LibreOffice Writer" in app.seen.window.title
        assert app.all("document")
        await app.perform("focus_click", app.one("menuitem", "Help"))
        await app.window("menu")
        about = next(each for each in app.all("menuitem") if each.text.startswith("About LibreOffice"))
        await app.perform("focus_click", about)
        await app.window("dialog")
        await app.perform("key", key="Escape")
        await app.window("main")
