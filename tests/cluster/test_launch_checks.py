"""What is checked before anything is begun on a cluster: the same as for an exploration on this machine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import screensearch as ss
from screensearch.cluster.launch import resume_on_cluster, start_on_cluster
from screensearch.errors import SettingsError
from screensearch.explore.beginning import LARGEST_SEED, new_manifest
from screensearch.record.run import create_run

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
