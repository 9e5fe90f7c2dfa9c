"""How many faults the tests inject: 20 in all, or as many as ``SCREENSEARCH_FAULTS`` says, 100 at least.

That is how many strike. One that comes too late, since there is nothing left to do it to, counts for nothing
but a line in the report, and another is drawn.
"""

from __future__ import annotations

import os
import shlex
import sys
from datetime import UTC, datetime

FAULTS = int(os.environ.get("SCREENSEARCH_FAULTS", "20"))

NIGHTLY = FAULTS >= 100
"""Then heads die, too, databases are away for long, and what was measured is compared with the promise."""

DAILY_SEED = os.environ.get("SCREENSEARCH_FAULTS_SEED") or f"{datetime.now(UTC):%F}"
"""For what is drawn anew each day in either form."""

SEED = os.environ.get("SCREENSEARCH_FAULTS_SEED") or (DAILY_SEED if NIGHTLY else "7")
"""What is drawn: something else each night. Moments are drawn too, but no two runs are alike in them."""


def again(seed: str) -> str:
    """The command that draws the same."""
    command = shlex.join(["pytest", *sys.argv[1:]])
    return f"SCREENSEARCH_FAULTS={FAULTS} SCREENSEARCH_FAULTS_SEED={seed} {command}"


SECONDS = 10.0 if NIGHTLY else 45.0
"""Within which workers are to be back at work. By day others share the machine, and Ray is more patient: then
it is a bound for what never comes back by itself."""

LONGER = {"freeze_conductor": 40.0}
"""The same by kind, where it may take longer: workers that need a frozen conductor wait for the next one."""

RAY_SETTINGS = (
    {
        "RAY_health_check_timeout_ms": "2000",
        "RAY_health_check_failure_threshold": "2",
        "RAY_worker_maximum_startup_concurrency": "8",
        "RAY_enable_worker_prestart": "true",
    }
    if NIGHTLY
    else {}
)
"""Those of docs/how-to/cluster.md where time is measured; otherwise the more patient ones of all tests."""

HISTORY = ("kill_owner", "crash_database", "freeze_owner", "kill_conductor", "kill_owner")
"""Those of test_cluster_history.py, where what workers see is checked against the model."""

WITH_STORAGE = 8 if NIGHTLY else 0  # heads that are killed and come back, the last of them after long
WITHOUT_STORAGE = 8 if NIGHTLY else 0  # heads whose clusters are gone with them, and as many others after
AT_THE_EDGES = FAULTS * 15 // 100 if NIGHTLY else 1  # while a run starts, stops or concludes
IN_A_HISTORY = 0 if NIGHTLY else len(HISTORY)
UNDER_WAY = FAULTS - AT_THE_EDGES - IN_A_HISTORY - WITH_STORAGE - WITHOUT_STORAGE
