"""A real `screensearch view`, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from screensearch.cli import main


@dataclass(frozen=True)
class Viewer:
    """Where it serves."""

    address: str  # with its token

    def at(self, place: str) -> str:
        """The address of a page: ``#/map/ledger``. It has the token, as the printed one."""
        return f"{self.address}{place}"


@contextmanager
def serve_runs(*runs: Path) -> Iterator[Viewer]:
    """Serve runs until the body is left, and see that Ctrl-C ends it quietly."""
    command = [sys.executable, "-m", "screensearch", "view", "--json", *map(str, runs)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        lines = []
        for line in server.stdout:
            lines.append(line)
            if line == "}\n":
                break
        else:
            pytest_fail(server)
        yield Viewer(json.loads("".join(lines))["address"])
    finally:
        server.send_signal(2)
        out, problems = server.communicate(timeout=30)
    assert (server.returncode, out, problems) == (0, "", "")


def pytest_fail(server: subprocess.Popen[str]) -> None:
    _, problems = server.communicate(timeout=30)
    raise AssertionError(f"the viewer did not start: {problems}")


def refuse_runs(*runs: Path) -> str:
    """What `screensearch view` says about runs that it does not serve."""
    ended = CliRunner().invoke(main, ["view", *map(str, runs)])
    assert (ended.exit_code, ended.stdout) == (1, ""), ended
    return ended.stderr
