"""Lines beside states: notes of several workers in the order of the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import EpisodeId
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import start_exploration
from screensearch.record.coverage import COVERAGE, CoverageNotes
from screensearch.study.coverage import Point, at_most, measure_coverage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = ss.resolve(overrides=["explore.screenshots=none"])
    start_exploration(
        "synthetic:notepad", tmp_path / "run", stop=StopRule(steps=20), settings=settings, seed=7
    )
    return tmp_path / "run"


def test_lines_are_counted_once_and_in_the_order_of_the_steps(folder: Path) -> None:
    with CoverageNotes(folder / COVERAGE, 0) as notes:
        notes.note(EpisodeId(0, 0), 0, {"a.py": [1, 2, 3]})
        notes.note(EpisodeId(0, 0), 4, {"a.py": [3, 4], "b.py": [1]})
        notes.note(EpisodeId(0, 0), 5, {})
        notes.note(EpisodeId(0, 0), 20, {"b.py": [2]})
    with (folder / COVERAGE / "w0.jsonl").open("ab") as file:
        file.write(b'{"cut off')
    with ss.open_run(folder) as run:
        report = measure_coverage(run)
        assert (report.lines, report.at_start, report.steps) == (6, 3, 20)
        assert report.files == {"a.py": 4, "b.py": 2}
        assert report.states == run.graph.states
    assert [point.lines for point in report.curve if point.steps in (0, 4)] == [3, 5]
    assert report.curve[-1] == Point(20, report.states, 6)


def test_a_run_that_was_not_measured_says_how_to_measure_one(folder: Path) -> None:
    told = CliRunner().invoke(main, ["coverage", str(folder)])
    assert told.exit_code == 1
    assert "app.coverage" in told.output


def test_the_command_shows_both_and_tells_all_to_machines(folder: Path) -> None:
    with CoverageNotes(folder / COVERAGE, 0) as notes:
        notes.note(EpisodeId(0, 0), 0, {f"[red]{number}.py": [1] for number in range(20)})
    shown = CliRunner().invoke(main, ["coverage", str(folder)])
    assert "20 lines run, 20 of them before the first action" in shown.output
    assert "and 5 more files" in shown.output
    assert "[red]0.py" in shown.output
    assert (
        len(json.loads(CliRunner().invoke(main, ["coverage", str(folder), "--json"]).output)["files"]) == 20
    )


def test_a_curve_is_shown_in_few_points() -> None:
    curve = [Point(0, 1, 10), Point(3, 2, 10), Point(9, 2, 30), Point(100, 5, 31)]
    assert at_most(curve, 3) == [Point(0, 1, 10), Point(50, 2, 30), Point(100, 5, 31)]
    assert at_most([], 3) == []
    assert at_most([Point(0, 1, 5)], 3) == [Point(0, 1, 5)]
