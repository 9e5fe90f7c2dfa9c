"""A log that is damaged where most readers do not come by."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def damage_index(log: Path, index: str = "sqlite_autoindex_signatures_1") -> None:
    """Overwrite the first page of an index, but for its header, with what is no index."""
    with closing(sqlite3.connect(log)) as opened:
        (page,) = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    with log.open("r+b") as file:
        file.seek((page - 1) * size + 8)
        file.write(b"\xa7" * (size - 8))
