"""Back to a dialog of a real editor, in fresh sandboxes: by replay, and by a script that stands alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import screensearch as ss
from screensearch.act.guard import GuardRule, GuardSettings
from screensearch.explore.replay.plan import judge_of

ONLY_CLICKS = (
    "candidates.wait=false",
    "candidates.scroll=false",
    "candidates.keys=[]",
    "candidates.texts=[]",
)
ONLY_ABOUT = GuardRule(patterns=(r"^(?!(help|about)$)",))
"""All that is not called so is forbidden: the shortest exploration that finds a dialog."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ss.Run]:
    folder = tmp_path_factory.mktemp("mousepad") / "run"
    environment, settings = ss.settings_for("mousepad", overrides=ONLY_CLICKS)
    settings = replace(
        settings,
        guard=GuardSettings(rules=(ONLY_ABOUT,)),
        app=replace(settings.app, display_modes=("light",), text_scales=(1.0,)),
    )
    ss.start_exploration(environment, folder, stop=ss.StopRule(steps=6), settings=settings)
    with ss.open_run(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def dialog(run: ss.Run) -> int:
    return next(state.id for state in run.states() if state.window.startswith("dialog|"))


def test_a_dialog_of_a_real_editor_is_reached_again_in_fresh_sandboxes(
    run: ss.Run, dialog: int, tmp_path: Path
) -> None:
    route = ss.route_to(run, dialog)
    assert route.words == ['click "help" (menu item)', 'click "about" (menu item)']
    result = ss.replay_route(route, times=2, judge=judge_of(run), pictures=tmp_path)
    assert [(walk.verdict, walk.note) for walk in result.walks] == [(ss.Verdict.REACHED, "")] * 2
    assert all(count.as_expected == 2 for count in result.steps)
    assert len(list(tmp_path.glob("walk-*/step-*.png"))) == 2 * 3


def test_a_target_that_is_missing_in_a_real_editor_is_named(run: ss.Run, dialog: int) -> None:
    route = ss.route_to(run, dialog)
    first, last = route.steps
    renamed = ss.RouteStep(last.signature.replace("|about|", "|about_mousepad|"), last.expected)
    (walk,) = ss.replay_route(replace(route, steps=(first, renamed))).walks
    assert (walk.verdict, walk.step) == (ss.Verdict.MISSING, 2)
    assert ss.describe_action(walk.nearest[0]) == 'click "about" (menu item)'


def test_the_script_of_a_real_editor_runs_by_itself(run: ss.Run, dialog: int, tmp_path: Path) -> None:
    file = tmp_path / "test_about.py"
    file.write_text(ss.write_script(ss.route_to(run, dialog), origin="a test"))
    environment = {**os.environ, "PYTHONPATH": str(Path(ss.__file__).parent.parent)}
    alone = subprocess.run(
        [sys.executable, str(file)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert alone.returncode == 0, alone.stderr
    assert f"reached state {dialog}" in alone.stdout
