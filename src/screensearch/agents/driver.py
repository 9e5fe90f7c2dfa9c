"""An application in the hands of an agent: begin an episode, see what can be done, do one of it.

The same candidates, guards and redaction as in an exploration; only the choice is somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.config import DESKTOP, Settings
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation, Screen
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder
from screensearch.encode.masks import Masks
from screensearch.encode.redact import Redactor
from screensearch.environments.desktop.environment import configuration, dress
from screensearch.environments.protocol import Environment, StartFailed
from screensearch.errors import SettingsError
from screensearch.explore.mind import as_reported

MOST_FAILED_STARTS = 3
"""So many starts in a row may fail before that is the caller's problem."""

MOST_SEEDS = 1_000
"""So many seeds are looked at for a configuration that was asked for, where looking costs nothing."""

MOST_RESETS = 100
"""The same where only a reset tells the configuration."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen, without its secrets, and what may be done there."""

    observation: Observation
    screen: Screen
    candidates: tuple[Candidate, ...]
    vetoed: int  # candidates that a guard removed


@dataclass(frozen=True, slots=True)
class Beginning:
    """The start of an episode: what is seen, what varied, and how earlier tries to start had ended."""

    sight: Sight
    configuration: Mapping[str, str]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of an action; nothing may be seen after a failure."""

    outcome: Outcome
    sight: Sight | None
    note: str


class _Seen(NamedTuple):
    """The latest observation without its secrets, and as the environment reported it."""

    redacted: Observation
    reported: Observation


class Driver:
    """One environment, driven by one agent."""

    def __init__(self, world: Environment, environment: str, settings: Settings) -> None:
        self._world = world
        self._environment = environment
        self._settings = settings
        self._encoder = Encoder(settings.encode)
        self._masks = Masks(settings.encode.masks)
        self._guards = build_guards(settings.guard, harmless=settings.desktop.sandbox)
        self._redactor = Redactor(settings.redact) if settings.redact.at != "never" else None
        self._seen: _Seen | None = None

    @property
    def application(self) -> str:
        return self._world.application

    async def begin(self, seeds: Iterator[int], wanted: Mapping[str, str]) -> Beginning:
        """Begin an episode with a seed under which it has the wanted part of a configuration.

        (`Configurable.reset_as` takes a whole one, as a start has told it; here the rest is left to chance.)
        A start at which the application itself fails is tried again with the next seed, some times.
        """
        failed: list[str] = []
        met: dict[str, set[str]] = {}
        for _ in range(MOST_RESETS):
            seed = self._foreseen(seeds, wanted)
            try:
                start = await self._world.reset(seed)
            except StartFailed as failure:
                failed.append(self._redact(f"{failure.outcome.value}: {failure.note}"))
                if len(failed) >= MOST_FAILED_STARTS:
                    raise
                continue
            if _fits(start.configuration, wanted):
                return Beginning(self._look(start.observation), dict(start.configuration), tuple(failed))
            _note(met, start.configuration)
        raise _never(wanted, met, MOST_RESETS)

    def _foreseen(self, seeds: Iterator[int], wanted: Mapping[str, str]) -> int:
        """The next seed; for a live desktop the next that gives the configuration: its resets take long."""
        if not wanted or self._environment.partition(":")[0] != DESKTOP:
            return next(seeds)
        met: dict[str, set[str]] = {}
        for _ in range(MOST_SEEDS):
            seed = next(seeds)
            foreseen = configuration(dress(self._settings.app, seed))
            if _fits(foreseen, wanted):
                return seed
            _note(met, foreseen)
        raise _never(wanted, met, MOST_SEEDS)

    async def perform(self, candidate: Candidate) -> Turn:
        """Do one of the candidates of the latest sight."""
        assert self._seen is not None  # a candidate is of a sight
        result = await self._world.perform(as_reported(candidate, *self._seen).action)
        sight = None if result.observation is None else self._look(result.observation)
        return Turn(result.outcome, sight, self._redact(result.note))

    async def close(self) -> None:
        await self._world.close()

    def _look(self, reported: Observation) -> Sight:
        seen = reported if self._redactor is None else self._redactor.apply(reported)
        self._seen = _Seen(seen, reported)
        proposed = candidates(seen, self.application, self._settings.candidates, self._masks)
        guarded = guard(proposed, seen, self._guards)
        return Sight(seen, self._encoder.encode(seen), tuple(guarded.allowed), len(guarded.vetoed))

    def _redact(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.text(text)


def _fits(found: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(found.get(name) == value for name, value in wanted.items())


def _note(met: dict[str, set[str]], found: Mapping[str, str]) -> None:
    for name, value in found.items():
        met.setdefault(name, set()).add(value)


def _never(wanted: Mapping[str, str], met: Mapping[str, set[str]], tries: int) -> SettingsError:
    asked = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
    seen = "; ".join(f"{name}: {', '.join(sorted(values)[:8])}" for name, values in sorted(met.items()))
    return SettingsError(
        f"no episode of {tries} began with {asked}; what they began with: {seen or 'nothing'}"
    )
