"""The lines that a real program in Python runs behind real walls, counted by coverage.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from live.test_environment import TROUBLE, running
from screensearch.cli import main
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


def test_a_study_counts_lines_for_every_selector(tmp_path: Path) -> None:
    arguments = ["study", "lines", "--selector", "puct", "--selector", "random", "--seeds", "1"]
    arguments += ["--steps", "12", "--set", f'app.coverage=["{FOLDER}"]', "--out", str(tmp_path), "--json"]
    told = CliRunner().invoke(main, [*arguments, "--", TROUBLE])
    assert told.exit_code == 0, told.output
    runs = json.loads(told.stdout)["runs"]
    assert [run["selector"] for run in runs] == ["puct", "random"]
    for run in runs:
        assert run["report"]["steps"] == 12
        assert run["report"]["at_start"] > 20
        assert run["report"]["lines"] == run["report"]["at_start"] + run["agreement"]["lines"]
    assert any(run["agreement"]["lines"] > 0 for run in runs), "no action has run a line of its own"
    again = CliRunner().invoke(main, [*arguments, "--", TROUBLE])
    assert json.loads(again.stdout)["runs"] == runs, "what is there is not explored again"
