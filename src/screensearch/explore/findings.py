"""What went wrong in a run, each kind once: crashes, hangs, exits and captures, with the way that led there.

An application that failed before its first screen is a finding too: no state, no action, at the start, and
one for each configuration that it was started with.

Derived from the log alone, so that a finding can be read, and walked again, as long as there is the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId, FailedStart, Outcome, Transition
from screensearch.record.artifacts import Artifacts
from screensearch.record.log import Log

FINDINGS = (Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE)
"""The outcomes that say something about the application; in this order they are told."""

LAST_SCREENSHOTS = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """An action that ended badly at a state, or a start that did: how often, and the first time."""

    outcome: Outcome
    state: StateId | None  # None: before there was a screen
    signature: str  # empty at the start
    count: int
    note: str  # what the environment said the first time
    first: int  # sequence number of the first time
    episode: EpisodeId
    configuration: Mapping[str, str]  # of that episode
    actions: tuple[str, ...]  # signatures from the start of that episode to the one that failed, in order
    screenshots: tuple[str, ...]  # files or URLs of the last screens before it, oldest first, no repeats
    screenshot: str | None  # the same of the screen it ended on: a capture has one, a start may

    @property
    def at_start(self) -> bool:
        """Whether the application failed before its first screen."""
        return self.state is None


def find_failures(log: Log, artifacts: Artifacts) -> list[Finding]:
    """Every finding of a log: by kind, then the most frequent first, then the oldest."""
    return find_among(log.read(), partial(_way, log), artifacts.where)


def find_among(
    entries: Iterable[tuple[int, Entry]],
    way: Callable[[FailedStart | Transition], Iterable[Entry]],
    where: Callable[[str], str],
) -> list[Finding]:
    """The findings among these entries of a log, which are in order.

    `way` gives the episode before an entry, from its beginning; `where` tells where a picture is.
    """
    firsts: dict[tuple[object, ...], tuple[int, FailedStart | Transition]] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for sequence, entry in entries:
        if isinstance(entry, FailedStart | Transition) and entry.outcome in FINDINGS:
            key = (entry.outcome, *_where(entry), *_with(entry))
            firsts.setdefault(key, (sequence, entry))
            counts[key] += 1
    found = [_first(way(first[1]), *first, counts[key], where) for key, first in firsts.items()]
    return sorted(found, key=lambda each: (FINDINGS.index(each.outcome), -each.count, each.first))


def _where(entry: FailedStart | Transition) -> tuple[StateId | None, str]:
    """The state and the action that failed there; at the start there is neither."""
    return (None, "") if isinstance(entry, FailedStart) else (entry.source, entry.signature or "")


def _with(entry: FailedStart | Transition) -> tuple[tuple[str, str], ...]:
    """What a failed start was made with: all that tells it from another. An action has its state for that."""
    return entry.configuration if isinstance(entry, FailedStart) else ()


def _first(
    way: Iterable[Entry],
    sequence: int,
    entry: FailedStart | Transition,
    count: int,
    where: Callable[[str], str],
) -> Finding:
    before = list(way)
    begun = before[0] if before else entry
    state, signature = _where(entry)
    steps = [each for each in (*before, entry) if isinstance(each, Transition)]
    ended_on = entry.evidence.screenshot
    return Finding(
        outcome=entry.outcome,
        state=state,
        signature=signature,
        count=count,
        note=entry.note,
        first=sequence,
        episode=entry.episode,
        configuration={} if isinstance(begun, Transition) else dict(begun.configuration),
        actions=tuple(each.signature or "" for each in steps if each.outcome is not Outcome.UNDECIDED),
        screenshots=tuple(map(where, _last_screenshots(before))),
        screenshot=None if ended_on is None else where(ended_on),
    )


def _way(log: Log, entry: FailedStart | Transition) -> Iterator[Entry]:
    """The episode before an entry, from its beginning. Its steps may be in several shards."""
    for step in range(entry.step):
        found = log.find(entry.episode, step)
        if found is not None:
            yield found[1]


def _last_screenshots(entries: Iterable[Entry]) -> list[str]:
    """The latest of them, oldest first; a step that changed nothing shows nothing."""
    names = [entry.evidence.screenshot for entry in entries if entry.evidence.screenshot is not None]
    return [name for name, _ in groupby(names)][-LAST_SCREENSHOTS:]
