"""What the nightly form of the fault tests measures: how long workers are without a recorded step."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from nightly import AGAIN, SEED
from noted import Told
from refusals import Refusals
from struck import TooLate

OUT = os.environ.get("SCREENSEARCH_FAULTS_OUT")
"""A file for the figures, in JSON. Each test replaces its own part of it."""


def longest_silence(news: Iterable[Told], workers: Iterable[int], since: int, until: int) -> float:
    """The longest time, in seconds, that any of the workers was without a receipt between two moments."""
    heard: dict[int, list[int]] = {worker: [since] for worker in workers}
    for told in news:
        if told.worker in heard and since <= told.at <= until:
            heard[told.worker].append(told.at)
    return max(_longest_gap([*sorted(times), until]) for times in heard.values()) / 1e9


def _longest_gap(times: Sequence[int]) -> int:
    return max(after - before for before, after in pairwise(times))


class Report:
    """The figures of one test, kept after each fault: what was measured is there when a later one fails."""

    def __init__(self, part: str, *, faults: int) -> None:
        self._part, self._faults = part, faults
        self._refusals: Refusals | None = None
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._done = 0
        self._notes: list[str] = []
        self._counts: Counter[str] = Counter()
        self._too_late: Counter[str] = Counter()
        print(f"{part}: {faults} faults, seed {SEED}; the same again: {AGAIN}", flush=True)

    @property
    def done(self) -> int:
        """How many struck."""
        return self._done

    @property
    def too_late(self) -> int:
        """How many did not."""
        return self._too_late.total()

    def add(self, seconds: float, *kinds: str, spent: float) -> None:
        """What was done at once, how long a worker was without a recorded step, how long it took in all."""
        self._seconds[kinds[0] if len(kinds) == 1 else "two at once"].append(round(seconds, 2))
        told = f"{' and '.join(kinds)}: silent for {seconds:.1f} s, {spent:.0f} s in all"
        self._progress(told, faults=len(kinds))

    def count(self, what: str, told: str) -> None:
        """One of which nothing is measured."""
        self._counts[what] += 1
        self._progress(f"{what}: {told}", faults=1)

    def miss(self, what: str, why: TooLate) -> None:
        """One that did not strike."""
        self._too_late[what] += 1
        self._progress(f"{what} was too late: {why}", faults=0)

    def refused(self, refusals: Refusals) -> None:
        """What became of owners that had been replaced."""
        self._refusals = refusals
        self._progress(f"{refusals}", faults=0)

    def _progress(self, told: str, *, faults: int) -> None:
        self._done += faults
        print(f"{self._part}: {self._done} of {self._faults}: {told}", flush=True)
        self._save()

    def note(self, text: str) -> None:
        """Something to know beside the figures."""
        print(f"{self._part}: {text}", flush=True)
        self._notes.append(text)
        self._save()

    def worst(self) -> dict[str, float]:
        """By kind, the longest that it took."""
        return {kind: max(seconds) for kind, seconds in self._seconds.items()}

    def figures(self) -> dict[str, Any]:
        return {
            **_circumstances(),
            "faults": self._done,
            "too_late": dict(sorted(self._too_late.items())),
            "stale_owners": None if self._refusals is None else asdict(self._refusals),
            "notes": self._notes,
            "counts": dict(sorted(self._counts.items())),
            "kinds": {
                kind: {
                    "count": len(seconds),
                    "median_seconds": round(statistics.median(seconds), 2),
                    "worst_seconds": max(seconds),
                }
                for kind, seconds in sorted(self._seconds.items())
            },
        }

    def _save(self) -> None:
        if OUT is None:
            return
        path = Path(OUT)
        document = json.loads(path.read_text()) if path.exists() else {"parts": {}}
        document["parts"][self._part] = self.figures()
        path.write_text(json.dumps(document, indent=2) + "\n")


@cache
def _circumstances() -> dict[str, Any]:
    """With what another can repeat it: parts of one file may be of different nights."""
    git = ("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    asked = subprocess.run(git, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    commit = asked.stdout.strip() or "unknown"
    return {"seed": SEED, "command": AGAIN, "commit": commit, "machine": _describe_machine()}


def _describe_machine() -> dict[str, Any]:
    """As the benchmarks do."""
    benchmarks = str(Path(__file__).parents[2] / "benchmarks")
    if benchmarks not in sys.path:
        sys.path.append(benchmarks)
    from machine import describe_machine

    return describe_machine()
