"""kill -9 at random moments: nothing acknowledged is lost, nothing is counted twice.

A worker notes the truth of an observation only once the store has acknowledged it, in one unbuffered
write. So every whole line of the notes is something acknowledged, and must be in the log.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import screensearch as ss
from screensearch.domain.transition import Outcome, Transition
from screensearch.record.truth import read_truth

STEPS = 300
WORKERS = 2


@contextlib.contextmanager
def exploring(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command line, exploring in a process of its own; killed if the test leaves it running."""
    command = [sys.executable, "-m", "screensearch", "explore", *options, "--out", str(folder), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def start(folder: Path, seed: int) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    settings = ("--no-screenshots", "--workers", str(WORKERS), "--steps", str(STEPS), "--seed", str(seed))
    return exploring(folder, "synthetic:generated?states=2000", *settings)


def resume(folder: Path) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    return exploring(folder, "--resume", "--workers", str(WORKERS), "--steps", str(STEPS))


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float = 60.0) -> None:
    """Wait for a condition, but not for ever, and not for a process that has ended."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        assert time.monotonic() < deadline, "the condition did not come about"
        time.sleep(0.005)


def acknowledged(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("truth/w*.jsonl"))


def children(process: subprocess.Popen[bytes]) -> list[int]:
    found = []
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def alive(process_id: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def check(folder: Path) -> list[Transition]:
    """The run holds together, and everything acknowledged is in it."""
    with ss.open_run(folder) as run:
        verification = run.verify()
        assert verification.problems == ()
        keys = [(entry.episode, entry.step) for _, entry in run.entries()]
        assert len(set(keys)) == len(keys)
        assert read_truth(folder / "truth").keys() <= set(keys)
        return list(run.transitions())


def executed(transitions: list[Transition]) -> int:
    return sum(transition.outcome is not Outcome.LOST for transition in transitions)


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_owner_loses_nothing_it_acknowledged_and_its_run_goes_on(tmp_path: Path, seed: int) -> None:
    folder, moments = tmp_path / "run", random.Random(seed)
    with start(folder, seed) as owner:
        point = moments.randrange(STEPS // 2)
        wait_until(lambda: acknowledged(folder) > point, owner)
        workers = children(owner)
        owner.kill()
        owner.wait()
        deadline = time.monotonic() + 30
        while any(alive(worker) for worker in workers):
            assert time.monotonic() < deadline, "a worker outlived its owner"
            time.sleep(0.01)
    check(folder)
    with resume(folder) as owner:
        output, errors = owner.communicate(timeout=120)
        assert owner.returncode == 0, errors.decode()
    assert json.loads(output)["steps"] == STEPS
    assert executed(check(folder)) == STEPS


def test_killed_workers_are_replaced_and_logged_as_lost(tmp_path: Path) -> None:
    folder, moments = tmp_path / "run", random.Random(5)
    kills = 0
    with start(folder, 5) as owner:
        while kills < 4:
            point = acknowledged(folder) + moments.randrange(5, 40)
            wait_until(lambda point=point: acknowledged(folder) > point, owner)  # type: ignore[misc]
            with contextlib.suppress(ProcessLookupError):
                os.kill(moments.choice(children(owner)), signal.SIGKILL)
                kills += 1
        output, errors = owner.communicate(timeout=120)
        assert owner.returncode == 0, errors.decode()
    summary = json.loads(output)
    transitions = check(folder)
    assert summary["steps"] == executed(transitions) == STEPS
    assert 1 <= summary["lost"] <= kills


def test_an_interrupt_leaves_a_usable_run_that_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with start(folder, 9) as owner:
        wait_until(lambda: acknowledged(folder) > 50, owner)
        owner.send_signal(signal.SIGINT)
        output, errors = owner.communicate(timeout=60)
        assert owner.returncode == 130, errors.decode()
    summary = json.loads(output)
    assert summary["ended"] == "interrupted"
    assert summary["lost"] == 0
    assert executed(check(folder)) == summary["steps"] < STEPS
    with resume(folder) as owner:
        owner.communicate(timeout=120)
    assert executed(check(folder)) == STEPS


def test_every_screenshot_that_the_log_names_survives_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = ("--workers", "2", "--steps", "500", "--seed", "3")
    with exploring(folder, "synthetic:notepad", *options) as owner:
        wait_until(lambda: acknowledged(folder) > 25, owner)
        for worker in children(owner):
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        owner.kill()
        owner.wait()
    check(folder)  # looks for every artifact that is named
    with ss.open_run(folder) as run:
        pictures = [run.screenshot(entry) for _, entry in run.entries() if entry.evidence.screenshot]
    assert len(pictures) > 20
    assert None not in pictures
