"""The public interface: pinned, so that a name that comes or goes is a decision; and used by the examples."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import screensearch

PUBLIC = [
    "EMBEDDERS",
    "ENVIRONMENTS",
    "GUARDS",
    "IDENTIFIERS",
    "PRIORS",
    "ROLES",
    "SELECTORS",
    "Action",
    "Arrival",
    "Box",
    "Candidate",
    "Comparison",
    "Configurable",
    "Decision",
    "Element",
    "EmbedSettings",
    "Embedder",
    "Environment",
    "EnvironmentFailed",
    "EpisodeId",
    "FailedStart",
    "Finding",
    "Guard",
    "HopelessStart",
    "Identifier",
    "IdentifySettings",
    "Image",
    "Match",
    "Means",
    "Metadata",
    "MetricsServer",
    "NeverStarted",
    "Observation",
    "Outcome",
    "PathStart",
    "PathStep",
    "Prior",
    "Progress",
    "Query",
    "Regrouped",
    "Replay",
    "ReplayFailed",
    "Result",
    "Route",
    "RouteStep",
    "Run",
    "Screen",
    "ScreenSearchError",
    "Seen",
    "Selection",
    "Selector",
    "Settings",
    "Signature",
    "Situation",
    "Skipped",
    "Start",
    "StartFailed",
    "State",
    "StateGraph",
    "StatePath",
    "StepCount",
    "StopRule",
    "Summary",
    "Transition",
    "Tried",
    "TruthTeller",
    "Unreachable",
    "Verdict",
    "Verification",
    "Walk",
    "Window",
    "compare",
    "describe_action",
    "load_preset",
    "load_route",
    "open_run",
    "redacted_route",
    "remerge",
    "replay_route",
    "resolve",
    "resume_exploration",
    "route_as_found",
    "route_to",
    "route_to_finding",
    "settings_for",
    "start_exploration",
    "write_script",
]

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


def test_the_public_names_are_these() -> None:
    assert sorted(screensearch.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(screensearch, name) is not None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    if example.stem == "read_a_run":
        stop = screensearch.StopRule(steps=60)
        settings = screensearch.resolve(overrides=["explore.screenshots=none"])
        screensearch.start_exploration("synthetic:notepad", folder, stop=stop, settings=settings)
    runpy.run_path(str(example))["main"](str(folder))
    assert "state" in capsys.readouterr().out


def test_a_run_gives_back_what_was_seen(tmp_path: Path) -> None:
    stop = screensearch.StopRule(steps=5)
    screensearch.start_exploration("synthetic:files", tmp_path / "run", stop=stop, seed=2)
    with screensearch.open_run(tmp_path / "run") as run:
        seen = run.founding_observation(0)
        assert any(element.clickable for element in seen.elements)
        picture = run.screenshot(run.entry(1))
        assert picture is not None
        assert len(picture.pixels) == 3 * picture.width * picture.height
