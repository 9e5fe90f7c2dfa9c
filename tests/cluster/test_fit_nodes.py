"""What a worker needs of its node, and that what it says of a failure holds nothing secret."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from stand_ins import job

from screensearch.cluster import owner as owner_module
from screensearch.cluster import worker as worker_module
from screensearch.cluster.names import OwnerBroke, OwnerReport, Task
from screensearch.cluster.owner import ShardOwner
from screensearch.cluster.worker import ClusterWorker
from screensearch.config import Settings, resolve, settings_document
from screensearch.environments.protocol import ENVIRONMENTS
from screensearch.errors import HopelessStart, StoreFailed
from screensearch.explore import worker as explore_worker
from screensearch.explore.beginning import new_manifest
from screensearch.explore.logs import start_logging
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import Assignment, Failed
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.run import create_run
from screensearch.record.sqlite_log import SqliteLog

NODE = "10.0.0.2"
BUCKET = "s3://pictures/mine"
SECRETS = ("joe.doe@example.com", "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6")
REACHED = Failed("the application was to start", hopeless=True)
COUNTED = resolve(overrides=['app.coverage=["catfish"]'])
WITHOUT_PICTURES = resolve(overrides=["explore.screenshots=none"])


class World:
    """It is known by its last words that a worker has come as far as to start it."""

    application = "world"

    async def reset(self, seed: int) -> Any:
        raise HopelessStart(REACHED.message)

    async def perform(self, action: Any) -> Any:
        """It does not come to that."""

    async def close(self) -> None:
        """There is nothing to close."""


class Truthful(World):
    def truth(self) -> Mapping[str, Any]:
        return {}


class Counting(World):
    def take_measured(self) -> Mapping[str, list[int]]:
        return {}


class Leaky(World):
    async def reset(self, seed: int) -> Any:
        raise KeyError(f"no mailbox of {SECRETS[0]} with {SECRETS[1]}")


WORLDS: dict[str, Callable[[], World]] = {
    "fit-plain": World,
    "fit-truthful": Truthful,
    "fit-counting": Counting,
    "fit-leaky": Leaky,
}


@pytest.fixture(autouse=True)
def on_a_node(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as one of a node, which logs as a worker until the end of the test."""
    stops: list[Callable[[], None]] = []
    for module in (worker_module, owner_module):
        monkeypatch.setattr(module, "this_node", lambda: NODE)
        monkeypatch.setattr(module, "this_node_id", lambda: "a")
    monkeypatch.setattr(worker_module, "give_large_blocks_back", lambda: None)
    monkeypatch.setattr(owner_module, "leave", lambda: None)
    monkeypatch.setattr(explore_worker, "log_uncaught", lambda: None)
    monkeypatch.setattr(explore_worker, "start_logging", lambda *given: stops.append(start_logging(*given)))
    for name, world in WORLDS.items():
        ENVIRONMENTS.register(name, lambda argument, means, world=world: world())
    yield
    for stop in stops:
        stop()


async def last_words(
    folder: Path,
    *,
    artifacts: str | Path = "",
    environment: str = "fit-plain",
    settings: Settings | None = None,
    run: str = "run",
) -> Failed | None:
    """Of a worker that is told to explore here."""
    assignment = Assignment(
        worker=0,
        environment=f"{environment}:x",
        settings=settings_document(settings or Settings()),
        folder=str(folder),
        seed=1,
        first_episode=0,
        futile=0,
        artifacts=str(artifacts),
        run=run,
    )
    worker = ClusterWorker()
    await worker.begin(Task(run, 1, assignment, version("screensearch")))
    assert worker._working is not None
    await worker._working
    failed: Failed | None = (await worker.report()).failed
    return failed


async def test_a_worker_ends_where_the_folder_of_the_pictures_is_another_one(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    for _ in range(2):  # it makes nothing, so that the next one would take it for the right one
        failed = await last_words(tmp_path / "run", artifacts=folder)
        assert failed is not None
        assert failed.hopeless
        assert f"{folder}, is not on node {NODE}" in failed.message
        assert "s3://" in failed.message
    assert not folder.exists()


async def test_a_folder_of_pictures_is_marked_for_each_of_the_runs_that_share_it(tmp_path: Path) -> None:
    pictures = LocalArtifacts(tmp_path / "pictures")
    pictures.mark("another")
    failed = await last_words(tmp_path / "run", artifacts=pictures.folder)
    assert failed is not None
    assert "is another one there" in failed.message
    pictures.mark("run")
    pictures.mark("run")  # as when it is resumed
    for run in ("run", "another"):
        assert await last_words(tmp_path / "run", artifacts=pictures.folder, run=run) == REACHED


async def test_a_run_without_pictures_needs_no_folder_for_them(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    failed = await last_words(tmp_path / "run", artifacts=pictures, settings=WITHOUT_PICTURES)
    assert failed == REACHED


@pytest.mark.parametrize(
    ("environment", "settings", "needed"),
    [
        ("fit-plain", Settings(), False),
        ("fit-plain", COUNTED, False),  # it cannot count
        ("fit-truthful", Settings(), True),
        ("fit-counting", Settings(), False),  # nobody asked it to
        ("fit-counting", COUNTED, True),
    ],
)
async def test_with_a_bucket_the_folder_of_the_run_is_needed_only_where_something_is_noted_in_it(
    environment: str, settings: Settings, needed: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    failed = await last_words(folder, artifacts=BUCKET, environment=environment, settings=settings)
    assert failed is not None
    assert failed.hopeless
    assert (failed != REACHED) == needed
    if needed:
        assert f"the folder of the run, {folder}, is not on node {NODE}, and the truth" in failed.message
        assert not folder.exists()
    manifest = new_manifest("fit:x", settings, seed=0, store="", artifacts=BUCKET)
    create_run(folder, manifest)
    words = await last_words(
        folder, artifacts=BUCKET, environment=environment, settings=settings, run=manifest.run
    )
    assert words == REACHED


async def test_without_a_place_for_pictures_the_folder_of_the_run_is_needed(tmp_path: Path) -> None:
    failed = await last_words(tmp_path / "run")
    assert failed is not None
    assert failed.hopeless
    assert f"{tmp_path / 'run'}, is not on node {NODE}: keep the pictures in a bucket" in failed.message


async def test_what_a_plugin_raises_is_told_and_logged_without_its_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = await last_words(tmp_path / "run", artifacts=BUCKET, environment="fit-leaky")
    assert failed is not None
    assert failed.message.startswith("KeyError: ")
    logged = capsys.readouterr().err
    assert "KeyError" in logged  # with its traceback
    assert "no mailbox of" in failed.message
    for secret in SECRETS:
        assert secret not in failed.message
        assert secret not in logged


async def test_an_owner_whose_plugin_fails_tells_nothing_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def opening(*given: object, **named: object) -> Any:
        raise KeyError(f"{SECRETS}")

    monkeypatch.setattr(owner_module, "_open_or_create", opening)
    owner = ShardOwner()
    here = replace(job(), store="postgresql://me@host/x", version=version("screensearch"))
    with pytest.raises(OwnerBroke, match="KeyError") as raised:
        await owner.open(here, 0, None, take_over=False, lives={}, at_work=[])
    broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    broken.set_exception(ValueError(f"{SECRETS}"))
    owner._break(broken)
    report = await owner.report()
    assert report.failure.startswith("ValueError")
    for secret in SECRETS:
        assert secret not in str(raised.value)
        assert secret not in report.failure


async def test_an_owner_opens_its_log_once_at_a_time_and_again_only_if_it_could_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A conductor that was started anew may not know that it was told to."""
    away = threading.Event()

    def opening(*given: object, **named: object) -> Any:
        away.wait(20)
        raise StoreFailed("the database is away")

    monkeypatch.setattr(owner_module, "_open_or_create", opening)
    owner = ShardOwner()
    here = replace(job(), store="postgresql://me@host/x", version=version("screensearch"))

    def told_to_open() -> asyncio.Future[None]:
        return asyncio.ensure_future(owner.open(here, 0, None, take_over=False, lives={}, at_work=[]))

    first = told_to_open()
    await asyncio.sleep(0)
    assert (await owner.report()).opening
    with pytest.raises(StoreFailed, match="already"):
        await told_to_open()
    away.set()
    with pytest.raises(StoreFailed, match="is away"):
        await first
    with pytest.raises(StoreFailed, match="is away"):
        await told_to_open()
    assert not (await owner.report()).opening


async def test_an_owner_whose_loop_is_blocked_says_for_how_long(tmp_path: Path) -> None:
    owner = ShardOwner()
    with closing(SqliteLog.create(tmp_path / "log.sqlite")) as log:
        owner._shard = ShardStore(log, Settings())
        turns = asyncio.ensure_future(owner._take_turns())
        await asyncio.sleep(0)

        def asked() -> float:
            """As by a conductor: calls that ask how it is have a loop of their own."""
            time.sleep(0.3)
            report: OwnerReport = asyncio.run(owner.report())
            return report.stuck_seconds

        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(asked).result() >= 0.3  # for which this loop, blocked by a plugin, waits
        turns.cancel()
        owner._turned = -math.inf
        assert (await owner.report()).stuck_seconds > 0.3
        owner._grown = -1, 0.0  # since when its graph has grown: a large batch takes long
        assert (await owner.report()).stuck_seconds < 0.3
