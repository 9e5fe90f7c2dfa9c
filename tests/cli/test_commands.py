"""The command line as a person and as a machine would use it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from screensearch.cli import main

SUMMARY = "run steps states edges captures crashes hangs seconds steps_per_second digest"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "run"
    result = run(
        "explore",
        "synthetic:notepad",
        "--steps",
        "150",
        "--seed",
        "7",
        "--no-screenshots",
        "--out",
        str(path),
    )
    assert result.exit_code == 0, result.output
    assert "all steps taken" in result.output
    assert "screensearch show" in result.output
    return str(path)


def test_explore_prints_one_json_object_for_machines(tmp_path: Path) -> None:
    options = ("--steps", "20", "--no-screenshots", "--json", "--out", str(tmp_path / "x"))
    result = run("explore", "synthetic:files", *options)
    summary = json.loads(result.stdout)
    assert summary.keys() >= set(SUMMARY.split())
    assert summary["steps"] == 20


def test_show_names_what_was_found(folder: str) -> None:
    text = run("show", folder)
    assert "states" in text.output
    described = json.loads(run("show", folder, "--json").stdout)
    assert described["outcomes"]["ok"] > 0
    assert described["environment"] == "synthetic:notepad"


def test_states_can_be_sorted_and_limited(folder: str) -> None:
    listed = json.loads(run("states", folder, "--sort", "visits", "--limit", "3", "--json").stdout)["states"]
    visits = [state["visits"] for state in listed]
    assert len(visits) == 3
    assert visits == sorted(visits, reverse=True)
    assert "ambiguity" in listed[0]
    assert run("states", folder).exit_code == 0


def test_states_that_read_alike_are_told_apart(folder: str) -> None:
    rows = re.split(r"\n(?= +\d+ )", run("states", folder).output)[1:]
    told = [" ".join(row.split()).split(" ", 4)[4] for row in rows]  # without its number and its figures
    assert any(" with '" in each for each in told)
    assert len(set(told)) == len(told)


def test_explain_shows_the_score_both_jaccards_and_the_differing_atoms(folder: str) -> None:
    explained = json.loads(run("explain", folder, "0", "1", "--json").stdout)
    assert explained["one_state"] is False
    assert explained["score"] == pytest.approx((explained["role_jaccard"] + explained["text_jaccard"]) / 2)
    assert explained["only_first"] or explained["only_second"]
    assert "two states" in run("explain", folder, "0", "1").output
    assert json.loads(run("explain", folder, "0", "@1", "--json").stdout)["one_state"] is True


def test_an_entry_alone_is_explained_by_its_logged_decision(folder: str) -> None:
    explained = json.loads(run("explain", folder, "@1", "--json").stdout)
    assert explained["decision"]["how"] == "new"
    assert explained["one_state"] is True
    assert "founded state 0" in run("explain", folder, "@1").output
    assert "founded state 1" in run("explain", folder, "1").output


def test_two_entries_are_told_apart_from_the_states_they_are_logged_as(folder: str) -> None:
    explained = json.loads(run("explain", folder, "@1", "@2", "--json").stdout)
    assert explained["first"]["state"] == 0
    assert explained["decision"]["state"] == explained["second"]["state"]
    assert "@1 is logged as state 0" in run("explain", folder, "@1", "@2").output


def test_show_tells_what_was_tried_at_a_state(folder: str) -> None:
    shown = json.loads(run("show", folder, "0", "--json").stdout)
    assert shown["state"]["id"] == 0
    assert sum(action["visits"] for action in shown["tried"]) > 0
    text = run("show", folder, "0").output
    assert "state 0" in text
    assert "The states it leads to" in text
    assert "has no state 9999" in run("show", folder, "9999").output


def test_explain_tells_what_a_name_may_be(folder: str) -> None:
    assert "neither a state" in run("explain", folder, "zero", "1").output
    assert "has no state 9999" in run("explain", folder, "9999", "1").output
    assert "has no entry 99999" in run("explain", folder, "@99999", "1").output


def test_verify_says_that_a_run_holds(folder: str) -> None:
    assert run("verify", folder).exit_code == 0
    assert json.loads(run("verify", folder, "--json").stdout)["holds"] is True


def test_resume_goes_on_and_refuses_other_settings(folder: str) -> None:
    result = run("explore", "--resume", "--out", folder, "--steps", "180", "--json")
    assert json.loads(result.stdout)["steps"] == 180
    refused = run("explore", "--resume", "--out", folder, "--set", "select.c_puct=2")
    assert refused.exit_code == 1
    assert "keeps its environment, seed, settings, store and artifacts" in refused.output


def test_plugins_lists_every_kind() -> None:
    listed = json.loads(run("plugins", "--json").stdout)
    assert set(listed["plugins"]["identifier"]) >= {"exact", "hybrid", "identical", "content_free"}
    assert set(listed["presets"]) == {"default", "paper"}
    assert run("plugins").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["explore"], "what shall be explored"),
        (["explore", "synthetic:notepod"], "notepad"),
        (["explore", "synthetic:notepad", "--set", "select.c_pukt=1"], "c_puct"),
        (["explore", "synthetic:notepad", "--set", "select.selector=puckt"], "did you mean 'puct'"),
        (["explore", "--resume"], "--out"),
        (["explore", "synthetic:notepad", "--out", ""], "--out names no folder"),
        (["explore", "synthetic:notepad", "--seconds", "nan"], "finite"),
        (["show", "nowhere"], "there is no run at nowhere"),
    ],
)
def test_bad_input_gets_one_clear_line_and_leaves_nothing(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 1
    assert told in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_default_folder_is_never_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        result = run("explore", "synthetic:files", "--steps", "3", "--no-screenshots", "--json")
        assert json.loads(result.stdout)["run"] == f"runs/synthetic-files-{number}"


def test_the_paper_preset_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = run(
        "explore", "synthetic:files", "--preset", "paper", "--steps", "5", "--out", str(tmp_path / "x")
    )
    assert result.exit_code == 1
    assert "OPENAI_API_KEY" in result.output
    assert not (tmp_path / "x").exists()


def test_the_paper_preset_runs_with_another_embedder(tmp_path: Path) -> None:
    options = (
        "--preset",
        "paper",
        "--set",
        "embed.name=hashing",
        "--steps",
        "60",
        "--no-screenshots",
        "--json",
    )
    result = run("explore", "synthetic:files", *options, "--out", str(tmp_path / "x"))
    assert json.loads(result.stdout)["steps"] == 60
