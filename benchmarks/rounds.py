"""Two ways to do the same, measured in turn: whatever else the machine does disturbs both alike."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any


def take_turns(
    kinds: Iterable[str],
    measure: Callable[[str, int], dict[str, float]],
    *,
    rounds: int,
    name: str,
    show: bool,
) -> dict[str, Any]:
    """Measure both in every round: their medians, and the ratios of the second to the first, the baseline.

    `measure` is given which of them, and the number of the round. The ratio is the median of the rounds'.
    """
    baseline, other = kinds
    figures: dict[str, list[dict[str, float]]] = {baseline: [], other: []}
    for number in range(rounds):
        # Who goes first alternates, so that what the machine does beside us favours neither.
        for kind in (baseline, other)[:: -1 if number % 2 else 1]:
            figures[kind].append(measure(kind, number))
            if show:
                print(f"{name:10} {kind:10} {figures[kind][-1]}", file=sys.stderr)
    names = list(figures[baseline][0])
    ratios = {
        each: [
            round(after[each] / before[each], 3)
            for before, after in zip(figures[baseline], figures[other], strict=True)
        ]
        for each in names
    }
    return {
        **{
            kind: {each: statistics.median(one[each] for one in taken) for each in names}
            for kind, taken in figures.items()
        },
        "ratio": {each: round(statistics.median(all_of_them), 3) for each, all_of_them in ratios.items()},
        "ratio_by_round": ratios,
    }
