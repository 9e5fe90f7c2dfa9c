"""Servers of tests end when the process that started them is killed, and so does what they leave behind."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aftermath import descendants

PATIENCE_SECONDS = 120.0
ROOMS = Path(__file__).parent, Path(__file__).parents[1] / "cluster"

DATABASE = """
from postgres_server import postgres_server
with postgres_server() as server:
    say(server.process, server._data.parent)
"""
PROCESSES = """
import os, pathlib, subprocess, tempfile
from aftermath import AFTERMATH
folder = pathlib.Path(tempfile.mkdtemp())
AFTERMATH.remove(folder)
(folder / "file").touch()
inner = "import time; print(flush=True); time.sleep(600)"
outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
process = subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE, start_new_session=True)
process.stdout.readline()
AFTERMATH.end(process.pid)
"""
FROZEN = PROCESSES + "os.kill(process.pid, 19)\nsay(process.pid, folder)"
FORKED = PROCESSES + "os.fork() or (sys.stdin.read(), os._exit(0))\nsay(process.pid, folder)"
COMMAND = PROCESSES + (
    "other = folder.with_suffix('.other')\nother.mkdir()\nAFTERMATH.run('rmdir', str(other))\n"
    "say(process.pid, other)"
)
SAY = """
import sys, time
sys.path[:0] = sys.argv[1:]
def say(process, folder):
    print(process, folder, flush=True)
    time.sleep(600)
"""


def wait_until(holds: Callable[[], object]) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := holds()) and time.monotonic() < until:
        time.sleep(0.02)
    return bool(found)


def is_there(process: int) -> bool:
    """Whether it runs: one that nobody has asked how it ended does not."""
    return Path(f"/proc/{process}/exe").exists()


@pytest.mark.parametrize(
    "starts", [DATABASE, FROZEN, FORKED, COMMAND], ids=["database", "frozen", "forked", "command"]
)
def test_what_a_process_started_ends_when_it_is_killed(starts: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAY + starts, *map(str, ROOMS)],
        stdin=subprocess.PIPE,  # whoever was forked ends with it
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as starter:
        assert starter.stdout is not None
        try:
            process, folder = starter.stdout.readline().split()
            everything = [int(process), *descendants(int(process))]
            assert len(everything) > 1
            assert all(map(is_there, everything))
            assert Path(folder).exists()
        finally:
            starter.kill()
        assert wait_until(lambda: not any(map(is_there, everything)))
        assert wait_until(lambda: not Path(folder).exists())


def test_what_was_taken_back_is_left_alone(tmp_path: Path) -> None:
    kept, gone = tmp_path / "kept", tmp_path / "gone"
    kept.mkdir()
    gone.mkdir()
    starts = (
        "from aftermath import AFTERMATH\nfrom pathlib import Path\n"
        f"AFTERMATH.remove(Path({str(kept)!r}))()\nAFTERMATH.remove(Path({str(gone)!r}))\n"
    )
    subprocess.run([sys.executable, "-c", SAY + starts, *map(str, ROOMS)], check=True)
    assert kept.exists()
    assert not gone.exists()
