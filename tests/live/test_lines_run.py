"""The lines that a real program in Python runs behind real walls, counted by coverage.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from live.test_environment import TROUBLE, running
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.environment import open_desktop
from screensearch.environments.desktop.settings import AppSettings
from screensearch.environments.protocol import Means, Measured
from screensearch.errors import SettingsError

FOLDER = str(Path(TROUBLE).parent)


def line_of(text: str) -> int:
    """The only line of the trouble maker that holds a text."""
    found = [number for number, line in enumerate(Path(TROUBLE).read_text().splitlines(), 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def lines(measured: Mapping[str, list[int]]) -> set[int]:
    """The lines of the trouble maker, the only file that is counted; inside, a link may lead to it."""
    assert [Path(each).name for each in measured] in ([], [Path(TROUBLE).name])
    return {line for found in measured.values() for line in found}


async def test_lines_are_counted_with_the_step_that_ran_them() -> None:
    pressed = line_of("self.said.set_text(text)")
    async with running(app=AppSettings(command=(TROUBLE,), coverage=(FOLDER,))) as app:
        assert isinstance(app.world, Measured)
        at_start = lines(app.world.take_measured())
        assert len(at_start) > 20
        assert pressed not in at_start
        assert (await app.click("Press me")).outcome is Outcome.OK
        assert pressed in lines(app.world.take_measured())
        await app.world.reset(2)
        again = lines(app.world.take_measured())
        assert not again & {*at_start, pressed}, "what was run before is not told again"


async def test_what_ran_last_is_told_by_a_program_that_ends_by_itself() -> None:
    async with running(app=AppSettings(command=(TROUBLE, "ends"), coverage=(FOLDER,))) as app:
        app.world.take_measured()
        assert (await app.click("Quit")).outcome is Outcome.EXIT
        assert line_of("    return 0") in lines(app.world.take_measured())


def test_a_program_that_is_not_python_is_refused_before_it_is_started() -> None:
    with pytest.raises(SettingsError, match="is no script for it"):
        open_desktop("app", Means(app=AppSettings(command=("mousepad",), coverage=("mousepad",))))
