"""Walking a synthetic world at random, for the tests."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

from screensearch.domain.action import Action
from screensearch.domain.screen import Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder
from screensearch.environments.protocol import Means, Result
from screensearch.environments.synthetic import World, open_world

APPS = ("notepad", "files", "settings")
GENERATED = "generated?states=500&branching=6&aliasing=0.3&hazards=0.05&races=0.1&seed=3"
ALL = (*APPS, GENERATED)
GOES_ON = (Outcome.OK, Outcome.MISSED)


def find(observation: Observation, handle: str) -> Element:
    return next(element for element in observation.elements if element.handle == handle)


def click(observation: Observation, handle: str) -> Action:
    return Action("focus_click@1", find(observation, handle))


def typing(observation: Observation, handle: str, text: str) -> Action:
    return Action("focus_type@1", find(observation, handle), (("text", text),))


async def follow(world: World[Any], seed: int, *deeds: str | tuple[str, str] | None) -> list[Result]:
    """Clicks by handle, typing by handle and text, waiting for None."""
    observation: Observation | None = (await world.reset(seed)).observation
    results = []
    for deed in deeds:
        assert observation is not None
        if deed is None:
            action = Action("wait@1")
        else:
            action = click(observation, deed) if isinstance(deed, str) else typing(observation, *deed)
        results.append(await world.perform(action))
        observation = results[-1].observation
    return results


def any_action(observation: Observation, application: str, rng: random.Random) -> Action:
    usable = [
        e
        for e in observation.elements
        if e.enabled and e.application == application and (e.clickable or e.editable)
    ]
    if not usable or rng.random() < 0.05:
        return Action("wait@1")
    element = rng.choice(usable)
    if element.editable:
        return Action("focus_type@1", element, (("text", rng.choice(("hello", "other words"))),))
    return Action("focus_click@1", element)


async def walk(
    argument: str, steps: int, *, seed: int = 0, screenshots: bool = False
) -> AsyncIterator[tuple[World[Any], Result]]:
    """A random walk that starts a new episode after every failure and every 60 steps."""
    world = open_world(argument, Means(screenshots=screenshots))
    rng = random.Random(seed)
    episode = seed * 1_000
    observation = (await world.reset(episode)).observation
    for step in range(steps):
        result = await world.perform(any_action(observation, world.application, rng))
        yield world, result
        if result.outcome in GOES_ON and step % 60 != 59:
            assert result.observation is not None
            observation = result.observation
        else:
            episode += 1
            observation = (await world.reset(episode)).observation


def overlap(one: Sequence[str], two: Sequence[str]) -> float:
    union = {*one, *two}
    return len({*one} & {*two}) / len(union) if union else 1.0


def score(encoder: Encoder, one: Observation, two: Observation) -> float:
    """The merge score of the paper (section 4.2)."""
    first, second = encoder.encode(one), encoder.encode(two)
    return 0.5 * overlap(first.role_atoms, second.role_atoms) + 0.5 * overlap(
        first.text_atoms, second.text_atoms
    )
