"""What was kept from being done in a run, why, and how often: by the guard, or after it had failed too often.

Nothing of this is stored beyond the number of vetoes of each choice: candidates and guards are pure
functions of the screen, so they are asked again over every screen that a choice was made on. What had failed
too often for a choice is counted again from the entries up to the snapshot that the choice saw.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass

from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.config import ExploreSettings, Settings
from screensearch.domain.document import decode_observation
from screensearch.domain.screen import Observation, StateId
from screensearch.domain.transition import Arrival, Outcome, Transition
from screensearch.encode.masks import Masks
from screensearch.explore.spent import LIMITED, set_aside, spent_at
from screensearch.record.log import Log

_Spent = tuple[tuple[str, str], ...]
"""Signatures that had failed too often, each with the reason."""

_Kind = tuple[int, _Spent]
"""What tells choices on one screen apart: how many candidates were vetoed, and what had failed too often."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An action that was left alone, and why."""

    signature: str
    label: str
    reason: str
    choices: int  # how many choices it was kept out of
    screens: int  # on how many different screens


def count_skipped(log: Log, settings: Settings) -> list[Skipped]:
    """What was skipped, the most often first. A screen counts once for every choice that was made on it."""
    choices, first = _choices_by_screen(log, settings.explore)
    if first is None:
        return []
    application = _observation(log, first).window.application  # an episode begins in its application
    guards = build_guards(settings.guard, harmless=settings.desktop.sandbox)
    masks = Masks(settings.encode.masks)
    skipped: Counter[tuple[str, str, str]] = Counter()
    screens: Counter[tuple[str, str, str]] = Counter()
    for row, kinds in choices.items():
        observation = _observation(log, row)
        proposed = candidates(observation, application, settings.candidates, masks)
        guarded = guard(proposed, observation, guards)
        here: set[tuple[str, str, str]] = set()
        for (vetoed, spent), count in kinds.items():
            # No more than the guard took out: nothing else was, or all that was left had failed too often.
            only_guarded = vetoed == len(guarded.vetoed)
            for candidate, reason in (guarded if only_guarded else set_aside(guarded, dict(spent))).vetoed:
                key = (candidate.signature, candidate.label, reason)
                skipped[key] += count
                here.add(key)
        screens.update(here)
    return [
        Skipped(signature, label, reason, count, screens[signature, label, reason])
        for (signature, label, reason), count in sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    ]


def _choices_by_screen(log: Log, settings: ExploreSettings) -> tuple[dict[int, Counter[_Kind]], int | None]:
    """The choices with a veto that were made on each row of the screen table, and the first row of all."""
    choices: defaultdict[int, Counter[_Kind]] = defaultdict(Counter)
    seen: dict[int, int] = {}  # by worker: the row that its next choice is made on
    failures = _Failures(settings)
    first: int | None = None
    for sequence, entry in log.read():
        worker = entry.episode.worker
        if isinstance(entry, Arrival) and first is None:
            first = entry.screen
        if isinstance(entry, Transition):
            if entry.choice is not None and entry.choice.vetoed:
                spent = failures.spent(entry.source, entry.choice.snapshot)
                choices[seen[worker]][entry.choice.vetoed, spent] += 1
            failures.note(sequence, entry)
        if entry.screen is not None:
            seen[worker] = entry.screen
    return choices, first


class _Failures:
    """The failures that are limited, by state and signature, each with its place in the log."""

    def __init__(self, settings: ExploreSettings) -> None:
        self._settings = settings
        self._at: defaultdict[StateId, dict[str, list[tuple[int, Outcome]]]] = defaultdict(dict)

    def note(self, sequence: int, entry: Transition) -> None:
        if entry.outcome in LIMITED and entry.signature is not None:
            self._at[entry.source].setdefault(entry.signature, []).append((sequence, entry.outcome))

    def spent(self, state: StateId, snapshot: int) -> _Spent:
        """What a choice that saw the log up to `snapshot` was told to leave alone."""
        failures = {
            signature: Counter(outcome.value for sequence, outcome in failed if sequence <= snapshot)
            for signature, failed in self._at.get(state, {}).items()
        }
        return tuple(spent_at(failures, self._settings).items())


def _observation(log: Log, row: int) -> Observation:
    return decode_observation(zlib.decompress(log.elements(row)))
