"""One try of a route: begin, then action by action find the target, perform it, and judge what comes out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.act.wording import describe_action, describe_actions
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Image, Observation
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder
from screensearch.encode.masks import Masks
from screensearch.encode.redact import Redactor
from screensearch.environments.protocol import Configurable, Environment, Result, Start, StartFailed
from screensearch.errors import EnvironmentFailed, HopelessStart, PluginMisbehaved, StoreFailed
from screensearch.explore.mind import as_reported
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.nearest import nearest_signatures
from screensearch.explore.replay.result import Seen, Verdict, Walk
from screensearch.explore.replay.route import Expected, Route, RouteStep
from screensearch.explore.replay.strayed import tell_strayed
from screensearch.explore.step import in_time
from screensearch.record.pictures import encode_picture

OnSeen = Callable[[int, Seen], None]
"""Called with the number of the walk and each screen of it."""


class _End(NamedTuple):
    verdict: Verdict
    step: int
    note: str = ""
    nearest: tuple[str, ...] = ()


@dataclass(slots=True)
class _Trail:
    """What a walk has seen so far."""

    number: int
    step: int
    seen: list[Seen]


class Walker:
    """Walks one route, in one environment, again and again; each walk begins with a reset."""

    def __init__(
        self,
        route: Route,
        judge: Judge,
        world: Environment,
        *,
        lenient: bool = False,
        pictures: Path | None = None,
        on_seen: OnSeen = lambda number, seen: None,
    ) -> None:
        settings = route.settings
        self._route = route
        self._judge = judge
        self._world = world
        self._lenient = lenient
        self._pictures = pictures
        self._on_seen = on_seen
        self.observation: Observation | None = None
        """What was seen last: after a walk that reached a state, where the application stands."""
        self._deadline_seconds = settings.explore.step_deadline_seconds
        self._encoder = Encoder(settings.encode)
        self._masks = Masks(settings.encode.masks)
        self._guards = build_guards(settings.guard, harmless=settings.desktop.sandbox)
        self._redactor = Redactor(settings.redact) if settings.redact.at != "never" else None
        self._redacts_first = settings.redact.at == "capture"

    async def walk(self, number: int, seed: int) -> Walk:
        """One try, the `number`-th. What fails around the application makes it a broken one.

        `HopelessStart` is raised: no further try would go better.
        """
        begun = time.perf_counter()
        trail = _Trail(number, 0, [])
        try:
            end = await self._go(trail, seed)
        except HopelessStart:
            raise
        except EnvironmentFailed as problem:
            end = _End(Verdict.BROKEN, trail.step, str(problem))
        seconds = time.perf_counter() - begun
        return Walk(number, end.verdict, end.step, end.note, tuple(trail.seen), end.nearest, seconds)

    async def _go(self, trail: _Trail, seed: int) -> _End:
        route = self._route
        try:
            start = await in_time(self._reset(trail.number, seed), self._deadline_seconds, "reset")
        except StartFailed as failure:
            if route.start is failure.outcome:
                return _End(Verdict.REACHED, 0)
            return _End(Verdict(failure.outcome), 0, f"it did not start: {failure.note}")
        if isinstance(route.start, Outcome):
            return _End(Verdict.SURVIVED, 0, f"it started, and was to end with {route.start.value}")
        observation = start.observation
        end = self._see(trail, observation, route.start, "the start", last=not route.steps)
        if end is not None:
            return end
        for step in route.steps:
            trail.step += 1
            found = self._find(step, observation)
            if isinstance(found, _End):
                return found._replace(step=trail.step, note=f"step {trail.step}: {found.note}")
            performing = self._world.perform(found.action)
            result = await in_time(performing, self._deadline_seconds, "perform an action")
            words = describe_action(step.signature)
            if result.outcome is not Outcome.OK:
                return self._failed(trail, step, words, result)
            if isinstance(step.expected, Outcome):
                told = f"step {trail.step}: {words} went well, and was to end with {step.expected.value}"
                return _End(Verdict.SURVIVED, trail.step, told)
            if result.observation is None:
                raise PluginMisbehaved(f"{route.environment} says that {words} went well, and shows nothing")
            observation = result.observation
            last = trail.step == len(route.steps)
            end = self._see(trail, observation, step.expected, words, last=last)
            if end is not None:
                return end
        return _End(Verdict.REACHED, trail.step)

    async def _reset(self, number: int, seed: int) -> Start:
        """Begin as the route says. Where that cannot be asked for, by a seed that gave it."""
        wanted = dict(self._route.configuration)
        if isinstance(self._world, Configurable):
            return await self._world.reset_as(wanted, seed + number)
        seeds = self._route.seeds
        start = await self._world.reset(seeds[(number - 1) % len(seeds)])
        if dict(start.configuration) != wanted:
            raise EnvironmentFailed(
                f"{self._route.environment} was to begin with {wanted} and began with "
                f"{dict(start.configuration)}: its seeds mean something else than when the route was taken"
            )
        return start

    def _failed(self, trail: _Trail, step: RouteStep, words: str, result: Result) -> _End:
        if step.expected is result.outcome:
            return _End(Verdict.REACHED, trail.step)
        if result.observation is not None:
            self._keep(trail, result.observation)
        told = f"step {trail.step}: {words} ended with {result.outcome.value}"
        if result.outcome is Outcome.LOST:
            raise EnvironmentFailed(f"{told}: {result.note}")
        return _End(Verdict(result.outcome), trail.step, f"{told}: {result.note}" if result.note else told)

    # -- what is seen ---------------------------------------------------------------------------

    def _see(
        self, trail: _Trail, observation: Observation, expected: Expected, words: str, *, last: bool
    ) -> _End | None:
        """Judge a screen; how the walk ends, if it does."""
        assert not isinstance(expected, Outcome)  # those are told by a result
        self.observation = observation
        screen = self._encoder.encode(self._redacted(observation))
        judgement = self._judge.judge(screen, expected)
        seen = Seen(
            trail.step,
            expected,
            judgement.state,
            judgement.comparison.score,
            judgement.as_expected,
            self._keep(trail, observation),
        )
        trail.seen.append(seen)
        self._on_seen(trail.number, seen)
        if seen.as_expected or (self._lenient and not last):
            return None
        told = tell_strayed(words, judgement, self._judge, screen)
        return _End(Verdict.STRAYED, trail.step, f"step {trail.step}: {told}" if trail.step else told)

    def _keep(self, trail: _Trail, observation: Observation) -> str | None:
        """Write a screen's picture without its secrets; the name of its file, if pictures are kept."""
        if self._pictures is None or observation.screenshot is None:
            return None
        clean = observation if self._redactor is None else self._redactor.apply(observation)
        assert clean.screenshot is not None  # it had one
        return _write(clean.screenshot, self._pictures / f"walk-{trail.number}" / f"step-{trail.step}.png")

    def _redacted(self, observation: Observation) -> Observation:
        """As the screens of the run were made: without secrets, if those were taken out at once."""
        if self._redactor is None or not self._redacts_first:
            return observation
        return self._redactor.apply(observation)

    # -- what is done ---------------------------------------------------------------------------

    def _find(self, step: RouteStep, observation: Observation) -> Candidate | _End:
        """The candidate with a signature as the screen is now; or why there is none."""
        seen = self._redacted(observation)
        listed = candidates(seen, self._world.application, self._route.settings.candidates, self._masks)
        found = next((each for each in listed if each.signature == step.signature), None)
        if found is None:
            near = nearest_signatures(step.signature, listed)
            words = describe_actions([step.signature, *near])
            instead = ", ".join(words[each] for each in near) or "nothing like it"
            told = f"no target for {words[step.signature]} ({step.signature}); there is {instead}"
            return _End(Verdict.MISSING, 0, told, tuple(near))
        for _, reason in guard([found], seen, self._guards).vetoed:
            return _End(Verdict.REFUSED, 0, f"{describe_action(step.signature)} is not allowed: {reason}")
        return as_reported(found, seen, observation)


def _write(picture: Image, file: Path) -> str:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_picture(picture))
    except OSError as problem:
        raise StoreFailed(f"cannot keep a picture at {file}: {problem}; choose another folder") from problem
    return str(file)
