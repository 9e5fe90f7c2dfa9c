"""Text that changes by itself (clocks, counters, progress) says nothing about the state: blank it.

Screens and actions are blanked alike, or one screen would offer ever new actions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from screensearch.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A rectangle of the active window, in fractions of its width and height from the top left."""

    left: float = 0.0  # [0, 1]
    top: float = 0.0  # [0, 1]
    right: float = 1.0  # (left, 1]
    bottom: float = 1.0  # (top, 1]

    @property
    def sound(self) -> bool:
        return 0 <= self.left < self.right <= 1 and 0 <= self.top < self.bottom <= 1

    def holds(self, down: float, across: float) -> bool:
        return self.left <= across <= self.right and self.top <= down <= self.bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskSettings:
    """What an application's profile blanks."""

    patterns: tuple[str, ...] = ()  # regular expressions, searched in normalised text, case ignored
    regions: tuple[Region, ...] = ()  # every text whose centre lies in one of them

    def __post_init__(self) -> None:
        for place, pattern in enumerate(self.patterns):
            compile_pattern(pattern, what=f"masks.patterns[{place}]")
        for place, region in enumerate(self.regions):
            if not region.sound:
                raise SettingsError(
                    f"masks.regions[{place}] is {region!r}, which is not inside the window; "
                    "give fractions with 0 <= left < right <= 1 and 0 <= top < bottom <= 1"
                )


def compile_pattern(pattern: str, *, what: str) -> re.Pattern[str]:
    """Compile a pattern from the settings; an error names the setting, the pattern and the position."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as problem:
        where = "" if problem.pos is None else f" at position {problem.pos}"
        raise SettingsError(
            f"{what} = {pattern!r} is not a regular expression: {problem.msg}{where}; correct or remove it"
        ) from problem


class Masks:
    """Compiled mask settings. Equal settings make equal masks, so that they can be part of a key."""

    def __init__(self, settings: MaskSettings) -> None:
        self._settings = settings
        self._hash = hash(settings)  # asked for with every step
        self._regions = settings.regions
        self._patterns = tuple(compile_pattern(each, what="mask") for each in settings.patterns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Masks) and self._settings == other._settings

    def __hash__(self) -> int:
        return self._hash

    def apply(self, text: str, centre: tuple[float, float] | None) -> str:
        """What remains of a normalised text whose centre is at these fractions (down, across) of the window.

        A region blanks the text whole; a pattern blanks what it matches and keeps the rest. What has no
        place is in no region.
        """
        if centre is not None and any(region.holds(*centre) for region in self._regions):
            return ""
        kept = text
        for pattern in self._patterns:
            kept = pattern.sub(" ", kept)
        return text if kept == text else " ".join(kept.split())
