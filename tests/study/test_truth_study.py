"""The truth study: what it says of rules whose quality is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import screensearch as ss
from screensearch.cli import main
from screensearch.errors import FormatError
from screensearch.study.truth import Rule, judge, rules, to_markdown

SETTINGS = ss.resolve(overrides=["explore.screenshots=none", "embed.name=hashing"])
WORLD = "synthetic:generated?states=300&aliasing=0.3&noise=0&hazards=0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("truth") / "run"
    ss.start_exploration(WORLD, path, stop=ss.StopRule(steps=1500), settings=SETTINGS, seed=3)
    return path


def test_without_noise_every_fine_rule_finds_the_true_screens_exactly(folder: Path) -> None:
    with ss.open_run(folder) as run:
        reports = {rule.name: judge(run, rule) for rule in rules(SETTINGS)}
    for name in ("exact", "exact, paper's filters", "hybrid, paper's filters", "identical"):
        report = reports[name]
        assert (report.precision, report.recall, report.mixed_states) == (1.0, 1.0, 0), name
        assert report.states == report.true_screens
    assert reports["content_free"].precision < 1.0


def test_where_identity_is_right_only_aliased_states_disperse(folder: Path) -> None:
    with ss.open_run(folder) as run:
        report = judge(run, rules(SETTINGS)[0])
    assert 0 < report.aliased_states < report.states
    assert report.dispersed_aliased == report.dispersed_states > 0
    assert report.dispersion_auroc > 0.5


def test_a_rule_that_merges_everything_has_no_precision(folder: Path) -> None:
    coarse = replace(SETTINGS.identify, merge=replace(SETTINGS.identify.merge, threshold=0.000001))
    with ss.open_run(folder) as run:
        report = judge(run, Rule("coarse", replace(SETTINGS, identify=coarse)))
    assert report.recall == 1.0
    assert report.precision < 0.5
    assert report.mixed_states >= 1


def test_judging_under_the_runs_own_rule_finds_the_runs_own_graph(folder: Path) -> None:
    with ss.open_run(folder) as run:
        assert judge(run, Rule("own", run.settings)).states == run.graph.states


def test_a_run_without_truth_is_refused(folder: Path, tmp_path: Path) -> None:
    with ss.open_run(folder) as run:
        run.path = tmp_path
        with pytest.raises(FormatError, match="has no truth"):
            judge(run, rules(SETTINGS)[0])


def test_the_command_judges_a_run_again_without_exploring_it_again(tmp_path: Path) -> None:
    arguments = ["study", "truth", "--app", "generated?states=100", "--steps", "150", "--embedder", "hashing"]
    results = [
        CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out"), "--json"]) for _ in range(2)
    ]
    first, second = (json.loads(result.stdout)["reports"] for result in results)
    assert first == second
    another = CliRunner().invoke(main, [*arguments, "--seed", "9", "--out", str(tmp_path / "out")])
    assert another.exit_code == 1
    assert "with seed 0 and 150 steps" in another.output
    judged = CliRunner().invoke(
        main,
        [
            "study",
            "truth",
            "--embedder",
            "hashing",
            "--json",
            "--run",
            str(tmp_path / "out/generated-states-100"),
        ],
    )
    assert json.loads(judged.stdout)["reports"] == first
    assert len(first) == len(rules(SETTINGS))
    assert "| exact |" in (tmp_path / "out" / "truth.md").read_text()


def test_the_table_has_a_row_for_every_report(folder: Path) -> None:
    with ss.open_run(folder) as run:
        reports = [judge(run, rule) for rule in rules(SETTINGS)[:2]]
    assert to_markdown(reports).count("\n") == 4
