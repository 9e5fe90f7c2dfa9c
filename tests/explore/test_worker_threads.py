"""How many threads numpy has in a worker, and who learns of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import screensearch as ss

PLUGIN = """
import json, os
from pathlib import Path
from screensearch.environments.synthetic import open_world as open_synthetic

def open_world(argument, means):
    path, _, argument = argument.partition("@")
    names = [name for name in os.environ if name.endswith("_NUM_THREADS")]
    threads = len(os.listdir("/proc/self/task"))
    Path(path).write_text(json.dumps({"names": names, "threads": threads}))
    return open_synthetic(argument, means)
"""


def seen_by_the_application(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **said: str
) -> tuple[set[str], int]:
    """The variables that tell how many threads there are, and how many the worker has."""
    for name in [each for each in os.environ if each.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    described = folder / "plugin" / "telling_world-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: telling_world\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(
        "[screensearch.environments]\ntelling = telling_world:open_world\n"
    )
    (folder / "plugin" / "telling_world.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(folder / "plugin"))
    monkeypatch.syspath_prepend(folder / "plugin")
    told = folder / "told.json"
    ss.start_exploration(f"telling:{told}@notepad", folder / "run", stop=ss.StopRule(steps=1))
    answer = json.loads(told.read_text())
    return set(answer["names"]), answer["threads"]


def test_a_worker_has_one_unless_a_user_says_otherwise_and_the_application_sees_only_what_a_user_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, threads = seen_by_the_application(tmp_path / "silent", monkeypatch)
    assert names == set()
    one, said = seen_by_the_application(tmp_path / "one", monkeypatch, OPENBLAS_NUM_THREADS="1")
    assert (one, said) == ({"OPENBLAS_NUM_THREADS"}, threads)
    two, said = seen_by_the_application(tmp_path / "two", monkeypatch, OMP_NUM_THREADS="2")
    assert two == {"OMP_NUM_THREADS"}
    assert said == threads + min(2, len(os.sched_getaffinity(0))) - 1
