"""Short loops in a sequence of states: stretches that only repeat what was there a few steps before."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

LONGEST_CYCLE = 4
"""States of the longest cycle that counts as short. The paper names short cycles, not their size: ours."""

REPEATS = 2
"""How often in a row a cycle stands there before it is a loop. Ours as well."""


def periodic_runs(items: Sequence[Hashable], period: int) -> list[tuple[int, int]]:
    """The longest stretches [begin, end) in which every item equals the one `period` before it."""
    runs = []
    begin = 0
    for place in range(period, len(items) + 1):
        if place == len(items) or items[place] != items[place - period]:
            if place - begin > period:
                runs.append((begin, place))
            begin = place - period + 1
    return runs


def short_cycles(
    items: Sequence[Hashable], *, longest: int = LONGEST_CYCLE, repeats: int = REPEATS
) -> Iterator[tuple[int, int]]:
    """Stretches [begin, end) in which a block of 2 to `longest` items, not all equal, stands `repeats` times.

    They may overlap: a cycle that rests a step is one of another length, too.
    """
    for period in range(2, longest + 1):
        for begin, end in periodic_runs(items, period):
            if end - begin >= repeats * period and len(set(items[begin : begin + period])) > 1:
                yield begin, end
