"""Whether two runs came to screens that are alike by the same action, whatever states they are in.

Which state a screen is depends on what was seen before it. Where it matters that two runs came to different
ones, the screens themselves are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product

from screensearch.domain.screen import Screen, StateId
from screensearch.identify.verify import MergeSettings, merge_rule, overlap
from screensearch.view.entries import NONE
from screensearch.view.reading import Reading

MOST_SCREENS = 30
"""Distinct screens of one action that are looked at in a run."""


def landings(reading: Reading, sources: Iterable[StateId], signature: str) -> list[Screen]:
    """The distinct screens that an action at these states ended on."""
    entries = reading.entries
    number = entries.signatures.find(signature)
    rows = dict.fromkeys(
        entries.screen[sequence - 1]
        for source in sources
        for sequence in entries.done_at(source)
        if entries.signature[sequence - 1] == number and entries.target[sequence - 1] != NONE
    )
    return [reading.run.log.screen(row) for row in islice((row for row in rows if row != NONE), MOST_SCREENS)]


def any_alike(
    first: Sequence[Screen], second: Sequence[Screen], merge: MergeSettings, filters: Sequence[str]
) -> bool:
    """Whether one screen of the first and one of the second would be one state."""
    rule = merge_rule(merge)
    return any(
        all(getattr(a.metadata, name) == getattr(b.metadata, name) for name in filters)
        and rule.passes(overlap(a.role_atoms, b.role_atoms), overlap(a.text_atoms, b.text_atoms))
        for a, b in product(first, second)
    )
