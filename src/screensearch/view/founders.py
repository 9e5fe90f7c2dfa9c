"""The founding screens of a run in memory: any screen is compared with all of them in one sweep."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.identify.verify import MergeRule, Overlap
from screensearch.record.log import DecidedScreen, Log

_ROUNDING = 1e-9
"""More than the error of a score in floats: what is nearer to the threshold is decided in integers."""

_TABLE = 1 << 16

Look = Callable[[StateId, int, Screen], None]
"""Is shown a state, and the row and the screen that founded it."""


class Scored(NamedTuple):
    """A state whose founding screen was compared with a screen."""

    state: StateId
    score: float
    role_jaccard: float
    text_jaccard: float
    passes: bool


class Founders:
    """The states of one run, in the order in which they were founded, with the atoms that founded them.

    `place` is a state's position in that order; it is its number unless the run has several shards.
    """

    def __init__(self) -> None:
        self.states: list[StateId] = []
        self.metadata: list[Metadata] = []
        self._roles, self._texts = _Sets(), _Sets()
        self._sequence = 0  # of the log's last entry when it was looked at
        self._waiting: deque[DecidedScreen] = deque()  # what was decided until then and is not in yet
        self._seen: dict[Metadata, Metadata] = {}
        self._known_before: dict[int, int] = {}  # row of a screen: how many states there were to join

    @classmethod
    def of(cls, log: Log, look: Look = lambda state, row, screen: None) -> Founders:
        """All that a log has founded until now."""
        founders = cls()
        founders.extend(log, look)
        return founders

    def extend(self, log: Log, look: Look = lambda state, row, screen: None, most: int | None = None) -> bool:
        """Take in what the same log has decided since; `look` is shown every founding screen.

        Returns whether that was all: with `most`, no more screens than that are taken in.
        """
        last = log.last_sequence
        if last != self._sequence:
            waiting = {each.screen for each in self._waiting}
            self._waiting.extend(
                each
                for each in log.decided_screens()
                if each.screen not in self._known_before and each.screen not in waiting
            )
            self._sequence = last
        for _ in range(len(self._waiting) if most is None else min(most, len(self._waiting))):
            self._take(log, self._waiting[0], look)
            self._waiting.popleft()
        return not self._waiting

    def _take(self, log: Log, decided: DecidedScreen, look: Look) -> None:
        screen = log.screen(decided.screen) if decided.founder else None
        self._known_before[decided.screen] = len(self.states)
        if screen is not None:
            self.states.append(decided.state)
            self.metadata.append(self._seen.setdefault(screen.metadata, screen.metadata))
            self._roles.add(screen.role_atoms)
            self._texts.add(screen.text_atoms)
            look(decided.state, decided.screen, screen)

    def __len__(self) -> int:
        return len(self.states)

    def known_before(self, row: int) -> int:
        """How many states there were when the screen of that row was first decided."""
        return self._known_before.get(row, len(self.states))

    def pool(self, metadata: Metadata, filters: Iterable[str], among: int) -> list[int]:
        """The places, of the first `among`, whose screens agree with this metadata in all the filters."""
        names = tuple(filters)
        same: dict[int, bool] = {}  # most founding screens share one of a few metadata objects
        found = []
        for place in range(among):
            each = self.metadata[place]
            agrees = same.get(id(each))
            if agrees is None:
                agrees = same[id(each)] = all(getattr(each, n) == getattr(metadata, n) for n in names)
            if agrees:
                found.append(place)
        return found

    def rank(self, screen: Screen, places: list[int], rule: MergeRule, nearest: int) -> list[Scored]:
        """Of these states, all that pass the rule and the `nearest` of those that do not; the best first.

        Scores are exact; equal ones are in order of age.
        """
        if not places:
            return []
        chosen = np.asarray(places)
        shared_roles, union_roles = self._roles.overlaps(screen.role_atoms, chosen)
        shared_texts, union_texts = self._texts.overlaps(screen.text_atoms, chosen)
        weight = rule.role_weight + rule.text_weight
        scores = (
            rule.role_weight * _ratio(shared_roles, union_roles)
            + rule.text_weight * _ratio(shared_texts, union_texts)
        ) / weight
        order = np.argsort(-scores, kind="stable")
        passing = int(np.count_nonzero(scores >= rule.threshold / weight - _ROUNDING))
        ranked = []
        for at in order[: passing + nearest].tolist():
            roles = Overlap(int(shared_roles[at]), int(union_roles[at]))
            texts = Overlap(int(shared_texts[at]), int(union_texts[at]))
            ranked.append(
                Scored(
                    self.states[places[at]],
                    rule.score(roles, texts),
                    roles.jaccard,
                    texts.jaccard,
                    rule.passes(roles, texts),
                )
            )
        passed = sum(each.passes for each in ranked)
        return sorted(ranked, key=lambda each: (-each.score, each.state))[: passed + nearest]


class _Sets:
    """Many sets of atoms, one behind the other, each atom by its 64-bit hash.

    A table of the texts would take more than all else that is kept here.
    """

    def __init__(self) -> None:
        self._atoms: array[int] = array("q")
        self._starts: array[int] = array("q", [0])

    def add(self, atoms: Iterable[str]) -> None:
        self._atoms.extend(map(hash, atoms))
        self._starts.append(len(self._atoms))

    def overlaps(
        self, atoms: Iterable[str], places: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """With each of the sets at these places: how many atoms are shared, and how many there are in all."""
        query = np.array(list(map(hash, atoms)), dtype=np.int64)
        everything = np.frombuffer(self._atoms, dtype=np.int64) if self._atoms else np.empty(0, np.int64)
        starts = np.frombuffer(self._starts, dtype=np.int64)
        # A small table of their last bits picks out what may be shared; the rest need not be compared.
        maybe = np.zeros(_TABLE, dtype=bool)
        maybe[query & (_TABLE - 1)] = True
        spots = np.flatnonzero(maybe[everything & (_TABLE - 1)])
        spots = spots[np.isin(everything[spots], query)]
        hits = np.searchsorted(starts, spots, side="right") - 1
        shared = np.bincount(hits, minlength=len(starts))[places]
        return shared, len(query) + starts[places + 1] - starts[places] - shared


def _ratio(shared: NDArray[np.int64], union: NDArray[np.int64]) -> NDArray[np.float64]:
    """J, and 1 for two empty sets."""
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)
