"""Proposal priors: how plausible each action is before anything is known about it (eq. 6).

A prior is a function from the candidates to probabilities in their order, registered under a name
with a version: `uniform@1`, `heuristic@1`. A changed formula is a new version, never an edit,
because stored runs name the prior that they were made with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np

from screensearch.domain.action import Candidate
from screensearch.encode.text import tokens
from screensearch.registry import Registry
from screensearch.select.selectors import Floats
from screensearch.select.settings import PriorSettings

REMEMBERED_LABELS = 16_384
"""How many labels keep their overlap with the instruction: an application shows far fewer."""


class Prior(Protocol):
    """A prior plugin. ``screensearch.testing.check_prior`` is the contract as a test."""

    def __call__(self, candidates: Sequence[Candidate], settings: PriorSettings, /) -> Floats: ...


PRIORS: Registry[Prior] = Registry("prior")


def uniform(candidates: Sequence[Candidate], settings: PriorSettings) -> Floats:
    """`uniform@1`: every candidate is equally plausible."""
    return np.full(len(candidates), 1 / len(candidates))


def heuristic(candidates: Sequence[Candidate], settings: PriorSettings) -> Floats:
    """`heuristic@1` (eq. 6): plausible is what the instruction names, and typing where one can type.

    1 + 0.2·|tokens(g) ∩ tokens(label)| + 0.15·[editable ∧ type], normalised over the candidates.
    """
    instruction = settings.instruction
    overlap = np.array([shared_tokens(instruction, candidate.label) for candidate in candidates])
    typing = np.array([candidate.types_into_editable for candidate in candidates])
    scores = 1 + settings.overlap_weight * overlap + settings.typing_weight * typing
    return np.asarray(scores / scores.sum())


@lru_cache(maxsize=REMEMBERED_LABELS)
def shared_tokens(instruction: str, label: str) -> int:
    """How many tokens two texts have in common: |tokens(g) ∩ tokens(label)| of eq. 6."""
    return len(tokens(instruction) & tokens(label))
