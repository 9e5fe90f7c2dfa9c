"""File and line in messages about what only an application could find wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from screensearch.config import written_at
from screensearch.errors import SettingsError

_STEP = re.compile(r"\bapp\.start\[(\d+)\](?! \()")


def with_places(
    words: str,
    target: str | Sequence[str] | None,
    preset: str | Path = "default",
    overrides: Sequence[str] = (),
) -> str:
    """A message with the place of each step of the start script that it names.

    Without a target, as for a run that is resumed and does not read its profile again, it stays as it is.
    """
    if target is None:
        return words

    def placed(step: re.Match[str]) -> str:
        try:
            place = written_at(("app", "start", step[1]), target, preset, overrides)
        except SettingsError:  # the file was changed meanwhile: where it stood matters less than what is told
            place = None
        return step[0] if place is None else f"{step[0]} ({place})"

    return _STEP.sub(placed, words)
