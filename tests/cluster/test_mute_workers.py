"""What Ray says of processes that do not say a word, and that a run does not wait for them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from begun import begin, nothing, wait_until
from postgres_server import PostgresServer
from ray_cluster import RayCluster

from screensearch.cluster import launch, workers
from screensearch.cluster.conductor import Conductor
from screensearch.cluster.engine import connect, end, place, where_placed
from screensearch.cluster.names import Job
from screensearch.cluster.worker import ClusterWorker

pytest_plugins = ["cluster_fixtures"]


class Frozen:
    """It comes to a stand before it can say anything."""

    def __init__(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class Idle:
    """It does nothing."""


class FrozenOnce(ClusterWorker):
    """The first of a run freezes before it can say anything; those after it find what it has left."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        before = self.folder / "frozen"
        if not before.exists():
            before.touch()
            os.kill(os.getpid(), signal.SIGSTOP)


class Impatient(Conductor):
    """A conductor that does not wait as long for a first word."""

    kind: type

    def __init__(self, job: Job) -> None:
        setattr(workers, "ClusterWorker", self.kind)  # noqa: B010 (it is a class to the type checker)
        setattr(workers, "START_SECONDS", 4.0)  # noqa: B010
        super().__init__(job)


@pytest.fixture(autouse=True)
def known_to_nodes(cluster: RayCluster) -> None:
    """The nodes do not have this module: its classes are sent to them."""
    import ray  # reads its settings, which `ray_cluster` makes

    connect(cluster.address)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


def test_ray_tells_a_process_that_is_mute_from_an_actor_that_waits_for_a_slot() -> None:
    frozen = [place(Frozen, f"mute/{number}", takes_slot=True) for number in range(4)]  # as many as there are
    wait_until(lambda: all(map(where_placed, frozen)))
    late = place(Frozen, "mute/late", takes_slot=True)
    try:
        assert len({where_placed(each) for each in frozen}) == 1  # there is one node with slots
        assert where_placed(late) is None
        end(frozen.pop())
        wait_until(lambda: where_placed(late))
    finally:
        for actor in (*frozen, late):
            end(actor)


def test_a_run_goes_on_when_the_process_of_its_worker_froze_before_its_first_word(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FrozenOnce, "folder", tmp_path, raising=False)
    monkeypatch.setattr(Impatient, "kind", FrozenOnce, raising=False)
    monkeypatch.setattr(launch, "Conductor", Impatient)
    attached = begin(cluster, database, tmp_path / "run", steps=20)
    wait_until(lambda: attached.view().progress.steps)
    assert "did not say a word" in attached.view().trouble
    summary = attached.follow(nothing)
    assert (summary.steps, summary.lost) == (20, 0)
    assert summary.worker_failures  # where all is busy, more than one


def test_what_is_placed_again_and_again_is_known_to_the_cluster_once() -> None:
    """Each class that is sent is kept by the head until the run has ended, which may take a month."""
    from ray.experimental import internal_kv

    def known() -> int:
        return len(internal_kv._internal_kv_list(b"ActorClass", namespace=b"fun"))

    actors = [place(Idle, "idle/0")]
    before = known()
    actors += [place(Idle, f"idle/{number}") for number in (1, 2)]
    assert known() == before
    for actor in actors:
        end(actor)
