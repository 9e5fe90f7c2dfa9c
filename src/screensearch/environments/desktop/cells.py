"""The visible cells of a table, found by its corners: tables claim up to 2,147,483,647 children."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from screensearch.domain.screen import Box
from screensearch.environments.desktop import atspi
from screensearch.environments.desktop.atspi import Call, Interface
from screensearch.environments.desktop.bus import CallFailed, Reply, plain
from screensearch.environments.desktop.node import Key, Node

if TYPE_CHECKING:
    from screensearch.environments.desktop.walk import Reader

CROWDED_ROLES = frozenset(
    {"table", "tree", "tree table", "list", "list box", "layered pane", "document spreadsheet"}
)
CROWD = 400
"""An element of these roles with more children than that is read by its visible cells, if it has any."""

ROW_LIMIT = 200
COLUMN_LIMIT = 100
"""Rows and columns that are read at most, however small the cells claim to be."""

UNBOUNDED = 2000
"""Cells that are all read at most when the corners of what can be seen are not to be found."""

_OPENING = frozenset({"combo box", "menu", "menu item", "popup menu"})
"""Roles that lists hang on which open outside of them."""

_INSETS = (3, 14, 30, 46)
"""A head line or a margin hides the first row from the very corner: how much further in to look."""


def read_visible_cells(
    reader: Reader, table: Node, depth: int, *, deep: bool, unless_same: bool = False
) -> None:
    """Read the cells of a table that can be seen, and forget the others.

    `unless_same`: only if its corners or its size are not what they were.
    """
    area = visible_area(table)
    if area.width < 1 or area.height < 1:
        reader.read_adopted(table, (), depth, deep=deep)
        return
    cells = _Cells(reader, table, depth, deep, unless_same)
    cells.probe(0, [(area.x + 3, area.y + inset) for inset in _INSETS if inset < area.height])
    right, bottom = area.x + area.width, area.y + area.height
    cells.probe(1, [(right - 2 - inset, bottom - 2 - inset) for inset in (0, 6, 20) if inset < area.height])


@dataclass(slots=True)
class _Cells:
    """The search for the cells of one table: two corners, then the size, then all between."""

    reader: Reader
    table: Node
    depth: int
    deep: bool
    unless_same: bool
    corners: dict[int, tuple[int, int] | None] = field(default_factory=dict)  # row and column

    def ask(self, call: Call, then: Callable[[Reply], None]) -> None:
        self.reader.conversation.ask(call, then)

    def call(self, member: str, signature: str, body: tuple[int, ...]) -> Call:
        return Call(self.table.bus_name, self.table.path, atspi.TABLE, member, signature, body)

    def probe(self, corner: int, points: list[tuple[float, float]]) -> None:
        """Ask for the cell at the first of these points that has one."""
        if not points:
            self.found(corner, None)
            return
        (x, y), rest = points[0], points[1:]
        table, shift = self.table, self.table.shift
        if shift is not None:
            x, y = x - shift.x, y - shift.y
        coordinates = atspi.WINDOW_COORDINATES if table.relative else atspi.SCREEN_COORDINATES

        def answered(reply: Reply) -> None:
            path = "" if isinstance(reply, CallFailed) or not reply else reply[0][1]
            if path in ("", atspi.NULL_PATH, table.path):
                self.probe(corner, rest)
            else:
                self.locate(corner, path)

        point = (int(x), int(y), coordinates)
        self.ask(
            Call(table.bus_name, table.path, atspi.COMPONENT, "GetAccessibleAtPoint", "iiu", point), answered
        )

    def locate(self, corner: int, path: str) -> None:
        """Ask for row and column of a cell."""
        place: list[int] = []

        def know_place(reply: Reply) -> None:
            place.append(-1 if isinstance(reply, CallFailed) or not reply else reply[0])
            if len(place) == 2:
                row, column = place
                self.found(corner, (row, column) if row >= 0 and column >= 0 else None)

        def know_name(reply: Reply) -> None:
            name = "" if isinstance(reply, CallFailed) or not reply else plain(reply[0])
            self.found(corner, place_named(name))

        def know_index(reply: Reply) -> None:
            if isinstance(reply, CallFailed) or not reply:
                self.found(corner, None)
                return
            if reply[0] < 0 and self.table.is_sheet:  # no cell knows its number while one is being edited
                self.ask(atspi.get_property(self.table.bus_name, path, atspi.ACCESSIBLE, "Name"), know_name)
                return
            for member in ("GetRowAtIndex", "GetColumnAtIndex"):
                self.ask(self.call(member, "i", (reply[0],)), know_place)

        self.ask(Call(self.table.bus_name, path, atspi.ACCESSIBLE, "GetIndexInParent"), know_index)

    def found(self, corner: int, place: tuple[int, int] | None) -> None:
        """One corner is known; with both, ask for the table's size."""
        self.corners[corner] = place
        if len(self.corners) < 2:
            return
        size: list[int] = []

        def know_size(reply: Reply) -> None:
            size.append(0 if isinstance(reply, CallFailed) or not reply else plain(reply[0]))
            if len(size) == 2:
                self.read_range(size[0], size[1])

        for name in ("NRows", "NColumns"):
            self.ask(atspi.get_property(self.table.bus_name, self.table.path, atspi.TABLE, name), know_size)

    def read_range(self, rows: int, columns: int) -> None:
        """Read every cell between the corners; where one has no cell, up to the table's edge."""
        table, limit = self.table, self.reader.settings.node_limit
        if None in self.corners.values() and rows * columns > UNBOUNDED:
            # It cannot be told which of these can be seen. What was known of it stays as it is, and it
            # is asked again the next time.
            self.reader.partial = True
            self.reader.unfinished.append(table)
            return
        top, left = self.corners[0] or (0, 0)
        bottom, right = self.corners[1] or (rows - 1, columns - 1)
        span = (top, left, bottom, right, rows, columns)
        same, table.span = span == table.span, span
        if same and self.unless_same:
            if table.is_sheet:
                _Grid(self.reader, table).read()
            return
        # Scrolled: rows that look alike have moved without a changed pixel.
        self.deep = self.deep or not same
        wanted = [
            (row, column)
            for row in range(top, min(bottom + 1, rows, top + ROW_LIMIT))
            for column in range(left, min(right + 1, columns, left + COLUMN_LIMIT))
        ]
        if len(wanted) > limit:
            self.reader.partial = True  # so there is no room for all of these, which marks it as cut
            del wanted[limit:]
        if table.is_sheet:
            self.read_sheet(wanted)
        else:
            self.read_references(wanted)

    def read_references(self, wanted: list[tuple[int, int]]) -> None:
        """Ask for the paths of the heads and of all cells, and go on with them as with other children."""
        columns = sorted({column for _, column in wanted})
        calls = [self.call("GetColumnHeader", "i", (column,)) for column in columns]
        calls += [atspi.get_cell(self.table.bus_name, self.table.path, position) for position in wanted]
        references: list[tuple[str, str]] = [(self.table.bus_name, atspi.NULL_PATH)] * len(calls)
        missing = len(calls)

        def know_path(place: int) -> Callable[[Reply], None]:
            def know(reply: Reply) -> None:
                nonlocal missing
                missing -= 1
                if not isinstance(reply, CallFailed) and reply:
                    references[place] = tuple(reply[0])
                if not missing:
                    self.reader.read_adopted(self.table, references, self.depth, deep=self.deep)

            return know

        for place, call in enumerate(calls):
            self.ask(call, know_path(place))
        if not calls:
            self.reader.read_adopted(self.table, (), self.depth, deep=self.deep)

    def read_sheet(self, wanted: list[tuple[int, int]]) -> None:
        """Read the cells of a sheet, which are known by their places."""
        table, reader = self.table, self.reader
        table.cut = False
        mine = {child.key: child for child in table.children}
        table.children = []
        for place in wanted:
            key = cell_key(table, place)
            cell = mine.pop(key, None)
            fresh = cell is None
            if cell is None:
                if len(reader.index) >= reader.settings.node_limit:
                    reader.partial = table.cut = True
                    break
                cell = Node(table.bus_name, "", parent=table, application=table.application)
                cell.key, cell.place, cell.shift, cell.role = key, place, table.shift, "table cell"
                cell.interfaces, cell.known = Interface.COMPONENT | Interface.TEXT, True
                reader.index[key] = cell
            table.children.append(cell)
            if fresh:
                reader.find_cell(cell, partial(self.read_new_cell, cell))
            elif self.deep:
                reader.read_cell(cell)
        for lost in mine.values():
            reader.drop(lost)
        _Grid(reader, table).read()

    def read_new_cell(self, cell: Node) -> None:
        self.reader.read_name(cell)
        self.reader.read_cell(cell, again=False)


@dataclass(slots=True)
class _Grid:
    """Where the cells of a sheet are: those of a row share its height, those of a column its width.

    So that one cell of each row and of each column tells it for all. A cell that is merged with its
    neighbours has the place that it had alone.
    """

    reader: Reader
    sheet: Node
    rows: dict[int, Box] = field(default_factory=dict)
    columns: dict[int, Box] = field(default_factory=dict)
    missing: int = 0

    def read(self) -> None:
        """Ask for one cell of each row and of each column."""
        row_tellers: dict[int, Node] = {}
        column_tellers: dict[int, Node] = {}
        for cell in self.sheet.children:
            if cell.place is not None:
                row_tellers.setdefault(cell.place[0], cell)
                column_tellers.setdefault(cell.place[1], cell)
        self.missing = len(row_tellers) + len(column_tellers)
        for row, cell in row_tellers.items():
            self.measure(cell, self.rows, row)
        for column, cell in column_tellers.items():
            self.measure(cell, self.columns, column)

    def measure(self, cell: Node, boxes: dict[int, Box], number: int, *, again: bool = True) -> None:
        def know_box(reply: Reply) -> None:
            if isinstance(reply, CallFailed) or not reply:
                if again:
                    self.reader.find_cell(cell, lambda: self.measure(cell, boxes, number, again=False))
                return
            boxes[number] = cell_box(cell, reply[0])
            self.missing -= 1
            if not self.missing:
                self.place()

        if not cell.path:
            self.reader.find_cell(cell, lambda: self.measure(cell, boxes, number, again=again))
            return
        self.reader.conversation.ask(atspi.get_extents(cell.bus_name, cell.path), know_box)

    def place(self) -> None:
        for cell in self.sheet.children:
            if cell.place is None:
                continue
            row, column = self.rows.get(cell.place[0]), self.columns.get(cell.place[1])
            if row is not None and column is not None:
                cell.box = Box(column.x, row.y, column.width, row.height)


_CELL_NAME = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")


def place_named(name: str) -> tuple[int, int] | None:
    """Row and column of a cell of a sheet, by its name: ``B3`` is (2, 1)."""
    found = _CELL_NAME.fullmatch(name)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1


def cell_key(sheet: Node, place: tuple[int, int]) -> Key:
    """The identity of a cell that has no lasting path."""
    return sheet.bus_name, f"{sheet.path}/{place[0]}/{place[1]}"


def cell_box(cell: Node, extents: Sequence[int]) -> Box:
    x, y, width, height = extents
    shift = cell.shift
    return Box(x, y, width, height) if shift is None else Box(x + shift.x, y + shift.y, width, height)


def visible_area(node: Node) -> Box:
    """The box of an element inside those of its ancestors."""
    left, top = node.box.x, node.box.y
    right, bottom = left + node.box.width, top + node.box.height
    parent = node.parent
    while parent is not None and parent.role not in _OPENING:
        box = parent.box
        # A page of a notebook is below its tab, whose box is that of the tab alone.
        if box.width > 0 and box.height > 0 and parent.role != "page tab":
            left, top = max(left, box.x), max(top, box.y)
            right, bottom = min(right, box.x + box.width), min(bottom, box.y + box.height)
        parent = parent.parent
    return Box(left, top, max(0, right - left), max(0, bottom - top))
