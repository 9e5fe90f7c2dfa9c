"""Whatever dies or freezes on a cluster, and whenever: nothing acknowledged is lost, nothing counts twice.

The nightly form takes three quarters of an hour, prints what it does and writes what it measures:

    SCREENSEARCH_FAULTS=200 SCREENSEARCH_FAULTS_OUT=faults.json pytest -s \
        tests/chaos/test_cluster_faults.py tests/chaos/test_head_faults.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest
from books import note_writers
from cluster_faults import LONG, NETWORK, NODES, QUICK, SLOTS
from fault_report import Report
from nightly import AT_THE_EDGES, NIGHTLY, RAY_SETTINGS, SECONDS, SEED, UNDER_WAY
from outside import Program
from postgres_server import PostgresServer, postgres_server
from ray_cluster import RayCluster, ray_cluster
from struck import TooLate
from trial import Trial

SEVERAL_SHARDS = "synthetic:notepad?modes=light,dark"
ONE_SHARD = "synthetic:generated?states=500"
WORKERS = 3
EVERY = 20  # faults, all is refolded

SLOWER = ("two at once",)
"""Of these, the second may be noticed only when the first is mended."""

MOMENTS = ("start", "last steps", "stop", "conclusion")
AT_ANY_MOMENT = (
    "kill_worker",
    "kill_owner",
    "kill_conductor",
    "crash_database",
    "freeze_owner",
    "kill_backend",
)


@pytest.fixture(scope="module")
def watched() -> Iterator[PostgresServer]:
    """A database that notes who writes."""
    with postgres_server() as server:
        note_writers(server.url())
        yield server


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(SLOTS, SLOTS, settings=RAY_SETTINGS) as started:
        yield started


@pytest.fixture(scope="module")
def program(cluster: RayCluster) -> Iterator[Program]:
    with Program(cluster.address) as outside:
        yield outside


@pytest.fixture(scope="module")
def edges() -> Report:
    return Report("start, stop and end", faults=AT_THE_EDGES)


def chosen(number: int, chance: random.Random, *, networks: bool) -> list[tuple[str, ...]]:
    """So many faults in a random order: each kind once, then mostly quick ones, now and then two at once."""

    def possible(kinds: tuple[str, ...]) -> list[str]:
        return [kind for kind in kinds if networks or kind not in NETWORK]

    quick, slow = possible(QUICK), possible((*NODES, *LONG) if NIGHTLY else ("kill_node", "cut_off_node"))
    chance.shuffle(quick)
    faults: list[tuple[str, ...]] = [(kind,) for kind in slow]
    many, left = cycle(quick), number - len(faults)
    while left > 0:
        if NIGHTLY and chance.random() < 0.05:
            faults.append((chance.choice(slow),))
        elif NIGHTLY and left > 1 and chance.random() < 0.05:
            faults.append((next(many), next(many)))
        else:
            faults.append((next(many),))
        left -= len(faults[-1])
    chance.shuffle(faults)
    return faults


def test_a_run_outlasts_everything_that_may_happen_to_its_parts(
    cluster: RayCluster, program: Program, watched: PostgresServer, tmp_path: Path
) -> None:
    chance, report = random.Random(SEED), Report("under way", faults=UNDER_WAY)
    trial = Trial(
        *(cluster, program, watched, tmp_path / "run", chance),
        environment=SEVERAL_SHARDS,
        steps=100_000_000,
        workers=WORKERS,
    )
    trial.wait_for_steps(100)
    for number, names in enumerate(chosen(UNDER_WAY, chance, networks=cluster.network.works), 1):
        begun, seconds = time.monotonic(), trial.inject(*names)
        report.add(seconds, *names, spent=time.monotonic() - begun)
        if number % EVERY == 0:
            trial.check_whole()
    trial.outside.stop()
    assert trial.finish().ended == "interrupted"
    report.note(str(trial.books))
    if NIGHTLY:
        slow = {kind: it for kind, it in report.worst().items() if it > SECONDS}
        assert {kind: it for kind, it in slow.items() if kind not in SLOWER} == {}


@pytest.mark.parametrize("number", range(AT_THE_EDGES))
def test_a_run_takes_exactly_its_steps_whatever_happens_while_it_starts_or_ends(
    number: int,
    cluster: RayCluster,
    program: Program,
    watched: PostgresServer,
    edges: Report,
    tmp_path: Path,
) -> None:
    chance = random.Random(f"{SEED} {number}")
    moment, name = MOMENTS[number % len(MOMENTS)], chance.choice(AT_ANY_MOMENT)
    steps = 100_000_000 if moment == "stop" else chance.randint(40, 120)
    trial = Trial(
        *(cluster, program, watched, tmp_path / "run", chance),
        environment=ONE_SHARD,
        steps=steps,
        workers=WORKERS,
    )
    if moment == "last steps":
        trial.wait_for_steps(steps - chance.randint(1, 10))
    elif moment == "conclusion":
        trial.wait_for_steps(steps)
    elif moment == "stop":
        trial.wait_for_steps(20)
        trial.outside.stop()
    time.sleep(chance.uniform(0, 3 if moment == "start" else 0.5))  # a random moment: this is the fault
    with suppress(TooLate):
        trial.faults.strike(name)
    summary = trial.finish()
    edges.count(f"{name} at the {moment}", f"{summary.steps} steps, {summary.lost} lost")
    if moment == "stop":
        assert summary.ended == "interrupted"
    else:
        assert (summary.steps, summary.ended) == (steps, "steps")
