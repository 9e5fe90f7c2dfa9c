"""What the guard kept from being done in a run, why, and how often.

Nothing of this is stored beyond the number of vetoes of each choice: candidates and guards are pure
functions of the screen, so they are asked again over every screen that a choice was made on.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass

from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.config import Settings
from screensearch.domain.document import decode_observation
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Arrival, Transition
from screensearch.encode.masks import Masks
from screensearch.record.log import Log


@dataclass(frozen=True, slots=True)
class Skipped:
    """An action that the guard removed, and why."""

    signature: str
    label: str
    reason: str
    choices: int  # how many choices it was kept out of
    screens: int  # on how many different screens


def count_skipped(log: Log, settings: Settings) -> list[Skipped]:
    """What was skipped, the most often first. A screen counts once for every choice that was made on it."""
    choices, first = _choices_by_screen(log)
    if first is None:
        return []
    application = _observation(log, first).window.application  # an episode begins in its application
    guards = build_guards(settings.guard, harmless=settings.desktop.sandbox)
    masks = Masks(settings.encode.masks)
    skipped: Counter[tuple[str, str, str]] = Counter()
    screens: Counter[tuple[str, str, str]] = Counter()
    for row, count in choices.items():
        observation = _observation(log, row)
        proposed = candidates(observation, application, settings.candidates, masks)
        for candidate, reason in guard(proposed, observation, guards).vetoed:
            key = (candidate.signature, candidate.label, reason)
            skipped[key] += count
            screens[key] += 1
    return [
        Skipped(signature, label, reason, count, screens[signature, label, reason])
        for (signature, label, reason), count in sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    ]


def _choices_by_screen(log: Log) -> tuple[dict[int, int], int | None]:
    """How many choices with a veto were made on each row of the screen table, and the first row of all."""
    choices: Counter[int] = Counter()
    seen: dict[int, int] = {}  # by worker: the row that its next choice is made on
    first: int | None = None
    for _, entry in log.read():
        worker = entry.episode.worker
        if isinstance(entry, Arrival) and first is None:
            first = entry.screen
        if isinstance(entry, Transition) and entry.choice is not None and entry.choice.vetoed:
            choices[seen[worker]] += 1
        if entry.screen is not None:
            seen[worker] = entry.screen
    return choices, first


def _observation(log: Log, row: int) -> Observation:
    return decode_observation(zlib.decompress(log.elements(row)))
