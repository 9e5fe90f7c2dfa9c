"""How reliably a state answers: the ambiguity u(s) of section 3, from integer counts.

Sums go through `math.fsum`, which rounds once whatever the order: the same counts give the same bits,
however the log that produced them was split, ordered or replayed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from screensearch.errors import SettingsError

Condition = TypeVar("Condition", bound=Hashable)
Successor = TypeVar("Successor", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguitySettings:
    """How far a state's evidence is trusted (eq. 2; the paper's κ and u₀)."""

    kappa: float = 20.0  # [0, ∞) trials: the sample size at which evidence and prior weigh the same
    prior_ambiguity: float = 0.5  # [0, 1] what is assumed of a state without trials

    def __post_init__(self) -> None:
        if not (math.isfinite(self.kappa) and self.kappa >= 0.0):
            raise SettingsError(f"ambiguity.kappa is {self.kappa!r}; it must be a finite number ≥ 0")
        if not 0.0 <= self.prior_ambiguity <= 1.0:
            raise SettingsError(
                f"ambiguity.prior_ambiguity is {self.prior_ambiguity!r}; it must be in [0, 1]"
            )


def _entropy(counts: Iterable[int]) -> float:
    """Shannon entropy of the empirical distribution, in nats. Zero counts are absent outcomes."""
    present = [count for count in counts if count]
    total = sum(present)
    return abs(math.fsum(count / total * math.log(count / total) for count in present))


def normalised_entropy(counts: Iterable[int]) -> float:
    """Entropy over log k, k the number of distinct observed successors; 0 when k ≤ 1. In [0, 1]."""
    present = [count for count in counts if count]
    if len(present) <= 1:
        return 0.0
    return min(1.0, _entropy(present) / math.log(len(present)))


def dispersion(successors: Iterable[Iterable[int]], trials: int) -> float:
    """D(s), eq. 1: the normalised entropies of the signatures of one state, weighted by their counts.

    `successors` holds the successor counts of each signature. A signature with one successor adds
    nothing but its trials, so callers may leave those out: `trials` is n_s, over all signatures.
    """
    if trials == 0:
        return 0.0
    weighted = []
    for counts in successors:
        present = list(counts)
        weighted.append(sum(present) * normalised_entropy(present))
    return math.fsum(weighted) / trials


def ambiguity(successors: Iterable[Iterable[int]], trials: int, settings: AmbiguitySettings) -> float:
    """u(s), eq. 2: the dispersion, shrunk to the prior by ρ = n_s / (n_s + κ). In [0, 1]."""
    if trials == 0:
        return settings.prior_ambiguity
    evidence = trials / (trials + settings.kappa)
    return evidence * dispersion(successors, trials) + (1.0 - evidence) * settings.prior_ambiguity


@dataclass(frozen=True, slots=True)
class Dispersion:
    """One action's dispersion, split by a recorded condition: ``pooled = within + between``."""

    pooled: float
    within: float
    between: float


def decompose(groups: Mapping[Condition, Mapping[Successor, int]]) -> Dispersion:
    """Split the dispersion of one action by condition (the controlled study and the context audit).

    `groups` maps each condition to its successor counts. `within` is the entropy that remains when the
    condition is known, averaged over trials; `between` is what knowing it explains. All three are
    divided by the log k of the *pooled* successors: only then do the parts add up.
    """
    pooled: Counter[Successor] = Counter()
    for counts in groups.values():
        pooled.update(counts)
    kinds = sum(1 for count in pooled.values() if count)
    if kinds <= 1:
        return Dispersion(0.0, 0.0, 0.0)
    trials = sum(pooled.values())
    remaining = math.fsum(
        sum(counts.values()) / trials * _entropy(counts.values()) for counts in groups.values()
    )
    total = normalised_entropy(pooled.values())
    within = min(total, remaining / math.log(kinds))
    return Dispersion(pooled=total, within=within, between=total - within)
