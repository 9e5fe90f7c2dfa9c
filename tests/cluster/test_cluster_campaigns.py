"""A campaign whose runs are explored on a real Ray cluster, with their logs in a real database."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aftermath import descendants
from begun import ENDLESS, ENVIRONMENT, PACED
from postgres_server import PostgresServer
from ray_cluster import RayCluster

import screensearch as ss
from screensearch.cluster.launch import runs_under_way
from screensearch.domain.transition import Outcome
from screensearch.explore.campaign.record import CampaignRecord

pytest_plugins = ["cluster_fixtures"]

PATIENCE_SECONDS = 120.0


def written(folder: Path, *, steps: int = ENDLESS, target: str = PACED) -> Path:
    """Two runs at once, one of which takes so many steps, at a pace."""
    path = folder / "mine.toml"
    path.write_text(
        "at_once = 2\n"
        '[[run]]\nname = "short"\ntarget = "synthetic:notepad"\nstop.steps = 5\n'
        f'[[run]]\nname = "long"\ntarget = "{target}"\nstop.steps = {steps}\n'
        'explore.screenshots = "none"\n'
    )
    return path


@contextlib.contextmanager
def conducting(*options: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "screensearch", "campaign", "--json", *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def conduct(*options: str | Path) -> tuple[int, dict[str, Any], str]:
    with conducting(*options) as process:
        return ended(process)


def ended(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    """The status, the runs by name, and what was said beside."""
    output, errors = process.communicate(timeout=2 * PATIENCE_SECONDS)
    runs = {each["name"]: each for each in json.loads(output)["runs"]} if output else {}
    return process.returncode, runs, errors


def wait_for_steps(out: Path, process: subprocess.Popen[str], more_than: int = 0) -> None:
    """Until the long run has taken some steps and the short one has all of its own."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        record = CampaignRecord.read(out)
        if record["long"].figures.steps > more_than and record["short"].ended:
            return
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run took no step"
        time.sleep(0.1)


def check(folder: Path, steps: int) -> None:
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()
        assert sum(each.outcome is not Outcome.LOST for each in run.transitions()) == steps


def test_a_campaign_on_a_cluster_is_interrupted_and_gone_on_with(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    out, pictures = tmp_path / "out", tmp_path / "pictures"
    places = ("--store", database.url(), "--artifacts", pictures)
    options = ("--out", out, "--cluster", cluster.address, *places)
    with conducting(written(tmp_path), *options) as process:
        wait_for_steps(out, process)
        process.send_signal(signal.SIGINT)
        status, runs, errors = ended(process)
    assert status == 130, errors
    assert (runs["short"]["state"], runs["short"]["steps"]) == ("finished", 5)
    assert (runs["long"]["state"], runs["long"]["lost"]) == ("interrupted", 0)
    assert list((pictures / "short").rglob("*.png"))
    assert runs_under_way(cluster.address) == []
    steps = runs["long"]["steps"] + 20
    status, runs, errors = conduct(written(tmp_path, steps=steps), *options)
    assert status == 0, errors
    assert (runs["long"]["state"], runs["long"]["ended"]) == ("finished", "steps")
    for name, taken in (("short", 5), ("long", steps)):
        assert runs[name]["steps"] == taken
        assert runs[name]["run"] == str(out / name)
        check(out / name, taken)


def test_runs_that_a_killed_campaign_left_under_way_are_gone_on_with(
    cluster: RayCluster, database: PostgresServer, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--out", out, "--cluster", cluster.address, "--store", database.url())
    with conducting(written(tmp_path), *options) as process:
        wait_for_steps(out, process)
        everything = (process.pid, *descendants(process.pid))
        for number in (signal.SIGSTOP, signal.SIGKILL):  # at once, as if the machine was switched off
            for each in everything:
                os.kill(each, number)
        process.communicate()
    (left,) = [view for view in runs_under_way(cluster.address) if view.phase != "ended"]
    assert left.folder == str(out / "long")
    taken = left.progress.steps
    with conducting(written(tmp_path), *options) as process:  # and again, under the same rule
        wait_for_steps(out, process, more_than=taken + 20)
        process.send_signal(signal.SIGTERM)
        status, runs, errors = ended(process)
    assert status == 130, errors
    assert runs["long"]["steps"] > taken
    check(out / "long", runs["long"]["steps"])
    assert runs_under_way(cluster.address) == []


def test_a_cluster_that_is_not_there_is_told_with_the_line_that_names_it(
    database: PostgresServer, tmp_path: Path
) -> None:
    file = written(tmp_path, target=ENVIRONMENT)
    file.write_text(f'cluster = "127.0.0.1:1"\nstore = "{database.url()}"\n{file.read_text()}')
    status, _, errors = conduct(file, "--out", tmp_path / "out")
    assert status == 1
    assert "mine.toml', line 1: nobody listens at '127.0.0.1:1'" in " ".join(errors.split())
    assert not (tmp_path / "out").exists()
