"""The audit of repeated groups: figures worked out by hand, chance against brute force, files, refusals."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from made_entries import Told, episode, failed_start, walk

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import Entry, EpisodeId, Outcome
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import start_exploration
from screensearch.study.context import (
    Context,
    Trial,
    expected_between,
    read_groups,
    shuffled_means,
    split_group,
)
from screensearch.study.context_report import GROUPS, study_context
from screensearch.study.context_tables import Parts

CONFIGURATION = Context.CONFIGURATION


def paste(number: int, clipboard: str, target: int) -> list[Entry]:
    """An episode of one paste, with this on the clipboard."""
    steps: list[Told] = [(0, "paste", target)]
    return list(episode(steps, number=number, configuration=(("clipboard", clipboard),)))


def trials_of(entries: list[Entry], group: tuple[int, str] = (0, "paste")) -> list[Trial]:
    return list(read_groups(entries)[group])


def figures(trials: list[Trial], context: Context) -> list[float]:
    split = split_group(trials, context)
    return [round(each, 4) for each in (split.pooled, split.within, split.between, split.chance)]


def made(pairs: list[tuple[int, int]]) -> list[Trial]:
    """Trials of (context, successor)."""
    return [Trial(led, dict.fromkeys(Context, context)) for context, led in pairs]


def test_what_the_configuration_decides_lies_all_between() -> None:
    """Two contents, two trials each. Of the six ways to shuffle them, two explain all and four nothing."""
    entries = [*paste(0, "a", 1), *paste(1, "b", 2), *paste(2, "a", 1), *paste(3, "b", 2)]
    assert figures(trials_of(entries), CONFIGURATION) == [1, 0, 1, round(1 / 3, 4)]


def test_what_timing_decides_lies_all_within() -> None:
    entries = [*paste(0, "a", 1), *paste(1, "b", 2), *paste(2, "a", 2), *paste(3, "b", 1)]
    assert figures(trials_of(entries), CONFIGURATION) == [1, 1, 0, round(1 / 3, 4)]


def test_a_mixed_group_is_split_by_hand() -> None:
    """Of "a", three trials lead to 1 and one to 2: 0.8113 bit; of "b", four lead to 2: none.

    Within is half of 0.8113; pooled is the entropy of 3 in 8, 0.9544.
    """
    led = [("a", 1), ("a", 1), ("a", 1), ("a", 2), *[("b", 2)] * 4]
    entries = [entry for number, (held, to) in enumerate(led) for entry in paste(number, held, to)]
    pooled, within, between, _ = figures(trials_of(entries), CONFIGURATION)
    assert (pooled, within, between) == (0.9544, 0.4056, 0.5488)


def test_one_trial_in_each_context_explains_all_by_construction_and_nothing_beyond_chance() -> None:
    entries = [*paste(0, "a", 1), *paste(1, "a", 2), *paste(2, "a", 1)]
    split = split_group(trials_of(entries), Context.EPISODE)
    assert not split.repeated
    assert split.within == 0
    assert split.chance == pytest.approx(split.pooled) == pytest.approx(split.between)
    assert math.isnan(Parts(split.pooled, split.within, split.between, split.chance).beyond)


def test_an_action_that_always_does_the_same_has_nothing_to_split() -> None:
    split = split_group(trials_of([*paste(0, "a", 1), *paste(1, "b", 1)]), CONFIGURATION)
    assert (split.pooled, split.within, split.between, split.chance) == (0, 0, 0, 0)
    assert split.contexts == 2


def contexts_of(entries: list[Entry], group: tuple[int, str], context: Context) -> list[object]:
    return [trial.contexts[context] for trial in read_groups(entries)[group]]


def test_the_step_before_is_a_state_an_action_and_an_outcome() -> None:
    before: list[list[Told]] = [
        [],
        [(5, "copy", 0)],
        [(5, "copy", 0)],
        [(6, "copy", 0)],
        [(5, "cut", 0)],
        [(5, "copy", Outcome.MISSED)],
    ]
    entries = [
        entry
        for number, steps in enumerate(before)
        for entry in episode([*steps, (0, "paste", number)], number=number)
    ]
    found = contexts_of(entries, (0, "paste"), Context.PREVIOUS)
    assert found[1] == found[2]
    assert len(set(found)) == 5


def test_a_history_is_all_steps_since_the_start_and_the_configuration() -> None:
    way: list[Told] = [*walk([3, 4, 5, 0]), (0, "paste", 1)]
    other: list[Told] = [*walk([2, 4, 5, 0]), (0, "paste", 1)]
    dark = (("display_mode", "dark"),)
    entries = [
        *episode(way, number=0),
        *episode(way, number=1),
        *episode(other, number=2),
        *episode(way, number=3, configuration=dark),
    ]
    histories = contexts_of(entries, (0, "paste"), Context.HISTORY)
    assert histories[0] == histories[1]
    assert len(set(histories)) == 3
    recent = contexts_of(entries, (0, "paste"), Context.RECENT)
    assert recent[0] == recent[1] == recent[2] != recent[3]
    assert contexts_of(entries, (0, "paste"), Context.EPISODE)[3] == EpisodeId(0, 3)


def test_only_repeated_ok_transitions_make_a_group() -> None:
    entries = [
        *episode([(0, "paste", 1), (1, "undo", 0), (0, "paste", Outcome.CRASH)], number=0),
        failed_start(1),
        *episode([(0, "paste", 2)], number=2),
    ]
    assert {group: len(trials) for group, trials in read_groups(entries).items()} == {(0, "paste"): 2}


cells = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6)


@given(cells)
def test_the_parts_add_up_and_chance_lies_between_nothing_and_all(pairs: list[tuple[int, int]]) -> None:
    split = split_group(made(pairs), CONFIGURATION)
    assert split.within + split.between == pytest.approx(split.pooled)
    assert split.between >= 0
    assert -1e-9 <= split.chance <= split.pooled + 1e-9


@given(cells)
def test_chance_is_the_mean_over_all_shuffles(pairs: list[tuple[int, int]]) -> None:
    contexts, led = zip(*pairs, strict=True)
    every = [
        split_group(made(list(zip(contexts, order, strict=True))), CONFIGURATION).between
        for order in itertools.permutations(led)
    ]
    assert split_group(made(pairs), CONFIGURATION).chance == pytest.approx(sum(every) / len(every), abs=1e-9)


def test_random_shuffles_agree_with_the_exact_mean_and_with_themselves() -> None:
    groups = [made([(0, 1), (0, 1), (1, 2), (1, 1), (2, 2), (2, 2)]), made([(0, 1), (1, 2), (1, 2), (0, 1)])]
    means = shuffled_means(groups, CONFIGURATION, draws=4_000)
    exact = [split_group(group, CONFIGURATION).chance for group in groups]
    assert means.mean() == pytest.approx(sum(exact) / 2, abs=0.02)
    assert (means == shuffled_means(groups, CONFIGURATION, draws=4_000)).all()


def test_chance_is_exact_for_many_trials() -> None:
    """A large even table: chance explains about (k-1)(c-1) / (2 n ln k) of it, the bias of an entropy."""
    assert expected_between([500] * 4, [1_000, 1_000]) == pytest.approx(
        3 / (2 * 2_000 * math.log(2)), rel=0.01
    )


# -- runs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "notepad"
    settings = ss.resolve(overrides=["explore.screenshots=none"])
    start_exploration("synthetic:notepad", folder, stop=StopRule(steps=400), settings=settings, seed=3)
    return folder


def test_a_run_gives_tables_numbers_and_every_group(folder: Path, tmp_path: Path) -> None:
    summary, files = study_context([folder], tmp_path)
    (row,) = summary.rows
    with ss.open_run(folder) as run:
        tried = [each for state in run.states() for each in run.tried(state.id).values() if each.visits > 1]
    assert row.groups == len(tried)
    assert row.trials == sum(each.visits for each in tried)
    assert row.parts.pooled == pytest.approx(row.parts.within + row.parts.between)
    raw = [json.loads(line) for line in gzip.decompress((tmp_path / GROUPS).read_bytes()).splitlines()]
    assert len(raw) == row.groups
    mean = sum(each["splits"]["recent"]["between"] for each in raw) / len(raw)
    assert mean == pytest.approx(row.parts.between)
    assert all(file.stat().st_size for file in files)
    assert r"\begin{tabular}{lrrrr}" in (tmp_path / "tables.tex").read_text()


def test_the_same_runs_give_the_same_files(folder: Path, tmp_path: Path) -> None:
    _, first = study_context([folder], tmp_path / "a")
    _, second = study_context([folder], tmp_path / "b")
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_the_command_shows_what_it_wrote_and_tells_all_to_machines(folder: Path, tmp_path: Path) -> None:
    words = ["study", "context", str(folder), "--context", "episode", "--out", str(tmp_path)]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / "tables.md").read_text() in shown.output  # no terminal: words are not broken
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert told["context"] == "episode"
    assert [each["context"] for each in told["definitions"]] == [each.value for each in Context]


def test_a_run_given_twice_is_refused(folder: Path, tmp_path: Path) -> None:
    told = CliRunner().invoke(main, ["study", "context", str(folder), str(folder), "--out", str(tmp_path)])
    assert told.exit_code == 1
    assert "same run" in told.output


def test_without_a_run_there_is_nothing_to_study(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["study", "context"]).exit_code == 2
    told = CliRunner().invoke(main, ["study", "context", str(tmp_path / "none")])
    assert told.exit_code == 1
    assert "there is no run at" in told.output


def test_a_run_without_repeated_groups_says_what_to_do(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=["explore.screenshots=none"])
    start_exploration("synthetic:files", tmp_path / "run", stop=StopRule(steps=1), settings=settings)
    told = CliRunner().invoke(
        main, ["study", "context", str(tmp_path / "run"), "--out", str(tmp_path / "out")]
    )
    assert told.exit_code == 1
    assert "explore for longer" in told.output
    assert not (tmp_path / "out").exists()


def test_a_corrupt_run_is_named(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "run.json").write_bytes((folder / "run.json").read_bytes())
    log = bytearray((folder / "log.sqlite").read_bytes())
    log[4096:8192] = b"\xff" * 4096
    (broken / "log.sqlite").write_bytes(log)
    told = CliRunner().invoke(main, ["study", "context", str(broken), "--out", str(tmp_path / "out")])
    assert told.exit_code == 1
    assert str(broken) in told.output
