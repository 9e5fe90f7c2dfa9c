"""Actions that failed so often at a state that they are left alone there.

A hang is only known after `desktop.hang_seconds` and `desktop.grace_seconds`, so to meet the same one again
and again costs most of a run and tells nothing new. What failed is counted in the graph, a fold of the log:
a run that is resumed leaves alone what it would have left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from screensearch.act.guard import Guarded, Veto
from screensearch.config import ExploreSettings
from screensearch.domain.transition import Outcome

LIMITED = {Outcome.HANG: ("most_hangs", "hung"), Outcome.CRASH: ("most_crashes", "crashed")}
"""Failures that are limited: by which setting of the table `explore`, and in words."""


def spent_reason(outcomes: Mapping[str, int], settings: ExploreSettings) -> str | None:
    """Why an action with these failures at a state is left alone there, or None while it is not."""
    for outcome, (name, verb) in LIMITED.items():
        most = getattr(settings, name)
        if most is not None and outcomes.get(outcome, 0) >= most:
            return f"{verb} {most} times or more at this state (explore.{name})"
    return None


def spent_at(failures: Mapping[str, Mapping[str, int]], settings: ExploreSettings) -> dict[str, str]:
    """The signatures that are left alone at a state, each with the reason; from its failures in the graph."""
    reasons = ((signature, spent_reason(outcomes, settings)) for signature, outcomes in failures.items())
    return {signature: reason for signature, reason in reasons if reason is not None}


def set_aside(guarded: Guarded, spent: Mapping[str, str]) -> Guarded:
    """Take what is spent out of what may be chosen, with the reason, as if a guard had.

    If that would leave nothing, it stays: a run is not to end for want of something to do.
    """
    rest = [each for each in guarded.allowed if each.signature not in spent]
    if not rest:
        return guarded
    taken = [Veto(each, spent[each.signature]) for each in guarded.allowed if each.signature in spent]
    return Guarded(rest, [*guarded.vetoed, *taken])
