"""The contract of an environment."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgspec

from screensearch.domain.action import Action
from screensearch.domain.roles import ROLES
from screensearch.domain.screen import Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import Environment, Result, Start, StartFailed, TruthTeller
from screensearch.testing.contract import ContractBroken, require, unbroken

WINDOW_KINDS = ("main", "dialog", "menu", "popup")
CLICKS = ("focus_click@1", "double_click@1", "right_click@1")
TEMPLATES = ("wait@1", "key@1", "scroll@1", *CLICKS, "focus_type@1")
SEEN = (Outcome.OK, Outcome.MISSED, Outcome.CAPTURE)
GOES_ON = (Outcome.OK, Outcome.MISSED)


async def check_environment(
    open_environment: Callable[[], Environment], *, steps: int = 60, seed: int = 7
) -> None:
    """Drive an environment for a while and raise `ContractBroken` on the first broken clause.

    Clauses: it names its application, which starts; `reset` is repeatable under a seed, also after a failure;
    observations are well formed; every template can be performed; an outcome and what is seen agree;
    truth, where told, is JSON and does not change by being read; `close` is safe to call twice.
    """
    environment = open_environment()
    try:
        require(bool(environment.application), "`application` names the target", environment.application)
        start = await _reset(environment, seed)
        _check_start(environment, start)
        again = await _reset(environment, seed)
        _check_start(environment, again)
        require(
            dict(again.configuration) == dict(start.configuration),
            "`reset` with the same seed gives the same configuration",
            (dict(start.configuration), dict(again.configuration)),
        )
        await _check_templates(environment, seed)
        await _check_walk(environment, steps, seed)
    finally:
        await environment.close()
    with unbroken("`close` is safe to call twice"):
        await environment.close()


async def _reset(environment: Environment, seed: int) -> Start:
    """Begin an episode. An application that does not start cannot be checked; how that is told can."""
    try:
        return await environment.reset(seed)
    except StartFailed as failure:
        _check_configuration(failure.configuration)
        require(bool(failure.note), "a start that failed says how", failure.outcome)
        if failure.observation is not None:
            _check_observation(failure.observation)
        raise ContractBroken(f"the application starts; found {failure}") from failure


async def _check_templates(environment: Environment, seed: int) -> None:
    """Each template once, from a fresh episode."""
    for template in TEMPLATES:
        start = await _reset(environment, seed)
        action = _example(template, start.observation, environment.application)
        if action is not None:
            _check_result(environment, action, await environment.perform(action))


async def _check_walk(environment: Environment, steps: int, seed: int) -> None:
    """A random walk over what can be clicked and typed into; a new episode after every failure."""
    rng = random.Random(seed)  # noqa: S311 - a test, not a secret
    episode = seed
    observation = (await _reset(environment, episode)).observation
    for _ in range(steps):
        action = _any_action(observation, environment.application, rng)
        result = await environment.perform(action)
        _check_result(environment, action, result)
        if result.outcome in GOES_ON and result.observation is not None:
            observation = result.observation
            continue
        episode += 1
        start = await _reset(environment, episode)
        _check_start(environment, start)
        observation = start.observation


def _usable(observation: Observation, application: str) -> list[Element]:
    return [e for e in observation.elements if e.application == application and e.enabled]


def _example(template: str, observation: Observation, application: str) -> Action | None:
    usable = _usable(observation, application)
    if template in CLICKS:
        clickable = next((e for e in usable if e.clickable), None)
        require(clickable is not None, "the first screen has something to click", len(observation.elements))
        return Action(template, clickable)
    if template == "focus_type@1":
        editable = next((e for e in usable if e.editable), None)
        return None if editable is None else Action(template, editable, (("text", "hello"),))
    if template == "scroll@1":
        return Action(template, None, (("amount", 3), ("direction", "down")))
    return Action(template, None, (("key", "Escape"),) if template == "key@1" else ())


def _any_action(observation: Observation, application: str, rng: random.Random) -> Action:
    usable = [e for e in _usable(observation, application) if e.clickable or e.editable]
    if not usable or rng.random() < 0.1:
        return rng.choice([Action("wait@1"), Action("key@1", None, (("key", "Escape"),))])
    element = rng.choice(usable)
    if element.editable:
        return Action("focus_type@1", element, (("text", rng.choice(["hello", "world"])),))
    return Action("focus_click@1", element)


def _check_start(environment: Environment, start: Start) -> None:
    _check_configuration(start.configuration)
    _check_observation(start.observation)
    require(
        start.observation.window.application == environment.application,
        "an episode begins in the target application",
        start.observation.window,
    )
    _check_truth(environment)


def _check_configuration(configuration: Mapping[str, str]) -> None:
    pairs = dict(configuration)
    require(
        all(isinstance(key, str) and isinstance(value, str) for key, value in pairs.items()),
        "a configuration maps strings to strings",
        pairs,
    )


def _check_result(environment: Environment, action: Action, result: Result) -> None:
    what = f"after {action.template}"
    seen = result.observation
    if result.outcome not in SEEN:
        require(seen is None, f"{what}: {result.outcome} leaves nothing to observe", seen)
        return
    if seen is None:
        raise ContractBroken(f"{what}: {result.outcome} comes with an observation; found none")
    _check_observation(seen)
    require(
        (seen.window.application != environment.application) == (result.outcome is Outcome.CAPTURE),
        f"{what}: the outcome is `capture` exactly when another application has the window",
        (result.outcome, seen.window),
    )
    _check_truth(environment)


def _check_observation(seen: Observation) -> None:
    window = seen.window
    require(window.kind in WINDOW_KINDS, f"a window's kind is one of {WINDOW_KINDS}", window.kind)
    require(bool(window.application), "a window belongs to an application", window)
    require(bool(seen.display_mode), "an observation has a display mode", seen.display_mode)
    require(seen.text_scale > 0, "a text scale is positive", seen.text_scale)
    require(isinstance(seen.elements, tuple), "elements are a tuple", type(seen.elements))
    for index, element in enumerate(seen.elements):
        require(element.role in ROLES, "roles are of our vocabulary", element.role)
        require(bool(element.application), "an element belongs to an application", element)
        parent = element.parent
        require(
            parent is None or (0 <= parent < len(seen.elements) and parent != index),
            "a parent is the index of another element",
            (index, parent),
        )
    image = seen.screenshot
    if image is not None:
        require(
            len(image.pixels) == image.width * image.height * 3,
            "a screenshot is rows of RGB bytes",
            (image.width, image.height, len(image.pixels)),
        )


def _check_truth(environment: Environment) -> None:
    if not isinstance(environment, TruthTeller):
        return
    with unbroken("truth is JSON values"):
        truth = msgspec.json.encode(dict(environment.truth()))
        again = msgspec.json.encode(dict(environment.truth()))
    require(again == truth, "truth does not change by being read", (truth, again))
