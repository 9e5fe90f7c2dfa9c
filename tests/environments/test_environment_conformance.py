"""Every registered environment passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from screensearch.domain.action import Action
from screensearch.domain.screen import Element, Image, Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import ENVIRONMENTS, Means, Result, Start
from screensearch.environments.synthetic import open_world
from screensearch.testing import ContractBroken, check_environment

ARGUMENTS = {"synthetic": "notepad"}
"""What each of ours is opened with."""

LIVE = ("desktop",)
"""Those that need a desktop: checked in ``tests/live``."""

Truth = Mapping[str, Any]


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("screenshots", [False, True])
async def test_every_environment_keeps_the_contract(name: str, screenshots: bool) -> None:
    opening = ENVIRONMENTS.get(name)
    await check_environment(lambda: opening(ARGUMENTS[name], Means(screenshots=screenshots)), steps=10)


def test_no_environment_of_ours_is_left_out() -> None:
    origins = {name: ENVIRONMENTS.origin(name) for name in ENVIRONMENTS.names()}
    assert sorted((*ARGUMENTS, *LIVE)) == [
        name for name, origin in origins.items() if origin.startswith("screensearch.")
    ]


class Tampered:
    """A sound environment, except for what a test tampers with."""

    def __init__(
        self,
        start: Callable[[Start, int], Start] = lambda start, count: start,
        result: Callable[[Result], Result] = lambda result: result,
        truth: Callable[[Truth], Truth] = lambda truth: truth,
        application: str | None = None,
        longest_life: int = 2,
    ) -> None:
        self._world = open_world("notepad", Means(screenshots=False))
        self.application = self._world.application if application is None else application
        self._start, self._result, self._truth = start, result, truth
        self._resets = 0
        self._longest_life = longest_life
        self.closed = 0

    async def reset(self, seed: int) -> Start:
        self._resets += 1
        return self._start(await self._world.reset(seed), self._resets)

    async def perform(self, action: Action) -> Result:
        return self._result(await self._world.perform(action))

    async def close(self) -> None:
        self.closed += 1
        if self.closed > self._longest_life:
            raise RuntimeError("closed already")

    def truth(self) -> Truth:
        return self._truth(self._world.truth())


def seeing(change: Callable[[Observation], Observation]) -> Tampered:
    """One whose first observations are changed."""
    return Tampered(start=lambda start, count: replace(start, observation=change(start.observation)))


def with_first(change: Callable[[Element], Element]) -> Tampered:
    """One whose first element is changed."""
    return seeing(lambda seen: replace(seen, elements=(change(seen.elements[0]), *seen.elements[1:])))


def with_window(**changes: Any) -> Tampered:
    return seeing(lambda seen: replace(seen, window=replace(seen.window, **changes)))


def ending(outcome: Outcome, *, blind: bool = False) -> Tampered:
    """One whose actions all end like this."""
    return Tampered(result=lambda r: Result(outcome, None if blind else r.observation))


async def test_a_sound_environment_passes_and_is_closed_twice() -> None:
    world = Tampered()
    await check_environment(lambda: world)
    assert world.closed == 2


numbers = itertools.count()


@pytest.mark.parametrize(
    ("world", "clause"),
    [
        (lambda: Tampered(application=""), "`application` names the target"),
        (
            lambda: Tampered(start=lambda s, n: replace(s, configuration={"visit": str(n)})),
            "same seed gives the same configuration",
        ),
        (
            lambda: Tampered(start=lambda s, n: replace(s, configuration={"size": 3})),  # type: ignore[dict-item]
            "maps strings to strings",
        ),
        (lambda: with_window(application="other"), "begins in the target application"),
        (lambda: with_window(application=""), "a window belongs to an application"),
        (lambda: with_window(kind="toplevel"), "a window's kind is one of"),
        (lambda: seeing(lambda o: replace(o, display_mode="")), "has a display mode"),
        (lambda: seeing(lambda o: replace(o, text_scale=0.0)), "a text scale is positive"),
        (lambda: seeing(lambda o: replace(o, elements=list(o.elements))), "elements are a tuple"),  # type: ignore[arg-type]
        (lambda: seeing(lambda o: replace(o, elements=())), "has something to click"),
        (lambda: with_first(lambda e: replace(e, role="push button")), "roles are of our vocabulary"),
        (lambda: with_first(lambda e: replace(e, application="")), "an element belongs to an application"),
        (lambda: with_first(lambda e: replace(e, parent=0)), "the index of another element"),
        (lambda: with_first(lambda e: replace(e, parent=10**6)), "the index of another element"),
        (lambda: seeing(lambda o: replace(o, screenshot=Image(2, 2, b"rgb"))), "rows of RGB bytes"),
        (lambda: ending(Outcome.OK, blind=True), "comes with an observation"),
        (lambda: ending(Outcome.CRASH), "leaves nothing to observe"),
        (lambda: ending(Outcome.CAPTURE), "exactly when another application"),
        (lambda: Tampered(truth=lambda t: {"here": object()}), "truth is JSON values; it raised TypeError"),
        (lambda: Tampered(truth=lambda t: {"read": next(numbers)}), "truth does not change by being read"),
        (lambda: Tampered(longest_life=1), "`close` is safe to call twice; it raised RuntimeError"),
    ],
)
async def test_a_broken_clause_is_named(world: Callable[[], Tampered], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        await check_environment(world, steps=10)
