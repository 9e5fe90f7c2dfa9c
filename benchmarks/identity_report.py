"""How `identity.py` measures and reports: clocks, memory, targets and the table."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def timed(call: Callable[[int], object], count: int) -> dict[str, float]:
    """p50 and p99 of so many calls, in microseconds."""
    gc.collect()
    gc.disable()
    call(0)
    times = []
    for number in range(count):
        started = time.perf_counter_ns()
        call(number)
        times.append(time.perf_counter_ns() - started)
    gc.enable()
    times.sort()
    return {"p50": times[count // 2] / 1000, "p99": times[int(count * 0.99)] / 1000}


def resident_bytes() -> int:
    """Anonymous memory of this process that is in RAM, after giving back what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def ratios(result: dict[str, Any]) -> dict[str, float]:
    exact = result["exact"]
    found = {}
    if {"10000", "1000000"} <= exact.keys():
        found["exact 1M / 10k"] = exact["1000000"]["near"]["p50"] / exact["10000"]["near"]["p50"]
    for rival in ("python", "hybrid", "lancedb"):
        for size in result[rival].keys() & exact.keys():
            found[f"{rival} / exact at {size}"] = (
                result[rival][size]["near"]["p50"] / exact[size]["near"]["p50"]
            )
    return {name: round(value, 2) for name, value in sorted(found.items())}


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What the figures must be; a target whose size was not run is left out."""
    exact, ratio = result["exact"], result["ratios"]
    rows: list[tuple[str, float, str, float]] = []
    for size, measured in exact.items():
        rows += [
            (f"differences from brute force at {size}", measured["brute_force"]["differences"], "<=", 0),
            (f"bytes per state at {size}", max(measured["bytes_per_state"].values()), "<=", 1536),
            (f"decisions per second at {size}", measured["decisions_per_second"], ">=", 100_000),
        ]
    if "100000" in exact:
        rows.append(("p50 of a near duplicate at 100000, µs", exact["100000"]["near"]["p50"], "<=", 20))
    for name, sign, limit in (
        ("exact 1M / 10k", "<=", 3),
        ("hybrid / exact at 100000", ">=", 100),
        ("lancedb / exact at 100000", ">=", 1000),
    ):
        if name in ratio:
            rows.append((name, ratio[name], sign, limit))
    return [
        {
            "target": f"{name} {sign} {limit:,}",
            "measured": value,
            "passed": value <= limit if sign == "<=" else value >= limit,
        }
        for name, value, sign, limit in rows
    ]


def readable(result: dict[str, Any]) -> str:
    lines = [", ".join(f"{name} {value}" for name, value in result["machine"].items()), ""]
    lines.append(f"{'':10}{'states':>10}{'p50 µs':>12}{'p99 µs':>12}   remarks")
    for size, each in result["exact"].items():
        check, memory = each["brute_force"], each["bytes_per_state"]
        lines += [
            _row(
                "exact",
                size,
                each["near"],
                f"{check['differences']} of {check['checked']} differ from brute force",
            ),
            _row("  stranger", size, each["stranger"], "a screen that founds a state"),
            _row("  memo", size, each["memo"], f"{each['decisions_per_second']:,} decisions/s on the mix"),
            f"{'':47}{memory['allocated']} bytes a state in the index, {memory['resident']} with the memo",
        ]
    for size, each in result["python"].items():
        lines.append(_row("twin", size, each["near"], f"{each['differences']} differ from the compiled core"))
    for rival in ("hybrid", "lancedb"):
        for size, each in result[rival].items():
            remark = (
                f"missed {each['missed']} of {each['true_matches']}, {each['other_state']} to another state"
            )
            lines.append(_row(rival, size, each["near"], remark))
    adversary, resolver = result["switchboard"], result["resolver"]
    lines.append(_row("adversary", adversary["states"], adversary["near"], "sixty switches, all atoms old"))
    lines.append(
        f"resolver at {resolver['states']:,}: {resolver['decisions_per_second']:,} decisions/s from screens"
    )
    lines += ["", *(f"{name}: {value:,}" for name, value in result["ratios"].items()), "", "targets"]
    for each in result["targets"]:
        lines.append(f"  {'pass' if each['passed'] else 'FAIL'}  {each['target']}: {each['measured']:,}")
    return "\n".join(lines)


def _row(name: str, size: object, times: dict[str, float], remark: str) -> str:
    return f"{name:10}{int(str(size)):>10,}{times['p50']:>12,.1f}{times['p99']:>12,.1f}   {remark}"
