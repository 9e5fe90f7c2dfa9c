"""A route: how an application is started, what is done then, and which screen is expected after each action.

It holds all that a replay needs and nothing of the run that it was taken from, so that a test script can
carry it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from screensearch.act.signature import parse_signature
from screensearch.act.wording import describe_action
from screensearch.config import Settings, settings_from_document
from screensearch.config.settings import DOCUMENT_VERSION
from screensearch.domain.screen import Screen, StateId
from screensearch.domain.transition import Outcome
from screensearch.errors import FormatError
from screensearch.explore.replay.packed import unpack_screens

Expected = StateId | Outcome
"""What should come of a step: a state, or for a finding the way it failed."""


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One action, and what should come of it."""

    signature: str
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """From a start to a state, or to a failure."""

    environment: str  # such as ``desktop:mousepad``
    settings: Settings
    configuration: Mapping[str, str]  # what the application is started with
    start: Expected
    steps: tuple[RouteStep, ...]
    screens: Mapping[StateId, Screen]  # of every expected state, the one that it is judged by
    seeds: tuple[int, ...] = (0,)  # that gave this configuration: for environments that cannot be told it

    def __post_init__(self) -> None:
        expected = [self.start, *(step.expected for step in self.steps)]
        for place, each in enumerate(expected[:-1]):
            if isinstance(each, Outcome):
                raise FormatError(
                    f"step {place} of a route is to end with {each.value}, and others follow it"
                )
        missing = [each for each in expected if not isinstance(each, Outcome) and each not in self.screens]
        if missing:
            raise FormatError(f"a route expects state {missing[0]}, but has no screen of it")
        for step in self.steps:
            parse_signature(step.signature)
        if not self.seeds:
            raise FormatError("a route needs at least one seed to start its environment with")

    @property
    def goal(self) -> Expected:
        """What it leads to."""
        return self.steps[-1].expected if self.steps else self.start

    @property
    def words(self) -> list[str]:
        """The actions in words."""
        return [describe_action(step.signature) for step in self.steps]


def load_route(
    *,
    environment: str,
    configuration: Mapping[str, str],
    start: int | str,
    steps: Iterable[tuple[str, int | str]],
    screens: str,
    settings: Mapping[str, Any] | None = None,
    seeds: Iterable[int] = (0,),
) -> Route:
    """A route as a test script writes it.

    `start` and the second of each step is the state that is expected, by its number in `screens`, or the way
    it fails (``"crash"``). `settings` are those that differ from the defaults, in nested tables.
    """
    document = {"version": DOCUMENT_VERSION, "settings": settings or {}}
    return Route(
        environment=environment,
        settings=settings_from_document(document),
        configuration=dict(configuration),
        start=_expected(start),
        steps=tuple(RouteStep(signature, _expected(expected)) for signature, expected in steps),
        screens=unpack_screens(screens),
        seeds=tuple(seeds),
    )


def _expected(given: int | str) -> Expected:
    if isinstance(given, int):
        return given
    try:
        return Outcome(given)
    except ValueError as problem:
        known = ", ".join(Outcome)
        raise FormatError(
            f"{given!r} is neither a state's number nor a way to fail (known: {known})"
        ) from problem


def tell_expected(expected: Expected) -> str:
    """What is expected, in words."""
    return expected.value if isinstance(expected, Outcome) else f"state {expected}"
