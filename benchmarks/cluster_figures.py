"""What the rungs of `cluster.py` come to: ratios, ceilings, and whether what was acknowledged is there."""

from __future__ import annotations

from typing import Any

from cluster_parts import MACHINERY, OWNERS

GROWS = 1.05  # more load that makes fewer steps than this, against the best rung before, makes no more


def stopped_growing(rungs: list[dict[str, Any]]) -> bool:
    """Whether more load no longer made more steps: a rate that is still met is no ceiling."""
    if len(rungs) < 2 or not rungs[-1]["saturated"]:
        return False
    return bool(rungs[-1]["steps_per_second"] < GROWS * max(rung["steps_per_second"] for rung in rungs[:-1]))


def conclude(report: dict[str, Any]) -> None:
    """Ratios, ceilings and targets, of what there is."""
    ladder, hot = report["ladder"], report["hot"]
    many = [*ladder, *([report["all_workers"]] if "all_workers" in report else [])]
    rungs = [*many, *hot]
    if not rungs:
        return
    for rung in rungs:
        idle = report["hot_idle" if rung["shards"] == 1 else "idle"]["cpu_ms_per_second"]
        if rung["steps_per_second"]:
            rung["above_idle_cpu_ms_per_step"] = {
                part: round(rung["cpu_ms_per_step"][part] - idle[part] / rung["steps_per_second"], 3)
                for part in MACHINERY
            }
    for first in ladder[:2]:
        report[f"cost_against_{first['workers']}_workers"] = against(first, many)
    report["ceilings"] = {"ladder": ceiling(ladder), "one_shard": ceiling(hot)}
    report["targets"] = {
        "no step lost": not any(each["lost"] for each in (*rungs, *report["runs"])),
        "no worker failed, no owner was replaced": not any(
            rung["failures"] or rung["trouble"] for rung in rungs
        )
        and not any(run["owners_replaced"] for run in report["runs"]),
        "every log verifies": bool(report["runs"])
        and not any(run["verify_problems"] for run in report["runs"]),
    }


def against(first: dict[str, Any], rungs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the machinery costs per step, as a multiple of another rung: all of it, and without what idles."""

    def above(rung: dict[str, Any]) -> float:
        return float(sum(rung.get("above_idle_cpu_ms_per_step", {}).values()))

    return [
        {
            "workers": rung["workers"],
            "offered_steps_per_second": rung["offered_steps_per_second"],
            "all": round(rung["machinery_cpu_ms_per_step"] / first["machinery_cpu_ms_per_step"], 3),
            "above_idle": round(above(rung) / above(first), 3)
            if min(above(first), above(rung)) > 0
            else None,
        }
        for rung in rungs
    ]


def ceiling(rungs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The best rate of a series whose last rung was saturated; None for one that the pace has limited."""
    if not rungs or not rungs[-1]["saturated"]:
        return None
    best = max(rungs, key=lambda rung: float(rung["steps_per_second"]))
    return {
        "steps_per_second": best["steps_per_second"],
        "workers": best["workers"],
        "owners_cores": best["cores_used"][OWNERS],
        "busiest_owner_thread_cores": best["busiest_owner_thread_cores"],
        "machine_cores": best["cores_busy_of_the_machine"],
        "still_grew": not stopped_growing(rungs),
    }
