"""The diagnostic: graphs that begin empty, every answer of a model counted, the paper's rows below ours."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from chat_server import KEY, Endpoint, answering, completion, saying, serving, told
from click.testing import CliRunner, Result
from test_matched import DYING

import screensearch as ss
from screensearch.cli import main
from screensearch.errors import SettingsError
from screensearch.select.policy import Asked
from screensearch.study.conditions import Condition, Initial
from screensearch.study.diagnostic import PUCT, diagnose, diagnostic_conditions
from screensearch.study.diagnostic_report import curves_cells, diagnostic_latex, write_diagnostic
from screensearch.study.matched import run_study
from screensearch.study.plan import Plan, PlannedSuite, StudyFolder, planned
from screensearch.study.suite import open_suite, read_suite
from screensearch.study.trace import Failure, Place, Trace

pytest_plugins = ["study_fixtures"]

BUDGET = 12


def plan_of(suite_folder: Path, conditions: Sequence[Condition] = (PUCT,), starts: int = 3) -> Plan:
    return Plan(
        study="diagnostic",
        conditions=list(conditions),
        suites=[planned(read_suite(suite_folder), starts)],
        steps=BUDGET,
        replicates=1,
        seed=11,
        version="test",
    )


def reactive(*settings: str) -> list[Condition]:
    return diagnostic_conditions([ss.resolve()], ["tiny"], settings)[1:]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serving() as state:
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.delenv("OPENAI_MODEL", raising=False)
        yield state


@pytest.fixture(scope="module")
def finished(suite_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Trace]]:
    """A diagnostic of PUCT alone that nothing happened to."""
    folder = tmp_path_factory.mktemp("diagnostic") / "whole"
    plan = plan_of(suite_folder)
    traces = run_study(plan, folder, {"small": suite_folder})
    write_diagnostic(plan, traces, folder)
    return folder, traces


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_the_graph_of_every_episode_begins_empty(
    finished: tuple[Path, list[Trace]], suite_folder: Path, tmp_path: Path
) -> None:
    with_corpus = Condition(PUCT.name, PUCT.title, PUCT.overrides)
    assert with_corpus.initial is Initial.CORPUS
    traces = run_study(plan_of(suite_folder, [with_corpus]), tmp_path, {"small": suite_folder})
    with open_suite(suite_folder) as suite:
        unknown = suite.settings.ambiguity.prior_ambiguity
    for ours, theirs in zip(finished[1], traces, strict=True):
        assert ours.states[0] == 0, "the start is the first state that this graph has"
        assert sorted(set(ours.states)) == list(range(len(set(ours.states))))
        assert ours.ambiguity[0] == unknown
        assert not any(ours.known_states)
        assert ours.true_states[0] == theirs.true_states[0], "the same start of the same world"
        assert theirs.known_states[0]
        assert theirs.states[0] == read_suite(suite_folder).starts[theirs.place.start].state


def test_a_diagnostic_killed_in_the_middle_and_resumed_equals_one_that_was_not(
    finished: tuple[Path, list[Trace]], suite_folder: Path, tmp_path: Path
) -> None:
    plan = plan_of(suite_folder)
    StudyFolder(tmp_path).begin(plan)
    command = [sys.executable, "-c", DYING, str(tmp_path), str(suite_folder), str(2 * BUDGET)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert len(list(tmp_path.rglob("episodes/**/*.json"))) == 2
    write_diagnostic(plan, run_study(plan, tmp_path, {"small": suite_folder}), tmp_path)
    assert written(tmp_path) == written(finished[0])


def a_click(request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """A good answer: click what can be clicked."""
    number = next(each["id"] for each in told(request)["candidates"] if each["click"])
    return completion(json.dumps({"action": "click", "id": number, "reason": "to see"}))


def test_every_way_to_answer_is_counted_and_costs_its_step(
    suite_folder: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.plans = [
        a_click,
        saying('{"action": "click", "id": 9999}'),
        saying("Let me think about it."),
        lambda _: completion(None, refusal="I will not."),
        endpoint.hang,
        answering(500),
        a_click,
    ]
    plan = plan_of(suite_folder, reactive("timeout_seconds=4")[:1], starts=1)
    (trace,) = run_study(plan, tmp_path, {"small": suite_folder})
    assert trace.complete
    assert len(trace.states) == BUDGET
    assert trace.outcomes[2:7] == ["undecided"] * 5
    assert trace.states[2:7] == [trace.states[1]] * 5, "nothing was done"
    assert trace.edges[2:7] == [None] * 5
    (row,) = diagnose(plan, [trace]).rows
    assert row.answers is not None
    assert row.answers.undecided == {
        "refusal": 1,
        "bad_json": 1,
        "invented_id": 1,
        "timeout": 1,
        "http_status": 1,
    }
    assert (row.answers.questions, row.answers.decided) == (BUDGET - 1, BUDGET - 1 - 5)
    assert row.answers.question_tokens == BUDGET - 1 - 2, "none is told of where there was no reply"
    assert KEY not in json.dumps(trace.undecided)
    assert endpoint.url not in json.dumps(trace.undecided), "where a model was asked is nobody's business"


def test_a_model_is_told_of_the_budget_and_only_the_one_with_context_of_earlier_actions(
    suite_folder: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.plans = [a_click]
    plan = plan_of(suite_folder, reactive(), starts=1)
    without, with_history = run_study(plan, tmp_path, {"small": suite_folder})
    assert [each.place.condition for each in (without, with_history)] == [
        "reactive-tiny",
        "reactive-history-tiny",
    ]
    documents = [told(request) for request in endpoint.requests]
    first, second = documents[: BUDGET - 1], documents[BUDGET - 1 :]
    assert [each["counters"]["steps_left"] for each in first] == list(range(BUDGET - 1, 0, -1))
    assert not any("last_actions" in each for each in first)
    assert [len(each["last_actions"]) for each in second][:4] == [0, 1, 2, 3]
    assert {request["model"] for request in endpoint.requests} == {"tiny"}


def test_an_endpoint_that_never_answers_makes_an_episode_fail_and_not_the_model_look_bad(
    suite_folder: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.plans = [answering(500)]
    plan = plan_of(suite_folder, [PUCT, *reactive()[:1]], starts=1)
    puct, model = run_study(plan, tmp_path, {"small": suite_folder})
    assert puct.complete
    assert (model.failure, model.complete) == (Failure.ENDPOINT, False)
    assert "HTTP 500" in model.note
    found, _ = write_diagnostic(plan, [puct, model], tmp_path)
    assert [row.condition for row in found.rows] == ["puct"]
    assert "left out: 1 by endpoint" in (tmp_path / "tables.md").read_text()
    endpoint.plans = [saying("Hm.")]
    _, again = run_study(plan, tmp_path, {"small": suite_folder}, retry_failed=True)
    assert again.complete
    assert again.asked == Asked(BUDGET - 1, BUDGET - 1, BUDGET - 1)


def test_a_decision_may_take_longer_than_a_worker_is_waited_for_elsewhere(
    suite_folder: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    plan = plan_of(suite_folder, reactive("timeout_seconds=300")[:1], starts=1)
    (trace,) = run_study(plan, tmp_path, {"small": suite_folder})
    assert trace.complete


# -- the command ----------------------------------------------------------------------------------


def invoke(*options: str) -> Result:
    return CliRunner().invoke(main, ["study", "diagnostic", *options])


def test_without_a_model_the_command_runs_puct_and_says_how_to_configure_one(
    suite_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    options = ("--suite", str(suite_folder), "--starts", "2", "--budget", "6", "--out", str(tmp_path))
    ran = invoke(*options, "--json")
    assert ran.exit_code == 0, ran.output
    answer = json.loads(ran.stdout)
    assert [row["condition"] for row in answer["summary"]["rows"]] == ["puct"]
    assert all(Path(path).exists() for path in answer["files"])
    assert "OPENAI_MODEL" in ran.stderr
    assert "OPENAI_BASE_URL" in ran.stderr
    assert "What the models answered" not in (tmp_path / "tables.md").read_text()
    nowhere = invoke(*options[:-1], str(tmp_path / "other"), "--model", "tiny")
    assert nowhere.exit_code == 1
    assert "a model needs an endpoint" in nowhere.output


def test_the_model_of_the_environment_is_asked_and_its_answers_stand_in_a_table(
    suite_folder: Path, tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_MODEL", "org/tiny:1")
    endpoint.plans = [a_click, saying("no")]
    options = ("--suite", str(suite_folder), "--starts", "1", "--budget", "6", "--out", str(tmp_path))
    ran = invoke(*options, "--reactive", "schema=true")
    assert ran.exit_code == 0, ran.output
    assert "Asked with the settings `schema=true`." in ran.stdout
    assert {request["model"] for request in endpoint.requests} == {"org/tiny:1"}
    assert "| small | Reactive org/tiny:1, no ctx | 5 | 1 | 0 | 4 | 0 | 0 | 1 | 1 |" in ran.stdout
    assert "| small | Reactive org/tiny:1, ctx | 5 | 0 | 0 | 5 | 0 | 0 | 1 | 1 |" in ran.stdout
    assert endpoint.url not in (tmp_path / "study.json").read_text()
    for kind in ("frontier", "ambiguity"):
        figure = ElementTree.parse(tmp_path / f"small-{kind}.svg")
        assert "org/tiny:1, ctx" in [each.text for each in figure.iter()]


def test_a_model_is_given_once() -> None:
    with pytest.raises(SettingsError, match="give each --model once"):
        diagnostic_conditions([ss.resolve()], ["tiny", "tiny"])


def test_the_papers_constant_is_a_condition_where_a_suite_has_another() -> None:
    live = ss.settings_for("mousepad")[1]
    assert [each.name for each in diagnostic_conditions([live], [])] == ["puct", "puct-c1"]
    assert [each.name for each in diagnostic_conditions([ss.resolve()], [])] == ["puct"]


# -- the tables -----------------------------------------------------------------------------------


def trace_of(start: int, states: list[int], suite: str = "mousepad") -> Trace:
    count = len(states)
    return Trace(
        place=Place(suite, "puct", start, 0),
        states=states,
        ambiguity=[0.5 - 0.1 * state for state in states],
        known_states=[False] * count,
        signatures=[None, *(f"s{step}" for step in range(1, count))],
        outcomes=["start", *["ok"] * (count - 1)],
        known_edges=[True, *[False] * (count - 1)],
        true_states=[None] * count,
    )


def small_plan(suite: str, steps: int) -> Plan:
    return Plan(
        study="diagnostic",
        conditions=[PUCT],
        suites=[PlannedSuite(suite, "d" * 64, f"desktop:{suite}", 0.35, [0, 1])],
        steps=steps,
        replicates=1,
        seed=0,
        version="test",
    )


def test_a_row_by_hand() -> None:
    found = diagnose(small_plan("mousepad", 4), [trace_of(0, [0, 1, 1, 2]), trace_of(1, [0, 0, 0, 0])])
    (row,) = found.rows
    assert (row.frontier.mean, row.frontier_auc.mean) == ((2 + 0) / 2, (0 + 1 + 1 + 2 + 0) / 2)
    assert row.frontier.deviation == pytest.approx(2**0.5)
    assert row.ambiguity.mean == pytest.approx((-0.2 + 0) / 2)
    assert row.ambiguity_auc.mean == pytest.approx((0 - 0.1 - 0.1 - 0.2) / 2)
    assert row.edges.mean == (3 + 3) / 2
    assert row.revisit.mean == pytest.approx((1 / 3 + 1) / 2)
    assert row.answers is None


def test_the_papers_rows_stand_below_those_of_its_stand_in_and_its_budget_only() -> None:
    for suite, steps, shown in (("mousepad", 50, True), ("mousepad", 20, False), ("thunar", 50, False)):
        found = diagnose(small_plan(suite, steps), [trace_of(0, [0, 1], suite)])
        methods = [line[1] for line in curves_cells(found)]
        assert ("Reactive GPT-5.4 mini, ctx" in methods) is shown
        assert ("Learned diffusion" in diagnostic_latex(found)) is shown
    latex = diagnostic_latex(diagnose(small_plan("my_app", 50), [trace_of(0, [0, 1], "my_app")]))
    assert r"my\_app" in latex
    assert r"$M_V$(49) & Frontier AUC & $\Delta u$ at 49 & Ambiguity AUC\\" in latex
    assert latex.count("{") == latex.count("}")
