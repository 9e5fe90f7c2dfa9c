"""`exact`: every state over the threshold is found, and the best one wins, ties to the oldest.

No approximation, so no missed merge, and no embedding needed to decide. The paper takes the
highest-ranked candidate that passes; taking the best score is our deviation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Protocol

from screensearch.domain.screen import StateId
from screensearch.domain.transition import RunnerUp
from screensearch.encode.embedder import Embedder
from screensearch.identify import exact_python
from screensearch.identify.exact_python import Answer, Atoms, Overlaps
from screensearch.identify.resolve import IdentifySettings, Match, Query, match_of
from screensearch.identify.verify import MergeRule, MergeSettings, Overlap, merge_rule

CompiledIndex: type[Index] | None
try:
    from screensearch.identify._exact import ExactIndex as CompiledIndex
except ImportError:
    CompiledIndex = None


class Index(Protocol):
    """What the compiled core and its twin have in common; the contract is the twin's."""

    def __init__(self, role_weight: int, text_weight: int, threshold: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def find(self, roles: Atoms, texts: Atoms, /) -> Answer | None: ...
    def find_since(self, since: int, roles: Atoms, texts: Atoms, /, *found: int) -> Answer | None: ...
    def add(self, roles: Atoms, texts: Atoms, /) -> int: ...
    def compare(self, state: int, roles: Atoms, texts: Atoms, /) -> Overlaps: ...


def make_index(merge: MergeSettings) -> Index:
    """An empty index: the compiled core if it was built, else its twin."""
    rule = merge_rule(merge)
    make: type[Index] = CompiledIndex or exact_python.ExactIndex
    return make(rule.role_weight, rule.text_weight, rule.threshold)


class ExactIdentifier:
    """The states of one pool, searched exactly."""

    def __init__(
        self, settings: IdentifySettings, embedder: Embedder | None = None, *, index: Index | None = None
    ) -> None:
        self._rule = merge_rule(settings.merge)
        self._index = make_index(settings.merge) if index is None else index
        self._states: array[int] = array("Q")  # of this pool, ascending: place in the index -> state

    def find(self, query: Query) -> Match | None:
        return self._best(self._index.find(query.roles, query.texts))

    def find_since(self, query: Query, since: int, earlier: Match | None) -> Match | None:
        found: list[int] = []
        if earlier is not None:
            found.append(self._place(earlier.state))
            if earlier.runner_up is not None:
                found.append(self._place(earlier.runner_up.state))
        return self._best(self._index.find_since(since, query.roles, query.texts, *found))

    def _best(self, answer: Answer | None) -> Match | None:
        if answer is None:
            return None
        best, second = answer
        runner_up = None
        if second is not None:
            runner_up = RunnerUp(self._states[second[0]], score_of(self._rule, second))
        return self._match(self._states[best[0]], best, runner_up)

    def add(self, state: StateId, query: Query) -> None:
        self._index.add(query.roles, query.texts)
        self._states.append(state)

    def measure(self, state: StateId, query: Query) -> Match:
        return self._match(state, self._index.compare(self._place(state), query.roles, query.texts))

    def describe(self) -> str:
        return f"exact ({describe_index(self._index)})"

    def _place(self, state: StateId) -> int:
        place = bisect_left(self._states, state)
        if place == len(self._states) or self._states[place] != state:
            raise KeyError(state)
        return place

    def _match(self, state: StateId, found: Overlaps, runner_up: RunnerUp | None = None) -> Match:
        roles, texts = Overlap(*found[1:3]), Overlap(*found[3:5])
        return match_of(state, self._rule.score(roles, texts), roles, texts, runner_up)


def score_of(rule: MergeRule, found: Overlaps) -> float:
    """The score of a pair as the index counted it."""
    return rule.score(Overlap(*found[1:3]), Overlap(*found[3:5]))


def describe_index(index: Index) -> str:
    """Which of the two implementations this is."""
    if isinstance(index, exact_python.ExactIndex):
        return (
            "pure Python: the compiled core is not built, identification is slower; "
            "install a C compiler and reinstall"
        )
    return "compiled core"
