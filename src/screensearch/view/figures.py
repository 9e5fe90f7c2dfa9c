"""The course of a run: what was discovered when, how it was spent, and how long things took."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from screensearch.explore.store import EXECUTED
from screensearch.view.entries import column
from screensearch.view.messages import Figures, Latency, Rate
from screensearch.view.reading import Reading

MOST_POINTS = 2_000
"""Of the discovery curve."""

WINDOWS = 100
"""Of steps, over which shares are taken, if each has at least `SMALLEST_WINDOW`."""

SMALLEST_WINDOW = 20

_LEAST_BOUND, _MOST_BOUNDS = 0.001, 20  # seconds; the bounds of a histogram double from there

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def make_figures(reading: Reading) -> Figures:
    """Curves over steps. A step is an action that was carried out, or whose target was found missing."""
    entries = reading.entries
    steps = entries.places_with(*(each.value for each in EXECUTED))
    source, target = column(entries.source), column(entries.target)
    ok, captured = (
        np.isin(steps, entries.places_with(outcome), assume_unique=True) for outcome in ("ok", "capture")
    )
    founded = np.zeros(len(entries), dtype=bool)
    founded[np.array(list(entries.founded.values()), dtype=np.int64) - 1] = True
    curve = _thinned(len(steps))
    act, decide = column(entries.act_seconds), column(entries.decide_seconds)
    return Figures(
        run=reading.name,
        sequence=reading.sequence,
        step=[int(place) + 1 for place in curve],
        seconds=[round(float(each), 3) for each in entries.seconds()[steps][curve]],
        states=[int(each) for each in np.cumsum(founded)[steps][curve]],
        edges=[int(each) for each in _edges(reading)[steps][curve]],
        revisits=_rate(~founded[steps], ok),
        loops=_rate((source[steps] == target[steps]) & ok, np.ones(len(steps), dtype=bool)),
        captures=_rate(captured, np.ones(len(steps), dtype=bool)),
        decide=_latency(decide[steps]),
        act=_latency(act[steps]),
        outcomes=dict(sorted(reading.graph.outcomes.items())),
        lengths=_lengths(reading, steps),
    )


def _edges(reading: Reading) -> Ints:
    """How many edges were known after each entry. [entries]"""
    fresh = np.zeros(reading.sequence, dtype=np.int64)
    for state in reading.sights.states:
        for tried in reading.graph.tried(state).values():
            for target in tried.successors:
                since = tried.since(target)
                if since is not None:
                    fresh[since - 1] += 1
    return np.cumsum(fresh)


def _thinned(length: int) -> Ints:
    """Places in a column of that length: the first, the last, and even ones between."""
    if length <= MOST_POINTS:
        return np.arange(length)
    return np.unique(np.linspace(0, length - 1, MOST_POINTS).round().astype(np.int64))


def _rate(holds: Bools, counted: Bools) -> Rate:
    """The share of the counted steps of each window for which something holds; empty windows are left out."""
    steps = len(holds)
    width = max(SMALLEST_WINDOW, math.ceil(steps / WINDOWS))
    made = Rate(step=[], share=[])
    ends = list(range(width, steps, width))
    if ends and steps - ends[-1] < width / 2:
        ends.pop()  # a few steps at the end are no window: they are counted with those before
    for begin, end in pairwise([0, *ends, steps] if steps else []):
        within = counted[begin:end]
        if within.any():
            made.step.append(end)
            made.share.append(round(float(holds[begin:end][within].mean()), 4))
    return made


def _latency(seconds: Floats) -> Latency:
    if not len(seconds):
        return Latency(p50=0.0, p90=0.0, p99=0.0, bounds=[], counts=[])
    p50, p90, p99 = (float(each) for each in np.quantile(seconds, (0.5, 0.9, 0.99)))
    bounds = [_LEAST_BOUND]
    while bounds[-1] < seconds.max() and len(bounds) < _MOST_BOUNDS:
        bounds.append(bounds[-1] * 2)
    places = np.minimum(np.searchsorted(bounds, seconds), len(bounds) - 1)  # what is above all is in the last
    counts = np.bincount(places, minlength=len(bounds))
    return Latency(p50=p50, p90=p90, p99=p99, bounds=bounds, counts=[int(each) for each in counts])


def _lengths(reading: Reading, steps: Ints) -> dict[str, int]:
    """How many episodes had how many steps."""
    entries = reading.entries
    taken: Counter[tuple[int, int]] = Counter(
        dict.fromkeys(zip(entries.worker, entries.episode, strict=True), 0)
    )
    taken.update((entries.worker[place], entries.episode[place]) for place in steps)
    return {str(length): count for length, count in sorted(Counter(taken.values()).items())}
