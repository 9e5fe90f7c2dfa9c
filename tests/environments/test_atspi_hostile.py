"""An application that lies, says nothing, or talks nonsense neither hangs nor breaks the reading."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from fake_bus import FakeBus, Thing

from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call, Interface, State
from screensearch.environments.desktop.bus import Bus, CallFailed, Reply, Signal
from screensearch.environments.desktop.cells import place_named
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.environments.desktop.tree import Tree

BRIEFLY = 0.05  # seconds: for what is never answered


async def open_tree(bus: FakeBus, **settings: Any) -> Tree:
    return await Tree.open(cast(Bus, bus), DesktopSettings(**settings))


def paths(tree: Tree) -> list[str]:
    return [node.path for window in tree.windows() for node in tree.showing(window)]


def a_window(*children: Thing) -> Thing:
    return Thing("/w", role="frame", extents=(0, 0, 100, 100)).add(*children)


async def test_a_child_that_is_its_own_ancestor_is_left_out() -> None:
    inner = Thing("/w/a")
    bus = FakeBus(a_window(inner))
    bus.special["/w/a", "GetChildren"] = lambda _: [[(FakeBus.NAME, "/w"), (FakeBus.NAME, "/w/a")]]
    tree = await open_tree(bus)
    assert paths(tree) == ["/w", "/w/a"]
    bus.tell(inner, "ChildrenChanged", "add", 0, ("", "/w"))
    await bus.arrived()
    await tree.refresh()
    assert paths(tree) == ["/w", "/w/a"]


async def test_a_million_children_are_cut_at_the_limit_and_the_tree_is_partial() -> None:
    bus = FakeBus(a_window())
    bus.special["/w", "GetChildren"] = lambda _: [[(FakeBus.NAME, f"/c/{i}") for i in range(1_000_000)]]
    tree = await open_tree(bus, node_limit=50)
    assert len(tree._mirror.index) == 50
    assert (await tree.walk()).partial


async def test_a_chain_without_end_is_cut_at_the_depth_limit() -> None:
    bus = FakeBus(a_window())
    known = {"/w": 0}

    def endless(call: Call) -> list[Any]:
        below = f"/deep/{len(known)}"
        known[below] = len(known)
        thing = Thing(below)
        next(each for each in bus.root.below() if each.path == call.path).add(thing)
        bus.special[below, "GetChildren"] = endless
        return [[(FakeBus.NAME, below)]]

    bus.special["/w", "GetChildren"] = endless
    tree = await open_tree(bus, depth_limit=12)
    assert len(paths(tree)) == 12
    assert tree.counts.partial == 1


async def test_an_application_that_answers_nothing_makes_the_reading_partial_in_time() -> None:
    bus = FakeBus(a_window(Thing("/w/a", silent=True), Thing("/w/b")))
    tree = await open_tree(bus, hang_seconds=BRIEFLY, walk_seconds=BRIEFLY)
    assert (await tree.walk()).partial
    bus.tell(next(each for each in bus.root.below() if each.path == "/w"), "ChildrenChanged", "add")
    bus.root.children[0].silent = True
    await bus.arrived()
    assert (await tree.refresh()).partial
    assert await tree.ping(FakeBus.NAME, seconds=BRIEFLY)  # one silent element is no frozen application


class Crowd(FakeBus):
    """The application of `FakeBus`, and before it in the registry's list others, which may be silent."""

    def __init__(self, *windows: Thing, others: int) -> None:
        super().__init__(*windows)
        self.others = [f":1.{100 + number}" for number in range(others)]
        self.silent = set(self.others)
        self.met: set[str] = set()

    def answer(self, call: Call) -> Reply | None:
        if call.destination == atspi.REGISTRY:
            return [[(name, atspi.ROOT_PATH) for name in (*self.others, self.NAME)]]
        if call.destination in (*self.others, self.NAME) and call.member == "Get":
            self.met.add(call.destination)
        if call.destination not in self.others:
            return super().answer(call)
        if call.destination in self.silent:
            return None
        return [[]] if call.member == "GetChildren" else super().answer(call)


async def test_applications_that_do_not_answer_keep_nobody_else_from_being_read() -> None:
    bus = Crowd(a_window(Thing("/w/a")), others=30)
    tree = await open_tree(bus, hang_seconds=1.0, walk_seconds=1.0)
    assert paths(tree) == ["/w", "/w/a"]
    assert tree.counts.partial == 1
    assert {each.bus_name for each in tree.applications} == {*bus.others, FakeBus.NAME}
    snapshot = await tree.walk()
    assert snapshot.partial
    assert [node.path for node in snapshot.mirror.roots[FakeBus.NAME].children] == ["/w"]


async def test_applications_are_met_all_at_once() -> None:
    bus = Crowd(a_window(), others=5)
    tree = Tree(cast(Bus, bus), DesktopSettings(hang_seconds=600))
    refresh = asyncio.ensure_future(tree.refresh())
    for _ in range(100):  # turns, more than it takes; none of the others ever answers
        await bus.arrived()
    assert bus.met == {*bus.others, FakeBus.NAME}
    refresh.cancel()
    with pytest.raises(asyncio.CancelledError):
        await refresh


async def test_an_application_that_answers_late_is_asked_again_who_it_is() -> None:
    bus = Crowd(a_window(), others=1)
    tree = await open_tree(bus, hang_seconds=BRIEFLY, walk_seconds=BRIEFLY)
    assert [each.toolkit for each in tree.applications] == ["", "gtk"]
    bus.silent.clear()
    tree.settings = DesktopSettings()  # now there is time
    assert not (await tree.refresh()).partial
    assert [each.toolkit for each in tree.applications] == ["gtk", "gtk"]


async def test_an_application_that_introduces_itself_with_an_empty_answer_has_no_name() -> None:
    bus = FakeBus(a_window(Thing("/w/a")))
    bus.special[atspi.ROOT_PATH, "Get"] = lambda _: []
    tree = await open_tree(bus)
    assert [(each.name, each.toolkit) for each in tree.applications] == [("", "")]
    assert paths(tree) == ["/w", "/w/a"]


async def test_an_application_that_leaves_while_another_is_waited_for_is_not_listed() -> None:
    bus = Crowd(a_window(), others=1)
    tree = Tree(cast(Bus, bus), DesktopSettings(hang_seconds=BRIEFLY, walk_seconds=BRIEFLY))
    bus.on_signal(tree._receive)
    refresh = asyncio.ensure_future(tree.refresh())
    while FakeBus.NAME not in bus.met:
        await bus.arrived()
    body = [FakeBus.NAME, FakeBus.NAME, ""]
    bus._hear(Signal(atspi.DAEMON, atspi.DAEMON_PATH, atspi.DAEMON, "NameOwnerChanged", body))
    await refresh
    assert [each.bus_name for each in tree.applications] == bus.others


async def test_a_frozen_application_does_not_answer_a_ping() -> None:
    bus = FakeBus(a_window())
    tree = await open_tree(bus)
    assert await tree.ping(FakeBus.NAME, seconds=BRIEFLY)
    bus.root.silent = True
    assert not await tree.ping(FakeBus.NAME, seconds=BRIEFLY)


@pytest.mark.parametrize(
    ("member", "answer"),
    [
        ("GetState", ["states"]),
        ("GetState", [[]]),
        ("GetRole", ["button"]),
        ("GetRole", [123456]),
        ("GetRole", [-1]),
        ("GetExtents", [(1, 2)]),
        ("GetExtents", ["somewhere"]),
        ("GetExtents", [(-5, -5, -10, -10)]),
        ("GetChildren", [7]),
        ("GetChildren", [[("only one",)]]),
        ("GetInterfaces", [7]),
        ("Get", [None]),
        ("GetText", [3]),
    ],
)
async def test_answers_of_another_shape_cost_their_branch_and_nothing_else(
    member: str, answer: list[Any]
) -> None:
    odd = Thing("/w/odd", role="text", interfaces=Interface.COMPONENT | Interface.TEXT)
    bus = FakeBus(a_window(odd, Thing("/w/fine", name="fine")))
    bus.special["/w/odd", member] = lambda _: answer
    tree = await open_tree(bus)
    assert [path for path in paths(tree) if path != "/w/odd"] == ["/w", "/w/fine"]
    await tree.check()
    assert [path for path in paths(tree) if path != "/w/odd"] == ["/w", "/w/fine"]


@pytest.mark.parametrize(
    ("member", "answer"),
    [
        ("GetState", ["states"]),
        ("GetState", []),
        ("GetRole", ["button"]),
        ("GetExtents", [(1, 2)]),
        ("GetExtents", []),
    ],
)
async def test_an_element_that_answers_nonsense_when_it_is_aimed_at_is_gone(
    member: str, answer: list[Any]
) -> None:
    bus = FakeBus(a_window(Thing("/w/odd", role="push button", interfaces=Interface.COMPONENT)))
    tree = await open_tree(bus)
    (odd,) = (each for each in tree.windows()[0].showing() if each.path == "/w/odd")
    assert await tree.read_now(odd) is not None
    bus.special["/w/odd", member] = lambda _: answer
    assert await tree.read_now(odd) is None


@pytest.mark.parametrize(
    "body", [[], ["showing"], ["showing", "x", None], [1, 2, 3], [None, None, None, None]]
)
async def test_an_event_that_is_none_leads_to_a_walk(body: list[Any]) -> None:
    bus = FakeBus(a_window(Thing("/w/a", name="a")))
    tree = await open_tree(bus)
    next(each for each in bus.root.below() if each.path == "/w/a").name = "b"  # and nobody says so
    bus.tell_raw("/w", "ActiveDescendantChanged", body)
    await bus.arrived()
    await tree.refresh()
    assert [node.name for node in tree.showing(tree.windows()[0])] == ["", "b"]


async def test_a_table_of_two_thousand_million_cells_is_read_where_it_can_be_seen() -> None:
    table = Thing("/w/t", role="table", interfaces=Interface.COMPONENT | Interface.TABLE)
    table.states |= State.MANAGES_DESCENDANTS
    table.extents = (0, 0, 100, 60)
    bus = FakeBus(a_window(table))
    columns, height, width = 16384, 10, 25

    def at_point(call: Call) -> list[Any]:
        x, y, _ = call.body
        return [(FakeBus.NAME, f"/cell/{y // height}/{x // width}")]

    def cell(row: int, column: int) -> Thing:
        path = f"/cell/{row}/{column}"
        known = next((each for each in table.children if each.path == path), None)
        if known is None:
            known = Thing(path, role="table cell", name=f"{row},{column}")
            known.extents = (column * width, row * height, width, height)
            table.add(known)
            number = row * columns + column
            bus.special[path, "GetIndexInParent"] = lambda _: [number]
            bus.special[path, "GetChildren"] = lambda _: [[]]
        return known

    bus.special["/w/t", "GetAccessibleAtPoint"] = lambda call: (
        [(FakeBus.NAME, cell(call.body[1] // height, call.body[0] // width).path)]
    )
    bus.special["/w/t", "GetRowAtIndex"] = lambda call: [call.body[0] // columns]
    bus.special["/w/t", "GetColumnAtIndex"] = lambda call: [call.body[0] % columns]
    bus.special["/w/t", "GetAccessibleAt"] = lambda call: [(FakeBus.NAME, cell(*call.body).path)]
    heads = [Thing(f"/head/{number}", role="column header", name=f"head {number}") for number in range(4)]
    bus.special["/w/t", "GetColumnHeader"] = lambda call: [(FakeBus.NAME, f"/head/{call.body[0]}")]
    table.add(*heads)
    bus.special["/w/t", "Get"] = lambda call: [
        {"NRows": 1_048_576, "NColumns": columns, "Name": "", "ChildCount": 2**31 - 1}[call.body[1]]
    ]
    tree = await open_tree(bus)
    cells = [node for node in tree.windows()[0].showing() if node.role == "table cell"]
    assert [node.name for node in cells] == [f"{row},{column}" for row in range(6) for column in range(4)]
    shown = [node.name for node in tree.windows()[0].showing() if node.role == "column header"]
    assert shown == [head.name for head in heads]
    assert not [call for call in bus.asked if call.path == "/w/t" and call.member == "GetChildren"]


@pytest.mark.parametrize(
    ("name", "place"),
    [("A1", (0, 0)), ("B3", (2, 1)), ("Z10", (9, 25)), ("AA1", (0, 26)), ("XFD1048576", (1048575, 16383))],
)
def test_a_cell_of_a_sheet_tells_its_place_by_its_name(name: str, place: tuple[int, int]) -> None:
    assert place_named(name) == place


@pytest.mark.parametrize("name", ["", "A", "A0", "1A", "a1", "Sheet1.A1", "total"])
def test_what_is_no_name_of_a_cell_has_no_place(name: str) -> None:
    assert place_named(name) is None


async def test_a_huge_table_whose_cells_cannot_be_found_is_left_alone() -> None:
    table = Thing("/w/t", role="table", interfaces=Interface.COMPONENT | Interface.TABLE)
    table.states |= State.MANAGES_DESCENDANTS
    bus = FakeBus(a_window(table))
    bus.special["/w/t", "GetAccessibleAtPoint"] = lambda _: CallFailed("no")
    bus.special["/w/t", "Get"] = lambda call: [
        {"NRows": 1_048_576, "NColumns": 16384, "Name": "", "ChildCount": 2**31 - 1}[call.body[1]]
    ]
    tree = await open_tree(bus)
    assert paths(tree) == ["/w", "/w/t"]
    assert tree.counts.partial == 1
    assert bus.calls < 60
    asked = len([call for call in bus.asked if call.member == "GetAccessibleAtPoint"])
    assert (await tree.refresh()).partial  # it is asked again, without an event and without damage
    assert len([call for call in bus.asked if call.member == "GetAccessibleAtPoint"]) > asked


async def test_an_application_that_lists_the_same_child_twice_shows_it_once() -> None:
    bus = FakeBus(a_window(Thing("/w/a"), Thing("/w/b")))
    twice = [(FakeBus.NAME, "/w/a"), (FakeBus.NAME, "/w/a"), (FakeBus.NAME, atspi.NULL_PATH)]
    bus.special["/w", "GetChildren"] = lambda _: [twice]
    tree = await open_tree(bus)
    assert paths(tree) == ["/w", "/w/a"]
    await tree.refresh()
    assert paths(tree) == ["/w", "/w/a"]


async def test_a_tree_that_was_cut_stays_partial_until_there_is_room_for_all() -> None:
    crowd = Thing("/w/c").add(*(Thing(f"/w/c/{number}") for number in range(50)))
    bus = FakeBus(a_window(crowd))
    tree = await open_tree(bus, node_limit=20)
    assert (await tree.refresh()).partial
    assert (await tree.refresh()).partial  # nothing new was read, and still something is missing
    del crowd.children[10:]
    bus.tell(crowd, "ChildrenChanged", "remove")
    await bus.arrived()
    assert not (await tree.refresh()).partial
    assert len(paths(tree)) == 12


async def test_children_that_were_left_out_are_read_once_others_have_gone() -> None:
    crowd = Thing("/w/c").add(*(Thing(f"/w/c/{number}") for number in range(15)))
    others = Thing("/w/d").add(*(Thing(f"/w/d/{number}") for number in range(15)))
    bus = FakeBus(a_window(others, crowd))
    tree = await open_tree(bus, node_limit=25)
    assert (await tree.refresh()).partial
    others.children.clear()
    bus.tell(others, "ChildrenChanged", "remove")
    await bus.arrived()
    await tree.refresh()
    assert not (await tree.refresh()).partial
    assert len(paths(tree)) == 18


async def test_a_walk_that_runs_out_of_time_does_not_replace_what_was_known() -> None:
    window = a_window(Thing("/w/a"), Thing("/w/b"))
    bus = FakeBus(window)
    tree = await open_tree(bus, walk_seconds=0.1, hang_seconds=0.1)
    before = paths(tree)
    window.silent = True
    assert (await tree.refresh()).partial
    assert (await tree.refresh()).partial  # a walk, since the refresh before was late
    assert paths(tree) == before
    window.silent = False
    window.children[0].name = "new"
    assert not (await tree.refresh()).partial
    assert [node.name for node in tree.windows()[0].showing()] == ["", "new", ""]
