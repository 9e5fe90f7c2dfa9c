"""A worker as an actor: an ordinary worker whose store is on a cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

from screensearch.cluster.engine import control, this_node
from screensearch.cluster.names import Task, WorkerReport, WrongVersion, check_version
from screensearch.cluster.store import ClusterStore
from screensearch.errors import FormatError, RunNotFound
from screensearch.explore.memory import give_large_blocks_back
from screensearch.explore.wire import Failed
from screensearch.explore.worker import carry_out
from screensearch.record.run import read_manifest

log = logging.getLogger(__name__)


class ClusterWorker:
    """One life of a worker. It begins to work when it is placed, and is asked now and then how it is."""

    def __init__(self, task: Task) -> None:
        give_large_blocks_back()
        self._node = this_node()
        self._task = task
        self._store = ClusterStore(task.run, task.life)
        self._failed: Failed | None = None
        self._working = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        try:
            self._failed = _unfit(self._task) or await carry_out(self._task.assignment, self._store)
        except (
            Exception,
            asyncio.CancelledError,
        ) as problem:  # of whatever plugin
            log.exception("worker %d failed", self._task.assignment.worker)
            self._failed = Failed(f"{type(problem).__name__}: {problem}")

    @control
    async def report(self) -> WorkerReport:
        """How it is. Answered also while the application keeps it busy."""
        store = self._store
        return WorkerReport(
            node=self._node,
            process=os.getpid(),
            silent_seconds=time.monotonic() - store.heard,
            waits=store.waits,
            shard=store.shard,
            steps=store.steps,
            starts=store.starts,
            told_to_end=store.told_to_end,
            ended=self._working.done(),
            failed=self._failed,
        )


def _unfit(task: Task) -> Failed | None:
    """Why no worker of this run can be here, if so."""
    folder = Path(task.assignment.folder)
    try:
        check_version(task.version)
    except WrongVersion as problem:
        return Failed(str(problem), hopeless=True)
    if task.assignment.artifacts:  # then nothing of it is needed here
        return None
    try:
        found = read_manifest(folder).run
    except (RunNotFound, FormatError):
        found = ""
    if found != task.run:
        return Failed(
            f"the folder of the run, {folder}, is not on this node: keep the pictures in a bucket "
            "(--artifacts), use a file system that all nodes share, or run workers only where it is",
            hopeless=True,
        )
    return None
