"""One turn of the loop, and the episode around it. Neither knows where the store lives.

The observation that an action ended on is the one the next action is chosen from, so a step
observes once and talks to the store once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from screensearch.domain.screen import Observation
from screensearch.domain.text import storable
from screensearch.domain.transition import EpisodeId, Outcome
from screensearch.environments.protocol import Environment, StartFailed
from screensearch.errors import EnvironmentFailed
from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report, Sighting
from screensearch.explore.mind import Mind
from screensearch.select.policy import Undecided

T = TypeVar("T")

Witness = Callable[[EpisodeId, int], None]
"""Called after each acknowledged observation, with its episode and step: studies note the truth there."""


class Store(Protocol):
    """The single writer, as a worker sees it. A receipt is returned once the entry is durable."""

    async def begin(self, begin: Begin) -> Receipt: ...

    async def begin_failed(self, failed: BeginFailed) -> Receipt: ...

    async def record(self, report: Report) -> Receipt: ...

    async def announce(self, announcement: Announce) -> None: ...


@dataclass(frozen=True, slots=True)
class Moment:
    """Between two actions: what is seen, and what the store said about it."""

    episode: EpisodeId
    step: int
    observation: Observation
    receipt: Receipt
    since: float  # when the observation was there: the decision's clock starts


@dataclass(frozen=True, slots=True)
class Episode:
    """What an episode came to: its steps, what the store said last, and why it never began, if so."""

    steps: int
    receipt: Receipt
    failed: str | None = None


async def begin_episode(
    world: Environment, store: Store, mind: Mind, episode: EpisodeId, seed: int
) -> Moment | Episode:
    """Reset the application and say where it stands; or that it did not start, and how that went."""
    begun = time.perf_counter()
    try:
        start = await in_time(world.reset(seed), mind.deadline_seconds, "reset")
    except StartFailed as failure:
        return await _fail(store, mind, episode, failure, act_seconds=time.perf_counter() - begun)
    observed = time.perf_counter()
    sighting, screenshot = await mind.see(start.observation)
    receipt = await store.begin(
        Begin(
            episode=episode,
            sighting=sighting,
            evidence=mind.evidence(screenshot, start.observation, act_seconds=observed - begun),
            configuration=_storable(start.configuration),
        )
    )
    mind.learn_row(sighting, receipt)
    return Moment(episode, 0, start.observation, receipt, observed)


async def _fail(
    store: Store, mind: Mind, episode: EpisodeId, failure: StartFailed, *, act_seconds: float
) -> Episode:
    """Record an episode that has no first screen."""
    seen, note = failure.observation, storable(mind.redact(failure.note))
    picture = None if seen is None else await mind.keep_picture(seen)
    receipt = await store.begin_failed(
        BeginFailed(
            episode=episode,
            outcome=failure.outcome,
            evidence=mind.evidence(picture, seen, act_seconds=act_seconds),
            configuration=_storable(failure.configuration),
            note=note,
        )
    )
    return Episode(0, receipt, note)


def _storable(configuration: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((storable(name), storable(value)) for name, value in configuration.items()))


async def explore_step(world: Environment, store: Store, mind: Mind, moment: Moment) -> Moment | None:
    """Choose, act, see, record. None when nothing here may be done."""
    decided_on = await mind.decide(moment.observation, moment.receipt)
    if decided_on is None:
        return None
    if isinstance(decided_on, Undecided):
        return await _stay(store, mind, moment, decided_on)
    candidate, choice = decided_on
    if mind.announces:
        await store.announce(Announce(moment.episode, choice.signature))
    decided = time.perf_counter()
    result = await in_time(world.perform(candidate.action), mind.deadline_seconds, "perform an action")
    observed = time.perf_counter()
    mind.note_done(candidate, result.outcome)
    sighting, screenshot = (None, None) if result.observation is None else await mind.see(result.observation)
    assert moment.receipt.here is not None  # `choose` gives nothing without it
    receipt = await store.record(
        Report(
            episode=moment.episode,
            step=moment.step + 1,
            source=moment.receipt.here.state,
            choice=choice,
            outcome=result.outcome,
            sighting=sighting,
            evidence=mind.evidence(
                screenshot,
                result.observation,
                act_seconds=observed - decided,
                decide_seconds=decided - moment.since,
            ),
            note=storable(mind.redact(result.note)),
        )
    )
    mind.learn_row(sighting, receipt)
    now = result.observation if result.observation is not None else moment.observation
    return Moment(moment.episode, moment.step + 1, now, receipt, observed)


async def _stay(store: Store, mind: Mind, moment: Moment, undecided: Undecided) -> Moment:
    """Record a step at which nothing was decided on, and so nothing done: it is spent all the same."""
    here = moment.receipt.here
    assert here is not None  # nobody is asked without it
    now = time.perf_counter()
    receipt = await store.record(
        Report(
            episode=moment.episode,
            step=moment.step + 1,
            source=here.state,
            choice=None,
            outcome=Outcome.UNDECIDED,
            sighting=Sighting(row=here.row),
            evidence=mind.evidence(None, None, act_seconds=0.0, decide_seconds=now - moment.since),
            note=storable(mind.redact(undecided.note)),
        )
    )
    return Moment(moment.episode, moment.step + 1, moment.observation, receipt, now)


async def in_time(doing: Awaitable[T], seconds: float, what: str) -> T:
    """Wait for the environment, but not for ever. (One that blocks the loop is for the owner to end.)"""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await doing
    except TimeoutError as problem:
        if not limit.expired():
            raise  # the environment's own
        raise EnvironmentFailed(
            f"the environment took longer than {seconds:g} s to {what} (explore.step_deadline_seconds)"
        ) from problem


async def explore_episode(
    world: Environment,
    store: Store,
    mind: Mind,
    episode: EpisodeId,
    *,
    seed: int,
    length: int,
    witness: Witness | None = None,
) -> Episode:
    """Run one episode of at most `length` actions."""
    begun = await begin_episode(world, store, mind, episode, seed)
    if isinstance(begun, Episode):
        return begun
    moment = begun
    while moment.receipt.here is not None:
        if witness is not None:
            witness(episode, moment.step)
        if not moment.receipt.proceed or moment.step >= length:
            break
        after = await explore_step(world, store, mind, moment)
        if after is None:
            break
        moment = after
    return Episode(moment.step, moment.receipt)
