"""A worker as an actor: an ordinary worker whose store is on a cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from screensearch.cluster.engine import control, this_node, this_node_id
from screensearch.cluster.names import Task, WorkerReport, WrongVersion, check_version
from screensearch.cluster.store import ClusterStore
from screensearch.config import Settings, settings_from_document
from screensearch.encode.redact import redacting_text
from screensearch.environments.protocol import Environment
from screensearch.errors import FormatError, HopelessStart, RunNotFound
from screensearch.explore.memory import give_large_blocks_back
from screensearch.explore.wire import Failed
from screensearch.explore.worker import carry_out, takes_notes
from screensearch.record.artifacts import open_artifacts
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.run import read_manifest

log = logging.getLogger(__name__)


class Unfit(HopelessStart):
    """No worker of this run can be on this node."""


class ClusterWorker:
    """One life of a worker. It begins to work when it is told to, and is asked now and then how it is.

    Its process can be started before it is known what there is to do.
    """

    def __init__(self) -> None:
        give_large_blocks_back()
        self._node, self._node_id = this_node(), this_node_id()
        self._placed = time.monotonic()
        self._store: ClusterStore | None = None
        self._working: asyncio.Future[None] | None = None
        self._failed: Failed | None = None

    async def begin(self, task: Task) -> None:
        """Begin to work. Told twice, it goes on with what it was told first."""
        if self._working is None:
            self._store = self.open_store(task)
            self._working = asyncio.ensure_future(self._work(task, self._store))

    def open_store(self, task: Task) -> ClusterStore:
        """The store that it works with."""
        return ClusterStore(task.run, task.life)

    async def _work(self, task: Task, store: ClusterStore) -> None:
        await asyncio.sleep(0)  # whoever told it to begin is answered, however long the application takes
        clean: Callable[[str], str] = str  # nothing foreign is met before it is known what is secret
        try:
            check_version(task.version)
            settings = settings_from_document(task.assignment.settings)
            clean = redacting_text(settings.redact)
            _check_pictures(task, settings, self._node)

            def check(world: Environment) -> None:
                if takes_notes(world, settings):
                    _check_folder(task, self._node, ", and the truth or the lines run are noted in it:")

            self._failed = await carry_out(task.assignment, store, check=check)
        except (WrongVersion, Unfit) as problem:
            self._failed = Failed(str(problem), hopeless=True)
        except (
            Exception,
            asyncio.CancelledError,
        ) as problem:  # of whatever plugin
            log.exception("worker %d failed", task.assignment.worker)  # redacted there: see `carry_out`
            self._failed = Failed(clean(f"{type(problem).__name__}: {problem}"))

    @control
    async def report(self) -> WorkerReport:
        """How it is. Answered also while the application keeps it busy."""
        store = self._store
        return WorkerReport(
            node=self._node,
            node_id=self._node_id,
            process=os.getpid(),
            silent_seconds=time.monotonic() - (self._placed if store is None else store.heard),
            waits=store is None or store.waits,
            shard=0 if store is None else store.shard,
            steps=0 if store is None else store.steps,
            starts=0 if store is None else store.starts,
            told_to_end=store is not None and store.told_to_end,
            begun=store is not None,
            ended=self._working is not None and self._working.done(),
            failed=self._failed,
        )


def _check_pictures(task: Task, settings: Settings, node: str) -> None:
    """Raise `Unfit` where the pictures of the run would be kept on this node alone."""
    given = task.assignment
    if not given.artifacts:
        _check_folder(task, node, ": keep the pictures in a bucket (--artifacts s3://…),")
    elif settings.explore.screenshots == "all":
        kept = open_artifacts(given.artifacts, Path(given.folder))
        if isinstance(kept, LocalArtifacts) and not kept.is_marked(task.run):
            raise Unfit(
                f"the folder of the pictures, {kept.folder}, is not on node {node}, or is another one there: "
                "keep the pictures in a bucket (--artifacts s3://…), use a file system that all nodes share, "
                "or run workers only where it is"
            )


def _check_folder(task: Task, node: str, so: str) -> None:
    """Raise `Unfit` where the folder of the run is not on this node; `so` says what that means."""
    folder = Path(task.assignment.folder)
    try:
        found = read_manifest(folder).run
    except (RunNotFound, FormatError):
        found = ""
    if found != task.run:
        raise Unfit(
            f"the folder of the run, {folder}, is not on node {node}{so} use a file system that all nodes "
            "share, or run workers only where it is"
        )
