"""The tables of a SQLite log.

Columns that the fold reads come first in a row of `entries`; everything else is JSON at its end. The
triggers refuse to change what was written; `graphs` alone is a cache and may be emptied.
"""

from __future__ import annotations

_TRUTH_TABLES = ("entries", "signatures", "metadata", "screens", "checkpoints")

_TABLES = """
CREATE TABLE signatures (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE metadata (
  id INTEGER PRIMARY KEY,
  application TEXT NOT NULL, display_mode TEXT NOT NULL, text_size TEXT NOT NULL, window TEXT NOT NULL,
  UNIQUE (application, display_mode, text_size, window)
) STRICT;
CREATE TABLE screens (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  metadata INTEGER NOT NULL REFERENCES metadata,
  atoms BLOB NOT NULL,
  elements BLOB NOT NULL,
  UNIQUE (key, metadata)
) STRICT;
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  worker INTEGER NOT NULL, episode INTEGER NOT NULL, step INTEGER NOT NULL,
  outcome TEXT NOT NULL,  -- 'start' for an arrival, 'start:crash' and the like for a failed start
  source INTEGER, signature INTEGER REFERENCES signatures, target INTEGER,
  founded INTEGER NOT NULL,
  snapshot INTEGER,
  reward REAL,
  screen INTEGER REFERENCES screens,
  detail BLOB NOT NULL,
  UNIQUE (worker, episode, step)
) STRICT;
CREATE UNIQUE INDEX founders ON entries (target) WHERE founded = 1;
CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT;
CREATE TABLE graphs (seq INTEGER PRIMARY KEY REFERENCES checkpoints, graph BLOB NOT NULL) STRICT;
"""

_VIEWS = """
CREATE VIEW whole_entries AS SELECT
  seq, worker, episode, step, outcome, source,
  (SELECT text FROM signatures WHERE signatures.id = signature) AS signature,
  target, founded, snapshot, reward, screen, detail
FROM entries;
CREATE VIEW whole_screens AS SELECT
  screens.id AS id, key, application, display_mode, text_size, window, atoms
FROM screens JOIN metadata ON metadata.id = screens.metadata;
"""

_TRIGGERS = "".join(
    f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, '{table}: the log is append-only'); END;\n"
    for table in _TRUTH_TABLES
    for verb in ("update", "delete")
)

SCHEMA = _TABLES + _VIEWS + _TRIGGERS
