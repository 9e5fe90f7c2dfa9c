"""A conductor that hangs is started anew: Ray itself does that only with one that has died."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from begun import begin, nothing, wait_until
from postgres_server import PostgresServer
from ray_cluster import RayCluster

from screensearch.cluster import keeping, launch, owner
from screensearch.cluster.conductor import Conductor
from screensearch.cluster.engine import connect, find_actor
from screensearch.cluster.names import Job, conductor_name
from screensearch.cluster.owner import ShardOwner

pytest_plugins = ["cluster_fixtures"]


class Impatient(ShardOwner):
    """An owner that does not wait as long to be asked."""

    def __init__(self) -> None:
        setattr(owner, "UNASKED_SECONDS", 4.0)  # noqa: B010 (a constant to the type checker)
        setattr(owner, "CONDUCTOR_SECONDS", 2.0)  # noqa: B010
        super().__init__()


class WithImpatientOwners(Conductor):
    def __init__(self, job: Job) -> None:
        setattr(keeping, "ShardOwner", Impatient)  # noqa: B010 (a class to the type checker)
        super().__init__(job)

    async def hang(self) -> None:
        """Get to nothing any more. How the run is can still be asked: that has a thread of its own."""
        time.sleep(3600)  # noqa: ASYNC251 (as a plugin would that waits for something)


def test_a_conductor_that_hangs_or_is_frozen_is_started_anew_and_the_run_goes_on(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray  # reads its settings, which `ray_cluster` makes

    connect(cluster.address)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    monkeypatch.setattr(launch, "Conductor", WithImpatientOwners)
    attached = begin(cluster, database, tmp_path / "run")
    wait_until(lambda: attached.view().progress.steps)
    before = attached.view()
    find_actor(conductor_name(before.run)).hang.remote()
    wait_until(lambda: attached.view().conductor.process != before.conductor.process)
    between = attached.view()
    os.kill(between.conductor.process, signal.SIGSTOP)
    after = attached.view()  # which is asked for until one answers
    assert after.conductor.process != between.conductor.process
    wait_until(lambda: attached.view().progress.steps > after.progress.steps)
    assert [each.life for each in attached.view().workers] == [each.life for each in before.workers]
    attached.stop()
    summary = attached.follow(nothing)
    assert (summary.ended, summary.lost) == ("interrupted", 0)
