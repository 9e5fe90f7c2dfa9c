"""The check itself: it must catch the environments that break the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from screensearch.domain.action import Action
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import Result, Start
from screensearch.environments.synthetic import open_world
from screensearch.testing import ContractBroken, check_environment


class Tampered:
    """A sound environment, except for what a test tampers with."""

    def __init__(
        self,
        start: Callable[[Start, int], Start] = lambda start, count: start,
        result: Callable[[Result], Result] = lambda result: result,
    ) -> None:
        self._world = open_world("notepad", screenshots=False)
        self.application = self._world.application
        self._start, self._result = start, result
        self._resets = 0
        self.closed = 0

    async def reset(self, seed: int) -> Start:
        self._resets += 1
        return self._start(await self._world.reset(seed), self._resets)

    async def perform(self, action: Action) -> Result:
        return self._result(await self._world.perform(action))

    async def close(self) -> None:
        self.closed += 1

    def truth(self) -> Mapping[str, Any]:
        return self._world.truth()


def _role(start: Start, role: str) -> Start:
    seen = start.observation
    return replace(
        start, observation=replace(seen, elements=(replace(seen.elements[0], role=role), *seen.elements[1:]))
    )


async def test_a_sound_environment_passes_and_is_closed_twice() -> None:
    world = Tampered()
    await check_environment(lambda: world)
    assert world.closed == 2


@pytest.mark.parametrize(
    ("world", "clause"),
    [
        (lambda: Tampered(start=lambda s, n: _role(s, "push button")), "roles are of our vocabulary"),
        (
            lambda: Tampered(start=lambda s, n: replace(s, configuration={"visit": str(n)})),
            "same seed gives the same configuration",
        ),
        (lambda: Tampered(result=lambda r: replace(r, observation=None)), "comes with an observation"),
        (lambda: Tampered(result=lambda r: replace(r, outcome=Outcome.CRASH)), "leaves nothing to observe"),
        (
            lambda: Tampered(result=lambda r: replace(r, outcome=Outcome.CAPTURE)),
            "exactly when another application",
        ),
    ],
)
async def test_a_broken_clause_is_named(world: Callable[[], Tampered], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        await check_environment(world)
