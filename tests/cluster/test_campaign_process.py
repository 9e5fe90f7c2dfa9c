"""How one run of a campaign is led on a cluster, by stand-ins for what it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import screensearch as ss
from screensearch.cluster import campaign_process
from screensearch.cluster.campaign_process import explore_on_cluster
from screensearch.config import settings_document
from screensearch.errors import EnvironmentFailed
from screensearch.explore.beginning import new_manifest
from screensearch.explore.campaign.process import Order
from screensearch.record.run import create_run


class Run:
    """In the place of a run under way: it ended with a problem when it was left, and goes well after that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[dict[str, Any]] = []
        monkeypatch.setattr(campaign_process, "is_under_way", lambda address, run: not self.begun)
        monkeypatch.setattr(campaign_process, "Attached", lambda address, folder: self)
        for name in ("start_on_cluster", "resume_on_cluster"):
            monkeypatch.setattr(campaign_process, name, lambda *where, **how: self.begun.append(how))

    def stop(self, why: str) -> None:
        """It has ended already."""

    def follow(self, look: object) -> str:
        if not self.begun:
            raise EnvironmentFailed("its database was away for too long")
        return "what it came to"


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(monkeypatch)


def order(folder: Path) -> Order:
    return Order(
        folder=str(folder),
        environment="synthetic:notepad",
        settings=settings_document(ss.Settings()),
        stop=ss.StopRule(steps=5),
        workers=2,
        seed=0,
        store="",
        cluster="lab1:6379",
        metrics="9464",
        log_format="json",
    )


def test_a_run_that_was_left_and_ended_badly_goes_on(
    led: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manifest = new_manifest("synthetic:notepad", ss.Settings(), seed=0, store="", artifacts="")
    create_run(tmp_path / "run", manifest)
    came_to: object = explore_on_cluster(order(tmp_path / "run"), lambda progress: None)
    assert came_to == "what it came to"
    assert len(led.begun) == 1
    assert "its database was away for too long" in caplog.text


@pytest.mark.parametrize("is_there", [False, True])
def test_the_parts_of_a_run_are_told_where_metrics_are_served_and_how_to_log(
    is_there: bool, led: Run, tmp_path: Path
) -> None:
    if is_there:
        manifest = new_manifest("synthetic:notepad", ss.Settings(), seed=0, store="", artifacts="")
        create_run(tmp_path / "run", manifest)
    explore_on_cluster(order(tmp_path / "run"), lambda progress: None)
    assert [(how["metrics"], how["log_format"]) for how in led.begun] == [("9464", "json")]
