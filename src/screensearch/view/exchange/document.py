"""A run as one JSON document: ``{"format": "screensearch.export", "version": 1, "body": {"run": …, …}}``.

The body has the head of the run and the tables, each a list of objects. It is written row by row, one on each
line; it is read at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import msgspec

from screensearch.domain.document import decode_document
from screensearch.errors import FormatError, NewerFormat, StoreFailed
from screensearch.view.exchange.rows import (
    KIND,
    VERSION,
    ElementRow,
    Head,
    Row,
    ScreenRow,
    TransitionRow,
)

Tables = Iterable[tuple[str, Iterable[Row]]]


class _Body(msgspec.Struct, kw_only=True):
    """What is needed of a document to make a run of it: states, edges and artifacts follow from the rest."""

    run: Head
    transitions: list[TransitionRow]
    screens: list[ScreenRow]
    elements: list[ElementRow]


def write_document(file: BinaryIO, head: Head, tables: Tables) -> None:
    """Write the whole document; every table is read once, in the order in which it comes."""
    encoder = msgspec.json.Encoder()
    file.write(f'{{"format":"screensearch.{KIND}","version":{VERSION},"body":{{\n"run":'.encode())
    file.write(encoder.encode(head))
    for name, rows in tables:
        file.write(f',\n"{name}":['.encode())
        separator = b"\n"
        for row in rows:
            file.write(separator)
            file.write(encoder.encode(row))
            separator = b",\n"
        file.write(b"\n]")
    file.write(b"\n}}\n")


class DocumentReader:
    """A document, read back."""

    pictures: Path | None = None

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as problem:
            raise StoreFailed(
                f"cannot read {path}: {problem}; check the name and its permissions"
            ) from problem
        try:
            self._body = decode_document(content, KIND, _Body, version=VERSION)
        except NewerFormat:
            raise
        except FormatError as problem:
            raise FormatError(
                f"{path} is no JSON export: {problem}; one is made by `screensearch export RUN --format json`"
            ) from problem

    @property
    def head(self) -> Head:
        return self._body.run

    def transitions(self) -> Iterator[TransitionRow]:
        return iter(self._body.transitions)

    def screens(self) -> Iterator[tuple[ScreenRow, list[ElementRow]]]:
        """Every screen with its elements. Both tables are in order of the screen's number."""
        return join_elements(self._body.screens, self._body.elements)


def join_elements(
    screens: Iterable[ScreenRow], elements: Iterable[ElementRow]
) -> Iterator[tuple[ScreenRow, list[ElementRow]]]:
    """Every screen with its elements; `FormatError` if the two tables do not fit each other."""
    groups = groupby(elements, key=lambda element: element.screen)
    following = next(groups, None)
    last = 0
    for screen in screens:
        if screen.screen <= last:
            raise FormatError(f"screen {screen.screen} follows screen {last}: the table is not in order")
        last = screen.screen
        mine: list[ElementRow] = []
        if following is not None and following[0] == last:
            mine = list(following[1])
            following = next(groups, None)
        if [element.place for element in mine] != list(range(len(mine))):
            raise FormatError(f"the elements of screen {last} are not in order, or some are missing")
        yield screen, mine
    if following is not None:
        raise FormatError(f"there are elements of screen {following[0]}, which is not there or not in order")
