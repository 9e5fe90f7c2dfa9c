"""Accessible nodes become elements that can be seen and used."""

from __future__ import annotations

from collections.abc import Sequence

from screensearch.domain.roles import UnknownRoles
from screensearch.domain.screen import Box, Element
from screensearch.environments.desktop.atspi import Interface, State
from screensearch.environments.desktop.elements import Elements
from screensearch.environments.desktop.node import AppRoot, Node

WINDOW = Box(100, 100, 400, 300)
USABLE = State.ENABLED | State.SENSITIVE | State.SHOWING
APP = AppRoot(":1.1", "/root", name="app", pid=7)


def node(
    path: str,
    role: str,
    box: Box,
    parent: Node | None = None,
    *,
    name: str = "",
    text: str = "",
    states: int = USABLE,
    interfaces: int = 0,
    relative: bool = False,
) -> Node:
    return Node(
        ":1.1",
        path,
        role=role,
        name=name,
        text=text,
        states=states,
        interfaces=interfaces,
        box=box,
        parent=parent,
        relative=relative,
        application=APP,
    )


def made(
    nodes: Sequence[Node], *, popups: Sequence[Box] = (), popup: bool = False, owner: str | None = None
) -> list[Element]:
    elements = Elements("app", UnknownRoles())
    elements.add(nodes, WINDOW, owner=owner, popups=popups, popup=popup)
    return list(elements.finish())


def test_what_is_scrolled_out_of_sight_is_left_out_and_what_is_cut_shows_its_visible_part() -> None:
    frame = node("/f", "frame", WINDOW)
    pane = node("/p", "scroll pane", Box(100, 100, 400, 50), frame)
    cut = node("/c", "push button", Box(110, 140, 40, 20), pane, name="cut")
    hidden = node("/h", "push button", Box(110, 200, 40, 20), pane, name="hidden")
    elements = made([frame, pane, cut, hidden])
    assert [each.text for each in elements if each.role == "button"] == ["cut"]
    assert elements[-1].box == Box(110, 140, 40, 10)
    assert elements[-1].parent == 1


def test_a_field_is_called_one_thing_and_holds_another() -> None:
    frame = node("/f", "frame", WINDOW)
    states = USABLE | State.EDITABLE
    entry = node("/e", "entry", WINDOW, frame, name="Address", text="Elm Street", states=states)
    field = made([frame, entry])[1]
    assert (field.role, field.text, field.value, field.editable) == ("edit", "Address", "Elm Street", True)


def test_a_label_is_what_it_says() -> None:
    frame = node("/f", "frame", WINDOW)
    label = made([frame, node("/l", "label", WINDOW, frame, text="Hello")])[1]
    assert (label.role, label.text, label.value) == ("text", "Hello", "")


def test_a_password_field_is_secret() -> None:
    frame = node("/f", "frame", WINDOW)
    states = USABLE | State.EDITABLE
    secret = node("/e", "password text", WINDOW, frame, name="Password", states=states)
    assert made([frame, secret])[1].secret


def test_under_an_open_menu_only_its_items_and_the_menu_bar_can_be_clicked() -> None:
    frame = node("/f", "frame", WINDOW)
    button = node("/b", "push button", Box(110, 130, 100, 20), frame, name="under the menu")
    menu = node("/m", "menu", Box(100, 100, 40, 20), frame, name="File")
    item = node("/i", "menu item", Box(100, 120, 120, 20), menu, name="New")
    elements = made([frame, button, menu, item], popups=[Box(100, 120, 120, 200)])
    assert [each.text for each in elements if each.clickable] == ["File", "New"]


def test_a_menu_may_reach_beyond_its_window() -> None:
    frame = node("/f", "frame", WINDOW)
    menu = node("/m", "menu", Box(100, 100, 40, 20), frame, name="File")
    item = node("/i", "menu item", Box(20, 450, 60, 20), menu, name="far")
    elements = made([frame, menu, item], popups=[Box(0, 400, 120, 200)])
    assert elements[-1].text == "far"


def test_a_cell_takes_text_only_while_it_has_the_focus() -> None:
    frame = node("/f", "frame", WINDOW)
    cell = node("/a", "table cell", WINDOW, frame, interfaces=Interface.EDITABLE_TEXT)
    focused = node(
        "/b", "table cell", WINDOW, frame, states=USABLE | State.FOCUSED, interfaces=Interface.EDITABLE_TEXT
    )
    assert [each.editable for each in made([frame, cell, focused])] == [False, False, True]


def test_window_relative_boxes_are_moved_onto_the_screen() -> None:
    frame = node("/f", "frame", Box(0, 0, 400, 300), relative=True)
    button = node("/b", "push button", Box(10, 20, 30, 40), frame, relative=True)
    assert made([frame, button])[1].box == Box(110, 120, 30, 40)


def test_the_elements_of_another_program_say_whose_they_are() -> None:
    (element,) = made([node("/f", "frame", WINDOW)], owner="browser")
    assert (element.application, element.process) == ("browser", 7)


def test_an_element_without_area_is_left_out() -> None:
    assert made([node("/f", "frame", Box(0, 0, 0, 0))]) == []


def test_what_is_in_something_of_no_size_is_left_out_but_not_what_is_in_something_of_unknown_size() -> None:
    frame = node("/f", "frame", WINDOW, node("/a", "application", Box(0, 0, 0, 0)))
    pane = node("/p", "panel", WINDOW, frame)
    folded = node("/m", "menu bar", Box(100, 100, 0, 0), pane)
    twin = node("/t", "menu", Box(100, 100, 40, 20), folded, name="File")
    tab = node("/n", "page tab", Box(-1, -1, -1, -1), pane)
    page = node("/e", "text", WINDOW, tab, name="page")
    assert [each.text for each in made([frame, pane, twin, page]) if each.text] == ["page"]
