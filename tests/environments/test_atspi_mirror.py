"""The mirror, kept by events and damage, equals what a naive reading of the application gives."""

from __future__ import annotations

import asyncio

from fake_bus import SHOWN, FakeBus, Thing
from hypothesis import given
from hypothesis import strategies as st
from puppeteer import Puppeteer, an_application, everything, expected, open_tree

from screensearch.domain.screen import Box
from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Interface, State
from screensearch.environments.desktop.bus import Signal
from screensearch.environments.desktop.cells import visible_area
from screensearch.environments.desktop.node import Node


@given(st.data())
def test_after_any_sequence_of_changes_a_refresh_gives_what_a_naive_reading_gives(
    data: st.DataObject,
) -> None:
    async def scenario() -> None:
        bus = an_application()
        tree = await open_tree(bus)
        hand = Puppeteer(bus, data)
        for _ in range(data.draw(st.integers(1, 4), label="observations")):
            for _ in range(data.draw(st.integers(0, 5), label="changes")):
                hand.act()
            await bus.arrived()
            refresh = await tree.refresh(hand.damage)
            hand.damage.clear()
            assert not refresh.partial
            assert everything(tree) == expected(bus)
        assert (await tree.check()).mismatches == 0

    asyncio.run(scenario())


@given(st.data())
def test_changes_while_a_refresh_reads_are_in_the_next_one(data: st.DataObject) -> None:
    async def scenario() -> None:
        bus = an_application()
        tree = await open_tree(bus)
        hand = Puppeteer(bus, data)
        hand.act()
        reading = asyncio.ensure_future(tree.refresh(hand.damage))
        for _ in range(data.draw(st.integers(1, 6), label="turns of the loop")):
            await asyncio.sleep(0)
            hand.act()
        await reading
        await bus.arrived()
        await tree.refresh(hand.damage)
        assert everything(tree) == expected(bus)

    asyncio.run(scenario())


async def test_a_quiet_refresh_asks_little_and_a_walk_asks_for_everything() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    assert (await tree.refresh()).calls <= 3  # the windows, their state, their place
    assert (await tree.walk()).calls > 20


async def test_a_menu_that_opens_again_shows_its_items_as_they_are_now() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    items = [each for each in bus.root.below() if each.role == "menu item"]
    for round_ in range(3):
        for shown in (True, False):
            for item in items:
                item.states = SHOWN if shown else State.VISIBLE
                item.extents = (0, 10 * round_, 10, 10)
                bus.tell(item, "StateChanged", "showing", int(shown))
            await bus.arrived()
            await tree.refresh()
            assert everything(tree) == expected(bus)


async def test_a_mismatch_is_counted_named_and_healed() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    next(each for each in bus.root.below() if each.path == "/w/file").name = "Datei"
    await tree.refresh()  # nobody said so
    check = await tree.check()
    assert check.mismatches == 1
    assert "Datei" in check.differences[0]
    assert tree.counts.mismatches == 1
    assert everything(tree) == expected(bus)
    assert (await tree.check()).mismatches == 0


async def test_what_could_not_be_read_in_time_is_read_once_the_application_answers_again() -> None:
    bus = an_application()
    tree = await open_tree(bus, hang_seconds=0.05, walk_seconds=0.05)
    edit = next(each for each in bus.root.below() if each.path == "/w/edit")
    edit.text, edit.silent = "late", True
    bus.tell(edit, "TextChanged", "insert", 0, "late")
    await bus.arrived()
    assert (await tree.refresh()).partial
    edit.silent = False
    assert not (await tree.refresh()).partial
    assert everything(tree) == expected(bus)


async def test_a_label_shows_its_text_only_while_it_has_no_name() -> None:
    label = Thing("/w/l", role="label", text="words", interfaces=Interface.COMPONENT | Interface.TEXT)
    bus = FakeBus(Thing("/w", role="frame", extents=(0, 0, 100, 100)).add(label))
    tree = await open_tree(bus)
    for name, text in (("", "words"), ("named", ""), ("", "words")):
        label.name = name
        bus.tell(label, "PropertyChange", "accessible-name", 0, name)
        await bus.arrived()
        await tree.refresh()
        (node,) = [each for each in tree.windows()[0].showing() if each.path == "/w/l"]
        assert (node.name, node.text, node.label) == (name, text, name or text)
        assert (await tree.check()).mismatches == 0


async def test_the_text_of_a_password_field_is_never_asked_for() -> None:
    secret = Thing("/w/secret", role="password text", text="hunter2")
    secret.interfaces |= Interface.TEXT
    bus = FakeBus(Thing("/w", role="frame", extents=(0, 0, 100, 100)).add(secret))
    tree = await open_tree(bus)
    bus.tell(secret, "TextChanged", "insert", 0, "hunter2")
    await bus.arrived()
    await tree.refresh([Box(0, 0, 100, 100)])
    assert "password text" in [node.role for node in tree.showing(tree.windows()[0])]
    assert not [call for call in bus.asked if call.path == "/w/secret" and call.member == "GetText"]


async def test_an_application_that_leaves_the_bus_is_not_listed_any_more() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    assert [(each.bus_name, each.pid, each.name) for each in tree.applications] == [(":1.5", 4242, "app")]
    for callback in bus._on_signal:
        callback(
            Signal(atspi.DAEMON, atspi.DAEMON_PATH, atspi.DAEMON, "NameOwnerChanged", [":1.5", ":1.5", ""])
        )
    assert tree.applications == []
    assert tree.windows() == []


async def test_an_event_that_says_nothing_new_is_no_activity() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    heard: list[tuple[str, str]] = []
    tree.on_activity(lambda source, kind: heard.append((source, kind)))
    menu = next(each for each in bus.root.below() if each.path == "/w/file")
    bus.tell(menu, "PropertyChange", "accessible-name", 0, "File")
    await bus.arrived()
    assert heard == []
    bus.tell(menu, "PropertyChange", "accessible-name", 0, "Datei")
    await bus.arrived()
    assert heard == [(":1.5/w/file", "PropertyChange")]


async def test_gtk4_shows_what_is_visible_and_counts_from_its_window() -> None:
    window = Thing("/w", role="frame", states=State.VISIBLE, extents=(0, 0, 50, 50))
    window.add(Thing("/w/a", states=State.VISIBLE), Thing("/w/b", states=0))
    bus = FakeBus(window, toolkit="GTK", version="4.8.3")
    tree = await open_tree(bus)
    assert [node.path for node in tree.showing(tree.windows()[0])] == ["/w", "/w/a"]
    assert all(node.relative for node in tree.showing(tree.windows()[0]))
    assert {call.body for call in bus.asked if call.member == "GetExtents"} == {(atspi.WINDOW_COORDINATES,)}


async def test_an_element_is_read_again_just_before_it_is_used() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    node = next(each for each in tree.windows()[0].showing() if each.path == "/w/edit")
    thing = next(each for each in bus.root.below() if each.path == "/w/edit")
    thing.extents = (7, 8, 9, 10)
    fresh = await tree.read_now(node)
    assert fresh is not None
    assert (fresh.box, fresh.key, fresh.shows) == (Box(7, 8, 9, 10), node.key, True)
    thing.parent.children.remove(thing)  # type: ignore[union-attr]
    assert await tree.read_now(node) is None


async def test_a_list_that_claimed_to_show_before_it_opened_is_read_again_when_it_says_so() -> None:
    items = [Thing(f"/w/c/l/{number}", role="list item", name=str(number)) for number in range(3)]
    choices = Thing("/w/c/l", role="list", extents=(0, 0, 0, 0))
    combo = Thing("/w/c", role="combo box").add(choices)
    bus = FakeBus(Thing("/w", role="frame", extents=(0, 0, 100, 100)).add(combo), toolkit="Qt", version="5")
    tree = await open_tree(bus)
    assert [row[0] for row in everything(tree)] == ["/w", "/w/c", "/w/c/l"]
    choices.extents = (0, 10, 50, 60)
    choices.add(*items)
    bus.tell(choices, "StateChanged", "showing", 1)
    await bus.arrived()
    await tree.refresh()
    assert everything(tree) == expected(bus)
    assert len(everything(tree)) == 6


async def test_a_popover_of_gtk4_is_read_again_wherever_pixels_changed() -> None:
    label = Thing("/w/b/p/l", role="label", name="Red", states=State.VISIBLE, extents=(5, 35, 30, 10))
    popover = Thing("/w/b/p", role="filler", states=State.VISIBLE, extents=(5, 30, 80, 60)).add(label)
    button = Thing("/w/b", role="push button", states=State.VISIBLE, extents=(5, 5, 20, 10)).add(popover)
    window = Thing("/w", role="frame", extents=(0, 0, 100, 100)).add(button)
    tree = await open_tree(bus := FakeBus(window, version="4.8"))
    tree.origin = lambda node: Box(200, 100, 100, 100)
    label.name = "Green"
    await tree.refresh([Box(260, 180, 20, 10)])  # nowhere near where the label says that it is
    (shown,) = tree.windows()
    assert [node.name for node in shown.showing() if node.role == "label"] == ["Green"]
    assert bus.calls > 0


def test_a_table_on_a_page_of_a_notebook_is_not_hidden_by_the_tab_that_it_is_below() -> None:
    notebook = Node(":1", "/n", role="page tab list", box=Box(0, 0, 300, 200))
    tab = Node(":1", "/n/1", role="page tab", box=Box(10, 0, 40, 20), parent=notebook)
    table = Node(":1", "/n/1/t", role="tree table", box=Box(0, 30, 280, 400), parent=tab)
    assert visible_area(table) == Box(0, 30, 280, 170)


def swing(*below: Thing) -> FakeBus:
    pane = Thing("/w/r", role="root pane", extents=(1, 20, 400, 300)).add(*below)
    frame = Thing("/w", role="frame", extents=(-1, -1, -1, -1)).add(pane)
    return FakeBus(frame, toolkit="J2SE-access-bridge", version="1.8")


async def test_a_frame_of_swing_is_where_its_content_is() -> None:
    bus = swing(Thing("/w/b", role="push button", name="Press"))
    tree = await open_tree(bus)
    (frame,) = tree.windows()
    assert frame.box == Box(1, 20, 400, 300)
    before = bus.calls
    await tree.refresh()
    assert bus.calls - before < 6  # it has not moved
    bus.root.children[0].children[0].extents = (11, 30, 400, 300)
    await tree.refresh()
    assert frame.box == Box(11, 30, 400, 300)
    assert (await tree.check()).mismatches == 0


async def test_visible_data_of_swing_means_a_new_text_and_is_no_activity() -> None:
    label = Thing("/w/l", role="label", name="Not yet")
    things = Thing("/w/t", role="list").add(Thing("/w/t/1", role="label", name="One"))
    bus = swing(label, things)
    tree = await open_tree(bus)
    heard: list[str] = []
    tree.on_activity(lambda source, kind: heard.append(kind))
    label.name = "Pressed"
    before = len(bus.asked)
    for each in (label, things):
        bus.tell(each, "VisibleDataChanged")
    await bus.arrived()
    await tree.refresh()
    assert "Pressed" in [row[2] for row in everything(tree)]
    assert not heard
    assert not [call for call in bus.asked[before:] if call.path == "/w/t" and call.member == "GetChildren"]


async def test_items_of_swing_that_have_two_parents_stay_below_the_popup() -> None:
    items = [Thing(f"/i/{number}", role="menu item", name=str(number)) for number in range(2)]
    menu = Thing("/w/m", role="menu", name="File").add(*items)
    popup = Thing("/w/p/m", role="popup menu", extents=(1, 20, 60, 40))  # says where it was opened from
    panel = Thing("/w/p", role="panel", extents=(1, 40, 60, 40)).add(popup)
    bus = swing(Thing("/w/bar", role="menu bar").add(menu))
    tree = await open_tree(bus)
    bus.root.children[0].children[0].children.insert(0, panel)
    popup.children = items
    for damage in ([Box(0, 0, 400, 400)], [Box(0, 0, 400, 400)]):
        await tree.refresh(damage)
        shown = {node.path: node for node in tree.windows()[0].showing()}
        assert shown["/w/p/m"].box == Box(1, 40, 60, 40)
        assert [node.parent.path for node in shown.values() if node.parent and "/i/" in node.path] == [
            "/w/p/m",
            "/w/p/m",
        ]
        assert (await tree.check()).mismatches == 0


async def test_java_is_asked_for_a_window_of_its_own_whether_it_answers() -> None:
    bus = swing()
    tree = await open_tree(bus)
    bus.root.children[0].silent = True  # the bridge itself goes on answering for the root
    assert not await tree.ping(FakeBus.NAME, seconds=0.05)
    bus.root.children[0].silent = False
    assert await tree.ping(FakeBus.NAME, seconds=5)


async def test_libreoffice_is_placed_by_its_shift_of_this_moment() -> None:
    """It counts without the menu bar until the pointer first comes in. Nothing on the screen changes then."""
    button = Thing("/w/h/r/b", role="push button", name="Bold", extents=(30, 60, 20, 10))
    top = Thing("/w/h/r", role="root pane", extents=(0, 19, 100, 75)).add(button)
    host = Thing("/w/h", role="panel", extents=(0, 44, 100, 75)).add(top)
    bus = FakeBus(Thing("/w", role="frame", extents=(0, 0, 100, 120)).add(host))
    bus.root.name = "soffice"
    tree = await open_tree(bus)

    def bold() -> Node:
        return next(node for node in tree.windows()[0].showing() if node.name == "Bold")

    assert bold().box == Box(30, 85, 20, 10)
    top.extents, button.extents = (0, 44, 100, 75), (30, 85, 20, 10)
    fresh = await tree.read_now(bold())
    assert fresh is not None
    assert fresh.box == Box(30, 85, 20, 10)
    await tree.refresh([Box(30, 85, 5, 5)])
    assert bold().box == Box(30, 85, 20, 10)
    assert (await tree.check()).mismatches == 0
