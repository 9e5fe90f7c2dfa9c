"""A run outlives the death of its parts, and ends with a clear word when it cannot go on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from screensearch import Outcome, StopRule, open_run, settings_for, start_exploration

TROUBLE = str(Path(__file__).parent / "apps" / "trouble.py")
VICTIMS = ("Xvfb", "dbus-daemon", "trouble.py", "openbox", "at-spi2-registryd")


def test_parts_killed_at_random_moments_cost_an_episode_each_and_nothing_else(tmp_path: Path) -> None:
    environment, settings = settings_for([TROUBLE, "inputs", "list"], overrides=["explore.episode_steps=15"])
    killer = Killer(seed=11)
    with killer:
        summary = start_exploration(
            environment,
            tmp_path / "run",
            stop=StopRule(steps=120),
            settings=settings,
            workers=2,
            seed=3,
            on_progress=lambda progress: killer.look(progress.steps),
        )
    assert summary.steps == 120
    assert killer.killed, "nothing was killed: the test says nothing"
    with open_run(tmp_path / "run") as run:
        assert run.verify().holds
        failed = [each for each in run.transitions() if each.outcome not in (Outcome.OK, Outcome.MISSED)]
        assert len(failed) <= len(killer.killed) + summary.exits + summary.captures
        assert all(each.note for each in failed)  # each is explained


class Killer:
    """Kills a part of one of our desktops now and then, at moments that the progress of the run decides."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._next = 10
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._kill)
        self.killed: list[str] = []

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._wanted.set()
        self._thread.join()

    def look(self, steps: int) -> None:
        if steps >= self._next and len(self.killed) < 6:
            self._next = steps + self._chance.randint(8, 20)
            self._wanted.set()

    def _kill(self) -> None:
        while self._wanted.wait() and not self._ended.is_set():
            self._wanted.clear()
            self._ended.wait(self._chance.random() * 0.3)  # a moment within a step
            running = [(name, pid) for pid, name in descendants(os.getpid()) if name in VICTIMS]
            if running:
                name, pid = self._chance.choice(sorted(running))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.killed.append(name)


def descendants(root: int) -> list[tuple[int, str]]:
    """The processes below one, each with the name of its program or script."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = [Path(word.decode()).name for word in (entry / "cmdline").read_bytes().split(b"\0")]
                names[int(entry.name)] = next((word for word in words[:3] if word in VICTIMS), words[0])
    found = []
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root and pid != root:
            found.append((pid, names.get(pid, "")))
    return found


def test_a_full_disk_ends_the_run_with_a_clear_word_and_what_was_acknowledged_holds(tmp_path: Path) -> None:
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    screensearch = f"{sys.executable} -m screensearch"
    script = (
        f"{screensearch} explore mousepad --steps 400 --workers 2 --out {tmp_path}/disk/run; "
        f'echo "status $?"; {screensearch} verify {tmp_path}/disk/run'
    )
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        [
            bwrap,
            "--dev-bind",
            "/",
            "/",
            "--size",
            "900000",
            "--tmpfs",
            f"{tmp_path}/disk",
            "sh",
            "-c",
            script,
        ],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "status 1" in said, said
    assert "No space left on device" in said or "disk is full" in said, said
    assert "Traceback" not in said, said
    assert done.stdout.rstrip().endswith("holds"), said


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupted_live_run_is_whole_and_can_go_on(tmp_path: Path, signals: int) -> None:
    folder = tmp_path / "run"
    explore = [sys.executable, "-m", "screensearch", "explore", "--out", str(folder)]
    exploring = subprocess.Popen([*explore, "--steps", "4000", "mousepad"], stderr=subprocess.PIPE, text=True)
    assert exploring.stderr is not None
    for line in exploring.stderr:
        if " steps" in line and line.split(" steps")[0].split()[-1] != "0":
            break
    for _ in range(signals):
        exploring.send_signal(signal.SIGINT)
    _, said = exploring.communicate(timeout=60)
    assert "Traceback" not in said
    assert exploring.returncode == 130
    with open_run(folder) as run:
        assert run.verify().holds
        before = run.graph.sequence
    subprocess.run([*explore, "--resume", "--steps", str(before + 20)], check=True, timeout=100)
    with open_run(folder) as run:
        assert run.verify().holds
        assert run.graph.sequence >= before


@pytest.mark.parametrize(
    ("fail_on", "status", "told"),
    [
        ((), 1, "the last 3 starts of 'trouble.py' led to no step; the last: it was killed by SIGSEGV"),
        (("--fail-on", "hang"), 1, "the last 3 starts of 'trouble.py' led to no step"),
        (("--fail-on", "crash,hang"), 3, "met 3 crash: screensearch findings"),
    ],
)
def test_an_application_that_never_starts_is_a_finding_and_ends_the_run(
    tmp_path: Path, fail_on: tuple[str, ...], status: int, told: str
) -> None:
    folder = tmp_path / "run"
    explore = [
        sys.executable,
        "-m",
        "screensearch",
        "explore",
        "--steps",
        "9",
        "--json",
        "--out",
        str(folder),
    ]
    done = subprocess.run(
        [*explore, *fail_on, "--", TROUBLE, "--at-start=crash"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert told in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["crashes"], summary["failed_starts"], summary["ended"]) == (3, 3, "failed starts")
    with open_run(folder) as run:
        assert run.verify().holds
        (finding,) = run.findings()
        assert (finding.outcome, finding.state, finding.count) == (Outcome.CRASH, None, 3)
        assert "told to crash at the start" in finding.note


def test_a_run_without_a_single_screen_is_no_success(tmp_path: Path) -> None:
    options = ["--seconds", "1", "--set", "desktop.start_seconds=2", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-m", "screensearch", "explore", *options, "--", "sleep", "100"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    assert "no screen of desktop:sleep was seen before the time was up" in done.stderr
    assert "screensearch findings" in done.stderr


def test_an_application_that_starts_with_one_document_and_not_with_another_is_explored(
    tmp_path: Path,
) -> None:
    environment, settings = settings_for(
        [TROUBLE],
        overrides=[
            "explore.episode_steps=3",
            'app.files=[{path="exit.txt", text="x"}, {path="good.txt", text="x"}]',
            'app.documents=["exit.txt", "good.txt"]',
        ],
    )
    summary = start_exploration(
        environment, tmp_path / "run", stop=StopRule(steps=12), settings=settings, seed=5
    )
    assert (summary.steps, summary.ended) == (12, "steps")
    with open_run(tmp_path / "run") as run:
        assert run.verify().holds
        (finding,) = [each for each in run.findings() if each.at_start]
        assert finding.outcome is Outcome.CRASH
        assert finding.episode.number == 1  # of seed 5, the episodes 1 to 4 all take the bad document
        assert finding.count >= 4
        assert finding.configuration["document"] == "exit.txt"
        assert "told to exit at the start" in finding.note
        assert finding.count == summary.failed_starts == summary.crashes
        assert {dict(each.configuration)["document"] for each in run.arrivals()} == {"good.txt"}
