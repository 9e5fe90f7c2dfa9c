"""The contract of a guard."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from screensearch.act.guard import Guard
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation
from screensearch.errors import SettingsError
from screensearch.testing.contract import require, unbroken
from screensearch.testing.drawn import draw_candidates, draw_observation


def check_guard(
    make_guard: Callable[[tuple[str, ...]], Guard],
    patterns: tuple[str, ...] = (),
    *,
    observations: int = 100,
    seed: int = 7,
) -> None:
    """Ask a guard about many candidates and raise `ContractBroken` on the first broken clause.

    `patterns` are some that make sense to this guard. Clauses: it can be built without patterns, or says
    in a `SettingsError` that it needs some; it answers about every candidate, with None or with a reason
    in words; the patterns, the candidate and the observation fix the answer, so that it does not matter
    what was asked before or which guard of the same rule is asked; nor does the candidate's `id`.
    """
    with (
        unbroken("a guard is built without patterns, or refuses in a `SettingsError`"),
        suppress(SettingsError),
    ):
        make_guard(())
    with unbroken("a guard is built from its patterns"):
        guard, twin = make_guard(patterns), make_guard(patterns)
    rng = random.Random(seed)  # noqa: S311 - a test, not a secret
    asked: list[tuple[Candidate, Observation, str | None]] = []
    for observation in (draw_observation(rng) for _ in range(observations)):
        asked += [
            (candidate, observation, _ask(guard, candidate, observation))
            for candidate in draw_candidates(rng, observation)
        ]
    for candidate, observation, answer in reversed(asked):
        again = _ask(guard, candidate, observation)
        require(again == answer, "an answer does not depend on what was asked before", (answer, again))
    for candidate, observation, answer in asked:
        other = _ask(twin, candidate, observation)
        require(other == answer, "guards of the same rule give the same answers", (answer, other))
        moved = _ask(guard, replace(candidate, id=candidate.id + 1000), observation)
        require(moved == answer, "an answer does not depend on the unstable `id`", (answer, moved))


def _ask(guard: Guard, candidate: Candidate, observation: Observation) -> str | None:
    with unbroken("a guard answers about every candidate, with or without an element"):
        answer = guard.veto(candidate, observation)
    require(
        answer is None or (isinstance(answer, str) and bool(answer.strip())),
        "a veto is None or a reason in words",
        answer,
    )
    return answer
