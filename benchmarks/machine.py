"""Where and when a figure was measured, and of what code."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Processor, usable cores, memory, Python and date, as JSON values."""
    return {
        "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.processor() or "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),  # of the last minute: how quiet the machine was
        "date": datetime.now(UTC).date().isoformat(),
    }


def describe_code() -> dict[str, Any] | None:
    """The commit of this checkout, and whether code was changed since; None where it is no checkout."""
    here = Path(__file__).parents[1]
    code = ("src", "tests", "benchmarks", ":!benchmarks/results")
    try:
        commit = _git(here, "rev-parse", "HEAD")
        return {"commit": commit, "changed": bool(_git(here, "status", "--porcelain", "--", *code))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", folder, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def _field(path: Path, name: str) -> str | None:
    if not path.exists():
        return None
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), None)
