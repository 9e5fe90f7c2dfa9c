"""Processes that we started, each in a session of its own: how they are ended, and how they ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from screensearch.explore.logs import last_words

LONGEST_TAIL = 65_536
"""How many bytes of a process's output are searched for its last words."""


async def reap(process: asyncio.subprocess.Process, grace_seconds: float = 10.0) -> int:
    """Wait for a process whose connection is closed; end it if it does not end by itself."""
    try:
        async with asyncio.timeout(grace_seconds):
            return await process.wait()
    except TimeoutError:
        kill_group(process)
        return await process.wait()
    finally:
        kill_group(process)  # also what it left behind in its session


def kill_group(process: asyncio.subprocess.Process) -> None:
    """End a process and every other in its session's group."""
    with contextlib.suppress(ProcessLookupError):  # nothing is left of it
        os.killpg(process.pid, signal.SIGKILL)


def how_it_ended(code: int, output: Path, since: int) -> str:
    """The end of a process that did not tell why: its status, and the last that it printed after `since`."""
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
    return f"its process ended with {how}: {_last_line(output, since)} (see {output})"


def _last_line(output: Path, since: int) -> str:
    """Of a traceback, the exception."""
    with output.open("rb") as printed:
        printed.seek(max(since, output.stat().st_size - LONGEST_TAIL))
        lines = printed.read().decode(errors="replace").split("\n")
    return next((last_words(line.strip()) for line in reversed(lines) if line.strip()), "it printed nothing")
