"""What is said of a worker that failed of what nobody foresaw."""

from __future__ import annotations

import pytest
from stand_ins import job

from screensearch.cluster import worker
from screensearch.cluster.names import Task
from screensearch.cluster.worker import ClusterWorker
from screensearch.explore.wire import Assignment


async def test_what_nobody_foresaw_is_told_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def carry_out(*arguments: object) -> None:
        raise RuntimeError("no mailbox of joe.doe@example.com")

    monkeypatch.setattr(worker, "carry_out", carry_out)
    monkeypatch.setattr(worker, "_unfit", lambda task: None)
    monkeypatch.setattr(worker, "this_node", lambda: "10.0.0.2")
    monkeypatch.setattr(worker, "this_node_id", lambda: "a")
    given = job()
    assignment = Assignment(0, given.environment, given.settings, given.folder, 1, 0, 0)
    failing = ClusterWorker()
    await failing.begin(Task(given.run, 1, assignment, given.version))
    assert failing._working is not None
    await failing._working
    report = await failing.report()
    assert report.failed is not None
    assert report.failed.message == "RuntimeError: no mailbox of [redacted:email]"
