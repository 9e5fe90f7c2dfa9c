"""The pace of `desktop.py`: steps per second with so many workers, and where the CPU time goes.

Each measurement is one ``screensearch explore APP`` in a process of its own, with screenshots and the
durable log, exactly as a user runs it. Resets between episodes are in it; the start of the worker
processes is in it too.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import screensearch as ss
from explorations import finish, start_explore
from processes import CpuSampler

PAPER_SCREENSHOTS_PER_HOUR = 182  # of one virtual machine (paper, section 6)


def measure_pace(app: str, workers: int, seconds: float, *, cores: int, seed: int = 1) -> dict[str, Any]:
    """Explore for so many seconds with so many workers."""
    with tempfile.TemporaryDirectory(prefix="screensearch-pace-") as name:
        folder = Path(name, "run")
        options = ("--seconds", str(seconds), "--workers", str(workers), "--seed", str(seed))
        process = start_explore([app], *options, "--out", str(folder))
        with CpuSampler(process.pid) as sampler:
            summary = finish(process)
        figures = _log_figures(folder)
    steps = summary["steps"]
    pace = steps / summary["seconds"]
    parts = sampler.seconds()
    return {
        "workers": workers,
        "seconds": summary["seconds"],
        "steps": steps,
        "states": summary["states"],
        "edges": summary["edges"],
        "worker_failures": summary["worker_failures"],
        "steps_per_second": round(pace, 2),
        "steps_per_second_per_core": round(pace / cores, 2),
        "against_paper_per_core": round(pace / cores * 3600 / PAPER_SCREENSHOTS_PER_HOUR, 1),
        **figures,
        "cpu_ms_per_step": {part: round(1000 * spent / max(1, steps), 1) for part, spent in parts.items()},
        "cpu_seconds": round(sum(parts.values()), 2),
        # What a core could do if it never waited: the floor, whatever else runs on the machine.
        "steps_per_cpu_second": round(steps / max(0.01, sum(parts.values())), 2),
        "machine_busy_seconds": round(sampler.machine_busy_seconds, 2),
        "machine_busy_share": round(sampler.machine_busy_seconds / (summary["seconds"] * cores), 2),
        "most_processes": sampler.most_processes,
    }


def _log_figures(folder: Path) -> dict[str, Any]:
    """What the log says of a run: its outcomes, its pictures, how long the parts of a step took."""
    with ss.open_run(folder) as run:
        transitions = list(run.transitions())
        arrivals = list(run.arrivals())
        problems = run.verify().problems
    entries: list[ss.Arrival | ss.Transition] = [*arrivals, *transitions]
    acting = [each.evidence.act_seconds for each in transitions if each.outcome != ss.Outcome.LOST]
    deciding = [each.evidence.decide_seconds for each in transitions if each.outcome != ss.Outcome.LOST]
    resets = [each.evidence.act_seconds for each in arrivals]
    return {
        "outcomes": dict(Counter(str(each.outcome) for each in transitions).most_common()),
        "lost_notes": [each.note for each in transitions if each.outcome == ss.Outcome.LOST],
        "episodes": len(arrivals),
        "screenshots": sum(each.evidence.screenshot is not None for each in entries),
        "act_ms": spread(acting),
        "decide_ms": spread(deciding),
        "reset_ms": spread(resets),
        "share_of_time_in_resets": round(sum(resets) / max(1e-9, sum(resets + acting + deciding)), 3),
        "verify_problems": list(problems),
    }


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, 90th percentile and mean of some times, in milliseconds."""
    if not seconds:
        return {}
    ordered = sorted(seconds)
    return {
        "p50": round(1000 * statistics.median(ordered), 2),
        "p90": round(1000 * ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], 2),
        "mean": round(1000 * statistics.fmean(ordered), 2),
    }
