"""Claim: the whole loop takes ≥ 1,000 steps/s with 8 workers on 2 cores, and a decision costs the same
at the end of a long run as at its beginning.

Everything of a step counts: the synthetic world, encoding, identification, durable recording before the
reply, selection. Screenshots are off. A decision is measured by its worker, from having an observation
to having chosen an action, the wait for the durable commit included. One worker on the same machine, in
the same run, is the baseline of the ratio.

    python benchmarks/explore.py [--json] [--steps 500000] [--workers 8] [--out FILE]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import screensearch as ss
from machine import describe_machine
from outcome import parser_for, tell

ENVIRONMENT = "synthetic:generated?states=1000000"
LEAST_STEPS_PER_SECOND = 1_000
MOST_GROWTH = 1.3


def explore(folder: Path, steps: int, workers: int, *, show: bool) -> ss.Summary:
    def progress(now: ss.Progress) -> None:
        print(
            f"\r{workers} workers: {now.steps:>8,} of {steps:,} steps, {now.steps_per_second:6,.0f}/s, "
            f"{now.states:,} states ",
            end="",
            file=sys.stderr,
        )

    summary = ss.start_exploration(
        ENVIRONMENT,
        folder,
        stop=ss.StopRule(steps=steps),
        settings=ss.resolve(overrides=["explore.screenshots=none"]),
        workers=workers,
        seed=7,
        on_progress=progress if show else None,
    )
    if show:
        print(file=sys.stderr)
    return summary


def decisions(folder: Path) -> list[float]:
    """Seconds of every decision, in the order of the log."""
    with ss.open_run(folder) as run:
        return [transition.evidence.decide_seconds for transition in run.transitions()]


def measure(steps: int, workers: int, *, show: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="screensearch-") as name:
        folder = Path(name)
        alone = explore(folder / "alone", max(1_000, steps // 50), 1, show=show)
        together = explore(folder / "together", steps, workers, show=show)
        seconds = decisions(folder / "together")
        with ss.open_run(folder / "together") as run:
            problems = run.verify().problems
    tenth = max(1, len(seconds) // 10)
    deciles = [statistics.median(seconds[at : at + tenth]) for at in range(0, tenth * 10, tenth)]
    growth = deciles[-1] / deciles[0]
    return {
        "steps": together.steps,
        "workers": workers,
        "states": together.states,
        "edges": together.edges,
        "lost": together.lost,
        "verify_problems": list(problems),
        "steps_per_second": together.steps_per_second,
        "steps_per_second_one_worker": alone.steps_per_second,
        "speed_up": round(together.steps_per_second / alone.steps_per_second, 2),
        "decision_ms_p50_by_tenth": [round(1_000 * each, 3) for each in deciles],
        "decision_ms_p99": round(1_000 * statistics.quantiles(seconds, n=100)[98], 3),
        "decision_growth": round(growth, 3),
        "targets": {
            f"steps/s >= {LEAST_STEPS_PER_SECOND}": together.steps_per_second >= LEAST_STEPS_PER_SECOND,
            f"last tenth / first tenth <= {MOST_GROWTH}": growth <= MOST_GROWTH,
            "the run verifies": not problems,
        },
        "machine": describe_machine(),
    }


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    tell(measure(options.steps, options.workers, show=not options.json), options)


if __name__ == "__main__":
    main()
