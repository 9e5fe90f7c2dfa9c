"""What is checked before anything is begun on a cluster: the same as for an exploration on this machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from postgres_server import PostgresServer

import screensearch as ss
from screensearch.cli import main
from screensearch.cluster import engine, launch
from screensearch.cluster.launch import resume_on_cluster, start_on_cluster
from screensearch.cluster.names import Job
from screensearch.errors import PluginUnavailable, SettingsError
from screensearch.explore.beginning import LARGEST_SEED, new_manifest
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.run import create_run, open_run_folder
from screensearch.record.stores import PostgresStore

pytest_plugins = ["cluster_fixtures"]

NOWHERE = "127.0.0.1:1"  # nobody is asked: what is wrong is told before
OPEN = replace(ss.Settings(), desktop=replace(ss.Settings().desktop, sandbox=False))
RUTHLESS = replace(OPEN, guard=replace(OPEN.guard, irreversible="allow"))


def start(folder: Path, **options: Any) -> None:
    given = {
        "settings": ss.Settings(),
        "stop": ss.StopRule(steps=5),
        "workers": 1,
        "seed": 0,
        "store": "postgresql://me@host/x",
        **options,
    }
    start_on_cluster(NOWHERE, "synthetic:notepad", folder, **given)


def resume(folder: Path, **options: Any) -> None:
    resume_on_cluster(NOWHERE, folder, **{"stop": ss.StopRule(steps=5), "workers": 1, **options})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"store": ""}, "give --store"),
        ({"workers": -1}, "workers is -1"),
        ({"seed": LARGEST_SEED + 1}, "it must be between 0 and"),
        ({"log_format": "xml"}, "xml"),
        ({"metrics": "here"}, "here"),
        ({"settings": OPEN}, "say so with --unsandboxed"),
        ({"settings": RUTHLESS, "unsandboxed": True}, "say so with --allow-irreversible"),
        ({"artifacts": "s3://"}, "names no place"),
    ],
)
def test_a_new_run_that_could_not_be_explored_is_refused_and_not_made(
    options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ss.ScreenSearchError, match=told):
        start(tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_metrics_that_this_machine_cannot_serve_are_refused_before_a_run_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "screensearch.explore.exposition", raising=False)
    with pytest.raises(PluginUnavailable, match=r"screensearch\[metrics\]"):
        start(tmp_path / "run", metrics="9464")
    assert not (tmp_path / "run").exists()


async def test_a_run_that_is_begun_inside_an_event_loop_is_told_to_use_a_thread(tmp_path: Path) -> None:
    assert asyncio.get_running_loop() is not None
    with pytest.raises(SettingsError, match="call it in a thread"):
        start(tmp_path / "run")


@pytest.mark.parametrize(
    ("environment", "settings", "options", "told"),
    [
        ("synthetic:notepad", ss.Settings(), {}, "is a file: .* without --cluster"),
        ("synthetic:notepad", ss.Settings(), {"log_format": "xml"}, "xml"),
        ("synthetic:notepad", OPEN, {}, "say so with --unsandboxed"),
        ("synthetic:notepad", RUTHLESS, {"unsandboxed": True}, "say so with --allow-irreversible"),
        ("object:mine", ss.Settings(), {}, "drove an object, 'mine'"),
    ],
)
def test_a_run_that_could_not_go_on_there_is_refused(
    environment: str, settings: ss.Settings, options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    create_run(tmp_path / "run", new_manifest(environment, settings, seed=0, store="", artifacts=""))
    with pytest.raises(ss.ScreenSearchError, match=told):
        resume(tmp_path / "run", **options)


# -- the command, and a cluster that only takes notes ---------------------------------------------


class Notes:
    """What would have been placed on a cluster."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[Job] = []
        self.under_way: set[str] = set()
        monkeypatch.setattr(launch, "connect", lambda address: None)
        monkeypatch.setattr(launch, "check_slots", lambda address: None)
        monkeypatch.setattr(launch, "place", lambda kind, name, job, **how: self.jobs.append(job))
        monkeypatch.setattr(launch, "find_actor", lambda name: name.split("/")[0] in self.under_way or None)


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    return Notes(monkeypatch)


def explore(*options: str | Path) -> Result:
    words = ["explore", "--cluster", NOWHERE, "--detach", *map(str, options)]
    return CliRunner().invoke(main, words)


def test_a_log_is_taken_over_on_a_cluster_only_if_that_is_said(
    notes: Notes, database: PostgresServer, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert explore("synthetic:notepad", "--store", database.url(), "--out", folder).exit_code == 0
    assert explore("--resume", "--out", folder).exit_code == 0
    assert explore("--resume", "--out", folder, "--take-over").exit_code == 0
    assert [job.take_over for job in notes.jobs] == [False, False, True]
    assert len({job.run for job in notes.jobs}) == 1


def test_a_folder_of_pictures_is_named_from_the_root_and_marked_whenever_a_run_is_begun(
    notes: Notes, database: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pictures = LocalArtifacts(tmp_path / "pictures")
    new = ("synthetic:notepad", "--store", database.url(), "--artifacts", "pictures", "--out", "run")
    assert explore(*new).exit_code == 0
    (job,) = notes.jobs
    assert job.artifacts == str(pictures.folder)
    assert pictures.is_marked(job.run)
    shutil.rmtree(pictures.folder)  # as if it was begun by a version that left no mark
    assert explore("--resume", "--out", "run").exit_code == 0
    assert pictures.is_marked(job.run)
    assert CliRunner().invoke(main, ["verify", "run"]).exit_code == 0


def test_a_run_without_an_entry_makes_room_unless_it_is_under_way(
    notes: Notes, database: PostgresServer, tmp_path: Path
) -> None:
    new = ("synthetic:notepad", "--store", database.url(), "--out", tmp_path / "run")
    assert explore(*new).exit_code == 0
    again = explore(*new)
    assert again.exit_code == 0, again.output
    assert "was a run without an entry: it is begun anew" in again.stderr
    first, second = notes.jobs
    assert first.run != second.run
    kept = [PostgresStore(database.url(), each.run).shards() for each in (first, second)]
    assert kept == [[], [0]]
    notes.under_way = {second.run}
    refused = explore(*new)
    assert refused.exit_code == 1
    assert "is not empty" in refused.output
    assert open_run_folder(tmp_path / "run").manifest.run == second.run


def test_a_cluster_that_this_machine_belonged_to_and_that_is_gone_is_told_at_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "screensearch", "status", "--cluster", "auto"],
        env={**os.environ, "RAY_ADDRESS": NOWHERE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "nobody listens at" in ended.stderr


def test_a_machine_that_is_no_node_is_told_that_it_has_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray looks for a node on this machine, for a minute, and then says only that it could not connect."""

    def refuse(**options: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster at 10.0.0.11:6379")

    monkeypatch.setattr(engine, "_knock", lambda address: None)
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(engine.NoCluster, match="this machine one of its nodes"):
        engine.connect("10.0.0.11:6379")


@pytest.mark.parametrize("address", ["local", "nonsense", "lab1:", ":", ""])
def test_what_is_no_address_is_refused_before_anything_is_begun(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    ended = CliRunner().invoke(main, ["status", "--cluster", address])
    assert ended.exit_code == 1
    assert ended.stderr.startswith(f"Error: {address!r} is no address of a cluster: give HOST:PORT")


def test_ray_after_usearch_is_refused_where_it_would_end_the_process() -> None:
    code = "import usearch.index, screensearch.cluster.launch"
    environment = {**os.environ, "RAY_worker_niceness": "0"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.returncode == 1
    assert "Ray cannot be loaded after that" in ended.stderr
