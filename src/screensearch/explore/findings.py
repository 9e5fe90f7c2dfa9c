"""What went wrong in a run, each kind once: crashes, hangs, exits and captures, with the way that led there.

An application that failed before its first screen is a finding too: no state, no action, at the start, and
one for each configuration that it was started with.

Derived from the log alone, so that a finding can be read, and walked again, as long as there is the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId, FailedStart, Outcome, Transition
from screensearch.record.artifacts import Artifacts

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


@dataclass(slots=True)
class _Episode:
    """An episode as far as it has been read."""

    id: EpisodeId
    configuration: Mapping[str, str]
    actions: list[str] = field(default_factory=list)
    screenshots: list[str] = field(default_factory=list)

    def see(self, entry: Entry) -> None:
        name = entry.evidence.screenshot
        if name is not None and self.screenshots[-1:] != [name]:  # a step that changed nothing shows nothing
            self.screenshots = [*self.screenshots[1 - LAST_SCREENSHOTS :], name]


def find_failures(entries: Iterable[tuple[int, Entry]], artifacts: Artifacts) -> list[Finding]:
    """Every finding of a log: by kind, then the most frequent first, then the oldest."""
    found: dict[tuple[object, ...], Finding] = {}
    under_way: dict[int, _Episode] = {}  # by worker
    for sequence, entry in entries:
        worker = entry.episode.worker
        if not isinstance(entry, Transition):
            under_way[worker] = _Episode(entry.episode, dict(entry.configuration))
        episode = under_way[worker]
        if isinstance(entry, Transition):
            episode.actions.append(entry.signature or "")
        if isinstance(entry, FailedStart | Transition) and entry.outcome in FINDINGS:
            key = (entry.outcome, *_where(entry), *_with(entry))
            known = found.get(key)
            found[key] = (
                _first(sequence, entry, episode, artifacts)
                if known is None
                else replace(known, count=known.count + 1)
            )
        episode.see(entry)
    return sorted(found.values(), key=lambda each: (FINDINGS.index(each.outcome), -each.count, each.first))


def _where(entry: FailedStart | Transition) -> tuple[StateId | None, str]:
    """The state and the action that failed there; at the start there is neither."""
    return (None, "") if isinstance(entry, FailedStart) else (entry.source, entry.signature or "")


def _with(entry: FailedStart | Transition) -> tuple[tuple[str, str], ...]:
    """What a failed start was made with: all that tells it from another. An action has its state for that."""
    return entry.configuration if isinstance(entry, FailedStart) else ()


def _first(
    sequence: int, entry: FailedStart | Transition, episode: _Episode, artifacts: Artifacts
) -> Finding:
    ended_on = entry.evidence.screenshot
    state, signature = _where(entry)
    return Finding(
        outcome=entry.outcome,
        state=state,
        signature=signature,
        count=1,
        note=entry.note,
        first=sequence,
        episode=entry.episode,
        configuration=episode.configuration,
        actions=tuple(episode.actions),
        screenshots=tuple(map(artifacts.where, episode.screenshots)),
        screenshot=None if ended_on is None else artifacts.where(ended_on),
    )
