"""Owners that were replaced and tried to go on: how many did, and who turned them away.

The database tells, in the log that its server writes: a trigger says there who takes a lease, the server
who connects, and the fence whom it refuses. Whoever connects under a name whose lease is over has come back
to write: an owner connects again for nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

NOTE_TAKINGS = """
CREATE FUNCTION audit.tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE LOG 'lease % is taken by %', NEW.id, NEW.token;
  RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER UPDATE ON screensearch.logs FOR EACH ROW
  WHEN (NEW.epoch <> OLD.epoch) EXECUTE FUNCTION audit.tell();
"""

SERVER_SETTINGS = {"log_connections": "on", "log_line_prefix": "%a "}

_LINES = re.compile(
    r"LOG:  lease (?P<log>\d+) is taken by (?P<taker>[\w.]+)$"
    r"|LOG:  connection authorized: .*application_name=screensearch owner (?P<caller>[\w.]+)$"
    r"|^screensearch owner (?P<refused>[\w.]+) ERROR:  epoch \d+ of log \d+ is over$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Refusals:
    """Of how many owners whose lease was over the server was asked again, and how many the fence refused."""

    came_back: int
    by_the_fence: int


def read_refusals(log: Path) -> Refusals:
    """What a server's log says of all leases there ever were in it."""
    owner: dict[str, str] = {}  # by log
    over: set[str] = set()
    came_back: set[str] = set()
    refused: set[str] = set()
    for line in _LINES.finditer(log.read_text(errors="replace")):
        if line["taker"]:
            over.add(owner.get(line["log"], ""))
            owner[line["log"]] = line["taker"]
        elif line["caller"] in over:
            came_back.add(line["caller"])
        elif line["refused"]:
            refused.add(line["refused"])
    return Refusals(len(came_back | refused), len(refused))
