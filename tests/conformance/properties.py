"""How many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 100


def examples(number: int) -> int:
    """So many in a usual search; where a profile has more or fewer of others, so many times more or fewer."""
    return max(1, number * settings().max_examples // _USUAL)
