"""When a run has enough: rules of the options, rules of the settings, and what must be said aloud."""

from __future__ import annotations

from pathlib import Path

import pytest

import screensearch as ss
from screensearch.errors import SettingsError
from screensearch.explore.budget import Budget, StopRule
from screensearch.explore.consent import check_consent

FAST = "explore.screenshots=none"
LARGE = "synthetic:generated?states=2000"


def test_a_budget_of_states_grants_nothing_once_they_are_found() -> None:
    budget = Budget(states=3)
    budget.start_from(0, 1)
    assert budget.grant(0)
    budget.take(0)
    budget.discover()
    assert not budget.enough()
    budget.discover()
    assert budget.enough()
    assert not budget.grant(0)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_number_of_states_ends_a_run(tmp_path: Path, workers: int) -> None:
    settings = ss.resolve(overrides=[FAST])
    stop = StopRule(states=12)
    summary = ss.start_exploration(LARGE, tmp_path / "run", stop=stop, settings=settings, workers=workers)
    assert summary.ended == "states"
    assert 12 <= summary.states < 12 + workers  # steps under way may find some more
    again = ss.resume_exploration(tmp_path / "run", stop=stop)
    assert (again.steps, again.ended) == (summary.steps, "states already")


def test_the_settings_say_when_it_is_enough_if_nothing_else_does(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=[FAST, "stop.steps=30"])
    assert ss.start_exploration(LARGE, tmp_path / "run", settings=settings).steps == 30
    assert ss.resume_exploration(tmp_path / "run", stop=StopRule(steps=40)).steps == 40
    enough = ss.resume_exploration(tmp_path / "run")  # 30 are there already
    assert (enough.steps, enough.ended) == (40, "steps already")


def test_minutes_of_the_settings_are_seconds_of_a_rule() -> None:
    assert StopRule.of(ss.resolve(overrides=["stop.minutes=0.5"]).stop) == StopRule(seconds=30)
    assert StopRule.of(ss.resolve(overrides=["stop.states=9", "stop.plateau=4"]).stop) == StopRule(
        states=9, plateau=4
    )


def test_a_run_without_any_rule_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"needs a stop rule: .*stop\.minutes"):
        ss.start_exploration(LARGE, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("stop.steps=0", "stop.steps is 0, but must be >= 1"),
        ("stop.states=-1", "stop.states is -1"),
        ("stop.minutes=0", "stop.minutes is 0"),
        ("stop.minutes=inf", "stop.minutes is inf"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(override: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ss.resolve(overrides=[override])


def test_nothing_runs_without_a_sandbox_unless_the_caller_says_so(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=[FAST, "desktop.sandbox=false"])
    with pytest.raises(SettingsError, match=r"as you, with your files, your network.*--unsandboxed"):
        ss.start_exploration(LARGE, tmp_path / "run", stop=StopRule(steps=5), settings=settings)
    assert not (tmp_path / "run").exists()
    ss.start_exploration(LARGE, tmp_path / "run", stop=StopRule(steps=5), settings=settings, unsandboxed=True)
    with pytest.raises(SettingsError, match="--unsandboxed"):
        ss.resume_exploration(tmp_path / "run", stop=StopRule(steps=9))
    assert ss.resume_exploration(tmp_path / "run", stop=StopRule(steps=9), unsandboxed=True).steps == 9


def test_the_gate_on_irreversible_actions_cannot_be_opened_silently_without_a_sandbox() -> None:
    allowed = ["desktop.sandbox=false", "guard.irreversible=allow"]
    with pytest.raises(SettingsError, match="--allow-irreversible"):
        check_consent(ss.resolve(overrides=allowed), unsandboxed=True, allow_irreversible=False)
    check_consent(ss.resolve(overrides=allowed), unsandboxed=True, allow_irreversible=True)
    check_consent(ss.resolve(overrides=allowed[1:]), unsandboxed=False, allow_irreversible=False)
