"""Lines beside states for several selectors: by hand, from notes beside runs, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import EpisodeId
from screensearch.record.coverage import COVERAGE, CoverageNotes
from screensearch.study.coverage import CoverageReport, Point
from screensearch.study.lines import (
    Agreement,
    LinesRun,
    agree,
    join_agreements,
    lines_page,
    measure_lines,
    write_lines,
)


def report(*curve: tuple[int, int, int], steps: int) -> CoverageReport:
    points = [Point(*each) for each in curve]
    at_start = max(point.lines for point in points if point.steps == 0)
    return CoverageReport("run", steps, points[-1].states, points[-1].lines, at_start, {}, points)


def test_steps_are_counted_by_what_was_new_in_them() -> None:
    """Step 1 finds a state and runs 30 lines, step 3 only a state, step 4 only 10 lines, step 2 nothing."""
    found = agree(report((0, 1, 100), (1, 2, 130), (3, 3, 130), (4, 3, 140), steps=4))
    assert found == Agreement(steps=4, found=2, ran=2, both=1, lines=40, lines_found=30)
    assert (found.ran_if_found, found.ran_else, found.lines_share, found.phi) == (0.5, 0.5, 0.75, 0)


def test_what_always_comes_together_is_correlated_in_full() -> None:
    found = agree(report((0, 1, 5), (2, 2, 6), (3, 3, 9), (8, 3, 9), steps=8))
    assert (found.phi, found.ran_else) == (1, 0)


def test_lines_that_come_before_the_first_action_are_left_out() -> None:
    found = agree(report((0, 0, 50), (0, 1, 90), (1, 1, 91), steps=2))
    assert (found.found, found.ran, found.lines) == (0, 1, 1)
    assert math.isnan(found.phi)


def test_runs_are_joined_by_their_steps() -> None:
    one = agree(report((0, 1, 100), (1, 2, 130), steps=4))
    two = agree(report((0, 1, 100), (2, 1, 110), steps=6))
    assert join_agreements([one, two]) == Agreement(
        steps=10, found=1, ran=2, both=1, lines=40, lines_found=30
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LinesRun]:
    """Runs of a world, with notes as an application's would be: a line at the start, and one at step 3."""
    measured = []
    for selector in ("puct", "random"):
        for seed in (0, 1):
            folder = tmp_path_factory.mktemp("lines") / "run"
            settings = ss.resolve(overrides=["explore.screenshots=none", f"select.selector={selector}"])
            ss.start_exploration(
                "synthetic:notepad", folder, stop=ss.StopRule(steps=10), settings=settings, seed=seed
            )
            with CoverageNotes(folder / COVERAGE, 0) as notes:
                notes.note(EpisodeId(0, 0), 0, {"a.py": [1]})
                notes.note(EpisodeId(0, 0), 3, {"a.py": list(range(2, 4 + seed))})
            with ss.open_run(folder) as run:
                measured.append(measure_lines(run))
    return measured


def test_a_run_tells_its_selector_and_what_it_ran_beyond_its_start(runs: list[LinesRun]) -> None:
    assert [(run.selector, run.seed, run.beyond) for run in runs] == [
        ("puct", 0, 2),
        ("puct", 1, 3),
        ("random", 0, 2),
        ("random", 1, 3),
    ]
    assert all((run.agreement.steps, run.agreement.ran) == (10, 1) for run in runs)


def test_the_page_has_a_row_for_each_selector_and_one_for_all(runs: list[LinesRun], tmp_path: Path) -> None:
    rows = [line.split(" | ") for line in lines_page(runs).splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[2:]] == ["| puct", "| random", "| all"]
    assert [row[4] for row in rows[2:]] == ["2 (2 – 3)"] * 3
    written = write_lines(runs, tmp_path)
    assert len(json.loads((tmp_path / "lines.json").read_text())["runs"]) == 4
    assert all(path.read_text().startswith("<svg") for path in written if path.suffix == ".svg")


def test_an_application_of_which_nothing_is_counted_is_refused_before_it_is_explored(tmp_path: Path) -> None:
    told = CliRunner().invoke(main, ["study", "lines", "--out", str(tmp_path / "out"), "--", "true"])
    assert told.exit_code == 1
    assert "app.coverage" in told.output
    assert not (tmp_path / "out").exists()
