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

from nightly import LONGER, SECONDS, SEED, again
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

    def __init__(self, part: str, *, faults: int, seed: str = SEED) -> None:
        self._part, self._faults, self._seed = part, faults, seed
        self._refusals: Refusals | None = None
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._others: dict[str, list[float]] = defaultdict(list)  # likewise, of workers it must not stop
        self._too_long: list[str] = []
        self._done = 0
        self._notes: list[str] = []
        self._counts: Counter[str] = Counter()
        self._too_late: Counter[str] = Counter()
        print(f"{part}: {faults} faults, seed {seed}; the same again: {again(seed)}", flush=True)

    @property
    def done(self) -> int:
        """How many struck."""
        return self._done

    @property
    def too_late(self) -> int:
        """How many did not."""
        return self._too_late.total()

    def add(
        self, seconds: float, *kinds: str, spent: float, held: float = 0.0, others: float | None = None
    ) -> None:
        """What was done at once, how long a worker was without a recorded step, how long it took in all.

        `held`: for so long of it the test itself kept one of two faults going, which is allowed for.
        `others`: how long those were without one that the fault must not stop, from its beginning on.
        """
        kind = kinds[0] if len(kinds) == 1 else "two at once"
        self._seconds[kind].append(round(seconds, 2))
        told = f"{' and '.join(kinds)}: silent for {seconds:.1f} s"
        if held:
            told += f", while one was kept going for {held:.1f} s"
        if others is not None:
            self._others[kind].append(round(others, 2))
            told += f", others since it began for {others:.1f} s"
        if seconds > LONGER.get(kind, SECONDS) + held or (others or 0.0) > SECONDS:
            self._too_long.append(told)
        self._progress(f"{told}, {spent:.0f} s in all", faults=len(kinds))

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

    @property
    def too_long(self) -> list[str]:
        """The faults after which a worker was silent for longer than is promised."""
        return self._too_long

    def figures(self) -> dict[str, Any]:
        return {
            "seed": self._seed,
            "command": again(self._seed),
            **_circumstances(),
            "faults": self._done,
            "too_late": dict(sorted(self._too_late.items())),
            "stale_owners": None if self._refusals is None else asdict(self._refusals),
            "too_long": self._too_long,
            "notes": self._notes,
            "counts": dict(sorted(self._counts.items())),
            "kinds": {
                kind: {
                    "count": len(seconds),
                    "median_seconds": round(statistics.median(seconds), 2),
                    "worst_seconds": max(seconds),
                    **({"worst_seconds_of_others": max(self._others[kind])} if kind in self._others else {}),
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
    return {"commit": commit, "machine": _describe_machine()}


def _describe_machine() -> dict[str, Any]:
    """As the benchmarks do."""
    benchmarks = str(Path(__file__).parents[2] / "benchmarks")
    if benchmarks not in sys.path:
        sys.path.append(benchmarks)
    from machine import describe_machine

    return describe_machine()
