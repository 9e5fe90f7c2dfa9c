"""A batch of a PostgreSQL log: what was written and is not committed yet, and how it is sent.

Rows are sent as an array for each column, whatever their number, in one statement for each table.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from screensearch.domain.screen import Metadata, StateId
from screensearch.domain.transition import Entry
from screensearch.record.postgres_session import Statement

COLUMNS = {
    "signatures": {"id": "bigint", "digest": "bytea", "text": "text"},
    "metadata": {
        "id": "bigint",
        "digest": "bytea",
        "application": "text",
        "display_mode": "text",
        "text_size": "text",
        '"window"': "text",
    },
    "screens": {
        "id": "bigint",
        "digest": "bytea",
        "key": "text",
        "metadata": "bigint",
        "atoms": "bytea",
        "elements": "bytea",
    },
    "entries": {
        **dict.fromkeys(("seq", "worker", "episode", "step"), "bigint"),
        "outcome": "text",
        "source": "bigint",
        "signature": "bigint",
        "target": "bigint",
        "founded": "boolean",
        "snapshot": "bigint",
        "reward": "double precision",
        "screen": "bigint",
        "detail": "bytea",
    },
    "decisions": {"seq": "bigint", "screen": "bigint", "target": "bigint", "founded": "boolean"},
}
"""The tables of a batch in the order in which they are written, and their columns after the first, `log`."""

NUMBERS = {table: next(iter(columns)) for table, columns in COLUMNS.items() if table != "decisions"}
"""Of each table that counts its rows, from 1 and without gaps, the column that does."""

_INSERTS = {
    table: f"INSERT INTO {table} (log, {', '.join(columns)}) SELECT %s, batch.* FROM fence(%s, %s, %s), "
    f"unnest({', '.join(f'%s::{kind}[]' for kind in columns.values())}) AS batch"
    for table, columns in COLUMNS.items()
}
"""Insert many rows, as an array for each column, if the lease is still ours."""

_ESCAPED = re.compile(r"\\[\\0]")


@dataclass(slots=True)
class Batch:
    """What was written and is not committed yet."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {table: [] for table in COLUMNS})
    sent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    others: list[Statement] = field(default_factory=list)  # checkpoints: rare
    others_sent: int = 0
    entries: dict[tuple[int, int, int], tuple[int, Entry]] = field(default_factory=dict)
    screens: dict[tuple[str, int], int] = field(default_factory=dict)
    signatures: dict[str, int] = field(default_factory=dict)
    metadata: dict[Metadata, int] = field(default_factory=dict)
    founded: set[StateId] = field(default_factory=set)
    decided: set[int] = field(default_factory=set)  # screens
    latest: dict[int, tuple[int, int]] = field(default_factory=dict)  # by worker: its latest episode and step

    def __bool__(self) -> bool:
        return bool(self.others) or any(self.rows.values())

    @property
    def unsent(self) -> bool:
        """Whether the server has not got all of it."""
        return self.others_sent < len(self.others) or any(
            self.sent[table] < len(rows) for table, rows in self.rows.items()
        )

    def statements(self, held: tuple[int, int, str]) -> Iterator[Statement]:
        """How to send what the server has not got, as the holder of a lease."""
        for table, rows in self.rows.items():
            if unsent := rows[self.sent[table] :]:
                yield _INSERTS[table], (held[0], *held, *map(list, zip(*unsent, strict=True)))
        yield from self.others[self.others_sent :]

    def note_sent(self) -> None:
        """The server has got all of it."""
        self.sent = {table: len(rows) for table, rows in self.rows.items()}
        self.others_sent = len(self.others)

    def forget_sent(self) -> None:
        """The server has lost what it got."""
        self.sent = dict.fromkeys(COLUMNS, 0)
        self.others_sent = 0


class Numbers:
    """A set of numbers that leave few gaps: a byte each."""

    def __init__(self) -> None:
        self._marks = bytearray()

    def __contains__(self, number: int) -> bool:
        return number < len(self._marks) and bool(self._marks[number])

    def add_all(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number >= len(self._marks):
                self._marks.extend(bytes(number + 1 - len(self._marks)))
            self._marks[number] = 1


def digest_texts(*texts: str) -> bytes:
    """By which texts are found: in the place of the texts themselves, which may be too long for an index."""
    content = hashlib.blake2b(digest_size=16)
    for text in texts:
        encoded = text.encode()
        content.update(len(encoded).to_bytes(8, "little") + encoded)
    return content.digest()


def to_text(text: str) -> str:
    """A text as PostgreSQL can hold it: all but the character 0, which is escaped."""
    return text.replace("\\", "\\\\").replace("\0", "\\0") if "\0" in text or "\\" in text else text


def from_text(text: str | None) -> str | None:
    if text is None or "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: "\0" if found[0] == "\\0" else "\\", text)
