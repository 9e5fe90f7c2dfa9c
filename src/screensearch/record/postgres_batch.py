"""A batch of a PostgreSQL log: what was written and is not committed yet, and how it is sent.

Rows are sent as an array for each column, whatever their number, in one statement for each table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from screensearch.domain.screen import Metadata, StateId
from screensearch.domain.transition import Entry

Statement = tuple[str, Sequence[object]]

COLUMNS = {
    "signatures": {"id": "bigint", "text": "text"},
    "metadata": {
        "id": "bigint",
        "application": "text",
        "display_mode": "text",
        "text_size": "text",
        '"window"': "text",
    },
    "screens": {"id": "bigint", "key": "text", "metadata": "bigint", "atoms": "bytea", "elements": "bytea"},
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
}
"""The tables of a batch in the order in which they are written, and their columns after the first, `log`."""

NUMBERS = {table: next(iter(columns)) for table, columns in COLUMNS.items()}
"""Of each table the column that counts its rows, from 1."""

_INSERTS = {
    table: f"INSERT INTO {table} (log, {', '.join(columns)}) SELECT %s, batch.* FROM fence(%s, %s), "
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

    def __bool__(self) -> bool:
        return bool(self.others) or any(self.rows.values())

    @property
    def unsent(self) -> bool:
        """Whether the server has not got all of it."""
        return self.others_sent < len(self.others) or any(
            self.sent[table] < len(rows) for table, rows in self.rows.items()
        )

    def statements(self, log: int, epoch: int) -> Iterator[Statement]:
        """How to send what the server has not got, as the owner of a log in an epoch of it."""
        for table, rows in self.rows.items():
            if unsent := rows[self.sent[table] :]:
                yield _INSERTS[table], (log, log, epoch, *map(list, zip(*unsent, strict=True)))
        yield from self.others[self.others_sent :]

    def note_sent(self) -> None:
        """The server has got all of it."""
        self.sent = {table: len(rows) for table, rows in self.rows.items()}
        self.others_sent = len(self.others)

    def forget_sent(self) -> None:
        """The server has lost what it got."""
        self.sent = dict.fromkeys(COLUMNS, 0)
        self.others_sent = 0


def to_text(text: str) -> str:
    """A text as PostgreSQL can hold it: all but the character 0, which is escaped."""
    return text.replace("\\", "\\\\").replace("\0", "\\0") if "\0" in text or "\\" in text else text


def from_text(text: str | None) -> str | None:
    if text is None or "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: "\0" if found[0] == "\\0" else "\\", text)
