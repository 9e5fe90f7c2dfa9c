"""Whatever dies or freezes on a cluster, and whenever: nothing acknowledged is lost, nothing counts twice.

The nightly form takes about half an hour, prints what it does and writes what it measures:

    SCREENSEARCH_FAULTS=200 SCREENSEARCH_FAULTS_OUT=faults.json pytest -s \
        tests/chaos/test_cluster_faults.py tests/chaos/test_head_faults.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from cluster_faults import LONG, NETWORK, NODES, QUICK
from fault_report import Report
from machine_faults import SLOTS
from nightly import AT_THE_EDGES, DAILY_SEED, HISTORY, NIGHTLY, RAY_SETTINGS, SEED, UNDER_WAY
from outside import Program
from postgres_server import PostgresServer
from ray_cluster import RayCluster, ray_cluster
from refusals import read_refusals
from struck import TooLate
from trial import Trial, watched_database

SEVERAL_SHARDS = "synthetic:notepad?modes=light,dark&text_scales=1.0,1.25"
ONE_SHARD = "synthetic:generated?states=500"
WORKERS = 3
MOST_TRIES = 10  # to strike before it is too late

MOMENTS = ("last steps", "start", "stop", "conclusion")
AT_ANY_MOMENT = (
    "kill_worker",
    "kill_owner",
    "kill_conductor",
    "crash_database",
    "freeze_owner",
    "kill_backend",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(SLOTS, SLOTS, settings=RAY_SETTINGS) as started:
        yield started


@pytest.fixture(scope="module")
def watched(cluster: RayCluster) -> Iterator[PostgresServer]:
    with watched_database(cluster) as server:
        yield server


@pytest.fixture(scope="module")
def program(cluster: RayCluster) -> Iterator[Program]:
    with Program(cluster.address) as outside:
        yield outside


@pytest.fixture(scope="module")
def edges() -> Report:
    return Report("start, stop and end", faults=AT_THE_EDGES, seed=DAILY_SEED)


def drawn(number: int, chance: random.Random, *, networks: bool) -> Iterator[tuple[str, ...]]:
    """So many faults in a random order, and then more, in case that some come too late.

    In the nightly form these are all kinds twice and then mostly quick ones, each as often as the others, now
    and then a slow one or two at once. In `scripts/test` they are a spread: of the quick ones all that
    test_cluster_history.py does not do, and a node that is killed and one that is cut off.
    """
    quick = [kind for kind in QUICK if NIGHTLY or kind not in HISTORY]
    slow = [*NODES, *LONG] if NIGHTLY else ["kill_node", "cut_off_node"]
    quick, slow = ([kind for kind in kinds if networks or kind not in NETWORK] for kinds in (quick, slow))
    chance.shuffle(quick)
    faults: list[tuple[str, ...]] = [(kind,) for kind in (*slow, *quick) for _ in range(1 + NIGHTLY)]
    round_and_round, left = cycle(quick), number - len(faults)
    while left > 0:
        if NIGHTLY and chance.random() < 0.05:
            faults.append((chance.choice(slow),))
        elif NIGHTLY and chance.random() < 0.05:
            faults.append((next(round_and_round), next(round_and_round)))
        else:
            faults.append((next(round_and_round),))
        left -= len(faults[-1])
    chance.shuffle(faults)
    yield from faults
    yield from ((kind,) for kind in round_and_round)


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
    if not cluster.network.works:
        report.note(f"no networks: this machine has no network namespaces, so without {', '.join(NETWORK)}")
    trial.wait_for_steps(100)
    founded = trial.books.founded
    for names in drawn(UNDER_WAY, chance, networks=cluster.network.works):
        trial.inject(report, *names)
        if NIGHTLY:  # else it is enough at the end
            trial.check_whole()
        if report.done >= UNDER_WAY:
            break
        assert report.too_late < UNDER_WAY
    trial.outside.stop()
    assert trial.finish().ended == "interrupted"
    report.note(str(trial.books))
    report.note(f"{trial.books.founded - founded} of {trial.books.founded} states founded under the faults")
    report.refused(refusals := read_refusals(watched.log))
    assert refusals.by_the_fence > 0  # or nobody has put it to the test
    assert trial.books.founded > founded  # likewise: nobody could have founded a state twice
    assert report.too_long == []
    if NIGHTLY:
        assert trial.books.refused > 0  # likewise, by a worker that was given up


@pytest.mark.parametrize("number", range(AT_THE_EDGES))
def test_a_run_takes_exactly_its_steps_whatever_happens_while_it_starts_or_ends(
    number: int,
    cluster: RayCluster,
    program: Program,
    watched: PostgresServer,
    edges: Report,
    tmp_path: Path,
) -> None:
    chance, done = random.Random(f"{DAILY_SEED} {number}"), edges.done
    moment = MOMENTS[number % len(MOMENTS)] if NIGHTLY else chance.choice(MOMENTS)
    for attempt in range(MOST_TRIES):
        steps = 100_000_000 if moment == "stop" else chance.randint(40, 120)
        trial = Trial(
            *(cluster, program, watched, tmp_path / f"run{attempt}", chance),
            environment=ONE_SHARD,
            steps=steps,
            workers=WORKERS,
        )
        strike_at(moment, steps, trial, chance, edges)
        if edges.done > done:
            return
    pytest.fail(f"{MOST_TRIES} faults at the {moment} of a run came too late")


def strike_at(moment: str, steps: int, trial: Trial, chance: random.Random, edges: Report) -> None:
    """Do something to a run about then; it has to take its steps, whether that was too late or not."""
    name = chance.choice(AT_ANY_MOMENT)
    if moment == "last steps":
        trial.wait_for_steps(steps - chance.randint(1, 10))
    elif moment == "conclusion":
        trial.wait_for_steps(steps)
    elif moment == "stop":
        trial.wait_for_steps(20)
        trial.outside.stop()
    time.sleep(chance.uniform(0, 3 if moment == "start" else 0.5))  # a random moment: this is the fault
    struck, missed = None, TooLate("the run has ended")
    if not trial.faults.is_over():
        try:
            struck = trial.faults.strike(name)
        except TooLate as problem:
            missed = problem
    summary = trial.finish()
    if struck is None:
        edges.miss(f"{name} at the {moment}", missed)
    else:
        struck.undo()
        trial.look()  # what is let go on then must not write
        edges.count(f"{name} at the {moment}", f"{summary.steps} steps, {summary.lost} lost")
    if moment == "stop":
        assert summary.ended == "interrupted"
    else:
        assert (summary.steps, summary.ended) == (steps, "steps")
