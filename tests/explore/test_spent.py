"""An action that failed too often at a state is left alone there, and that is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from failing_world import FailingWorld

import screensearch as ss
from screensearch.act.guard import Guarded, Veto
from screensearch.domain.action import Action, Candidate
from screensearch.errors import SettingsError
from screensearch.explore.spent import set_aside, spent_at

RANDOM = ("candidates.wait=false", "candidates.scroll=false", "select.selector=random")


def explore(folder: Path, *overrides: str, steps: int = 300) -> ss.Summary:
    settings = ss.resolve(overrides=(*RANDOM, *overrides))
    stop = ss.StopRule(steps=steps)
    return ss.start_exploration(FailingWorld(), folder, stop=stop, settings=settings, seed=3)


def failures_of(run: ss.Run) -> Counter[tuple[ss.Outcome, int]]:
    """How often each outcome came of one action at one state: every way to end is one button."""
    failed = (each for each in run.transitions() if each.outcome is not ss.Outcome.OK)
    return Counter((each.outcome, each.source) for each in failed)


def most(failures: Counter[tuple[ss.Outcome, int]], outcome: ss.Outcome) -> int:
    return max(count for (each, _), count in failures.items() if each is outcome)


def test_a_hang_is_met_twice_and_a_crash_three_times_at_each_state(tmp_path: Path) -> None:
    explore(tmp_path / "run")
    with ss.open_run(tmp_path / "run") as run:
        failures = failures_of(run)
        assert most(failures, ss.Outcome.HANG) == 2
        assert most(failures, ss.Outcome.CRASH) == 3
        assert most(failures, ss.Outcome.EXIT) > 3  # costs nothing, and is no fault
        assert run.verify().holds


def test_what_was_left_alone_is_told_with_the_reason_as_often_as_it_was_logged(tmp_path: Path) -> None:
    explore(tmp_path / "run", 'guard.rules=[{name="deny_labels", patterns=["^help$"]}]')
    with ss.open_run(tmp_path / "run") as run:
        skipped = run.skipped()
        logged = sum(each.choice.vetoed for each in run.transitions() if each.choice is not None)
    assert sum(each.choices for each in skipped) == logged
    reasons = {each.label: each.reason for each in skipped}
    assert reasons.keys() == {"help", "hang", "crash"}
    assert reasons["hang"] == "hung 2 times or more at this state (explore.most_hangs)"
    assert reasons["crash"] == "crashed 3 times or more at this state (explore.most_crashes)"


def test_a_run_that_is_resumed_leaves_alone_what_failed_before(tmp_path: Path) -> None:
    explore(tmp_path / "run", steps=150)
    ss.resume_exploration(tmp_path / "run", FailingWorld(), stop=ss.StopRule(steps=400))
    with ss.open_run(tmp_path / "run") as run:
        assert most(failures_of(run), ss.Outcome.HANG) == 2
        assert most(failures_of(run), ss.Outcome.CRASH) == 3
        logged = sum(each.choice.vetoed for each in run.transitions() if each.choice is not None)
        assert sum(each.choices for each in run.skipped()) == logged > 0


def test_several_workers_agree_on_it_but_for_what_was_under_way(tmp_path: Path) -> None:
    workers = 3
    ss.start_exploration(
        "synthetic:generated?states=12&hazards=1",
        tmp_path / "run",
        stop=ss.StopRule(steps=300),
        settings=ss.resolve(overrides=["explore.screenshots=none", "select.selector=random"]),
        workers=workers,
    )
    with ss.open_run(tmp_path / "run") as run:
        for each in run.findings():
            limit = {ss.Outcome.HANG: 2, ss.Outcome.CRASH: 3}.get(each.outcome)
            assert limit is None or each.count < limit + workers
        logged = sum(each.choice.vetoed for each in run.transitions() if each.choice is not None)
        assert sum(each.choices for each in run.skipped()) == logged


def test_without_a_limit_nothing_is_left_alone(tmp_path: Path) -> None:
    explore(tmp_path / "run", "explore.most_hangs=none", "explore.most_crashes=none")
    with ss.open_run(tmp_path / "run") as run:
        assert most(failures_of(run), ss.Outcome.HANG) > 2
        assert run.skipped() == []


def test_failures_of_other_kinds_do_not_count() -> None:
    settings = ss.resolve().explore
    assert spent_at({"a": {"hang": 1, "crash": 2, "exit": 9, "capture": 9, "missed": 9}}, settings) == {}
    assert spent_at({"a": {"hang": 2}, "b": {"hang": 1}, "c": {"crash": 3}}, settings).keys() == {"a", "c"}


def test_if_all_has_failed_too_often_the_run_goes_on_with_it() -> None:
    a, b, c = (Candidate(place, Action("wait@1"), name, name) for place, name in enumerate("abc"))
    guarded = Guarded([a, b], [Veto(c, "denied")])
    assert set_aside(guarded, {"a": "why"}) == Guarded([b], [Veto(c, "denied"), Veto(a, "why")])
    assert set_aside(guarded, {"a": "why", "b": "why"}) == guarded


@pytest.mark.parametrize("name", ["most_hangs", "most_crashes"])
def test_a_limit_below_one_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=rf'explore.{name} is 0, but must be >= 1, or "none"'):
        ss.resolve(overrides=[f"explore.{name}=0"])
