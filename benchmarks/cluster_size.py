"""A large cluster on paper, from what `cluster.py` has measured on one machine.

Everything here is arithmetic on results in files. Prices and utilisation are assumptions of whoever asks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cluster_figures import conclude
from cluster_parts import DATABASE, OWNERS, RAY, WORKERS
from screensearch.errors import FormatError, SettingsError

RESULTS = Path(__file__).parent / "results"
APPLICATIONS = {"mousepad": "desktop:mousepad", "thunar": "desktop:thunar"}
"""The applications that were paced on a quiet machine, and their environments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What is asked for, and what is not measured."""

    workers: int = 10_000
    pace: float = 5.0  # steps a second of a worker
    observations: int = 100_000_000
    utilisation: float = 0.6  # of any core, in the mean: what is left is for peaks, restarts and growth
    machine_cores: int = 32
    core_hour_price: float = 0.04  # in the currency of your choice, as all prices
    volume_gb_month_price: float = 0.10  # the database's disk
    bucket_gb_month_price: float = 0.023  # pictures

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise SettingsError(f"{name} is {value}; it must be more than 0")


@dataclass(frozen=True, slots=True)
class Desktop:
    """An application as it was measured on one machine."""

    name: str
    steps_per_second_per_core: float
    picture_bytes_per_step: float


@dataclass(frozen=True, slots=True)
class Size:
    """A cluster on paper."""

    steps_per_second: float
    seconds: float  # until all observations are there
    owner_cores: float
    database_cores: float
    ray_cores: float  # for the calls alone
    worker_cores: float  # for the workers' side of the calls
    least_shards: int | None  # None where no ceiling of a shard was found
    workers_of_a_shard: int | None
    database_bytes: float
    wal_bytes_per_second: float
    desktop_cores: dict[str, float]
    picture_bytes: dict[str, float]

    @property
    def machinery_cores(self) -> float:
        return self.owner_cores + self.database_cores + self.ray_cores + self.worker_cores

    def machines(self, desktop: str, cores: int, idle_cores: float) -> int:
        """So many with so many cores each, of which Ray takes some on each of them for nothing."""
        return math.ceil((self.desktop_cores[desktop] + self.machinery_cores) / (cores - idle_cores))


def size(
    rung: Mapping[str, Any],
    ceiling: Mapping[str, Any] | None,
    desktops: list[Desktop],
    asked: Assumptions,
) -> Size:
    """Scale one rung linearly: cores by steps a second, disk by observations."""
    rate = asked.workers * asked.pace
    cost = rung["cpu_ms_per_step"]

    def cores(milliseconds: float) -> float:
        return rate * milliseconds / 1000 / asked.utilisation

    of_a_shard = None if ceiling is None else asked.utilisation * ceiling["steps_per_second"]
    return Size(
        steps_per_second=rate,
        seconds=asked.observations / rate,
        owner_cores=cores(cost[OWNERS]),
        database_cores=cores(cost[DATABASE]),
        ray_cores=cores(max(0.0, rung["above_idle_cpu_ms_per_step"][RAY])),
        worker_cores=cores(cost[WORKERS]),
        least_shards=None if of_a_shard is None else math.ceil(rate / of_a_shard),
        workers_of_a_shard=None if of_a_shard is None else math.floor(of_a_shard / asked.pace),
        database_bytes=asked.observations * rung["database_bytes_per_step"],
        wal_bytes_per_second=rate * rung["wal_bytes_per_step"],
        desktop_cores={
            each.name: rate / each.steps_per_second_per_core / asked.utilisation for each in desktops
        },
        picture_bytes={each.name: asked.observations * each.picture_bytes_per_step for each in desktops},
    )


def rung_to_scale(report: Mapping[str, Any], asked: Assumptions) -> Mapping[str, Any]:
    """The rung whose shards had about as much to do as is planned for one: what a step costs depends on it.

    One that is saturated is not scaled. Where no ceiling of a shard was found, nothing is planned for one:
    then it is the largest rung of the ladder that was served.
    """
    ceiling = report["ceilings"]["one_shard"]
    if ceiling is None:
        return largest_served(report["ladder"])
    wanted = asked.utilisation * ceiling["steps_per_second"]
    return min(
        served([*report["ladder"], *report["hot"]]),
        key=lambda rung: abs(math.log(rate_of_a_shard(rung) / wanted)),
    )


def rate_of_a_shard(rung: Mapping[str, Any]) -> float:
    return float(rung["steps_per_second"]) / int(rung["shards"])


def largest_served(ladder: list[dict[str, Any]]) -> dict[str, Any]:
    """The rung with the highest rate that was offered and met. Raise if none was."""
    return max(served(ladder), key=lambda rung: float(rung["steps_per_second"]))


def served(rungs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rungs whose rate was offered and met. Raise if there is none."""
    found = [rung for rung in rungs if not rung["saturated"] and rung["steps_per_second"]]
    if not found:
        raise FormatError("every rung is saturated: measure again, beginning with fewer workers")
    return found


def read_desktops(results: Path = RESULTS) -> list[Desktop]:
    """The applications, from the results of `desktop.py` and `weight.py`."""
    weighed = {run["environment"]: run for run in json.loads((results / "weight.json").read_text())["runs"]}
    desktops = []
    for name, environment in APPLICATIONS.items():
        paced = json.loads((results / f"desktop-pace-{name}.json").read_text())["pace"]["by_workers"]
        pace = max(each["steps_per_second_per_core"] for each in paced)
        desktops.append(Desktop(name, pace, weighed[environment]["picture_bytes_per_step"]))
    return desktops


@dataclass(frozen=True, slots=True)
class Measured:
    """All results that the texts are made of."""

    report: Mapping[str, Any]
    desktops: list[Desktop]


def read_measured(path: Path) -> Measured:
    """The results of `cluster.py` in a file, concluded from anew, and beside them those of the desktops."""
    report = json.loads(path.read_text())
    conclude(report)
    return Measured(report, read_desktops())


def assume(given: list[str]) -> Assumptions:
    """The assumptions with some replaced, each as NAME=VALUE."""
    kinds = {name: type(value) for name, value in asdict(Assumptions()).items()}
    changed: dict[str, Any] = {}
    for each in given:
        name, _, value = each.partition("=")
        if name not in kinds:
            raise SettingsError(f"nothing named {name!r} is assumed; known are {', '.join(kinds)}")
        try:
            changed[name] = kinds[name](value)
        except ValueError as problem:
            raise SettingsError(f"{name} is {value!r}; it must be a number") from problem
    return Assumptions(**changed)
