"""What the rungs of `cluster.py` come to: ratios, ceilings, and whether what was acknowledged is there."""

from __future__ import annotations

from typing import Any

from cluster_parts import MACHINERY, OWNERS

GROWS = 1.05  # more load that makes fewer steps than this, against the best rung before, makes no more
ENOUGH_STEPS = 200  # with fewer, what a step costs above idle is lost in what idling costs
NO_DEARER = 1.0


def stopped_growing(rungs: list[dict[str, Any]]) -> bool:
    """Whether more load no longer made more steps: a rate that is still met is no ceiling.

    One saturated rung does not tell: with more waiting at once, an owner commits more at once.
    """
    if not rungs or not rungs[-1]["saturated"] or sum(rung["saturated"] for rung in rungs) < 2:
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
    report["dearest"] = dearest(ladder, many)
    report["targets"] = {
        **no_dearer(report["dearest"]),
        "no step lost": not any(each["lost"] for each in (*rungs, *report["runs"])),
        "no worker failed, no owner was replaced": not any(
            rung["failures"] or rung["owner_replaced"] for rung in rungs
        )
        and not any(run["owners_replaced"] for run in report["runs"]),
        "every log verifies": bool(report["runs"])
        and not any(run["verify_problems"] for run in report["runs"]),
    }


def lost_steps(acknowledged: dict[int, int], logged: dict[int, int]) -> int:
    """Steps that a worker was told of and that are not there: one too many of another makes up for none."""
    return sum(max(0, count - logged.get(worker, 0)) for worker, count in acknowledged.items())


def against(first: dict[str, Any], rungs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the machinery costs per step, as a multiple of another rung: all of it, and without what idles.

    The latter is None where either is not to be told from idling.
    """

    def above(rung: dict[str, Any]) -> float:
        return float(sum(rung.get("above_idle_cpu_ms_per_step", {}).values()))

    known = first["steps_per_second"] * first["seconds"] >= ENOUGH_STEPS
    return [
        {
            "workers": rung["workers"],
            "offered_steps_per_second": rung["offered_steps_per_second"],
            "all": round(rung["machinery_cpu_ms_per_step"] / first["machinery_cpu_ms_per_step"], 3),
            "above_idle": round(above(rung) / above(first), 3)
            if known and min(above(first), above(rung)) > 0
            else None,
        }
        for rung in rungs
    ]


def dearest(ladder: list[dict[str, Any]], rungs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Of the rungs with more workers than the first one that can be told, the one whose step costs most.

    What idles is left out: it would make every step of few workers dear. None where nothing can be compared.
    """
    for first in ladder:
        more = [each for each in against(first, rungs) if each["workers"] > first["workers"]]
        known = [each for each in more if each["above_idle"] is not None]
        if known:
            return {"than": first["workers"], **max(known, key=lambda each: float(each["above_idle"]))}
    return None


def no_dearer(found: dict[str, Any] | None) -> dict[str, bool]:
    """The target that a step costs no more on any rung than on the first one that can be told."""
    if found is None:
        return {}
    name = f"a step of more workers costs no more than one of {found['than']:,}"
    return {name: found["above_idle"] <= NO_DEARER}


def ceiling(rungs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The best rate of a series, how it was limited where it was saturated, and what was carried.

    None if the pace has limited the series: a rate that was asked for and met is no ceiling, unless more load
    made fewer steps.
    """
    if not rungs or not rungs[-1]["saturated"]:
        return None

    def best(of: list[dict[str, Any]]) -> dict[str, Any]:
        return max(of, key=lambda rung: float(rung["steps_per_second"]))

    most, met = best([rung for rung in rungs if rung["saturated"]]), [r for r in rungs if not r["saturated"]]
    return {
        **_rate(best(rungs)),
        "carried": _rate(best(met)) if met else None,
        "saturated": _rate(most),
        "owners_cores": most["cores_used"][OWNERS],
        "busiest_owner_cores": most["busiest_owner_cores"],
        "busiest_owner_thread_cores": most["busiest_owner_thread_cores"],
        "machine_cores": most["cores_busy_of_the_machine"],
        "cores_in_iowait": most["cores_in_iowait"],
        "stopped_growing": stopped_growing(rungs),
    }


def _rate(rung: dict[str, Any]) -> dict[str, Any]:
    return {name: rung[name] for name in ("workers", "steps_per_second")}
