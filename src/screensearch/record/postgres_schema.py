"""The tables of logs in a PostgreSQL database, and the steps that lead from one version of them to the next.

Many logs share the tables; each is the truth of one shard of one run, and has one row in `logs`, which is
also its lease: whoever raises `epoch` owns it. `fence` is part of every statement that writes. It holds the
lease until the transaction ends, so that nobody can take it over between the check and the commit, and it
ends the transaction of an owner who has been replaced.
"""

from __future__ import annotations

STALE = "SS001"
"""The error code of a writer who is not the owner any more."""

_TRUTH_TABLES = ("entries", "signatures", "metadata", "screens", "checkpoints")

_FIRST = """
CREATE TABLE logs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run text NOT NULL, shard text NOT NULL,
  format integer NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',  -- who took it last: host and process
  taken timestamptz,
  UNIQUE (run, shard)
);
CREATE TABLE signatures (
  log bigint NOT NULL REFERENCES logs, id bigint NOT NULL, text text NOT NULL,
  PRIMARY KEY (log, id)
);
CREATE UNIQUE INDEX signature_texts ON signatures (log, md5(text));
CREATE TABLE metadata (
  log bigint NOT NULL REFERENCES logs, id bigint NOT NULL,
  application text NOT NULL, display_mode text NOT NULL, text_size text NOT NULL, "window" text NOT NULL,
  PRIMARY KEY (log, id)
);
CREATE TABLE screens (
  log bigint NOT NULL, id bigint NOT NULL,
  key text NOT NULL, metadata bigint NOT NULL,
  atoms bytea NOT NULL, elements bytea NOT NULL,
  PRIMARY KEY (log, id),
  UNIQUE (log, key, metadata),
  FOREIGN KEY (log, metadata) REFERENCES metadata
);
CREATE TABLE entries (
  log bigint NOT NULL, seq bigint NOT NULL,
  worker bigint NOT NULL, episode bigint NOT NULL, step bigint NOT NULL,
  outcome text NOT NULL,
  source bigint, signature bigint, target bigint,
  founded boolean NOT NULL,
  snapshot bigint,
  reward double precision,
  screen bigint,
  detail bytea NOT NULL,
  PRIMARY KEY (log, seq),
  UNIQUE (log, worker, episode, step),
  FOREIGN KEY (log, signature) REFERENCES signatures,
  FOREIGN KEY (log, screen) REFERENCES screens
);
CREATE UNIQUE INDEX founders ON entries (log, target) WHERE founded;
CREATE TABLE checkpoints (
  log bigint NOT NULL REFERENCES logs, seq bigint NOT NULL, digest text NOT NULL,
  PRIMARY KEY (log, seq)
);
CREATE TABLE graphs (
  log bigint NOT NULL, seq bigint NOT NULL, graph bytea NOT NULL,
  PRIMARY KEY (log, seq),
  FOREIGN KEY (log, seq) REFERENCES checkpoints
);
CREATE FUNCTION fence(mine bigint, held bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM logs WHERE id = mine AND epoch = held FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'epoch % of log % is over', held, mine USING ERRCODE = 'SS001';
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: the log is append-only', TG_TABLE_NAME;
END $$;
""" + "".join(
    f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
    "FOR EACH STATEMENT EXECUTE FUNCTION refuse();\n"
    for table in _TRUTH_TABLES
)

MIGRATIONS = (_FIRST,)
"""Number n leads from version n to version n + 1. What was released is never changed."""
