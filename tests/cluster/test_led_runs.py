"""How a run on a cluster is led when something is in its way: what it forgets, gives up, and insists on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import urllib.request
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aftermath import descendants
from begun import ENDLESS, ENVIRONMENT, SETTINGS, begin, command, nothing, wait_until
from paced_world import open_world
from postgres_server import PostgresServer
from ray_cluster import RayCluster

import screensearch as ss
from screensearch.cluster import engine, keeping
from screensearch.cluster.account import Account
from screensearch.cluster.engine import answer, connect, control, end, place, this_node_id
from screensearch.cluster.launch import Attached, resume_on_cluster
from screensearch.cluster.names import Job, OwnerBroke, Place, View, conductor_name
from screensearch.cluster.owner import ShardOwner
from screensearch.cluster.owners import Owners
from screensearch.cluster.store import ClusterStore, Poisonous
from screensearch.config import settings_document
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.shard import ShardKey, shard_key, shard_of
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.environments.protocol import Means
from screensearch.errors import EnvironmentFailed, StoreFailed
from screensearch.explore.messages import Begin, BeginFailed, Sighting
from screensearch.explore.wire import pack_body
from screensearch.record.run import open_run_folder
from screensearch.record.stores import PostgresStore

pytest_plugins = ["cluster_fixtures"]


def wait(attached: Attached, steps: int) -> View:
    while (view := attached.view()).progress.steps < steps:
        time.sleep(0.1)
    return view


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as reply:
        text: str = reply.read().decode()
    return text


def processes_of(cluster: RayCluster, actor: bytes) -> list[int]:
    return [
        process
        for node in (cluster.head, *cluster.nodes)
        for process in descendants(node.process.pid)
        if actor in Path(f"/proc/{process}/cmdline").read_bytes()
    ]


def kill_conductor(cluster: RayCluster) -> None:
    for process in processes_of(cluster, b"Conductor"):
        os.kill(process, signal.SIGKILL)


def beside_head(cluster: RayCluster) -> bool:
    """Whether all conductors are on the head's node."""
    return set(processes_of(cluster, b"Conductor")) <= set(cluster.head.processes())


def test_a_conductor_that_is_started_anew_knows_what_was_before(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    attached = begin(cluster, database, tmp_path / "run", metrics="0.0.0.0:0")
    before = wait(attached, 30)
    started = f'screensearch_worker_starts_total{{run="{before.run}",shard="",worker="0"}} 1.0'
    wait_until(lambda: started in read(before.conductor.metrics))  # from then on, another life knows it
    assert beside_head(cluster)  # a node that goes takes everything else with it, but not the conductor
    kill_conductor(cluster)
    after = wait(attached, before.progress.steps + 30)
    assert beside_head(cluster)
    assert after.progress.seconds > before.progress.seconds
    assert after.conductor.process != before.conductor.process
    assert after.conductor.metrics == before.conductor.metrics
    assert started in read(after.conductor.metrics)
    attached.stop()
    wait_until(lambda: attached.view().phase == "ended")
    (owner,) = after.owners
    wait_until(lambda: not Path(f"/proc/{owner.process}").exists())  # its graph is not kept with the summary
    kill_conductor(cluster)  # also that it is over
    summary = attached.follow(nothing)
    assert summary.ended == "interrupted"
    assert sum(summary.new_outcomes.values()) == summary.steps
    assert summary.worker_failures == 0  # the worker was not disturbed
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().holds
        assert run.graph.digest() == summary.digest


def test_an_owner_that_freezes_while_it_opens_its_log_is_replaced(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    earlier = set(processes_of(cluster, b"ShardOwner"))  # those of another run may still be about to go
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with (
        closing(psycopg.connect(database.url())) as other,
        closing(psycopg.connect(database.url())) as looking,
    ):
        looking.autocommit = True

        def hold() -> None:
            other.execute("SELECT id FROM screensearch.logs FOR UPDATE")

        attached = begin(cluster, database, tmp_path / "run", steps=30, before_begin=hold)
        wait_until(lambda: looking.execute(waiting).fetchone() != (0,))
        (owner,) = set(processes_of(cluster, b"ShardOwner")) - earlier
        os.kill(owner, signal.SIGSTOP)
        other.rollback()
    summary = attached.follow(nothing)
    with contextlib.suppress(ProcessLookupError):  # it may have been ended, frozen as it was
        os.kill(owner, signal.SIGCONT)
    assert summary.steps == 30
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().holds


def test_a_log_that_another_process_writes_is_taken_over_only_if_that_is_asked_for(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    begin(cluster, database, folder, steps=20).follow(nothing)
    run = open_run_folder(folder).manifest.run
    with closing(PostgresStore(database.url(), run).open_to_write()):
        resume_on_cluster(cluster.address, folder, stop=ss.StopRule(steps=40), workers=1)
        with pytest.raises(EnvironmentFailed, match="take-over"):
            Attached(cluster.address, folder).follow(nothing)
        resume_on_cluster(cluster.address, folder, stop=ss.StopRule(steps=40), workers=1, take_over=True)
        assert Attached(cluster.address, folder).follow(nothing).steps == 40


def test_a_run_whose_application_never_starts_says_so_and_leaves_its_log_closed(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    attached = begin(cluster, database, tmp_path / "run", environment="stumbling:notepad")
    with pytest.raises(ss.NeverStarted, match=r"it said goodbye.*screensearch findings") as failed:
        attached.follow(nothing)
    assert (failed.value.summary.ended, failed.value.summary.steps) == ("failed starts", 0)
    assert failed.value.summary.failed_starts == 3
    run = open_run_folder(tmp_path / "run").manifest.run
    PostgresStore(database.url(), run).open_to_write().close()  # nobody has it


def test_a_run_whose_log_another_exploration_takes_ends_and_leaves_it_there(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    attached = begin(cluster, database, folder)
    wait(attached, 10)
    run = open_run_folder(folder).manifest.run
    with closing(PostgresStore(database.url(), run).open_to_write(take_over=True)) as taken:
        before = taken.last_sequence
        with pytest.raises(EnvironmentFailed, match=r"is owned by .* took it over from this exploration"):
            attached.follow(nothing)
        taken.commit()
        assert PostgresStore(database.url(), run).how_far().entries == before


def test_a_run_whose_database_lost_what_was_acknowledged_ends_and_writes_no_more(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    attached = begin(cluster, database, folder)
    wait(attached, 30)
    with closing(psycopg.connect(database.url(), autocommit=True)) as connection:
        run = open_run_folder(folder).manifest.run
        connection.execute("SET search_path = screensearch")
        connection.execute("SET screensearch.dropping = 'on'")
        ((log,),) = connection.execute("SELECT id FROM logs WHERE run = %s", [run]).fetchall()
        with connection.transaction():  # as at a replica that had not got all of it
            connection.execute("SELECT 1 FROM logs WHERE id = %s FOR UPDATE", [log])
            connection.execute("DELETE FROM decisions WHERE log = %s AND seq > 5", [log])
            connection.execute("DELETE FROM entries WHERE log = %s AND seq > 5", [log])
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity JOIN logs "
                "ON application_name = 'screensearch owner ' || token WHERE id = %s",
                [log],
            )
    with pytest.raises(EnvironmentFailed, match=r"lost.* Nothing more is written"):
        attached.follow(nothing)
    assert PostgresStore(database.url(), run).how_far().entries == 5


def test_an_owner_whose_log_was_taken_is_refused_and_leaves_by_itself(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    connect(cluster.address)
    folder = tmp_path / "run"
    ss.start_exploration(
        ENVIRONMENT, folder, stop=ss.StopRule(steps=3), settings=SETTINGS, store=database.url()
    )
    run = open_run_folder(folder).manifest.run
    job = replace(job_of(run, folder, database), version=version("screensearch"))
    owner: Any = place(ShardOwner, "nobody's owner")  # no conductor is there to end it
    opened = owner.open.remote(job, 0, None, take_over=False, lives={}, at_work=[])
    answer(opened, seconds=120)
    process = answer(owner.report.remote(), seconds=120).process
    with closing(PostgresStore(database.url(), run).open_to_write(take_over=True)) as taken:
        before = taken.last_sequence
        failed = BeginFailed(EpisodeId(0, 100), Outcome.CRASH, Evidence())
        with pytest.raises(StoreFailed, match="taken over by another process"):
            answer(owner.handle.remote(1, pack_body(failed)), seconds=120)
        wait_until(lambda: not Path(f"/proc/{process}").exists())
        assert PostgresStore(database.url(), run).how_far().entries == before


def test_a_run_whose_log_is_deleted_ends_and_says_so(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    attached = begin(cluster, database, folder)
    wait(attached, 10)
    PostgresStore(database.url(), open_run_folder(folder).manifest.run).discard()
    with pytest.raises(EnvironmentFailed, match="is not in"):
        attached.follow(nothing)


def test_a_run_can_be_looked_at_and_given_up_while_its_database_is_away(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    wait(begin(cluster, database, folder), 10)
    database.stop("immediate")
    try:
        seen = command("status", folder, "--json", "--cluster", cluster.address)
        assert json.loads(seen.stdout)["phase"] == "exploring", seen.stderr
        ended = command("stop", folder, "--now", "--cluster", cluster.address)
    finally:
        database.start()
    assert ended.returncode == 1
    assert "--resume" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_an_owner_that_is_silent_is_not_gone_while_its_log_grows(
    database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "IDLE_SECONDS", 0.5)
    explored = asyncio.ensure_future(
        asyncio.to_thread(
            ss.start_exploration,
            open_world("generated?states=500", Means(screenshots=False)),
            tmp_path / "run",
            stop=ss.StopRule(steps=ENDLESS, seconds=4.0),
            settings=SETTINGS,
            store=database.url(),
        )
    )
    await asyncio.to_thread(wait_until, (tmp_path / "run" / "run.json").exists)
    run = open_run_folder(tmp_path / "run").manifest.run
    owners = Owners(job_of(run, tmp_path / "run", database), lambda shard: keeping.AtWork({}, []), Account())
    store = PostgresStore(database.url(), run)
    await asyncio.to_thread(wait_until, lambda: store.how_far().entries)
    epoch = store.how_far().epoch
    assert await owners._keeper.records(0, epoch)
    assert not await owners._keeper.records(0, epoch - 1)  # it grows, but by another's hand
    await explored
    assert not await owners._keeper.records(0, epoch)


def job_of(run: str, folder: Path, database: PostgresServer) -> Job:
    return Job(
        run=run,
        folder=str(folder),
        environment=ENVIRONMENT,
        seed=5,
        settings=settings_document(SETTINGS),
        store=database.url(),
        artifacts="",
        log_format="text",
        metrics="",
        version="",
        workers=0,
        stop=ss.StopRule(steps=1),
    )


def screen_of(mode: str) -> Screen:
    return Screen(f"a screen in {mode}", ("a",), ("a",), "", Metadata("app", mode, "1.0", "main"))


def arrival(worker: int, mode: str) -> Begin:
    return Begin(EpisodeId(worker, 0), Sighting(screen=screen_of(mode)), Evidence())


async def test_a_worker_that_was_sent_to_a_shard_of_other_screens_is_sent_on(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    attached = await asyncio.to_thread(begin, cluster, database, tmp_path / "run", workers=0)
    run = open_run_folder(tmp_path / "run").manifest.run
    light, dark = ClusterStore(run, 1), ClusterStore(run, 1)
    first = await light.begin(arrival(0, "light"))
    dark._shards[shard_key(screen_of("dark").metadata)] = 0  # as a conductor said that knew no better
    second = await dark.begin(arrival(1, "dark"))
    assert first.here is not None
    assert second.here is not None
    assert (shard_of(first.here.state), shard_of(second.here.state)) == (0, 1)
    for worker, store in enumerate((light, dark)):  # nobody is to wait for the steps that they were granted
        await store._owners[worker][1].leave.remote(1, worker, 1)
    await asyncio.to_thread(attached.stop)
    await asyncio.to_thread(attached.follow, nothing)


class Brittle:
    """In the place of a conductor and of owners that have a fault: each breaks over what it is sent."""

    def __init__(self, run: str) -> None:
        self._run, self._generation = run, 0

    async def shard(self, key: ShardKey) -> int:
        return 0

    @control
    async def locate(self, shard: int) -> Place:
        self._generation += 1
        return Place(shard, self._generation, conductor_name(self._run))

    async def handle(self, life: int, body: bytes) -> bytes:
        raise OwnerBroke(repr(ZeroDivisionError("division by zero")))


async def test_a_worker_whose_message_breaks_one_owner_after_another_gives_it_up(cluster: RayCluster) -> None:
    import ray  # reads its settings, which `ray_cluster` makes

    await asyncio.to_thread(connect, cluster.address)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # the nodes do not have this module
    actor: Any = place(Brittle, conductor_name("brittle"), "brittle")
    try:
        with pytest.raises(Poisonous, match="3 owners failed over its message"):
            await ClusterStore("brittle", 1).begin(arrival(0, "light"))
    finally:
        end(actor)


class Placed:
    """Says where it is."""

    async def node(self) -> str:
        return this_node_id()


def test_what_is_placed_is_not_where_something_became_silent_if_there_is_another_place(
    cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray  # reads its settings, which `ray_cluster` makes

    connect(cluster.address)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # the nodes do not have this module
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    known = {node["NodeID"]: engine.HEAD in node["Resources"] for node in nodes if node["Alive"]}
    (head,), (other,) = ([node for node in known if known[node] is is_head] for is_head in (True, False))
    actors = [
        place(Placed, "placed/at the head", at_head=True),
        place(Placed, "placed/not at the head", avoid=head),
        place(Placed, "placed/not beside it", avoid=other),
        place(Placed, "placed/where the only slots are", avoid=other, takes_slot=True),
    ]
    monkeypatch.setattr(engine, "HEAD", "node:__nobody__")
    actors.append(place(Placed, "placed/without a head", at_head=True))
    try:
        found = [answer(actor.node.remote(), seconds=120) for actor in actors]
    finally:
        for actor in actors:
            end(actor)
    assert found[:4] == [head, other, head, other]
    assert found[4] in known
