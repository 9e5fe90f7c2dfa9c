"""Whole explorations that a model decides on: the same loop, log and figures as for any other selector."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import KEY, Endpoint, Reply, completion, serving, told
from click.testing import CliRunner

import screensearch as ss
from screensearch.act.guard import GUARDS
from screensearch.cli import main
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Outcome
from screensearch.errors import PluginUnavailable, SettingsError
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import resume_exploration, start_exploration
from screensearch.explore.remerge import remerge
from screensearch.view.reading import Reading
from screensearch.view.state_page import make_state_page

BASE = ["explore.screenshots=none", "explore.episode_steps=12"]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serving() as state:
        state.plans = [wavering()]
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_MODEL", "tiny")
        yield state


def wavering() -> Any:
    """A model that clicks, types, talks, invents and waits in turn."""
    turns = itertools.count()

    def answer(request: dict[str, Any]) -> Reply:
        candidates = told(request)["candidates"]
        turn = next(turns)
        clickable = [each["id"] for each in candidates if each["click"]]
        editable = [each["id"] for each in candidates if each["edit"]]
        said = [
            json.dumps({"action": "click", "id": clickable[turn % len(clickable)]} if clickable else {}),
            "Let me think about that.",
            json.dumps({"action": "type", "id": editable[0], "text": "a poem"} if editable else {}),
            json.dumps({"action": "click", "id": 999}),
            json.dumps({"action": "wait"}),
        ]
        return completion(said[turn % len(said)])

    return answer


def explore(folder: Path, *overrides: str, selector: str = "reactive", steps: int = 30) -> ss.Summary:
    settings = ss.resolve(overrides=[*BASE, f"select.selector={selector}", *overrides])
    return start_exploration(
        "synthetic:notepad", folder, stop=StopRule(steps=steps), settings=settings, seed=7
    )


def test_a_model_drives_a_run_and_its_failures_are_outcomes_of_their_own(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    summary = explore(folder)
    assert (summary.steps, summary.lost, summary.worker_failures) == (30, 0, 0)
    assert len(endpoint.requests) == 30, "every step is one question, and every question a step"
    assert summary.undecided == summary.new_outcomes["undecided"] >= 12
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()
        assert run.settings.select.reactive.model == "tiny", "a run says which model it asked"
        reasons = run.undecided()
        assert (reasons["bad_json"], reasons["invented_id"]) == (6, 6)
        assert sum(reasons.values()) == summary.undecided
        steps = list(run.transitions())
        idle = [each for each in steps if each.outcome is Outcome.UNDECIDED]
        assert all(each.target == each.source and each.signature is None for each in idle)
        assert all(each.choice is None and each.reward is None for each in idle)
        assert any("a poem" in (each.signature or "") for each in steps), "the model's own words are typed"
        executed = [each for each in steps if each.outcome is Outcome.OK]
        assert sum(stats.visits for state in run.states() for stats in run.tried(state.id).values()) == len(
            executed
        ), "what was not decided feeds no statistics"


def test_the_key_is_in_no_file_of_a_run(endpoint: Endpoint, tmp_path: Path) -> None:
    explore(tmp_path / "run", steps=10)
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
    assert endpoint.keys == [f"Bearer {KEY}"] * 10


def test_the_commands_say_why_nothing_was_done(endpoint: Endpoint, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    options = ["--steps", "10", "--seed", "7", "--set", "select.selector=reactive"]
    explored = CliRunner().invoke(main, ["explore", "synthetic:notepad", *options, "--out", folder])
    assert explored.exit_code == 0, explored.output
    assert "of the steps had no action" in " ".join(explored.output.split())
    shown = CliRunner().invoke(main, ["show", folder])
    assert "undecided, so that nothing was done: " in " ".join(shown.output.split())
    assert "2 bad_json" in shown.output
    counted = json.loads(CliRunner().invoke(main, ["show", folder, "--json"]).output)
    assert counted["undecided"]["invented_id"] == 2


def test_the_viewer_does_not_take_it_for_a_choice_that_was_lost(endpoint: Endpoint, tmp_path: Path) -> None:
    explore(tmp_path / "run", steps=10)
    reading = Reading(tmp_path / "run", "run")
    reading.follow()
    pages = [make_state_page(reading, state, 0) for state in reading.sights.states]
    reading.run.close()
    idle = [each for page in pages for each in page.actions if not each.signature]
    assert {each.words for each in idle} == {"none: the model gave no action"}
    assert sum(each.failures["undecided"] for each in idle) >= 4


def test_a_run_goes_on_with_the_model_that_it_began_with(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    explore(folder, steps=7)
    monkeypatch.setenv("OPENAI_MODEL", "another")
    assert resume_exploration(folder, stop=StopRule(steps=15)).steps == 15
    assert {each["model"] for each in endpoint.requests} == {"tiny"}
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()


def test_only_the_one_with_history_is_told_what_it_did_and_only_in_this_episode(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    explore(tmp_path / "run", selector="reactive-history", steps=24)
    documents = [told(each) for each in endpoint.requests]
    steps = [each["counters"]["step"] for each in documents]
    known = [len(each["last_actions"]) for each in documents]
    assert known[0] == 0
    assert max(known) <= 8
    begins = [place for place, step in enumerate(steps) if step == 0]
    assert all(step in (0, before + 1) for before, step in itertools.pairwise(steps))
    assert [known[place] for place in begins] == [0] * len(begins)
    assert len(begins) >= 2
    actions = [action for each in documents for action in each["last_actions"]]
    assert {each["action"] for each in actions} == {"click", "type", "wait"}
    assert any(each.get("text") == "a poem" for each in actions)


def test_a_remerged_run_keeps_what_was_not_decided(endpoint: Endpoint, tmp_path: Path) -> None:
    explore(tmp_path / "run")
    with ss.open_run(tmp_path / "run") as run:
        settings = ss.resolve(
            overrides=[
                *BASE,
                "select.selector=reactive",
                "select.reactive.model=tiny",
                "identify.merge.threshold=0.5",
            ]
        )
        remerge(run, settings, tmp_path / "coarse")
        with ss.open_run(tmp_path / "coarse") as coarse:
            assert coarse.verify().problems == ()
            assert coarse.undecided() == run.undecided()
            idle = [each for each in coarse.transitions() if each.outcome is Outcome.UNDECIDED]
            assert all(each.target == each.source for each in idle)


def test_a_missing_model_or_a_deadline_that_is_too_short_is_refused_before_there_is_a_run(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match=r"select\.reactive\.timeout_seconds"):
        explore(tmp_path / "run", "explore.step_deadline_seconds=20")
    monkeypatch.delenv("OPENAI_MODEL")
    with pytest.raises(PluginUnavailable, match="OPENAI_MODEL"):
        explore(tmp_path / "run")
    assert not (tmp_path / "run").exists()


class NoSecrets:
    """A guard that looks at what is typed."""

    def __init__(self, patterns: object = ()) -> None: ...

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        return "that is a secret" if ("text", "secret") in candidate.action.arguments else None


def test_text_of_a_model_has_to_pass_the_guards(endpoint: Endpoint, tmp_path: Path) -> None:
    GUARDS.register("no_secrets", NoSecrets)
    endpoint.plans = [typing_a_secret]
    settings = ss.resolve(
        overrides=[*BASE, "select.selector=reactive", 'guard.rules=[{name="no_secrets", patterns=[]}]']
    )
    world = ss.ENVIRONMENTS.get("synthetic")("notepad", ss.Means(screenshots=False))
    start_exploration(world, tmp_path / "run", stop=StopRule(steps=4), settings=settings, seed=7)
    with ss.open_run(tmp_path / "run") as run:
        assert run.undecided() == {"vetoed": 4}
        assert all("that is a secret" in each.note for each in run.transitions())


def typing_a_secret(request: dict[str, Any]) -> Reply:
    editable = [each["id"] for each in told(request)["candidates"] if each["edit"]]
    return completion(json.dumps({"action": "type", "id": editable[0], "text": "secret"}))
