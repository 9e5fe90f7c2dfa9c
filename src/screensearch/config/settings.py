"""Every setting of a run in one frozen value, and its stored form.

Each room defines and checks its own settings; this module only puts them together.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from screensearch.act.candidates import CandidateSettings
from screensearch.act.guard import GuardSettings
from screensearch.encode.embed import EmbedSettings
from screensearch.encode.encoder import EncodeSettings
from screensearch.encode.redact import RedactSettings
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.errors import FormatError, NewerFormat, SettingsError
from screensearch.identify.resolve import IdentifySettings
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.select.reward import RewardSettings
from screensearch.select.settings import SelectSettings

DOCUMENT_VERSION = 1
"""Raised when a setting is renamed, removed or changes its meaning. New ones with a default do not count."""

Key = tuple[str, ...]
"""The path of a setting: ``("identify", "threshold")`` is written ``identify.threshold``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreSettings:
    """The length of episodes and what is kept of them."""

    episode_steps: int = 50  # [1, ∞) actions before a reset
    step_deadline_seconds: float = 60.0  # (0, ∞) a worker that needs longer is given up as lost
    screenshots: str = "all"  # all, none
    checkpoint_every: int = 10_000  # [1, ∞) log entries between two checkpoints; a quarter of a long log
    most_hangs: int | None = 2  # [1, ∞) an action that hung so often at a state is left alone there
    most_crashes: int | None = 3  # [1, ∞) the same for crashes

    def __post_init__(self) -> None:
        for name in ("most_hangs", "most_crashes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f'explore.{name} is {value!r}, but must be >= 1, or "none"')
        for name in ("episode_steps", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise SettingsError(f"explore.{name} is {getattr(self, name)!r}, but must be >= 1")
        if not self.step_deadline_seconds > 0:
            raise SettingsError(
                f"explore.step_deadline_seconds is {self.step_deadline_seconds!r}, but must be > 0"
            )
        if self.screenshots not in ("all", "none"):
            raise SettingsError(f"explore.screenshots is {self.screenshots!r}, but must be 'all' or 'none'")


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSettings:
    """When an exploration has enough, unless whoever starts it says otherwise."""

    steps: int | None = None  # [1, ∞) of the whole run, resumed parts included
    minutes: float | None = None  # (0, ∞) of one exploration
    states: int | None = None  # [1, ∞) of the whole run
    plateau: int | None = None  # [1, ∞) steps in a row without a new state

    def __post_init__(self) -> None:
        for name in ("steps", "states", "plateau"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f'stop.{name} is {value!r}, but must be >= 1, or "none"')
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise SettingsError(f'stop.minutes is {self.minutes!r}, but must be > 0, or "none"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One configuration, in the order of the flow."""

    app: AppSettings = field(default_factory=AppSettings)
    desktop: DesktopSettings = field(default_factory=DesktopSettings)
    redact: RedactSettings = field(default_factory=RedactSettings)
    encode: EncodeSettings = field(default_factory=EncodeSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    identify: IdentifySettings = field(default_factory=IdentifySettings)
    ambiguity: AmbiguitySettings = field(default_factory=AmbiguitySettings)
    reward: RewardSettings = field(default_factory=RewardSettings)
    candidates: CandidateSettings = field(default_factory=CandidateSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    select: SelectSettings = field(default_factory=SelectSettings)
    explore: ExploreSettings = field(default_factory=ExploreSettings)
    stop: StopSettings = field(default_factory=StopSettings)


_BESIDES_SECONDS = 5.0
"""How long all else in a step that finds a hang may take: the input, the picture, the report."""


def check_deadlines(settings: Settings, patience_seconds: float = 0.0) -> None:
    """Refuse settings of a live desktop under which a worker is given up before a hang could be told.

    `patience_seconds` is how long the decision before may take. No other environment has to do with the table
    `desktop`, so these settings are not refused by themselves.
    """
    desktop, deadline = settings.desktop, settings.explore.step_deadline_seconds
    deciding = f"{patience_seconds:g} s for a decision (select.reactive.timeout_seconds) and "
    if telling_seconds(settings) + patience_seconds > deadline:
        raise SettingsError(
            f"explore.step_deadline_seconds is {deadline:g}, and a hang takes "
            f"{deciding if patience_seconds else ''}desktop.hang_seconds + "
            f"desktop.grace_seconds + desktop.settle_seconds and {_BESIDES_SECONDS:g} s = "
            f"{desktop.hang_seconds:g} + {desktop.grace_seconds:g} + {desktop.settle_seconds:g} + "
            f"{_BESIDES_SECONDS:g} s to be told, so it might be lost: "
            "raise the first, or lower one of the others"
        )


def telling_seconds(settings: Settings) -> float:
    """How long a step may take that ends with a hang of a live desktop."""
    desktop = settings.desktop
    return desktop.hang_seconds + desktop.grace_seconds + desktop.settle_seconds + _BESIDES_SECONDS


def settings_document(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values with a version: what a run stores."""
    return {"version": DOCUMENT_VERSION, "settings": msgspec.to_builtins(settings)}


def settings_from_document(document: Mapping[str, Any]) -> Settings:
    """The settings of a stored document. A newer or malformed one is refused, never guessed at."""
    version = document.get("version")
    if not isinstance(version, int):
        raise FormatError(f"stored settings have version {version!r}; expected a whole number")
    if version > DOCUMENT_VERSION:
        raise NewerFormat(
            f"stored settings have version {version}, but this release reads up to {DOCUMENT_VERSION}; "
            "upgrade it"
        )
    values = document.get("settings")
    if not isinstance(values, Mapping):
        raise FormatError("stored settings have no table named 'settings'")
    unknown = [".".join(key) for key in keys_of(values) if key not in declared_settings()]
    if unknown:
        raise FormatError(f"stored settings name what this release does not know: {', '.join(unknown)}")
    try:
        return msgspec.convert(values, Settings)
    except (msgspec.ValidationError, SettingsError) as problem:
        raise FormatError(f"stored settings do not fit this release: {problem}") from problem


@cache
def declared_settings() -> dict[Key, Any]:
    """Every setting there is, in order, with its type."""
    return dict(_declared(Settings, ()))


def _declared(table: type, above: Key) -> Iterator[tuple[Key, Any]]:
    hints = typing.get_type_hints(table)
    for each in dataclasses.fields(table):
        key = (*above, each.name)
        kind = hints[each.name]
        if dataclasses.is_dataclass(kind):
            assert isinstance(kind, type)  # a field's type is never an instance
            yield from _declared(kind, key)
        else:
            yield key, kind


def optional(kind: Any) -> bool:
    """Whether a setting of this type may be absent."""
    return typing.get_origin(kind) in (typing.Union, types.UnionType) and type(None) in typing.get_args(kind)


def entry_names(kind: Any) -> list[str]:
    """What an entry of a list of tables may hold; nothing when the setting is no such list."""
    return [
        each.name
        for of in typing.get_args(kind)
        if dataclasses.is_dataclass(of)
        for each in dataclasses.fields(of)
    ]


def keys_of(values: Mapping[str, Any]) -> Iterator[Key]:
    """The path of every value in nested tables. A table under a name that is a setting is its value."""
    for key, _ in items_of(values):
        yield key


def items_of(values: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Every value in nested tables with its path."""
    for name, value in values.items():
        key = (*above, str(name))
        if isinstance(value, Mapping) and key not in declared_settings():
            yield from items_of(value, key)
        else:
            yield key, value
