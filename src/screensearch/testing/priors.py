"""The contract of a prior."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from screensearch.domain.action import Candidate
from screensearch.select.priors import Prior
from screensearch.select.selectors import Floats
from screensearch.select.settings import PriorSettings
from screensearch.testing.contract import require, unbroken
from screensearch.testing.drawn import LABELS, draw_candidates, draw_observation

TOLERANCE = 1e-9
NAME = re.compile(r"[a-z][a-z0-9_]*@[1-9][0-9]*")


def check_prior(
    prior: Prior, name: str, *, settings: PriorSettings | None = None, cases: int = 200, seed: int = 7
) -> None:
    """Ask a prior about many lists of candidates and raise `ContractBroken` on the first broken clause.

    Clauses: its name carries a version, as `uniform@1` does; it answers about every candidate, whatever
    the instruction; the answer is 64-bit floats, one for each candidate, none negative, with sum 1; equal
    questions give equal bits; the order of the candidates does not matter; it leaves the list as it is.
    """
    require(NAME.fullmatch(name) is not None, "a prior's name is lower case with a version, `name@1`", name)
    given = PriorSettings() if settings is None else settings
    rng = random.Random(seed)  # noqa: S311 - a test, not a secret
    for _ in range(cases):
        candidates = draw_candidates(rng, draw_observation(rng))
        asked = replace(given, instruction=rng.choice((given.instruction, *LABELS)))
        first = _ask(prior, candidates, asked)
        again = _ask(prior, candidates, asked)
        require(first.tobytes() == again.tobytes(), "equal questions give equal bits", (first, again))
        order = rng.sample(range(len(candidates)), len(candidates))
        shuffled = _ask(prior, [candidates[place] for place in order], asked)
        require(
            np.allclose(shuffled, first[order], rtol=0, atol=TOLERANCE),
            "a probability does not depend on the order of the candidates",
            (first[order], shuffled),
        )


def _ask(prior: Prior, candidates: Sequence[Candidate], settings: PriorSettings) -> Floats:
    given = list(candidates)
    with unbroken("a prior answers about every candidate, with or without an element"):
        answer = prior(given, settings)
    require(given == list(candidates), "a prior leaves the list of candidates as it is", given)
    require(
        isinstance(answer, np.ndarray) and answer.dtype == np.float64,
        "probabilities are an array of 64-bit floats",
        getattr(answer, "dtype", type(answer)),
    )
    require(answer.shape == (len(given),), f"{len(given)} candidates get one probability each", answer.shape)
    require(
        bool(np.isfinite(answer).all() and (answer >= 0).all()),
        "probabilities are finite and not negative",
        answer,
    )
    require(abs(float(answer.sum()) - 1) <= TOLERANCE, "probabilities sum to 1", float(answer.sum()))
    return answer
