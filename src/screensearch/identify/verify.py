"""When two screens are one state: the bounded score of the paper (eq. 3), decided exactly.

The rule is ``w_r·J(roles) + w_t·J(texts) ≥ τ``. A setting such as 0.93 means the decimal 93/100, not
the binary float nearest to it, and the comparison is made in integers: a score exactly at the threshold
passes, in every implementation. The score that is reported is the float nearest to the exact fraction.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from screensearch.domain.screen import Screen
from screensearch.errors import SettingsError

DECIMALS = 6
"""How many decimals a weight or a threshold may have: the compiled core counts in 128-bit integers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSettings:
    """When two screens are one state (paper, table of the reported-run configuration)."""

    threshold: float = 0.93  # τ, in (0, 1]
    role_weight: float = 0.5  # in [0, 1]; the two weights add up to 1
    text_weight: float = 0.5  # in [0, 1]

    def __post_init__(self) -> None:
        for name in ("threshold", "role_weight", "text_weight"):
            value = getattr(self, name)
            if not 0 <= value <= 1 or (name == "threshold" and value == 0):
                allowed = "over 0 and at most 1" if name == "threshold" else "between 0 and 1"
                raise SettingsError(f"merge.{name} is {value!r}; it must be {allowed}")
            if (_decimal(value) * 10**DECIMALS).denominator != 1:
                raise SettingsError(
                    f"merge.{name} is {value!r}; write it with at most {DECIMALS} decimals, "
                    "so that scores at the threshold are decided exactly"
                )
        if _decimal(self.role_weight) + _decimal(self.text_weight) != 1:
            raise SettingsError(
                f"merge.role_weight {self.role_weight!r} and merge.text_weight {self.text_weight!r} "
                "must add up to 1"
            )


class Overlap(NamedTuple):
    """What two sets of atoms share. Two empty sets are the same set."""

    shared: int
    union: int

    @property
    def jaccard(self) -> float:
        return self.shared / self.union if self.union else 1.0


@dataclass(frozen=True, slots=True)
class MergeRule:
    """The merge settings as integers: weights and threshold over a common denominator."""

    role_weight: int
    text_weight: int
    threshold: int

    def score(self, roles: Overlap, texts: Overlap) -> float:
        """Eq. 3: the float nearest to the exact score."""
        numerator, denominator = self._fraction(roles, texts)
        return numerator / (denominator * (self.role_weight + self.text_weight))

    def passes(self, roles: Overlap, texts: Overlap) -> bool:
        """Whether two screens with these overlaps are one state."""
        numerator, denominator = self._fraction(roles, texts)
        return numerator >= self.threshold * denominator

    def _fraction(self, roles: Overlap, texts: Overlap) -> tuple[int, int]:
        shared_roles, union_roles = roles if roles.union else (1, 1)
        shared_texts, union_texts = texts if texts.union else (1, 1)
        return (
            self.role_weight * shared_roles * union_texts + self.text_weight * shared_texts * union_roles,
            union_roles * union_texts,
        )


@lru_cache(maxsize=64)
def merge_rule(settings: MergeSettings) -> MergeRule:
    """The integers that decide for these settings."""
    fractions = [
        _decimal(value) for value in (settings.role_weight, settings.text_weight, settings.threshold)
    ]
    whole = math.lcm(*(fraction.denominator for fraction in fractions))
    return MergeRule(*(int(fraction * whole) for fraction in fractions))


def overlap(a: Collection[Hashable], b: Collection[Hashable]) -> Overlap:
    """What two sets of atoms share."""
    first, second = frozenset(a), frozenset(b)
    shared = len(first & second)
    return Overlap(shared, len(first) + len(second) - shared)


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """|a ∩ b| / |a ∪ b|, and 1 for two empty sets."""
    return overlap(a, b).jaccard


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two screens side by side: why they are, or are not, one state."""

    same: bool
    score: float
    role_jaccard: float
    text_jaccard: float
    shared: tuple[str, ...]  # role atoms first, each part sorted
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def compare(a: Screen, b: Screen, settings: MergeSettings) -> Comparison:
    """The score of two screens, and the atoms that make it what it is."""
    rule = merge_rule(settings)
    sets = [
        (frozenset(a.role_atoms), frozenset(b.role_atoms)),
        (frozenset(a.text_atoms), frozenset(b.text_atoms)),
    ]
    roles, texts = (overlap(*pair) for pair in sets)
    return Comparison(
        same=rule.passes(roles, texts),
        score=rule.score(roles, texts),
        role_jaccard=roles.jaccard,
        text_jaccard=texts.jaccard,
        shared=tuple(atom for one, other in sets for atom in sorted(one & other)),
        only_a=tuple(atom for one, other in sets for atom in sorted(one - other)),
        only_b=tuple(atom for one, other in sets for atom in sorted(other - one)),
    )


def _decimal(value: float) -> Fraction:
    """The fraction that a person meant by writing this number."""
    return Fraction(repr(value))
