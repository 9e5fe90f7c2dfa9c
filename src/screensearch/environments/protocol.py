"""The contract between the explorer and whatever it explores.

An action goes in, an observation comes out. A backend translates its own errors at its edge: what
happens to the application is an `Outcome`, also when it happens before there is anything to see
(`StartFailed`); what happens to the machinery raises `EnvironmentFailed`.
``screensearch.testing.check_environment`` is the contract as a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from screensearch.domain.action import Action
from screensearch.domain.screen import Observation
from screensearch.domain.transition import START_FAILURES, Outcome
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.errors import PluginMisbehaved, ScreenSearchError
from screensearch.registry import Registry


@dataclass(frozen=True, slots=True)
class Result:
    """What came of an action: the outcome, and what is on the screen now if anything can be seen."""

    outcome: Outcome
    observation: Observation | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of an episode: the first observation, and the configuration it ran under."""

    observation: Observation
    configuration: Mapping[str, str] = field(default_factory=dict)


class StartFailed(ScreenSearchError):
    """The application crashed, ended or hung before its first screen: a finding, no failure of the machinery.

    The observation is what was on the screen then, if anything was: only its picture is kept.
    """

    def __init__(
        self,
        outcome: Outcome,
        note: str,
        *,
        observation: Observation | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> None:
        if outcome not in START_FAILURES:
            raise PluginMisbehaved(
                f"a start failed with the outcome {outcome!r}, which is none of {', '.join(START_FAILURES)}"
            )
        super().__init__(f"the start failed ({outcome.value}): {note}")
        self.outcome = outcome
        self.note = note
        self.observation = observation
        self.configuration: Mapping[str, str] = configuration or {}


class Environment(Protocol):
    """One application instance, driven by one worker."""

    application: str
    """The target application: candidates are restricted to its elements."""

    async def reset(self, seed: int) -> Start:
        """Begin an episode from a clean snapshot. The same seed gives the same configuration.

        Raises `StartFailed` when the application itself does not get as far as a first screen; another
        reset may follow.
        """
        ...

    async def perform(self, action: Action) -> Result:
        """Execute one action on the element as it is now, wait for quiet, and observe.

        After `OK` or `MISSED` the episode may go on from `Result.observation`; after any other
        outcome the explorer resets.
        """
        ...

    async def close(self) -> None:
        """Release everything. Safe to call twice."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """An environment that can begin as an earlier episode did, whatever the seed. Replays ask for it."""

    async def reset_as(self, configuration: Mapping[str, str], seed: int) -> Start:
        """Begin an episode, as `reset` does, with a configuration that an earlier `Start` told.

        The seed decides the rest. Raises `SettingsError` for one that this environment cannot have.
        """
        ...


@runtime_checkable
class TruthTeller(Protocol):
    """An environment that knows what is really the case. Explorers never see this; studies do."""

    def truth(self) -> Mapping[str, Any]:
        """The truth about the latest observation, as JSON values."""
        ...


@runtime_checkable
class Measured(Protocol):
    """An environment that can tell which lines of the application's code were run (``app.coverage``)."""

    def take_measured(self) -> Mapping[str, list[int]]:
        """The lines, by file, that were run since the last call and never before. Empty: none, or unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Taken:
    """A text that an application asked the clipboard for, and when, on the clock of ``time.monotonic``."""

    text: str
    at: float


@runtime_checkable
class ClipboardHolder(Protocol):
    """An environment whose clipboard can be held from outside: a real one. Control studies ask for it."""

    async def hold_clipboard(self, text: str) -> None:
        """Have the clipboard hold a text: from now on, and from before the start of each further episode."""
        ...

    def update_clipboard(self, text: str, *, seconds: float) -> float:
        """Have it hold another text so many seconds from now, whatever happens then; in this episode only.

        Returns when that is, on the clock of `Taken`: who asks from then on gets it.
        """
        ...

    def take_taken(self) -> list[Taken]:
        """What applications took from it since the last call, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a run lends an environment: whether pictures are wanted, and the settings of desktops."""

    screenshots: bool = True
    app: AppSettings = field(default_factory=AppSettings)
    desktop: DesktopSettings = field(default_factory=DesktopSettings)


class OpenEnvironment(Protocol):
    """An environment plugin: opens ``name:argument`` (the argument may be empty)."""

    def __call__(self, argument: str, means: Means) -> Environment: ...


ENVIRONMENTS: Registry[OpenEnvironment] = Registry("environment")
