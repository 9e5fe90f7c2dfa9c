"""After each fault: what workers were told is what the log holds, each step once, written by its owner.

The log is read with plain SQL, only what was added since the last look, so that a look costs little. Who
wrote each entry, and the decision that goes with it, is noted by the database itself: a trigger keeps the
name of the connection beside the token that the log's lease had at that moment.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psycopg
from noted import Notes, Told
from refusals import NOTE_TAKINGS, SERVER_SETTINGS
from struck import BACK_SECONDS

from screensearch.domain.shard import shard_of
from screensearch.domain.transition import Outcome
from screensearch.record.log import FAILED_STARTS, LANDING, START
from screensearch.record.postgres_log import PostgresLog

Place = tuple[int, int, int]
"""Worker, episode, step."""

_WRITERS = """
CREATE SCHEMA audit;
CREATE TABLE audit.written (
  log bigint, seq bigint, what text, writer text, epoch bigint, token text, PRIMARY KEY (log, seq, what)
);
CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit.written
    SELECT NEW.log, NEW.seq, TG_TABLE_NAME, current_setting('application_name'), epoch, token
    FROM screensearch.logs WHERE id = NEW.log;
  RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER INSERT ON screensearch.entries FOR EACH ROW EXECUTE FUNCTION audit.note();
CREATE TRIGGER audit AFTER INSERT ON screensearch.decisions FOR EACH ROW EXECUTE FUNCTION audit.note();
"""

_NEW_ROWS = """
SELECT e.log, e.seq, w.writer, w.epoch, w.token,
  e.worker, e.episode, e.step, e.outcome, e.source, e.snapshot, e.target, e.founded,
  d.writer = 'screensearch owner ' || d.token
FROM screensearch.entries e
  LEFT JOIN audit.written w ON (w.log, w.seq, w.what) = (e.log, e.seq, 'entries')
  LEFT JOIN audit.written d ON (d.log, d.seq, d.what) = (e.log, e.seq, 'decisions')
WHERE e.log = %s AND e.seq > %s ORDER BY e.seq
"""


def note_writers(url: str) -> None:
    """Have a database note who writes the logs that it will hold, and who takes them."""
    PostgresLog.create(url, "makes the tables", "").close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_WRITERS)
        connection.execute(NOTE_TAKINGS)
        for name, value in SERVER_SETTINGS.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")


class _Row(NamedTuple):
    log: int
    seq: int
    writer: str | None
    epoch: int
    token: str
    worker: int
    episode: int
    step: int
    outcome: str
    source: int | None
    snapshot: int | None
    target: int | None
    founded: bool
    decided_by_owner: bool | None  # None where no decision goes with it

    @property
    def place(self) -> Place:
        return self.worker, self.episode, self.step


class Books:
    """Of one run, from its first entry on."""

    def __init__(self, url: str, run: str, folder: Path) -> None:
        self._url, self._run = url, run
        self._notes = Notes(folder)
        self._told: dict[Place, Told] = {}
        self._kept: dict[Place, _Row] = {}
        self._landed: set[Place] = set()
        self._untold: set[Place] = set()  # kept, but nobody was told so far
        self._crossed: set[Place] = set()  # kept as ended in another shard, which was not seen to have it
        self._last: dict[int, int] = {}  # by log: the number of the last entry that was read
        self._epochs: dict[int, int] = {}  # by log, likewise
        self._episodes: dict[tuple[int, int], int] = defaultdict(int)  # by log and worker: the latest
        self._founded = 0
        self._problems: list[str] = []

    def __str__(self) -> str:
        return (
            f"{self.told} receipts; {self.unheard} steps in the log whose worker died before it was told; "
            f"{self.refused} workers refused that had been given up; owners: {self._epochs}"
        )

    @property
    def told(self) -> int:
        """How many receipts there were."""
        return len(self._told)

    @property
    def steps(self) -> int:
        """How many steps are in the log that were carried out."""
        others = (START, Outcome.LOST, *FAILED_STARTS)
        return sum(row.outcome not in others for row in self._kept.values())

    @property
    def founded(self) -> int:
        """How many states there are, by the entries that founded them."""
        return self._founded

    @property
    def refused(self) -> int:
        """How many workers that had been given up tried to go on, and were told that they may not."""
        return self._notes.refused

    @property
    def unheard(self) -> int:
        """How many steps are in the log whose worker died before it was told."""
        return len(self._untold)

    def look(self) -> tuple[list[Told], list[str]]:
        """Read what is new on both sides; what workers were told, and what does not hold."""
        # What a worker asked for next was seen before its notes are read: it has written that it was told.
        passed = {place for place in self._untold if self._next(place)}
        crossed = set(self._crossed)  # the other shard was there first, and is read now, if not before
        news = self._notes.news()  # first: what it says must be in the log by now
        self._read_logs()
        for told in news:
            self._compare(told)
        self._problems += [
            f"nobody was told of {self._kept[place]}, and yet {self._next(place)} follows"
            for place in passed & self._untold
        ]
        self._problems += [f"{self._kept[place]} landed nowhere" for place in crossed - self._landed]
        self._crossed -= crossed
        problems, self._problems = self._problems, []
        return news, problems

    def _read_logs(self) -> None:
        """What they have beyond the last look. The server may be on its way back from a fault."""
        until = time.monotonic() + BACK_SECONDS
        while True:
            try:
                with closing(psycopg.connect(self._url, autocommit=True)) as connection:
                    logs = connection.execute("SELECT id FROM screensearch.logs WHERE run = %s", (self._run,))
                    for (log,) in logs.fetchall():
                        rows = connection.execute(_NEW_ROWS, (log, self._last.get(log, 0)))
                        for row in map(_Row._make, rows.fetchall()):
                            self._take(row)
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def _take(self, row: _Row) -> None:
        what = f"entry {row.seq} of log {row.log} (step {row.step} of w{row.worker}e{row.episode})"
        if row.seq != self._last.get(row.log, 0) + 1:
            self._problems.append(f"{what} comes after entry {self._last.get(row.log, 0)}")
        if row.writer != f"screensearch owner {row.token}":
            self._problems.append(f"{what} was written by {row.writer!r}, but {row.token} held the lease")
        elif row.decided_by_owner is False:
            self._problems.append(f"the decision of {what} was written by another than {row.token}")
        elif row.epoch < self._epochs.get(row.log, 0):
            self._problems.append(f"{what} is of epoch {row.epoch}, after {self._epochs[row.log]}")
        if row.episode < self._episodes[row.log, row.worker]:
            self._problems.append(f"{what} comes after episode {self._episodes[row.log, row.worker]}")
        self._last[row.log] = row.seq
        self._epochs[row.log] = max(self._epochs.get(row.log, 0), row.epoch or 0)
        self._episodes[row.log, row.worker] = row.episode
        self._founded += row.founded
        if row.outcome == LANDING:
            if row.place in self._landed:
                self._problems.append(f"{what} landed before")
            self._landed.add(row.place)
            return
        if row.place in self._kept:
            self._problems.append(f"{what} is in log {self._kept[row.place].log} as well")
        self._kept[row.place] = row
        if row.outcome != Outcome.LOST:
            self._untold.add(row.place)
        if row.source is not None and row.target is not None and shard_of(row.source) != shard_of(row.target):
            self._crossed.add(row.place)

    def _compare(self, told: Told) -> None:
        row = self._kept.get(told.place)
        what = f"worker {told.worker} was told that step {told.step} of episode {told.episode}"
        if told.place in self._told:
            self._problems.append(f"{what} is recorded, twice: {self._told[told.place]}, {told}")
        elif row is None:
            self._problems.append(f"{what} is recorded, and it is in no log: {told}")
        elif (row.outcome, row.source, row.snapshot, row.target) != (
            *(told.outcome, told.source, told.snapshot, told.state),
        ):
            self._problems.append(f"{what} is {told}, but the log has {row}")
        self._told[told.place] = told
        self._untold.discard(told.place)

    def _next(self, place: Place) -> _Row | None:
        """What the worker did after it, in the same life: only of its last step may it not have been told."""
        worker, episode, step = place
        after = self._kept.get((worker, episode, step + 1))
        return None if after is None or after.outcome == Outcome.LOST else after
