"""Which window takes the input."""

from __future__ import annotations

from dataclasses import replace

from screensearch.domain.screen import Box
from screensearch.environments.desktop.atspi import State
from screensearch.environments.desktop.display import XWindow
from screensearch.environments.desktop.node import AppRoot, Node
from screensearch.environments.desktop.scene import popups_of, scene, shared, top_level_of

SCREEN = Box(0, 0, 640, 480)


def window(
    number: int,
    kind: str = "normal",
    *,
    title: str = "",
    pid: int | None = 7,
    box: Box = SCREEN,
    override_redirect: bool = False,
) -> XWindow:
    return XWindow(
        id=number,
        box=box,
        raw_box=box,
        title=title,
        pid=pid,
        kind=kind,
        wm_class="app",
        override_redirect=override_redirect,
        transient_for=None,
        modal=False,
    )


def node(
    path: str, role: str = "frame", *, name: str = "", bus_name: str = ":1.1", box: Box = SCREEN
) -> Node:
    return Node(bus_name, path, role=role, name=name, box=box, application=AppRoot(bus_name, "/root", pid=7))


def test_the_active_window_is_in_front_whatever_lies_above_it() -> None:
    seen = scene([window(1), window(2)], active=1)
    assert seen is not None
    assert seen.front.id == 1


def test_without_an_active_window_the_topmost_is_in_front() -> None:
    seen = scene([window(1), window(2)], active=None)
    assert seen is not None
    assert seen.front.id == 2


def test_an_open_menu_takes_the_input_from_its_window() -> None:
    menu = window(3, "menu", box=Box(10, 30, 80, 200), override_redirect=True)
    seen = scene([window(1), menu], active=1)
    assert seen is not None
    assert (seen.window.id, seen.front.id) == (1, 3)


def test_a_tooltip_and_a_speck_take_nothing() -> None:
    tip = window(3, "tooltip", override_redirect=True)
    speck = window(4, "popup", box=Box(0, 0, 1, 1), override_redirect=True)
    seen = scene([window(1), tip, speck], active=1)
    assert seen is not None
    assert seen.popups == ()


def test_an_empty_screen_has_no_scene() -> None:
    assert scene([], active=None) is None


def test_a_window_is_found_on_the_bus_by_its_process_and_its_title() -> None:
    mine, other = node("/a", name="one"), node("/b", name="two")
    foreign = node("/c", name="two", bus_name=":1.9")
    processes = {":1.1": 7, ":1.9": 8}
    assert top_level_of(window(1, title="two"), [mine, foreign, other], processes) is other


def test_among_windows_of_one_title_the_nearest_is_taken() -> None:
    far, near = node("/a", box=Box(300, 300, 10, 10)), node("/b", box=Box(1, 1, 640, 480))
    assert top_level_of(window(1), [far, near], {":1.1": 7}) is near


def test_a_dialog_without_a_title_is_not_taken_for_the_window_that_still_claims_to_be_active() -> None:
    claims = replace(node("/a", name="Preferences"), states=State.ACTIVE)
    dialog = node("/b", "alert", box=Box(200, 300, 100, 50))
    untitled = window(1, "dialog", box=Box(200, 300, 100, 50))
    assert top_level_of(untitled, [claims, dialog], {":1.1": 7}) is dialog


def test_a_window_of_a_process_without_a_tree_has_no_accessible() -> None:
    assert top_level_of(window(1, pid=99), [node("/a")], {":1.1": 7}) is None


def test_popups_are_those_of_the_same_application_only() -> None:
    frame, menu = node("/a"), node("/b", "popup menu")
    foreign = node("/c", "popup menu", bus_name=":1.9")
    assert popups_of(frame, [frame, menu, foreign, node("/d", "dialog")], [], {}) == [menu]


def test_boxes_that_do_not_meet_share_nothing() -> None:
    assert shared(Box(0, 0, 10, 10), Box(20, 20, 5, 5)) == Box(20, 20, 0, 0)
    assert shared(Box(0, 0, 10, 10), Box(5, 5, 10, 10)) == Box(5, 5, 5, 5)
