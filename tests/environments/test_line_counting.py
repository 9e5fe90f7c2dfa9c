"""The counting of lines, without a desktop: what is started, and what is believed of what comes back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from screensearch.environments.desktop import coverage
from screensearch.environments.desktop.coverage import Covered, python_of
from screensearch.errors import SettingsError


def script(folder: Path, first_line: str) -> str:
    path = folder / "program"
    path.write_text(f"{first_line}\nprint('hello')\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("first_line", "python"),
    [
        ("#!/usr/bin/python3", ["/usr/bin/python3"]),
        ("#! /usr/bin/python3.11 -Es", ["/usr/bin/python3.11", "-Es"]),
        ("#!/usr/bin/env python3", ["/usr/bin/env", "python3"]),
    ],
)
def test_a_script_is_run_by_the_python_that_it_names(
    tmp_path: Path, first_line: str, python: list[str]
) -> None:
    program = script(tmp_path, first_line)
    assert python_of([program, "--now"]) == (python, [program, "--now"])


def test_a_script_after_its_interpreter_is_found() -> None:
    assert python_of(["/usr/bin/python3", "app.py", "x"]) == (["/usr/bin/python3"], ["app.py", "x"])


@pytest.mark.parametrize("first_line", ["#!/bin/sh", "\x7fELF", "", "#!"])
def test_anything_else_is_refused_by_name(tmp_path: Path, first_line: str) -> None:
    program = script(tmp_path, first_line)
    with pytest.raises(SettingsError, match="program is no script"):
        python_of([program])


def test_a_module_without_a_script_is_refused() -> None:
    with pytest.raises(SettingsError, match="needs a script"):
        python_of(["/usr/bin/python3", "-m", "app"])


async def test_what_a_hostile_program_writes_is_at_worst_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MOST_LINES", 5)
    covered = Covered(["x"])
    (asked, told), _ = covered.open()
    lines: list[object] = [
        ["a.py", [1, 2]],
        ["a.py", [2, 3]],
        ["a.py", [-1]],
        ["a.py", ["1"]],
        ["a.py", [10**30]],
        {"a.py": [9]},
        "end",
        None,
        77,
        ["b.py", [4, 5, 6]],
    ]
    try:
        written = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
        os.write(told, b"\xff\x00[[[[\n" + written + b"[" * 10_000 + b"\n")
        assert covered.take() == {"a.py": [1, 2, 3]}, "what is no line is left out, and so is too much"
        assert covered.take() == {}
    finally:
        covered.close()
        os.close(asked)
        os.close(told)


async def test_a_program_that_does_not_answer_is_not_waited_for_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coverage, "ANSWER_SECONDS", 0.05)
    covered = Covered(["x"])
    (asked, told), value = covered.open()
    try:
        await covered.collect()
        os.write(told, b'["late.py", [7]]\n1\n')
        assert covered.take() == {"late.py": [7]}
        assert json.loads(value) == {"asked": asked, "told": told, "source": ["x"]}
    finally:
        covered.close()
        os.close(asked)
        os.close(told)
