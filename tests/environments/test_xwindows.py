"""The table of windows against a server that is made up: what events and answers say, in any order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from screensearch.environments.desktop.xwindows import ATOMS, WindowTable

ROOT, FRAME, WINDOW = 1, 6, 7
UNMAPPED, UNVIEWABLE, VIEWABLE = 0, 1, 2


class Requests:
    """The core requests, each an answer that is computed when it is read."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def QueryTree(self, window: int) -> Any:
        top = FRAME if self.server.managed else WINDOW
        parent = ROOT if window == top else FRAME
        return SimpleNamespace(children=[top] if window == ROOT else [], parent=parent)

    def GetWindowAttributes(self, window: int) -> Any:
        state = self.server.map_state if window == WINDOW else self.server.frame_state
        return SimpleNamespace(map_state=state, _class=1, override_redirect=0)

    def GetGeometry(self, window: int) -> Any:
        return SimpleNamespace(width=100, height=50)

    def TranslateCoordinates(self, window: int, *_: int) -> Any:
        return SimpleNamespace(dst_x=self.server.x, dst_y=20)


class Server:
    """One window. `meanwhile` happens after the answers of a batch are computed, before they are read."""

    def __init__(self) -> None:
        self.root = ROOT
        self.core: Any = Requests(self)
        self.atoms: Mapping[str, int] = {name: number for number, name in enumerate(ATOMS, 100)}
        self.map_state, self.title, self.x = VIEWABLE, b"before", 10
        self.meanwhile: Callable[[], None] = lambda: None
        self.asked = 0
        self.managed, self.frame_state = False, VIEWABLE
        self.watched: set[int] = set()
        self.processes: list[int] = []  # as the server knows them

    def replies(self, cookies: Sequence[Any]) -> list[Any]:
        self.asked += len(cookies)
        happening, self.meanwhile = self.meanwhile, lambda: None
        happening()
        return list(cookies)

    def property(self, window: int, name: str) -> Any:
        content, size = b"", 8
        if window == ROOT and self.managed:
            content, size = struct.pack("=I", WINDOW), 32
        elif window == WINDOW and name == "_NET_WM_PID":
            content, size = struct.pack("=I", 42), 32
        elif window == WINDOW:
            content = {"_NET_WM_NAME": self.title, "WM_CLASS": b"a\0B\0"}.get(name, b"")
        value = SimpleNamespace(buf=lambda: content)
        return SimpleNamespace(
            type=len(content), format=size, value_len=len(content) * 8 // size, value=value
        )

    def process_of(self, window: int) -> Any:
        return SimpleNamespace(ids=[SimpleNamespace(value=[pid]) for pid in self.processes])

    def watch(self, window: int) -> None:
        self.watched.add(window)


def test_nothing_is_asked_twice_while_nothing_changes() -> None:
    server = Server()
    table = WindowTable(server, (800, 600))
    (window,) = table.listing()
    assert (window.id, window.title, window.wm_class, window.pid, window.kind) == (
        7,
        "before",
        "B",
        42,
        "normal",
    )
    asked = server.asked
    assert table.listing() == [window]
    assert server.asked == asked


def test_a_window_that_is_mapped_while_its_attributes_are_awaited_is_not_overlooked_for_good() -> None:
    server = Server()
    table = WindowTable(server, (800, 600))
    server.map_state = UNMAPPED

    def first_batch() -> None:
        server.meanwhile = second_batch

    def second_batch() -> None:  # the answer about the attributes is older than this event
        server.map_state = VIEWABLE
        table.changed_visibility(WINDOW)

    server.meanwhile = first_batch
    assert table.listing() == []
    assert [window.id for window in table.listing()] == [WINDOW]


def test_a_managed_window_shows_as_soon_as_its_frame_is_mapped() -> None:
    server = Server()
    server.managed, server.map_state, server.frame_state = True, UNVIEWABLE, UNMAPPED
    table = WindowTable(server, (800, 600))
    assert table.listing() == []
    server.map_state, server.frame_state = VIEWABLE, VIEWABLE
    table.changed_visibility(FRAME)  # an event about the frame is all there is
    assert [window.id for window in table.listing()] == [WINDOW]


def test_a_managed_window_that_is_mapped_within_its_frame_while_it_is_read_is_not_overlooked() -> None:
    for batches in range(6):
        server = Server()
        server.managed, server.map_state = True, UNMAPPED
        table = WindowTable(server, (800, 600))

        def after(left: int, server: Server = server, table: WindowTable = table) -> None:
            if left:
                server.meanwhile = lambda: after(left - 1, server, table)
            else:
                server.map_state = VIEWABLE
                if WINDOW in server.watched:  # the server tells only those who watch
                    table.changed_visibility(WINDOW)

        after(batches)
        table.listing()
        table.changed_list()
        assert [window.id for window in table.listing()] == [WINDOW], batches


def test_a_title_and_a_place_that_change_while_they_are_awaited_are_read_again() -> None:
    server = Server()
    table = WindowTable(server, (800, 600))

    def rename_and_move() -> None:
        server.title, server.x = b"after", 30
        table.changed_properties(WINDOW)
        table.changed_place()

    def after(batches: int) -> None:
        if batches:
            server.meanwhile = lambda: after(batches - 1)
        else:
            rename_and_move()

    for batches in range(1, 4):
        server.title, server.x = b"before", 10
        table.changed_properties(WINDOW)
        table.changed_visibility(WINDOW)
        table.changed_place()
        after(batches)
        table.listing()
        (window,) = table.listing()
        assert (window.title, window.box.x) == ("after", 30), batches


def test_a_window_beside_the_screen_is_not_listed() -> None:
    server = Server()
    table = WindowTable(server, (800, 600))
    server.x = -100
    assert table.listing() == []
    server.x = -99
    table.changed_place()
    assert [window.id for window in table.listing()] == [WINDOW]


def test_the_server_knows_better_than_the_window_whose_it_is() -> None:
    server = Server()
    server.processes = [77]
    assert [window.pid for window in WindowTable(server, (800, 600)).listing()] == [77]
    server.processes = [0]  # of another machine, or out of another namespace
    assert [window.pid for window in WindowTable(server, (800, 600)).listing()] == [42]
