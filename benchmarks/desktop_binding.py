"""The baseline of `desktop.py`: a full walk with the standard libatspi binding for Python.

It runs with the system's Python inside the sandbox of the application, as one process for the whole
episode, and walks when told to: a line with the name of a walk comes in, a line of JSON goes out.

The walk is the ordinary one. Depth first through every application on the accessibility bus; for every
node the state set, then the role, the name, the extents on the screen, the text, then the children one
after the other by their index. The walks differ in what they leave out:

``whole``   nothing but those cells of big tables that are not on the screen.
``pruned``  what does not show: a node without the states `visible` and `showing` (GTK 4 never sets
            `showing`, so there `visible` alone) and all below it. Of tables with more than `BIG_TABLE`
            children only the cells between the cell in the upper left and the one in the lower right
            corner, since a spreadsheet claims 2,147,483,647 of them.
``cached``  the same nodes as `pruned`, with the binding's own cache turned on. It asks less, and may
            answer from the past: it is here to be fair, not to be equal.

The time of a walk is taken here, from the first call to the last answer; writing JSON is not in it.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import gi  # type: ignore[import-not-found]  # the system's Python has it, the project's does not

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # type: ignore[import-not-found]  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)  # of the interface getters: there is no other way

BIG_TABLE = 1_000  # children
LONGEST_TEXT = 200  # characters
DEEPEST = 100  # levels
SCREEN = Atspi.CoordType.SCREEN
STATES = {
    "checked": Atspi.StateType.CHECKED,
    "enabled": Atspi.StateType.SENSITIVE,
    "focused": Atspi.StateType.FOCUSED,
    "editable": Atspi.StateType.EDITABLE,
}


class Walk:
    """One walk: what was found, how many nodes were asked, and how many went away while being asked."""

    def __init__(self, *, pruned: bool) -> None:
        self._pruned = pruned
        self._never_shows = False
        self._found: list[dict[str, Any]] = []
        self._asked = 0
        self._gone = 0

    def run(self) -> dict[str, Any]:
        begun = time.perf_counter()
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            if application is not None:
                self._application(application)
        return {
            "seconds": time.perf_counter() - begun,
            "asked": self._asked,
            "gone": self._gone,
            "elements": self._found,
        }

    def _application(self, application: Any) -> None:
        try:
            toolkit = f"{application.get_toolkit_name()} {application.get_toolkit_version()}".lower()
            self._never_shows = toolkit.startswith("gtk 4")
            for index in range(application.get_child_count()):
                window = application.get_child_at_index(index)
                if window is not None:
                    self._node(window, None, 0)
        except GLib.Error:
            self._gone += 1

    def _node(self, node: Any, parent: int | None, depth: int) -> None:
        self._asked += 1
        try:
            states = node.get_state_set()
            shows = states.contains(Atspi.StateType.VISIBLE) and (
                self._never_shows or states.contains(Atspi.StateType.SHOWING)
            )
            if not shows and self._pruned:
                return
            self._found.append({**describe(node, states), "parent": parent, "shows": shows})
            place = len(self._found) - 1
            if depth >= DEEPEST:
                return
            count = node.get_child_count()
            if count > BIG_TABLE:
                self._cells(node, place, depth)
                return
            for index in range(count):
                child = node.get_child_at_index(index)
                if child is not None:
                    self._node(child, place, depth + 1)
        except GLib.Error:
            self._gone += 1  # a node may go away between two questions

    def _cells(self, node: Any, place: int, depth: int) -> None:
        """The cells of a table between those in its upper left and its lower right corner."""
        table, component = node.get_table_iface(), node.get_component_iface()
        if table is None or component is None:
            return
        box = component.get_extents(SCREEN)
        first = component.get_accessible_at_point(box.x + 2, box.y + 2, SCREEN)
        last = component.get_accessible_at_point(box.x + box.width - 2, box.y + box.height - 2, SCREEN)
        if first is None or last is None:
            return
        start, end = first.get_index_in_parent(), last.get_index_in_parent()
        for row in range(table.get_row_at_index(start), table.get_row_at_index(end) + 1):
            for column in range(table.get_column_at_index(start), table.get_column_at_index(end) + 1):
                cell = table.get_accessible_at(row, column)
                if cell is not None:
                    self._node(cell, place, depth + 1)


def describe(node: Any, states: Any) -> dict[str, Any]:
    """What a walker asks of an element."""
    component, text = node.get_component_iface(), node.get_text_iface()
    box = None if component is None else component.get_extents(SCREEN)
    return {
        "handle": f"{node.app.bus_name}{node.path}",
        "role": node.get_role_name(),
        "name": node.get_name(),
        "text": "" if text is None else Atspi.Text.get_text(text, 0, min(LONGEST_TEXT, length(text))),
        "box": None if box is None else [box.x, box.y, box.width, box.height],
        "states": [name for name, state in STATES.items() if states.contains(state)],
    }


def length(text: Any) -> int:
    count: int = Atspi.Text.get_character_count(text)
    return count


def answer(kind: str) -> None:
    found = Walk(pruned=kind != "whole").run()
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def serve_cached() -> None:
    """Walk inside the binding's main loop: only there does it trust its own cache."""

    def asked(channel: Any, _condition: Any) -> bool:
        kind = sys.stdin.readline().strip()
        if not kind:
            Atspi.event_quit()
            return False
        answer(kind)
        return True

    listener = Atspi.EventListener.new(lambda _event: None)
    for kind in ("object:children-changed", "object:state-changed", "object:property-change"):
        listener.register(kind)  # or applications would not send what keeps the cache true
    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, asked)
    Atspi.event_main()


def main() -> None:
    Atspi.init()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if "cached" in sys.argv[1:]:
        serve_cached()
        return
    for line in sys.stdin:
        answer(line.strip())


if __name__ == "__main__":
    main()
