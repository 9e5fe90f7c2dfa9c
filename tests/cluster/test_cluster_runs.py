"""Runs on a real Ray cluster with a real database: what they come to, and how they are led."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from begun import ENDLESS, ENVIRONMENT, PACED, SETTINGS, begin, command, nothing, wait_until
from postgres_server import PostgresServer
from prometheus_client.parser import text_string_to_metric_families
from ray_cluster import PASSWORD, TOKEN, RayCluster

import screensearch as ss
from screensearch.cluster import launch
from screensearch.cluster.engine import NoCluster, connect
from screensearch.cluster.launch import Attached, resume_on_cluster
from screensearch.domain.shard import shard_of
from screensearch.domain.transition import Outcome
from screensearch.errors import RunBusy, RunNotFound, SettingsError
from screensearch.explore.exposition import OWN
from screensearch.explore.metrics import OF_RUN
from screensearch.explore.store import make_resolver
from screensearch.record.run import open_run_folder
from screensearch.record.sharded_log import ShardedLog

pytest_plugins = ["cluster_fixtures"]

VARIED = "synthetic:notepad?modes=light,dark&text_scales=1.0,1.25"


def scraped(url: str) -> dict[tuple[str, ...], float]:
    """Values by name and labels, without those that say of which run and shard they are."""
    with urllib.request.urlopen(url, timeout=30) as reply:
        families = text_string_to_metric_families(reply.read().decode())
    samples = [sample for family in families for sample in family.samples]
    return {
        (sample.name, *(value for name, value in sample.labels.items() if name not in OWN)): sample.value
        for sample in samples
    }


def check_logs(cluster: RayCluster, run: str, seen: dict[str, Any]) -> None:
    """Conductor, owner and worker say in JSON what they did, each of its run, and nothing secret."""
    conductor, owner, worker = (
        [json.loads(line) for line in cluster.logged(part["process"])]
        for part in (seen["conductor"], seen["owners"][0], seen["workers"][0])
    )
    assert {record["run"] for record in (*conductor, *owner, *worker)} == {run}
    failed = next(each for each in conductor if each["message"].startswith("worker 0 failed"))
    assert (failed["worker"], failed["level"]) == (0, "WARNING")
    assert failed["message"].endswith(f": {failed['why']}")
    assert conductor[-1]["message"] == "the run has ended: interrupted"
    assert sum(each["message"].startswith("worker 0 begins on") for each in conductor) > 1
    owned, *_, closed = [each for each in owner if "epoch" in each]
    assert owned["message"].startswith("shard 0 is owned")
    assert (owned["shard"], owned["epoch"]) == (0, seen["owners"][0]["epoch"])
    assert closed["message"] == "shard 0 is closed"
    assert {each["worker"] for each in worker} == {0}
    assert TOKEN not in json.dumps([conductor, owner, worker])


def test_one_worker_finds_the_same_graph_in_a_file_in_a_database_and_on_a_cluster(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    def embedded(name: str, store: str) -> str:
        stop = ss.StopRule(steps=300)
        return ss.start_exploration(
            ENVIRONMENT, tmp_path / name, stop=stop, settings=SETTINGS, seed=5, store=store
        ).digest

    in_a_file, in_a_database = embedded("file", ""), embedded("database", database.url())
    on_a_cluster = begin(cluster, database, tmp_path / "cluster", steps=300).follow(nothing)
    assert in_a_file == in_a_database == on_a_cluster.digest
    assert on_a_cluster.ended == "steps"
    with ss.open_run(tmp_path / "cluster") as run:
        assert run.verify().holds


def test_workers_in_parallel_take_exactly_as_many_steps_as_were_asked_for(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    summary = begin(cluster, database, tmp_path / "run", steps=301, workers=3).follow(nothing)
    assert summary.steps == 301
    assert summary.lost == summary.worker_failures == 0
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().holds
        assert {entry.episode.worker for _, entry in run.entries()} == {0, 1, 2}


def test_a_run_is_left_looked_at_stopped_and_resumed(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    here = ("--cluster", cluster.address)
    begun = command(
        *("explore", PACED, "--store", database.url(), "--steps", str(ENDLESS), "--out", folder),
        *("--no-screenshots", "--detach", "--metrics", "0.0.0.0:0", "--log-format", "json", *here),
    )
    assert begun.returncode == 0, begun.stderr
    attached = Attached(cluster.address, folder)
    wait_until(lambda: attached.view().progress.steps)
    seen = json.loads(command("status", folder, "--json", *here).stdout)
    assert seen["phase"] == "exploring"
    assert len(seen["workers"]) == 1
    of_shard, of_run = seen["owners"][0]["metrics"], seen["conductor"]["metrics"]
    assert scraped(of_shard)["screensearch_steps_total", "ok"] > 0
    assert not OF_RUN & {name for name, *_ in scraped(of_shard)}
    starts, failures = (f"screensearch_worker_{each}_total" for each in ("starts", "failures"))
    wait_until(lambda: scraped(of_run).get((starts, "0")))
    before = scraped(of_run)
    os.kill(seen["workers"][0]["process"], signal.SIGKILL)
    wait_until(lambda: scraped(of_run)[starts, "0"] > before[starts, "0"])
    assert scraped(of_run)[failures, "0"] > before[failures, "0"] >= 0
    wait_until(lambda: scraped(of_run)["screensearch_workers", "working"] == 1)
    seen = json.loads(command("status", folder, "--json", *here).stdout)
    assert seen["workers"][0]["failures"] > before[failures, "0"]
    assert 0 in {each["worker"] for each in seen["troubles"]}
    everything = json.loads(command("status", "--json", *here).stdout)
    assert [view["folder"] for view in everything] == [str(folder)]
    by_id = json.loads(command("status", seen["run"], "--json", *here).stdout)
    assert by_id["folder"] == str(folder)
    more = ss.StopRule(steps=2 * ENDLESS)
    with pytest.raises(RunBusy, match="attach"):
        resume_on_cluster(cluster.address, folder, stop=more, workers=1)
    with monkeypatch.context() as patched:
        patched.setattr(launch, "find_actor", lambda name: None)  # as for one who asked a moment ago
        with pytest.raises(RunBusy, match="attach"):
            resume_on_cluster(cluster.address, folder, stop=more, workers=1)
    stopped = command("stop", seen["run"], "--json", *here)
    assert stopped.returncode == 0, stopped.stderr
    summary = json.loads(stopped.stdout)
    assert summary["ended"] == "interrupted"
    assert summary["steps"] > 0
    check_logs(cluster, open_run_folder(folder).manifest.run, seen)
    with pytest.raises(RunNotFound, match="not under way"):
        Attached(cluster.address, folder)
    resume_on_cluster(cluster.address, folder, stop=ss.StopRule(steps=summary["steps"] + 20), workers=2)
    again = Attached(cluster.address, folder).follow(lambda view: None)
    assert again.steps == summary["steps"] + 20
    with ss.open_run(folder) as run:
        assert run.verify().holds
    for rule in (ss.StopRule(steps=again.steps), ss.StopRule(states=again.states)):
        resume_on_cluster(cluster.address, folder, stop=rule, workers=1)
        enough = Attached(cluster.address, folder).follow(lambda view: None)
        assert enough.ended == ("steps already" if rule.steps else "states already")
        assert (enough.digest, enough.run) == (again.digest, str(folder))


def test_a_cluster_needs_a_store(cluster: RayCluster, tmp_path: Path) -> None:
    ended = command("explore", ENVIRONMENT, "--cluster", cluster.address, "--out", tmp_path / "run")
    assert ended.returncode == 1
    assert "--store" in ended.stderr
    assert not (tmp_path / "run").exists()


def test_an_address_without_a_cluster_is_an_error_and_leaves_no_run(
    database: PostgresServer, tmp_path: Path
) -> None:
    ended = command(
        *("explore", ENVIRONMENT, "--cluster", "127.0.0.1:1", "--store", database.url()),
        *("--out", tmp_path / "run"),
    )
    assert ended.returncode == 1
    assert "127.0.0.1:1" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "run").exists()


def test_who_is_on_no_node_of_the_cluster_is_told_so(cluster: RayCluster) -> None:
    elsewhere = ("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc")  # sees no node run here
    ended = command("status", "--cluster", cluster.address, within=elsewhere)
    assert ended.returncode == 1
    assert f"is no node of the cluster at '{cluster.address}'" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


def test_a_process_is_in_one_cluster_at_a_time(cluster: RayCluster) -> None:
    connect(cluster.address)
    connect(cluster.address)
    with pytest.raises(NoCluster, match=r"is in the cluster at .* cannot be in the one at '127.0.0.1:1'"):
        connect("127.0.0.1:1")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"RAY_AUTH_MODE": None}, "RAY_AUTH_MODE is not set here: `export RAY_AUTH_MODE=token`"),
        ({"RAY_AUTH_TOKEN": "0" * 32}, "takes another token than ours"),
        ({"RAY_AUTH_TOKEN": None, "HOME": "/nowhere"}, "or we have none: put its own in RAY_AUTH_TOKEN"),
    ],
)
def test_who_is_not_let_in_is_told_what_is_missing(
    changed: dict[str, str | None], told: str, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in changed.items():
        monkeypatch.delenv(name)
        if value is not None:
            monkeypatch.setenv(name, value)
    ended = command("status", "--cluster", cluster.address)
    assert ended.returncode == 1
    assert told in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


def test_nothing_secret_is_kept_with_the_run_logged_or_shown_to_who_lists_processes(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.lock("keeper", PASSWORD)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    store = database.url(user="keeper")
    attached = begin(cluster, database, tmp_path / "run", steps=40, store=store)
    arguments = b"".join(Path(f"/proc/{process}/cmdline").read_bytes() for process in cluster.processes())
    assert attached.follow(nothing).steps == 40
    kept = files_below(tmp_path / "run")
    logs = files_below(cluster.logs) | {database.log: database.log.read_bytes()}
    assert any(b"raylet" in path.name.encode() for path in logs)  # these are the logs
    places = {**kept, **logs, Path("arguments of processes"): arguments}
    for secret in (TOKEN.encode(), PASSWORD.encode()):
        assert [str(path) for path, text in places.items() if secret in text] == []


def files_below(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_on_a_cluster_cannot_be_kept_in_a_file(cluster: RayCluster, tmp_path: Path) -> None:
    ss.start_exploration(ENVIRONMENT, tmp_path / "run", stop=ss.StopRule(steps=3), settings=SETTINGS)
    with pytest.raises(SettingsError, match="is a file"):
        resume_on_cluster(cluster.address, tmp_path / "run", stop=ss.StopRule(steps=5), workers=1)


def test_screens_of_other_looks_and_sizes_have_owners_of_their_own(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    summary = begin(cluster, database, folder, steps=60, workers=2, environment=VARIED).follow(nothing)
    with ss.open_run(folder) as run:
        assert isinstance(run.log, ShardedLog)
        assert len(run.log.shards) > 1
        assert run.verify().problems == ()
        assert run.graph.digest() == summary.digest
        states = list(run.states())
        looks = {(shard_of(state.id), state.display_mode, state.text_size) for state in states}
        assert len(looks) == len(run.log.shards)
        assert len(states) == summary.states
        taken = [entry for entry in run.transitions() if entry.outcome is not Outcome.LOST]
        assert len(taken) == summary.steps <= 60
        alone = make_resolver(run.settings)
        one: dict[int, int] = {}
        for (_, state, _), screen in run.log.known_screens():  # merged as a single owner would
            assert one.setdefault(state, alone.resolve(screen).state) == alone.resolve(screen).state
        assert len(set(one.values())) == len(one)
    with pytest.raises(SettingsError, match="--cluster"):
        ss.resume_exploration(folder, stop=ss.StopRule(steps=100))
