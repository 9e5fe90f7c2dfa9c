"""The truth study: what it says of rules whose quality is known."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import screensearch as ss
from screensearch.cli import main
from screensearch.environments.synthetic import declared
from screensearch.errors import FormatError
from screensearch.record.truth import read_truth
from screensearch.study.reach import Met, true_coverage
from screensearch.study.truth import Rule, judge, rules
from screensearch.study.truth_report import TruthStudy, page

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
    arguments = [
        "study",
        "truth",
        "--app",
        "synthetic:generated?states=100",
        "--steps",
        "150",
        "--embedder",
        "hashing",
    ]
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


def test_what_was_met_is_counted_as_what_there_is(folder: Path) -> None:
    with ss.open_run(folder) as run:
        found = true_coverage(run)
        met = read_truth(folder / "truth").values()
    assert (found.reachable_states, found.outside) == (300, 0)
    assert found.declared_states == len({note.state for note in met}) == found.states
    assert found.declared_screens == len({note.screen for note in met})
    assert 0 < found.state_share < 1
    assert found.curve[0].steps == 0
    assert found.curve[-1] == Met(1500, found.states, found.screens)
    assert [point.states for point in found.curve] == sorted(point.states for point in found.curve)


@pytest.mark.parametrize("name", ["notepad", "files", "settings"])
def test_nothing_is_met_outside_of_the_enumeration(name: str, tmp_path: Path) -> None:
    environment = f"synthetic:{name}"
    ss.start_exploration(
        environment, tmp_path / "run", stop=ss.StopRule(steps=400), settings=SETTINGS, seed=5
    )
    with ss.open_run(tmp_path / "run") as run:
        found = true_coverage(run)
    there = declared(name)
    assert (found.reachable_states, found.reachable_screens) == (there.states, there.screens)
    assert found.outside == 0
    assert found.declared_states is not None
    assert 0 < found.declared_states <= found.states, "texts and contents are one in the enumeration"


def test_a_run_whose_notes_name_no_declared_state_has_no_share(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    for notes in (tmp_path / "run" / "truth").glob("*.jsonl"):
        lines = [json.loads(line) for line in notes.read_text().splitlines()]
        for line in lines:
            del line["body"]["declared_state"], line["body"]["declared_screen"]
        notes.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with ss.open_run(tmp_path / "run") as run:
        found = true_coverage(run)
        study = TruthStudy.of([judge(run, rules(SETTINGS)[0])], [found])
    assert found.states > 0
    assert (found.declared_states, found.reachable_states, found.outside) == (None, None, 0)
    assert "| unknown |" in page(study)


def test_without_noise_and_races_dispersion_is_hidden_state_alone(folder: Path) -> None:
    with ss.open_run(folder) as run:
        found = judge(run, rules(SETTINGS)[0]).sources
    assert found.pooled > 0
    assert found.hidden == pytest.approx(found.pooled)


def test_races_are_told_as_timing_and_merging_as_merging(tmp_path: Path) -> None:
    world = "synthetic:generated?states=30&aliasing=0&noise=0&hazards=0&races=0.5"
    ss.start_exploration(world, tmp_path / "run", stop=ss.StopRule(steps=1000), settings=SETTINGS, seed=1)
    with ss.open_run(tmp_path / "run") as run:
        by_name = {rule.name: judge(run, rule).sources for rule in rules(SETTINGS)}
    fine, coarse = by_name["exact"], by_name["content_free"]
    assert fine.pooled > 0
    assert fine.timing == pytest.approx(fine.pooled)
    assert coarse.merged > coarse.merged_by_chance
    assert coarse.merged > coarse.hidden


def test_several_seeds_have_intervals_and_rules_are_compared_run_by_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["study", "truth", "--app", "generated?states=100", "--steps", "200", "--embedder", "hashing"]
    result = CliRunner().invoke(main, [*arguments, "--seeds", "2", "--out", str(out), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {each["seed"] for each in told["reports"]} == {0, 1}
    assert [each["seeds"] for each in told["averages"]] == [2] * len(rules(SETTINGS))
    f1 = [each["f1"] for each in told["reports"] if each["rule"] == "exact"]
    measured = told["averages"][0]["measures"]["f1"]
    assert measured["mean"] == pytest.approx(sum(f1) / 2)
    assert (measured["low"], measured["high"]) == (min(f1), max(f1))
    other = [each["f1"] for each in told["reports"] if each["rule"] == "identical"]
    contrast = next(e for e in told["contrasts"] if (e["rule"], e["measure"]) == ("identical", "f1"))
    assert contrast["comparison"]["difference"]["mean"] == pytest.approx((sum(other) - sum(f1)) / 2)
    assert (out / "coverage.svg").read_text().startswith("<svg")
    assert json.loads((out / "truth.json").read_text()) == told
    assert (out / "generated-states-100-seed-1").is_dir()


def test_a_run_that_was_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    app = "generated?states=100"
    ss.start_exploration(
        f"synthetic:{app}",
        tmp_path / "generated-states-100",
        stop=ss.StopRule(steps=60),
        settings=ss.resolve(overrides=["explore.screenshots=none"]),
        seed=0,
    )
    arguments = ["study", "truth", "--app", app, "--steps", "100", "--embedder", "hashing", "--json"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["coverages"][0]["steps"] == 100


def test_a_run_with_other_settings_is_not_judged_as_the_one_asked_for(tmp_path: Path) -> None:
    app = "generated?states=100"
    ss.start_exploration(
        f"synthetic:{app}",
        tmp_path / "generated-states-100",
        stop=ss.StopRule(steps=50),
        settings=ss.resolve(overrides=["explore.screenshots=none", "select.selector=random"]),
    )
    arguments = ["study", "truth", "--app", app, "--steps", "50", "--embedder", "hashing"]
    told = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert told.exit_code == 1
    assert "other settings" in told.output
