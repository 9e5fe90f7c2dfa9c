"""Explorations as a user starts them: ``screensearch explore`` in a process of its own, and what it left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any


class ExplorationFailed(Exception):
    """The command ended with an error: these are its last words."""


def start_explore(
    what: Sequence[str], *options: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start ``screensearch explore``; its summary comes as JSON on its standard output."""
    return subprocess.Popen(
        [sys.executable, "-m", "screensearch", "explore", *what, *options, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for an exploration; give its summary."""
    try:
        out, words = process.communicate()
    except BaseException:  # interrupted here: the exploration ends with us, as on Ctrl-C
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if process.returncode:
        raise ExplorationFailed(f"{' '.join(map(str, process.args))}\n{words.strip()[-2000:]}")  # type: ignore[arg-type]
    summary: dict[str, Any] = json.loads(out)
    return summary
