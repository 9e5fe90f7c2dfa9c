"""A run as GraphML: states are nodes, edges are edges, figures are typed attributes.

networkx and Gephi read it. Texts are an application's, which may say anything: characters that XML cannot
hold become U+FFFD. Written line by line, so that the size of a run does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO
from xml.sax.saxutils import escape

from screensearch.view.exchange.rows import Column, EdgeRow, Head, Row, StateRow, columns_of
from screensearch.view.search import snippet

_TYPES = {int: "long", float: "double", bool: "boolean", str: "string"}

# XML 1.0, production 2: these cannot stand in a document, not even as references.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_LABEL = Column("label", str, False, False, "a few words, which Gephi shows")
_WEIGHT = Column("weight", float, False, False, "the count again, which Gephi draws as thickness")

_NODE = (_LABEL, *(column for column in columns_of(StateRow) if column.name != "state"))
_EDGE = (
    _LABEL,
    _WEIGHT,
    *(column for column in columns_of(EdgeRow) if column.name not in ("source", "target", "words")),
)
_LONGEST_LABEL = 60  # characters

NODE_COLUMNS, EDGE_COLUMNS = _NODE, _EDGE
"""The attributes of nodes and edges."""


def write_graphml(file: BinaryIO, head: Head, states: Iterable[StateRow], edges: Iterable[EdgeRow]) -> None:
    """Write the whole document; `states` and `edges` are read once, in this order."""
    for line in _lines(head, states, edges):
        file.write(line.encode())


def _lines(head: Head, states: Iterable[StateRow], edges: Iterable[EdgeRow]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    yield 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    yield 'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
    yield 'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
    yield f"  <desc>{_text(f'A run of {head.environment}, seed {head.seed}, graph {head.digest}')}</desc>\n"
    for kind, columns in (("node", _NODE), ("edge", _EDGE)):
        for column in columns:
            yield (
                f'  <key id="{kind}_{column.name}" for="{kind}" attr.name="{column.name}" '
                f'attr.type="{_TYPES[column.kind]}"><desc>{_text(column.meaning)}</desc></key>\n'
            )
    yield '  <graph id="run" edgedefault="directed">\n'
    for state in states:
        yield f'    <node id="{state.state}">'
        yield from _data("node", _NODE, state, {"label": _label(state)})
        yield "</node>\n"
    for number, edge in enumerate(edges):
        yield f'    <edge id="e{number}" source="{edge.source}" target="{edge.target}">'
        yield from _data("edge", _EDGE, edge, {"label": edge.words, "weight": float(edge.count)})
        yield "</edge>\n"
    yield "  </graph>\n</graphml>\n"


def _label(state: StateRow) -> str:
    return f"{state.state}: {snippet(state.text, (), _LONGEST_LABEL) or state.window}"


def _data(kind: str, columns: Iterable[Column], row: Row, more: dict[str, str | float]) -> Iterator[str]:
    for column in columns:
        value = more[column.name] if column.name in more else getattr(row, column.name)
        if value is not None:
            written = str(value).lower() if column.kind is bool else str(value)
            yield f'<data key="{kind}_{column.name}">{_text(written)}</data>'


def _text(text: str) -> str:
    """A text as content of an element. A carriage return would be read as a line feed if it stood there."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), {"\r": "&#13;"})
