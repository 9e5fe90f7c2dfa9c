"""Windows behind the one in front cost nothing, and are current again once they come forward."""

from __future__ import annotations

import asyncio

from fake_bus import Thing
from hypothesis import given
from hypothesis import strategies as st
from puppeteer import Puppeteer, an_application, everything, expected, mirrored, naive, open_tree

from screensearch.domain.screen import Box


@given(st.data())
def test_windows_in_front_are_current_and_those_behind_once_they_come_forward(data: st.DataObject) -> None:
    async def scenario() -> None:
        bus = an_application()
        bus.root.add(Thing("/d", role="dialog", name="behind", extents=(0, 0, 50, 50)).add(Thing("/d/ok")))
        tree = await open_tree(bus)
        hand = Puppeteer(bus, data)
        for _ in range(data.draw(st.integers(1, 5), label="observations")):
            for _ in range(data.draw(st.integers(0, 5), label="changes")):
                hand.act()
            await bus.arrived()
            behind = data.draw(st.sets(st.sampled_from([each.key for each in tree.windows()] or [("", "")])))
            assert not (await tree.refresh(hand.damage, behind=frozenset(behind))).partial
            hand.damage.clear()
            hidden = {path for _, path in behind}
            seen = [
                each for window in tree.windows() if window.key not in behind for each in mirrored(window)
            ]
            assert seen == expected(bus, without=hidden)
            assert (await tree.check()).mismatches == 0
        await tree.refresh()
        assert everything(tree) == expected(bus)

    asyncio.run(scenario())


async def test_nothing_is_asked_about_what_is_in_a_window_behind() -> None:
    bus = an_application()
    crowd = Thing("/d", role="dialog", name="behind", extents=(0, 0, 100, 100))
    bus.root.add(crowd.add(*(Thing(f"/d/{number}", role="table cell", name="x") for number in range(50))))
    tree = await open_tree(bus)
    behind = frozenset(each.key for each in tree.windows() if each.path == "/d")
    for cell in crowd.children:
        cell.name = "y"
        bus.tell(cell, "PropertyChange", "accessible-name", 0, "y")
    await bus.arrived()
    assert (await tree.refresh([Box(0, 0, 100, 100)], behind=behind)).calls < 30
    assert (await tree.refresh(behind=behind)).calls <= 5
    assert (await tree.refresh()).calls > 50
    assert everything(tree) == expected(bus)


async def test_what_is_in_a_window_that_moved_while_it_was_behind_is_where_it_is_now() -> None:
    bus = an_application()
    tree = await open_tree(bus)
    behind = frozenset(each.key for each in tree.windows())
    for thing in bus.root.children[0].below():
        x, y, width, height = thing.extents
        thing.extents = (x + 7, y + 9, width, height)
    await tree.refresh(behind=behind)  # nobody said so
    await tree.refresh()
    assert everything(tree) == expected(bus)


async def test_windows_behind_make_room_for_the_one_in_front() -> None:
    bus = an_application()
    tree = await open_tree(bus, node_limit=40)
    for number in range(4):  # more than there is room for, were all of them kept
        window = Thing(f"/{number}", role="frame", name=str(number), extents=(0, 0, 100, 100))
        bus.root.add(window.add(*(Thing(f"/{number}/{each}") for each in range(20))))
        behind = frozenset(each.key for each in tree.windows())
        await tree.refresh(behind=behind)
        assert not (await tree.refresh(behind=behind)).partial
        assert mirrored(tree.windows()[-1]) == naive(window)
    back = tree.windows()[0]
    assert not (await tree.refresh(behind=frozenset(each.key for each in tree.windows()[1:]))).partial
    assert mirrored(back) == naive(bus.root.children[0])
