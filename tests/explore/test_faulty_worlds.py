"""Worlds whose machinery fails: recorded as what it is, bounded in time, never called success."""

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

import pytest

import screensearch as ss
from screensearch.domain.transition import Outcome

WORLD = """
import asyncio, os, subprocess, time
from pathlib import Path
from screensearch import Box, Element, Observation, Outcome, Result, Start, StartFailed, Window
from screensearch.errors import EnvironmentFailed, HopelessStart

class Faulty:
    application = "faulty"
    def __init__(self, fault, mark=""):
        self.fault, self.mark, self.steps = fault, Path(mark), 0
    def look(self):
        button = Element("button", "go", Box(10, 10, 50, 20), "faulty", clickable=True)
        return Observation((button,), Window("Faulty", "main", Box(0, 0, 200, 200), "faulty"))
    async def reset(self, seed):
        if self.fault == "stumbling":  # each start goes as the next word of a file says
            how, _, rest = self.mark.read_text().partition(" ")
            self.mark.write_text(rest)
            if how == "unplugged":
                raise EnvironmentFailed("the bus is gone")
            if how == "unreadable":
                raise HopelessStart("it published no accessible window")
            if how == "empty":
                return Start(Observation((), self.look().window))
            if how and how != "fine":
                raise StartFailed(Outcome(how), "it said goodbye")
        if self.fault == "uneven":  # the first worker is at a step while all others fail at their starts
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                while not self.mark.read_text():
                    await asyncio.sleep(0.05)
                raise StartFailed(Outcome.CRASH, "it said goodbye")
        return Start(self.look(), {"name": "half \\ud800"} if self.fault == "surrogate" else {})
    async def perform(self, action):
        self.steps += 1
        if self.fault == "uneven":
            self.mark.write_text("at a step")
            await asyncio.sleep(600)
        if self.steps == 5:
            if self.fault == "freezing":
                self.mark.write_text("frozen")
                await asyncio.sleep(4)
                return Result(Outcome.HANG, None, "it answered nothing")
            if self.fault == "refused":
                raise ConnectionRefusedError("the bus is gone")
            if self.fault == "exit":
                os._exit(0)
            if self.fault in ("stuck", "family"):
                if self.fault == "family":
                    subprocess.Popen(["sleep", "599.25"])
                time.sleep(600)
            if self.fault == "waiting":
                await asyncio.sleep(600)
        return Result(Outcome.OK, self.look(), "half \\ud800" if self.fault == "surrogate" else "")
    async def close(self):
        if self.fault == "clingy":
            raise OSError("cannot close")
        if self.fault == "clingy_later" and self.steps:
            raise OSError("cannot close any more")

def open_world(argument, means):
    fault, _, mark = argument.partition("@")
    if fault == "shy" and os.environ.get("FAULTY_WORKER"):
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            raise EnvironmentFailed("there is room for one only")
    return Faulty(fault, mark)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A third party's package with an entry point, on a path of its own."""
    folder = tmp_path / "plugin"
    described = folder / "faulty-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "faulty.py").write_text(WORLD)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[screensearch.environments]\nfaulty = faulty:open_world\n")
    return folder


@contextlib.contextmanager
def exploring(
    plugin: Path, fault: str, folder: Path, *options: str, having: str = ""
) -> Iterator[subprocess.Popen[bytes]]:
    """The command line in a process of its own, after `having`, a statement that changes something there."""
    program = f"{having}\nfrom screensearch.cli import main\nmain()"
    command = [sys.executable, "-c", program, "explore", f"faulty:{fault}", "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(plugin)}
    process = subprocess.Popen(
        [*command, "--json", "--no-screenshots", *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def outcomes(folder: Path) -> dict[str, int]:
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()
        return dict(run.graph.outcomes)


@pytest.mark.parametrize("fault", ["refused", "exit"])
def test_a_worker_that_ends_by_itself_is_lost_and_replaced(plugin: Path, tmp_path: Path, fault: str) -> None:
    with exploring(plugin, fault, tmp_path / "run", "--steps", "12") as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    summary = json.loads(output)
    assert (summary["steps"], summary["ended"]) == (12, "steps")
    assert summary["lost"] == summary["worker_failures"] == 2
    assert outcomes(tmp_path / "run")["lost"] == 2


@pytest.mark.parametrize("fault", ["stuck", "waiting"])
def test_a_worker_that_says_nothing_is_given_up_as_lost(plugin: Path, tmp_path: Path, fault: str) -> None:
    options = ("--steps", "6", "--set", "explore.step_deadline_seconds=4")
    with exploring(plugin, fault, tmp_path / "run", *options) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    assert json.loads(output)["lost"] == 1
    with ss.open_run(tmp_path / "run") as run:
        (lost,) = [each for each in run.transitions() if each.outcome is Outcome.LOST]
        assert "step_deadline_seconds" in lost.note


def test_a_world_that_cannot_be_closed_is_refused_before_there_is_a_run(plugin: Path, tmp_path: Path) -> None:
    with exploring(plugin, "clingy", tmp_path / "run", "--steps", "6") as process:
        _, errors = process.communicate(timeout=60)
    assert "OSError: cannot close" in errors.decode()
    assert "Traceback" not in errors.decode()
    assert process.returncode == 1
    assert not (tmp_path / "run").exists()


def test_a_worker_that_fails_once_it_was_told_to_end_has_lost_nothing(plugin: Path, tmp_path: Path) -> None:
    with exploring(plugin, "clingy_later", tmp_path / "run", "--steps", "4", "--workers", "2") as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()
    summary = json.loads(output)
    assert (summary["steps"], summary["lost"], summary["ended"]) == (4, 0, "steps")
    assert summary["worker_failures"] >= 1
    assert "lost" not in outcomes(tmp_path / "run")


def test_what_a_worker_started_does_not_outlive_its_owner(plugin: Path, tmp_path: Path) -> None:
    with exploring(plugin, "family", tmp_path / "run", "--steps", "100") as process:
        deadline = time.monotonic() + 60
        while not _sleepers():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
        process.wait()
        while _sleepers():
            assert time.monotonic() < deadline, "a process of the application outlived its owner"
            time.sleep(0.05)


def _sleepers() -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes() == b"sleep\x00599.25\x00":
                found.append(path)
    return found


def test_a_stuck_worker_does_not_outlive_its_owner(plugin: Path, tmp_path: Path) -> None:
    with exploring(plugin, "stuck", tmp_path / "run", "--steps", "100") as process:
        deadline = time.monotonic() + 60
        log = tmp_path / "run" / "log.sqlite"
        while not log.exists() or ss.open_run(tmp_path / "run").log.last_sequence < 5:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.wait()
        assert children
        while any(_running(int(child)) for child in children):
            assert time.monotonic() < deadline, "a worker outlived its owner"
            time.sleep(0.02)


def _running(process_id: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_worker_that_can_never_start_ends_the_run_even_beside_a_healthy_one(
    plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTY_WORKER", "1")
    mark = tmp_path / "mark"
    (mark.parent).mkdir(exist_ok=True)
    options = ("--seconds", "60", "--workers", "2")
    sooner = "import screensearch.explore.worker as worker; worker.MOST_FUTILE_STARTS = 4"
    with exploring(plugin, f"shy@{mark}", tmp_path / "run", *options, having=sooner) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "led to no step; the last: there is room for one only" in " ".join(errors.decode().split())


def test_the_step_of_a_worker_is_lost_when_another_one_ends_the_run(plugin: Path, tmp_path: Path) -> None:
    options = ("--steps", "5", "--workers", "2")
    with exploring(plugin, f"uneven@{tmp_path / 'mark'}", tmp_path / "run", *options) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors.decode()
    summary = json.loads(output)
    assert (summary["ended"], summary["failed_starts"]) == ("failed starts", 3)
    assert (summary["lost"], summary["worker_failures"]) == (1, 0)
    assert outcomes(tmp_path / "run") == {"start": 1, "start:crash": 3, "lost": 1}


def test_a_hang_is_found_although_the_run_is_to_stop_before_it_is_told(plugin: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    options = ("--steps", "100", "--fail-on", "hang")
    hasty = "import screensearch.explore.connection as connection; connection.STOP_SECONDS = 1"
    with exploring(plugin, f"freezing@{mark}", tmp_path / "run", *options, having=hasty) as process:
        deadline = time.monotonic() + 60
        while not mark.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    summary = json.loads(output)
    assert (summary["hangs"], summary["lost"], summary["ended"]) == (1, 0, "interrupted")
    assert process.returncode == 3, errors.decode()


def test_texts_that_cannot_be_stored_are_mended_and_not_fatal(plugin: Path, tmp_path: Path) -> None:
    with exploring(plugin, "surrogate", tmp_path / "run", "--steps", "6") as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()
    assert json.loads(output)["worker_failures"] == 0
    with ss.open_run(tmp_path / "run") as run:
        assert next(run.transitions()).note == "half \ufffd"


SCRIPT = """
import sys
import screensearch as ss
sys.path.insert(0, sys.argv[1])
import faulty
progress = []
stop = ss.StopRule(seconds=float(sys.argv[3])) if sys.argv[3] != "-" else ss.StopRule(steps=10**9)
settings = ss.resolve(overrides=["explore.screenshots=none"])
summary = ss.start_exploration(
    faulty.Faulty(sys.argv[4]), sys.argv[2], stop=stop, settings=settings, on_progress=progress.append
)
print(summary.ended, summary.steps, summary.lost, max(each.steps for each in progress))
"""


def in_process(plugin: Path, folder: Path, seconds: str, fault: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SCRIPT, str(plugin), str(folder), seconds, fault]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_a_world_that_never_waits_can_be_timed_and_watched(plugin: Path, tmp_path: Path) -> None:
    process = in_process(plugin, tmp_path / "run", "1.5", "none")
    output, _ = process.communicate(timeout=60)
    ended, steps, _, seen = output.split()
    assert ended == b"seconds"
    assert 0 < int(seen) <= int(steps)


@pytest.mark.parametrize(("fault", "interrupts"), [("none", 1), ("waiting", 2), ("stuck", 2)])
def test_a_world_in_this_process_can_be_interrupted(
    plugin: Path, tmp_path: Path, fault: str, interrupts: int
) -> None:
    folder = tmp_path / "run"
    process = in_process(plugin, folder, "-", fault)
    deadline = time.monotonic() + 60
    while not (folder / "log.sqlite").exists() or ss.open_run(folder).log.last_sequence < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    for _ in range(interrupts):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    output, _ = process.communicate(timeout=60)
    ended, _, lost, _ = output.split()
    assert ended == b"interrupted"
    assert int(lost) == interrupts - 1
    assert outcomes(folder)["ok"] >= 4


STILL = ("--set", "candidates.wait=false", "--set", "candidates.scroll=false", "--set", "candidates.keys=[]")


@pytest.mark.parametrize(
    ("starts", "told", "status"),
    [
        ("crash crash crash", "the last 3 starts of 'faulty' led to no step; the last: it said goodbye", 1),
        ("hang crash unplugged", "3 starts of worker 0 led to no step; the last: the bus is gone", 1),
        ("unplugged exit crash", "the last 3 starts of 'faulty' led to no step; the last: it said", 1),
        ("unplugged unplugged unplugged", "the bus is gone", 1),
        ("crash empty empty", "Error: the last 3 starts of 'faulty' led to no step; the last: its first", 1),
        ("empty empty empty", "its first screen offered no action", 1),
        ("crash unplugged hang", "met 1 crash, 1 hang: screensearch findings", 3),
        ("hang hang hang", "met 3 hang: screensearch findings", 3),
    ],
)
def test_three_starts_without_a_step_end_the_run_however_they_fail(
    plugin: Path, tmp_path: Path, starts: str, told: str, status: int
) -> None:
    mark = tmp_path / "starts"
    mark.write_text(f"{starts} crash crash")
    options = (*STILL, "--steps", "5", *(("--fail-on", "crash,hang") if status == 3 else ()))
    with exploring(plugin, f"stumbling@{mark}", tmp_path / "run", *options) as process:
        output, errors = process.communicate(timeout=120)
    assert told in " ".join(errors.decode().split())
    assert "Traceback" not in errors.decode()
    assert process.returncode == status
    assert mark.read_text() == "crash crash"  # there were three starts and no more
    counted = outcomes(tmp_path / "run")
    for each in ("crash", "hang", "exit"):
        assert counted.get(f"start:{each}", 0) == starts.split().count(each)
    if "goodbye" in told or status == 3:
        summary = json.loads(output)
        assert (summary["ended"], summary["lost"]) == ("failed starts", 0)
        assert summary["failed_starts"] == 3 - starts.count("unplugged")


@pytest.mark.parametrize("bad", ["crash", "unplugged", "empty"])
def test_a_run_that_has_steps_outlives_four_bad_starts_in_a_row(
    plugin: Path, tmp_path: Path, bad: str
) -> None:
    mark = tmp_path / "starts"
    mark.write_text(f"fine {f'{bad} ' * 4}fine fine fine")
    options = (*STILL, "--steps", "3", "--set", "explore.episode_steps=1")
    with exploring(plugin, f"stumbling@{mark}", tmp_path / "run", *options) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    summary = json.loads(output)
    assert (summary["steps"], summary["ended"]) == (3, "steps")
    assert summary["failed_starts"] == (4 if bad == "crash" else 0)
    assert summary["worker_failures"] == (4 if bad == "unplugged" else 0)


def test_a_start_that_would_fail_again_in_the_same_way_is_made_once(plugin: Path, tmp_path: Path) -> None:
    mark = tmp_path / "starts"
    mark.write_text("unreadable crash")
    with exploring(plugin, f"stumbling@{mark}", tmp_path / "run", "--steps", "5") as process:
        _, errors = process.communicate(timeout=120)
    assert "it published no accessible window" in errors.decode()
    assert process.returncode == 1
    assert mark.read_text() == "crash"


def test_a_start_that_fails_between_others_costs_nothing_and_is_met_by_fail_on(
    plugin: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "starts"
    mark.write_text("crash hang")
    options = ("--steps", "5", "--fail-on", "crash")
    with exploring(plugin, f"stumbling@{mark}", tmp_path / "run", *options) as process:
        output, errors = process.communicate(timeout=120)
    assert "met 1 crash: screensearch findings" in errors.decode()
    assert process.returncode == 3
    summary = json.loads(output)
    assert (summary["steps"], summary["ended"], summary["worker_failures"]) == (5, "steps", 0)
    assert summary["new_outcomes"] == {"ok": 5, "crash": 1, "hang": 1}
