"""The tables of logs in a PostgreSQL database, and the steps that lead from one version of them to the next.

Many logs share the tables; each is the truth of one shard of one run, and has one row in `logs`, which is
also its lease: whoever raises `epoch` and puts a `token` of its own there owns it. `fence` is part of every
statement that writes. It holds the lease until the transaction ends, so that nobody can take it over between
the check and the commit, and it ends the transaction of an owner who has been replaced. The token is random:
a database that was restored may give out an epoch twice, but never a token.

Texts are found by a digest that the writer computes: an index holds no long ones. What an entry names is
checked by the writer, who knows it, and by `integrity_check`; a foreign key would lock, and so rewrite, the
row of a screen or a signature with every entry that names it.
"""

from __future__ import annotations

from screensearch.errors import FormatError, LogExists, NewerFormat, RunBusy, RunNotFound, StoreFailed
from screensearch.record.format import FORMAT_VERSION, check_version
from screensearch.record.postgres_lease import end_leases, owners_at_work
from screensearch.record.postgres_session import SCHEMA, STALE, ConnectionLost, Session

_TRUTH_TABLES = ("entries", "decisions", "signatures", "metadata", "screens", "checkpoints")
_MIGRATION_LOCK = int.from_bytes(b"SScrMigr", "big")

_FIRST = f"""
CREATE TABLE logs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run text NOT NULL, shard text NOT NULL,
  format integer NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  token text NOT NULL DEFAULT '',  -- of the owner; empty when the last one has closed the log
  holder text NOT NULL DEFAULT '',  -- who took it last: process and host, for people
  place text NOT NULL DEFAULT '',  -- the same for programs
  taken timestamptz,
  renewed timestamptz,  -- when the owner was last heard of
  UNIQUE (run, shard)
);
CREATE TABLE signatures (
  log bigint NOT NULL REFERENCES logs, id bigint NOT NULL, digest bytea NOT NULL, text text NOT NULL,
  PRIMARY KEY (log, id), UNIQUE (log, digest)
);
CREATE TABLE metadata (
  log bigint NOT NULL REFERENCES logs, id bigint NOT NULL, digest bytea NOT NULL,
  application text NOT NULL, display_mode text NOT NULL, text_size text NOT NULL, "window" text NOT NULL,
  PRIMARY KEY (log, id), UNIQUE (log, digest)
);
CREATE TABLE screens (
  log bigint NOT NULL, id bigint NOT NULL,
  digest bytea NOT NULL,  -- of the key
  key text NOT NULL, metadata bigint NOT NULL,
  atoms bytea NOT NULL, elements bytea NOT NULL,
  PRIMARY KEY (log, id), UNIQUE (log, digest, metadata)
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
  PRIMARY KEY (log, seq), UNIQUE (log, worker, episode, step)
);
CREATE UNIQUE INDEX founders ON entries (log, target) WHERE founded;
CREATE TABLE decisions (  -- of each screen the first entry that decided its state: what an owner begins with
  log bigint NOT NULL, seq bigint NOT NULL, screen bigint NOT NULL,
  target bigint NOT NULL, founded boolean NOT NULL,
  PRIMARY KEY (log, seq), UNIQUE (log, screen)
);
CREATE TABLE checkpoints (
  log bigint NOT NULL REFERENCES logs, seq bigint NOT NULL, digest text NOT NULL,
  PRIMARY KEY (log, seq)
);
CREATE TABLE graphs (
  log bigint NOT NULL, seq bigint NOT NULL, graph bytea NOT NULL,
  PRIMARY KEY (log, seq),
  FOREIGN KEY (log, seq) REFERENCES checkpoints
);
CREATE FUNCTION fence(mine bigint, held bigint, owner text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM logs WHERE id = mine AND epoch = held AND token = owner FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'epoch % of log % is over', held, mine USING ERRCODE = '{STALE}';
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('screensearch.dropping', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION '%: the log is append-only', TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION drop_log(gone_run text, gone_shard text DEFAULT '') RETURNS boolean
LANGUAGE plpgsql SET search_path = {SCHEMA} AS $$
DECLARE
  gone bigint;
BEGIN
  SELECT id INTO gone FROM logs WHERE run = gone_run AND shard = gone_shard FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM set_config('screensearch.dropping', 'on', true);
  DELETE FROM graphs WHERE log = gone;
  {"".join(f"DELETE FROM {table} WHERE log = gone;" for table in _TRUTH_TABLES)}
  DELETE FROM logs WHERE id = gone;
  PERFORM set_config('screensearch.dropping', 'off', true);
  RETURN true;
END $$;
""" + "".join(
    f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
    "FOR EACH STATEMENT EXECUTE FUNCTION refuse();\n"
    for table in _TRUTH_TABLES
)

MIGRATIONS = (_FIRST,)
"""Number n leads from version n to version n + 1. What was released is never changed.

In every version `logs` has `id`, `run`, `shard`, `format` and the columns of the lease, and `fence` means the
same: by these versions meet each other.
"""


class NotMigrated(StoreFailed, FormatError):
    """The tables could not be brought to this version, and are as they were: to wait does not help."""


def check_tables(session: Session, *, behind: bool = False) -> bool:
    """Whether there are tables: of this version, or `behind` it if they may be. Changes nothing."""
    done = _version(session)
    if 0 < done < len(MIGRATIONS) and not behind:
        raise FormatError(
            f"the tables in {session.where} are of version {done}, and this screensearch reads version "
            f"{len(MIGRATIONS)}: resuming a run that is kept there brings them up to date"
        )
    return done > 0


def migrate(session: Session) -> None:
    """Bring the tables to this version, once, whoever else tries to. After a failure, close the session.

    Owners of an earlier version that are at work are left alone: `RunBusy`. One that cannot be seen, since it
    has lost its connection, is refused when it comes back, as if another had taken its log over.
    """
    done = _version(session)
    if done == len(MIGRATIONS):
        return
    session.run([("BEGIN", ())])
    with session.patience("lock_timeout"):  # whoever is first may have much to do
        session.rows("SELECT pg_advisory_xact_lock(%s)", _MIGRATION_LOCK)
    try:
        with session.patience():
            # First in any case: until then, the server's process remembers what was not there before.
            session.script(
                f"CREATE SCHEMA IF NOT EXISTS {SCHEMA};"
                "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, made timestamptz)"
            )
            done = _version(session)
            if 0 < done < len(MIGRATIONS):
                _refuse_those_before(session, done)
            for number in range(done, len(MIGRATIONS)):
                session.script(MIGRATIONS[number])
                session.run([("INSERT INTO migrations VALUES (%s, now())", (number + 1,))])
        session.commit()
    except ConnectionLost:
        raise
    except StoreFailed as problem:
        raise NotMigrated(
            f"the tables in {session.where} could not be brought from version {done} to version "
            f"{len(MIGRATIONS)}: {problem}; they are as they were: mend that, and resume the run again"
        ) from problem


def _refuse_those_before(session: Session, done: int) -> None:
    """Let no owner of an earlier version write to the tables that this transaction makes."""
    if at_work := owners_at_work(session):
        raise RunBusy(
            f"the tables in {session.where} are of version {done} and have to be brought to version "
            f"{len(MIGRATIONS)}, but an earlier screensearch is at work there: {'; '.join(at_work)}: stop "
            "those runs first, and go on with them by this version"
        )
    end_leases(session)


def find_log(session: Session, run: str, shard: str, *, behind: bool = False) -> int:
    """The number of a log; `RunNotFound` when there is none. Changes nothing. `behind`: as `check_tables`."""
    name, found = log_name(run, shard), []
    if check_tables(session, behind=behind):
        found = session.rows("SELECT id, format FROM logs WHERE run = %s AND shard = %s", run, shard)
    if not found:
        raise RunNotFound(f"{name} is not in {session.where}")
    ((log, version),) = found
    check_version(version, f"{name} in {session.where}")
    return int(log)


def make_log(session: Session, run: str, shard: str) -> int:
    """The number of a log that was not there."""
    made = session.one(
        "INSERT INTO logs (run, shard, format) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING id",
        *(run, shard, FORMAT_VERSION),
    )
    if made is None:
        raise LogExists(f"{log_name(run, shard)} is in {session.where} already: a log is never overwritten")
    return int(made)


def log_name(run: str, shard: str) -> str:
    """A log, in messages."""
    return f"the log of run {run}" + (f", shard {shard}," if shard else "")


def _version(session: Session) -> int:
    """The version of the tables, 0 when there are none; `NewerFormat` if they are beyond this one."""
    if session.one("SELECT to_regclass(%s)::text", f"{SCHEMA}.migrations") is None:
        return 0
    done = int(session.one("SELECT coalesce(max(number), 0) FROM migrations"))
    if done > len(MIGRATIONS):
        raise NewerFormat(
            f"the tables in {session.where} are of version {done}, written by a newer screensearch; this one "
            f"knows {len(MIGRATIONS)}: use that version or a newer one (nothing was changed)"
        )
    return done
