"""Matched runs: what is shared, what counts, and that what befalls a study does not show in its results."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_suite import SETTINGS, WORLD

import screensearch as ss
from screensearch.cli import main
from screensearch.environments.protocol import Environment, Means
from screensearch.errors import EnvironmentFailed, FormatError, RunBusy, SettingsError
from screensearch.explore.replay.result import Verdict, Walk
from screensearch.explore.replay.walk import Walker
from screensearch.study import episode, matched
from screensearch.study.build import CorpusPlan, build_suite
from screensearch.study.conditions import COMPONENTS, SELECTOR, STUDIES, Condition, conditions_for
from screensearch.study.episode import Chances
from screensearch.study.files import conducted
from screensearch.study.matched import run_study
from screensearch.study.matching import matching_of, matchings_of
from screensearch.study.plan import Plan, StudyFolder, planned, read_results, spread
from screensearch.study.report import write_report
from screensearch.study.starts import Eligibility
from screensearch.study.suite import open_suite, read_suite
from screensearch.study.trace import Failure, Trace

pytest_plugins = ["study_fixtures"]

BUDGET = 12


SOME = SELECTOR[:3]


def plan_of(
    suite_folder: Path, conditions: Sequence[Condition] = SOME, starts: int = 3, steps: int = BUDGET
) -> Plan:
    return Plan(
        study="selector",
        conditions=list(conditions),
        suites=[planned(read_suite(suite_folder), starts)],
        steps=steps,
        replicates=1,
        seed=11,
        version="test",
    )


@pytest.fixture(scope="module")
def finished(suite_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Trace]]:
    """A study that nothing happened to."""
    folder = tmp_path_factory.mktemp("study") / "whole"
    plan = plan_of(suite_folder)
    traces = run_study(plan, folder, {"small": suite_folder})
    write_report(plan, traces, folder)
    return folder, traces


def written(folder: Path) -> dict[str, bytes]:
    """Everything that a study leaves for a reader."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_conditions_share_the_start_and_the_worlds_chances(finished: tuple[Path, list[Trace]]) -> None:
    starts: dict[int, set[tuple[int, object, float]]] = {}
    for trace in finished[1]:
        begun = (trace.states[0], trace.true_states[0], trace.ambiguity[0])
        starts.setdefault(trace.place.start, set()).add(begun)
    assert [len(each) for each in starts.values()] == [1, 1, 1]


def test_an_episode_begins_at_the_state_of_its_start(
    finished: tuple[Path, list[Trace]], suite_folder: Path
) -> None:
    suite = read_suite(suite_folder)
    for trace in finished[1]:
        assert trace.states[0] == suite.starts[trace.place.start].state


def test_every_episode_has_all_its_steps_also_when_the_application_ended(
    finished: tuple[Path, list[Trace]], suite_folder: Path, tmp_path: Path
) -> None:
    random = [condition for condition in SELECTOR if condition.name == "random"]
    traces = run_study(plan_of(suite_folder, random, steps=40), tmp_path, {"small": suite_folder})
    assert sum(trace.returns for trace in traces) > 0  # or this tests nothing: the world has hazards
    for trace in [*finished[1], *traces]:
        lengths = {len(trace.states), len(trace.ambiguity), len(trace.edges), len(trace.outcomes)}
        assert lengths == {40 if trace in traces else BUDGET}
        left = [state for state, how in zip(trace.states, trace.outcomes, strict=True) if how == "crash"]
        assert set(left) <= {trace.states[0]}


def test_only_coverage_beyond_the_initial_graph_is_new(
    finished: tuple[Path, list[Trace]], suite_folder: Path
) -> None:
    with open_suite(suite_folder) as suite:
        graph = suite.run.graph
        edges = {(source, signature, target) for source, signature, target, _ in graph.iter_edges()}
        for trace in finished[1]:
            assert trace.known_states == [state < graph.states for state in trace.states]
            for edge, known in zip(trace.edges, trace.known_edges, strict=True):
                assert known == (edge is None or edge in edges)


def test_chances_depend_on_the_start_and_the_replicate_only() -> None:
    assert Chances.of(1, 2, 3).world == Chances.of(1, 2, 3).world
    assert len({Chances.of(1, start, replicate).world for start in range(5) for replicate in range(5)}) == 25


def test_conditions_differ_in_what_they_do(finished: tuple[Path, list[Trace]]) -> None:
    chosen = {
        name: [t.signatures for t in finished[1] if t.place.condition == name] for name in ("puct", "greedy")
    }
    assert chosen["puct"] != chosen["greedy"]


DYING = """
import os, signal, sys
from pathlib import Path
import screensearch.study.episode as episode
from screensearch.study.plan import StudyFolder
from screensearch.study.matched import run_study
step, taken = episode.explore_step, 0
async def dying(*given):
    global taken
    taken += 1
    if taken == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return await step(*given)
episode.explore_step = dying
study = StudyFolder(Path(sys.argv[1]))
run_study(study.plan(), study.path, {"small": Path(sys.argv[2])})
"""


def test_a_study_killed_in_the_middle_of_an_episode_and_resumed_equals_one_that_was_not(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path
) -> None:
    plan, step = plan_of(suite_folder), 40
    StudyFolder(tmp_path).begin(plan)
    killed = subprocess.run([sys.executable, "-c", DYING, str(tmp_path), str(suite_folder), str(step)])
    assert killed.returncode == -signal.SIGKILL
    there = len(list(tmp_path.rglob("episodes/**/*.json")))
    assert there == (step - 1) // (BUDGET - 1)  # the one under way is all that is lost
    again: list[Trace] = []
    traces = run_study(
        plan, tmp_path, {"small": suite_folder}, on_episode=lambda trace, done, total: again.append(trace)
    )
    assert len(again) == len(traces) - there
    write_report(plan, traces, tmp_path)
    assert written(tmp_path) == written(finished[0])


def test_several_processes_one_of_which_is_killed_give_the_same_results(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path
) -> None:
    plan = plan_of(suite_folder)
    killed: list[int] = []

    def kill_one(trace: Trace, done: int, total: int) -> None:
        if not killed:
            victim = multiprocessing.active_children()[0].pid
            assert victim is not None
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    traces = run_study(plan, tmp_path, {"small": suite_folder}, workers=2, on_episode=kill_one)
    assert killed
    write_report(plan, traces, tmp_path)
    assert written(tmp_path) == written(finished[0])


def test_a_failure_around_the_application_is_recorded_as_such_and_can_be_tried_again(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(suite_folder)
    opened: list[str] = []

    def failing(specification: str, means: Means) -> Environment:
        opened.append(specification)
        raise EnvironmentFailed("no display <b>today</b>")

    with monkeypatch.context() as patched:
        patched.setattr(episode, "open_environment", failing)
        failed = run_study(plan, tmp_path, {"small": suite_folder})
    assert {trace.failure for trace in failed} == {Failure.ENVIRONMENT}
    assert len(opened) == matched.TRIES * len(failed)
    assert run_study(plan, tmp_path, {"small": suite_folder}) == failed  # they count as finished
    summary, _ = write_report(plan, failed, tmp_path)
    assert summary.rows == []
    assert "Episodes that failed and are left out: 9 by environment" in (tmp_path / "tables.md").read_text()
    again = run_study(plan, tmp_path, {"small": suite_folder}, retry_failed=True)
    assert again == finished[1]


def test_a_start_that_is_not_reached_is_no_result_of_its_condition(
    suite_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Straying(Walker):
        async def walk(self, number: int, seed: int) -> Walk:
            return Walk(number, Verdict.STRAYED, 1, "another window came up", (), (), 0.0)

    monkeypatch.setattr(episode, "Walker", Straying)
    (trace,) = run_study(plan_of(suite_folder, SELECTOR[:1], 1), tmp_path, {"small": suite_folder})
    assert trace.failure is Failure.PREFIX
    assert "another window came up" in trace.note


def test_a_condition_that_judges_otherwise_begins_with_a_graph_made_by_its_own_rules(
    suite_folder: Path, tmp_path: Path
) -> None:
    wanted = [each for each in COMPONENTS if each.name in ("full", "prior", "content-free")]
    run_study(plan_of(suite_folder, wanted, 1), tmp_path, {"small": suite_folder})
    with open_suite(suite_folder) as suite:
        states = suite.run.graph.states
    with ss.open_run(tmp_path / "initial" / "small" / "prior") as prior:
        assert prior.graph.states == states
        values = {tried.value for state in prior.graph.iter_states() for tried in prior.tried(state).values()}
        assert values == {0.0}
    with ss.open_run(tmp_path / "initial" / "small" / "content-free") as coarse:
        assert coarse.graph.states < states
    assert not (tmp_path / "initial" / "small" / "full").exists()  # as the suite's: no need


def test_a_run_with_pictures_serves_as_a_corpus_and_episodes_take_none(tmp_path: Path) -> None:
    run, suite = tmp_path / "run", tmp_path / "suite"
    ss.start_exploration(WORLD, run, stop=ss.StopRule(steps=60), seed=1)
    rules = Eligibility(occurrences=1, anchor_step=2)
    built = build_suite("small", WORLD, SETTINGS, suite, CorpusPlan(run=run), starts=1, rules=rules)
    assert built.settings["settings"]["explore"]["screenshots"] == "none"
    prior = [each for each in COMPONENTS if each.name == "prior"]
    (trace,) = run_study(plan_of(suite, prior, 1), tmp_path / "study", {"small": suite})
    assert trace.complete


def test_a_condition_cannot_change_what_a_prefix_depends_on() -> None:
    with pytest.raises(SettingsError, match="candidates"):
        Condition("x", "X", ("candidates.scroll=false",)).settings(ss.resolve())


def test_the_conditions_of_all_studies_are_of_settings_that_exist() -> None:
    settings = ss.resolve()
    for conditions in STUDIES.values():
        assert all(condition.settings(settings) is not None for condition in conditions)


def test_the_constant_that_a_suite_does_not_have_is_a_condition_too() -> None:
    assert [each.name for each in conditions_for("selector", [ss.resolve()])][:2] == ["puct", "puct-c20"]
    live = ss.settings_for("mousepad")[1]
    assert [each.name for each in conditions_for("selector", [live])][:2] == ["puct", "puct-c1"]


def test_a_part_of_a_suite_is_spread_over_its_strata(suite_folder: Path) -> None:
    suite = read_suite(suite_folder)
    strata = {each.number: each.stratum for each in suite.starts}
    assert len({strata[number] for number in spread(suite, 3)}) == 3
    assert spread(suite, 6) == list(range(6))
    with pytest.raises(SettingsError, match="has 6 starts, not 7"):
        spread(suite, 7)


@pytest.mark.parametrize("policy", ["breadth-first", "depth-first"])
def test_the_systematic_ways_try_what_was_never_tried(
    suite_folder: Path, tmp_path: Path, policy: str
) -> None:
    wanted = [each for each in SELECTOR if each.name in (policy, "greedy")]
    traces = run_study(plan_of(suite_folder, wanted), tmp_path, {"small": suite_folder})
    edges = {
        name: sum(trace.edge_curve(BUDGET)[-1] for trace in traces if trace.place.condition == name)
        for name in (policy, "greedy")
    }
    assert edges[policy] > 2 * edges["greedy"]


def test_rules_are_judged_by_the_truth_where_it_is_known(suite_folder: Path, tmp_path: Path) -> None:
    wanted = [each for each in COMPONENTS if each.name in ("full", "identical", "content-free")]
    plan = plan_of(suite_folder, wanted, 1, steps=2)
    run_study(plan, tmp_path, {"small": suite_folder})
    found = {each.condition: each for each in matchings_of(plan, tmp_path, {"small": suite_folder})}
    assert {each.reference for each in found.values()} == {"true screens"}
    identical, coarse = found["identical"], found["content-free"]
    assert (identical.pair_f1, identical.false_merge) == (1.0, 0.0)  # a world without noise
    assert coarse.false_merge > 0
    assert coarse.states < identical.states
    shutil.rmtree(tmp_path / "initial")  # as in a study that was stored
    again = matchings_of(plan, tmp_path, {"small": suite_folder})
    assert {each.condition: each for each in again} == found


def test_without_a_truth_rules_are_held_against_the_suites_own_states(
    suite_folder: Path, tmp_path: Path
) -> None:
    corpus = shutil.copytree(suite_folder / "corpus", tmp_path / "corpus")
    shutil.rmtree(corpus / "truth")
    found = matching_of("small", "base", corpus, corpus)
    assert (found.reference, found.pair_f1, found.false_merge) == ("the suite's states", 1.0, 0.0)


def test_a_folder_of_another_study_is_left_alone(
    suite_folder: Path, finished: tuple[Path, list[Trace]]
) -> None:
    with pytest.raises(SettingsError, match="steps differ"):
        run_study(plan_of(suite_folder, steps=13), finished[0], {"small": suite_folder})


def test_a_study_that_is_given_more_to_do_keeps_what_it_has(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path
) -> None:
    whole, suites = plan_of(suite_folder), {"small": suite_folder}
    part = replace(
        whole,
        conditions=whole.conditions[:1],
        suites=[replace(each, starts=each.starts[:1]) for each in whole.suites],
    )
    (first,) = run_study(part, tmp_path, suites)
    kept = StudyFolder(tmp_path).episode(first.place)
    before = kept.stat()
    traces = run_study(whole, tmp_path, suites)
    write_report(whole, traces, tmp_path)
    assert kept.stat().st_mtime_ns == before.st_mtime_ns
    assert written(tmp_path) == written(finished[0])


def test_a_condition_that_means_something_else_now_makes_another_study(
    suite_folder: Path, finished: tuple[Path, list[Trace]]
) -> None:
    plan = plan_of(suite_folder)
    changed = replace(plan, conditions=[replace(plan.conditions[0], overrides=("select.c_puct=3.0",))])
    with pytest.raises(SettingsError, match="conditions 'puct' differ"):
        run_study(changed, finished[0], {"small": suite_folder})


def test_stored_results_are_the_episodes_and_a_damaged_file_is_refused(
    finished: tuple[Path, list[Trace]], tmp_path: Path
) -> None:
    path = finished[0] / "results.jsonl.gz"
    assert read_results(path) == finished[1]
    (tmp_path / "cut.gz").write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match="restore it"):
        read_results(tmp_path / "cut.gz")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2 : len(damaged) // 2 + 8] = bytes(8)
    (tmp_path / "holed.gz").write_bytes(damaged)
    with pytest.raises(FormatError, match=r"holed\.gz.*restore it"):
        read_results(tmp_path / "holed.gz")


def test_a_study_goes_on_from_its_stored_results(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("study.json", "results.jsonl.gz"):
        shutil.copy(finished[0] / name, tmp_path / name)
    ran: list[matched.Task] = []
    run_task = matched.run_task

    def noted(task: matched.Task) -> Trace:
        ran.append(task)
        return run_task(task)

    monkeypatch.setattr(matched, "run_task", noted)
    plan = plan_of(suite_folder)
    assert run_study(plan, tmp_path, {"small": suite_folder}) == finished[1]
    assert not ran
    study = StudyFolder(tmp_path)
    again = finished[1][0].place
    study.episode(again).unlink()  # by somebody who wants to see it once more
    assert run_study(plan, tmp_path, {"small": suite_folder}) == finished[1]
    assert [task.place for task in ran] == [again]


def test_results_without_a_plan_are_not_taken_for_those_of_another(
    suite_folder: Path, finished: tuple[Path, list[Trace]], tmp_path: Path
) -> None:
    shutil.copy(finished[0] / "results.jsonl.gz", tmp_path)
    with pytest.raises(SettingsError, match=r"no study\.json.*another --out"):
        run_study(plan_of(suite_folder), tmp_path, {"small": suite_folder})


def test_a_study_is_run_by_one_process_at_a_time(suite_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(suite_folder)
    with conducted(tmp_path), pytest.raises(RunBusy, match="is run by another process"):
        run_study(plan, tmp_path, {"small": suite_folder})
    assert not (tmp_path / "study.json").exists()


def test_a_damaged_file_of_a_study_is_named_with_what_to_do(
    finished: tuple[Path, list[Trace]], suite_folder: Path, tmp_path: Path
) -> None:
    study = StudyFolder(shutil.copytree(finished[0], tmp_path / "study"))
    place = finished[1][0].place
    study.episode(place).write_bytes(study.episode(place).read_bytes()[:100])
    with pytest.raises(FormatError, match=rf"{study.episode(place).name}.*remove it"):
        run_study(plan_of(suite_folder), study.path, {"small": suite_folder})
    (study.path / "study.json").write_text("{")
    with pytest.raises(FormatError, match=r"study\.json.*restore it"):
        study.plan()


def test_the_command_runs_a_study_and_says_what_it_wrote(suite_folder: Path, tmp_path: Path) -> None:
    options = ["--suite", str(suite_folder), "--starts", "2", "--budget", "6", "--out", str(tmp_path / "out")]
    chosen = ["--condition", "puct", "--condition", "greedy", "--add", "eager=select.c_puct=5"]
    ran = CliRunner().invoke(main, ["study", "selector", *options, *chosen, "--json"])
    assert ran.exit_code == 0, ran.output
    answer = json.loads(ran.stdout)
    assert [row["condition"] for row in answer["summary"]["rows"]] == ["puct", "greedy", "eager"]
    assert all(Path(path).exists() for path in answer["files"])
    again = CliRunner().invoke(main, ["study", "selector", *options, *chosen])
    assert "| small | PUCT | 2 |" in again.stdout
    taken = CliRunner().invoke(main, ["study", "selector", *options, "--add", "greedy=select.c_puct=5"])
    assert "has a condition 'greedy' already" in taken.output
    malformed = CliRunner().invoke(main, ["study", "selector", *options, "--add", "eager"])
    assert "NAME=KEY=VALUE" in malformed.output
    unknown = CliRunner().invoke(main, ["study", "selector", *options, "--condition", "magic"])
    assert unknown.exit_code == 1
    assert "no condition 'magic' (known: puct, puct-c20, greedy" in unknown.output
