"""State identity by definition: compare with every state, in fractions. Slow and obvious."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple


class Compared(NamedTuple):
    """A state and its exact score."""

    state: int
    score: Fraction


def exact_jaccard(a: Collection[int], b: Collection[int]) -> Fraction:
    one, other = set(a), set(b)
    return Fraction(len(one & other), len(one | other)) if one | other else Fraction(1)


class BruteForce:
    """What `ExactIndex` and a `Pool` over it promise, with no index."""

    def __init__(self, role_weight: int, text_weight: int, threshold: int) -> None:
        whole = role_weight + text_weight
        self._role_weight = Fraction(role_weight, whole)
        self._text_weight = Fraction(text_weight, whole)
        self._threshold = Fraction(threshold, whole)
        self._states: list[tuple[frozenset[int], frozenset[int]]] = []
        self._memo: dict[tuple[frozenset[int], frozenset[int]], tuple[Compared, Compared | None]] = {}

    def score(self, state: int, roles: Collection[int], texts: Collection[int]) -> Fraction:
        their_roles, their_texts = self._states[state]
        return self._role_weight * exact_jaccard(roles, their_roles) + self._text_weight * exact_jaccard(
            texts, their_texts
        )

    def over(self, roles: Collection[int], texts: Collection[int]) -> list[Compared]:
        """Every state over the threshold: best first, ties to the oldest."""
        compared = [Compared(state, self.score(state, roles, texts)) for state in range(len(self._states))]
        passing = [each for each in compared if each.score >= self._threshold]
        return sorted(passing, key=lambda each: (-each.score, each.state))

    def add(self, roles: Collection[int], texts: Collection[int]) -> int:
        self._states.append((frozenset(roles), frozenset(texts)))
        return len(self._states) - 1

    def resolve(
        self, roles: Collection[int], texts: Collection[int]
    ) -> tuple[str, Compared, Compared | None]:
        key = frozenset(roles), frozenset(texts)
        if key in self._memo:
            return "memo", *self._memo[key]
        passing = self.over(roles, texts)
        if passing:
            how, best, second = "match", passing[0], passing[1] if len(passing) > 1 else None
        else:
            how, best, second = "new", Compared(self.add(roles, texts), Fraction(1)), None
        self._memo[key] = best, second
        return how, best, second
