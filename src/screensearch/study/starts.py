"""Which states of a corpus a study begins at: eligible ones, in strata of their ambiguity, in a fixed order.

The paper's rules, from its appendix "Original Notepad diagnostic" and section 7: a start is a state of the
corpus-building exploration itself, was met at least three times, and has a replay anchor at step 5 or later
(an episode that came to it there, all of whose steps until then ended `ok`: its prefix). Of 50 starts, 17 are
of low, 16 of medium and 17 of high ambiguity. What the paper leaves open is decided here: the strata are the
thirds of u(s) over the eligible states, and within one the order is drawn by the suite's seed. Whether a
prefix really leads back is for `build` to see.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Arrival, Entry, EpisodeId, Outcome, Transition
from screensearch.errors import ScreenSearchError, SettingsError
from screensearch.explore.run import Run

ANCHORS = 3
"""So many prefixes of a state are kept, of different episodes: if one does not lead back, the next may."""


class Stratum(StrEnum):
    """A third of the eligible states, by their ambiguity."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


PROPORTIONS = {Stratum.LOW: 17, Stratum.MEDIUM: 16, Stratum.HIGH: 17}
"""Starts of each stratum in the paper's 50."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """What a state must have to be a start."""

    occurrences: int = 3  # [1, ∞) observations of it in the corpus (paper)
    anchor_step: int = 5  # [0, ∞) the earliest step at which a prefix may end (paper)
    longest_prefix: int = 25  # [1, ∞) actions: each episode walks them again (ours)
    replays: int = 2  # [1, ∞) walks of the prefix from a clean start, all of which must lead back (ours)

    def __post_init__(self) -> None:
        for name, least in (("occurrences", 1), ("anchor_step", 0), ("longest_prefix", 1), ("replays", 1)):
            if getattr(self, name) < least:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if self.longest_prefix < self.anchor_step:
            raise SettingsError(
                f"longest_prefix is {self.longest_prefix}, below anchor_step, {self.anchor_step}: "
                "no prefix could be of that length"
            )


@dataclass(frozen=True, slots=True)
class Prefix:
    """How an episode came to a state: where it began, and the actions with the states that they led to."""

    episode: EpisodeId
    configuration: tuple[tuple[str, str], ...]
    origin: StateId
    steps: tuple[tuple[str, StateId], ...]


@dataclass(frozen=True, slots=True)
class Eligible:
    """A state that may be a start, with its prefixes, the shortest first."""

    state: StateId
    ambiguity: float
    occurrences: int
    prefixes: tuple[Prefix, ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where the strata part. Low is up to and with the first, high is above the second."""

    low: float
    high: float

    def stratum(self, ambiguity: float) -> Stratum:
        if ambiguity > self.high:
            return Stratum.HIGH
        return Stratum.LOW if ambiguity <= self.low else Stratum.MEDIUM


def find_prefixes(
    entries: Iterable[tuple[int, Entry]], rules: Eligibility, most: int = ANCHORS
) -> dict[StateId, tuple[Prefix, ...]]:
    """The prefixes of every state that has one, the shortest first, then the oldest; one for each episode."""
    begun: dict[EpisodeId, Arrival] = {}
    courses: dict[EpisodeId, list[tuple[str, StateId]]] = {}
    found: defaultdict[StateId, list[tuple[int, int, Prefix]]] = defaultdict(list)
    for sequence, entry in entries:
        if isinstance(entry, Arrival) and not entry.step:
            begun[entry.episode], courses[entry.episode] = entry, []
        if not isinstance(entry, Transition) or entry.episode not in courses:
            continue
        if entry.outcome is not Outcome.OK or entry.signature is None or entry.target is None:
            del courses[entry.episode]  # nothing after this was reached by actions that all came out
            continue
        course = courses[entry.episode]
        course.append((entry.signature, entry.target))
        if rules.anchor_step <= len(course) <= rules.longest_prefix and entry.target not in {
            target for _, target in course[rules.anchor_step - 1 : -1]
        }:
            start = begun[entry.episode]
            prefix = Prefix(entry.episode, start.configuration, start.decision.state, tuple(course))
            found[entry.target].append((len(course), sequence, prefix))
    return {
        state: tuple(prefix for _, _, prefix in sorted(each, key=lambda one: one[:2])[:most])
        for state, each in found.items()
    }


def find_eligible(run: Run, rules: Eligibility) -> list[Eligible]:
    """Every state that may be a start, by its number."""
    prefixes = find_prefixes(run.entries(), rules)
    return [
        Eligible(state, run.graph.ambiguity(state), run.graph.visits(state), prefixes[state])
        for state in run.graph.iter_states()
        if state in prefixes and run.graph.visits(state) >= rules.occurrences
    ]


def cut_in_thirds(ambiguities: Sequence[float]) -> Cuts:
    """Where a third, and two thirds, of these lie at or below; equal ones are never parted."""
    if not ambiguities:
        raise ScreenSearchError(
            "no state of the corpus may be a start: none was met often enough and has a prefix; explore "
            "longer, or ask for fewer occurrences or shorter prefixes"
        )
    ordered = sorted(ambiguities)
    first, second = (ordered[math.ceil(len(ordered) * part / 3) - 1] for part in (1, 2))
    return Cuts(first, second)


def shares(starts: int) -> dict[Stratum, int]:
    """So many starts divided as the paper's 50 are (17, 16, 17); what is left over goes to high first."""
    if starts < 1:
        raise SettingsError(f"a suite needs at least one start, not {starts}")
    whole = sum(PROPORTIONS.values())
    divided = {stratum: starts * part // whole for stratum, part in PROPORTIONS.items()}
    order = sorted(
        (Stratum.HIGH, Stratum.LOW, Stratum.MEDIUM),
        key=lambda stratum: -(starts * PROPORTIONS[stratum] % whole),
    )
    for stratum in order[: starts - sum(divided.values())]:
        divided[stratum] += 1
    return divided


def in_order(eligible: Iterable[Eligible], keys: Mapping[StateId, str], seed: int) -> list[Eligible]:
    """The eligible states in the order in which they are tried: drawn by the seed, whatever their numbers.

    `keys` names each by its founding screen.
    """

    def drawn(each: Eligible) -> tuple[str, StateId]:
        return hashlib.sha256(f"{seed}/{keys[each.state]}".encode()).hexdigest(), each.state

    return sorted(eligible, key=drawn)
