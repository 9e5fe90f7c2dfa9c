"""Replay suites: which states become starts, and what a stored suite promises."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from small_suite import SETTINGS, STEPS, WORLD, build

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import Arrival, Decision, Entry, EpisodeId, Evidence, Outcome, Transition
from screensearch.errors import FormatError, RunNotFound, ScreenSearchError, SettingsError
from screensearch.record.run import RunExists
from screensearch.study.build import CorpusPlan, build_suite, verify_suite
from screensearch.study.names import name_of
from screensearch.study.starts import (
    PROPORTIONS,
    Cuts,
    Eligibility,
    Stratum,
    cut_in_thirds,
    find_prefixes,
    shares,
)
from screensearch.study.suite import open_suite, read_suite

pytest_plugins = ["study_fixtures"]

LOW, MEDIUM, HIGH = Stratum.LOW, Stratum.MEDIUM, Stratum.HIGH


def arrival(episode: int, state: int) -> Arrival:
    return Arrival(EpisodeId(0, episode), Decision(state, "new"), 1, Evidence())


def step(episode: int, number: int, source: int, target: int, outcome: Outcome = Outcome.OK) -> Transition:
    decision = Decision(target, "new") if outcome is Outcome.OK else None
    place = EpisodeId(0, episode)
    return Transition(place, number, source, f"s{target}", outcome, decision, 1, None, None, Evidence())


def numbered(entries: list[Entry]) -> Iterator[tuple[int, Entry]]:
    return iter(enumerate(entries, start=1))


def test_a_prefix_ends_at_the_anchor_step_or_later_and_has_only_steps_that_came_out() -> None:
    entries: list[Entry] = [
        arrival(0, 0),
        step(0, 1, 0, 1),
        step(0, 2, 1, 2),
        step(0, 3, 2, 3, Outcome.CRASH),
        arrival(1, 0),
        step(1, 1, 0, 5),
        step(1, 2, 5, 2),
        step(1, 3, 2, 5),
        step(1, 4, 5, 2),
    ]
    found = find_prefixes(numbered(entries), Eligibility(anchor_step=2, longest_prefix=3))
    assert {state: [str(each.episode) for each in prefixes] for state, prefixes in found.items()} == {
        2: ["w0e0", "w0e1"],  # equal lengths: the older first; one for each episode
        5: ["w0e1"],  # not the visit at step 1, which is before the anchor
    }
    assert found[5][0].steps == (("s5", 5), ("s2", 2), ("s5", 5))


def test_nothing_after_a_failed_step_is_a_prefix() -> None:
    entries: list[Entry] = [arrival(0, 0), step(0, 1, 0, 1, Outcome.MISSED), step(0, 2, 0, 2)]
    assert find_prefixes(numbered(entries), Eligibility(anchor_step=1)) == {}


def test_fifty_starts_are_divided_as_in_the_paper_and_fewer_in_proportion() -> None:
    assert shares(50) == PROPORTIONS == {LOW: 17, MEDIUM: 16, HIGH: 17}
    assert shares(20) == {LOW: 7, MEDIUM: 6, HIGH: 7}
    assert shares(10) == {LOW: 3, MEDIUM: 3, HIGH: 4}
    assert shares(3) == {LOW: 1, MEDIUM: 1, HIGH: 1}


@given(st.integers(1, 300))
def test_shares_add_up_and_stray_less_than_one_from_the_proportion(starts: int) -> None:
    divided = shares(starts)
    assert sum(divided.values()) == starts
    assert all(abs(divided[each] - starts * part / 50) < 1 for each, part in PROPORTIONS.items())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_thirds_hold_at_most_a_third_above_and_never_part_equals(values: list[float]) -> None:
    cuts = cut_in_thirds(values)
    strata = [cuts.stratum(value) for value in values]
    assert strata.count(HIGH) <= len(values) / 3
    assert strata.count(LOW) >= len(values) / 3
    assert len(set(zip(values, strata, strict=True))) == len(set(values))


def test_distinct_ambiguities_are_cut_in_equal_thirds() -> None:
    cuts = cut_in_thirds([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert cuts == Cuts(0.2, 0.4)
    assert [cuts.stratum(value) for value in (0.2, 0.21, 0.4, 0.41)] == [LOW, MEDIUM, MEDIUM, HIGH]


def test_a_corpus_without_a_start_says_what_would_help() -> None:
    with pytest.raises(ScreenSearchError, match="explore longer"):
        cut_in_thirds([])


def test_starts_keep_the_rules_and_the_strata(suite_folder: Path) -> None:
    suite = read_suite(suite_folder)
    assert [each.stratum for each in suite.starts] == [LOW, LOW, MEDIUM, MEDIUM, HIGH, HIGH]
    assert suite.missing == {}
    with open_suite(suite_folder) as opened:
        for start in suite.starts:
            assert len(start.steps) >= 5
            assert start.steps[-1][1] == start.state
            assert start.occurrences == opened.run.graph.visits(start.state) >= 3
            assert start.ambiguity == opened.run.graph.ambiguity(start.state)
            assert suite.cuts.stratum(start.ambiguity) is start.stratum
            assert opened.route(start).goal == start.state


def test_the_same_arguments_build_the_same_suite_byte_for_byte(suite_folder: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again")
    assert (again / "suite.json").read_bytes() == (suite_folder / "suite.json").read_bytes()


def test_building_goes_on_with_a_corpus_that_is_there(suite_folder: Path, tmp_path: Path) -> None:
    """As after a kill while prefixes were walked: the corpus is whole, and there is no suite.json."""
    folder = tmp_path / "interrupted"
    shutil.copytree(suite_folder / "corpus", folder / "corpus")
    build(folder)
    assert read_suite(folder).digest == read_suite(suite_folder).digest


def test_a_corpus_of_other_settings_is_not_taken_for_this_one(suite_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(suite_folder / "corpus", folder / "corpus")
    with pytest.raises(RunExists, match="other settings"):
        build_suite("small", WORLD, SETTINGS, folder, CorpusPlan(stop=ss.StopRule(steps=STEPS)), seed=6)


def test_a_suite_can_be_built_from_a_run_that_is_there(suite_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "from-run"
    suite = build_suite(
        "small", WORLD, SETTINGS, folder, CorpusPlan(run=suite_folder / "corpus"), starts=6, seed=5
    )
    theirs = read_suite(suite_folder)
    assert suite.corpus.screens == theirs.corpus.screens
    assert [each.state for each in suite.starts] == [each.state for each in theirs.starts]


def test_too_few_states_leave_a_suite_short_and_it_says_so(suite_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    shutil.copytree(suite_folder / "corpus", folder / "corpus")
    suite = build_suite("small", WORLD, SETTINGS, folder, CorpusPlan(), starts=500, seed=5)
    assert sum(suite.missing.values()) == 500 - len(suite.starts) > 0


def test_a_copied_suite_verifies_and_its_prefixes_still_lead_back(suite_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    assert verify_suite(copy, replay=True) == []


def test_a_changed_start_is_noticed(suite_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    document = json.loads((copy / "suite.json").read_text())
    document["body"]["starts"][0]["state"] += 1
    (copy / "suite.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match="changed since it was built"):
        open_suite(copy)


def test_a_suite_that_cannot_be_read_is_named(suite_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    (copy / "suite.json").write_bytes((copy / "suite.json").read_bytes()[:-100])
    with pytest.raises(FormatError, match=r"copy/suite\.json.*restore it"):
        open_suite(copy)


def test_a_changed_corpus_is_noticed(suite_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    ss.resume_exploration(copy / "corpus", stop=ss.StopRule(steps=STEPS + 5))
    with pytest.raises(FormatError, match="not the one it was built on"):
        open_suite(copy)


def test_a_screen_changed_in_the_corpus_is_noticed(suite_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    log = sqlite3.connect(copy / "corpus" / "log.sqlite")
    triggers = [name for (name,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    for name in triggers:
        log.execute(f"DROP TRIGGER {name}")
    log.execute("UPDATE screens SET key = 'x' || key WHERE id = 1")
    log.commit()
    log.close()
    with pytest.raises(FormatError):
        open_suite(copy)


def test_a_suite_that_would_leave_the_sandbox_is_refused(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=["desktop.sandbox=false"])
    with pytest.raises(SettingsError, match="sandbox"):
        build_suite("small", WORLD, settings, tmp_path / "x", CorpusPlan(stop=ss.StopRule(steps=5)))


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".hidden", "a" * 101])
def test_a_suites_name_is_never_a_path(suite_folder: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(suite_folder, tmp_path / "copy")
    document = json.loads((copy / "suite.json").read_text())
    document["body"]["name"] = name
    (copy / "suite.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match="named"):
        read_suite(copy)


def test_names_are_made_of_targets() -> None:
    assert name_of("synthetic:notepad?noise=0") == "synthetic-notepad-noise-0"
    assert name_of("../x/My App.toml") == "x-My-App.toml"


def test_a_folder_without_a_suite_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="screensearch study suite"):
        read_suite(tmp_path)


def test_the_commands_build_and_verify_a_suite(suite_folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "suite")
    options = ["--run", str(suite_folder / "corpus"), "--starts", "3", "--seed", "5", "--out", out]
    built = CliRunner().invoke(main, ["study", "suite", WORLD, *options])
    assert built.exit_code == 0, built.output
    assert "Next: screensearch study selector --suite" in built.stdout
    verified = CliRunner().invoke(main, ["study", "verify", out, "--replay", "--json"])
    assert verified.exit_code == 0, verified.output
    assert json.loads(verified.stdout)["failed"] == []
    again = CliRunner().invoke(main, ["study", "suite", WORLD, *options])
    assert again.exit_code == 1
    assert "there is a suite" in again.output
