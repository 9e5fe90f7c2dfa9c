"""Crashes, hangs, exits and captures, each once, with the way that led there; and what was skipped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from failing_world import ENDS, FailingWorld

import screensearch as ss
from screensearch.explore.findings import FINDINGS, LAST_SCREENSHOTS

ONLY_CLICKS = ("candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]")
NO_LIMITS = ("explore.most_hangs=none", "explore.most_crashes=none")


def explore(folder: Path, *overrides: str, steps: int = 250, pictures: bool = False) -> ss.Summary:
    settings = ss.resolve(overrides=(*ONLY_CLICKS, "select.selector=random", *overrides))
    world = FailingWorld(pictures=pictures)
    return ss.start_exploration(world, folder, stop=ss.StopRule(steps=steps), settings=settings, seed=3)


def test_every_failure_is_counted_once_under_its_kind_its_state_and_its_action(tmp_path: Path) -> None:
    explore(tmp_path / "run")
    with ss.open_run(tmp_path / "run") as run:
        found = run.findings()
        failed = [each for each in run.transitions() if each.outcome in FINDINGS]
        counted = Counter((each.outcome, each.source, each.signature) for each in failed)
        assert {(each.outcome, each.state, each.signature): each.count for each in found} == counted
        assert {each.outcome for each in found} == set(FINDINGS)
        assert [FINDINGS.index(each.outcome) for each in found] == sorted(
            FINDINGS.index(each.outcome) for each in found
        )
        for each in found:
            first = run.entry(each.first)
            assert isinstance(first, ss.Transition)
            assert (first.episode, first.outcome, first.note) == (each.episode, each.outcome, each.note)
            assert each.note in {note for _, note in ENDS.values()}


def test_the_actions_of_a_finding_are_those_of_its_episode_up_to_it(tmp_path: Path) -> None:
    explore(tmp_path / "run")
    with ss.open_run(tmp_path / "run") as run:
        longest = max(run.findings(), key=lambda each: len(each.actions))
        assert len(longest.actions) > 2
        episode = [each.signature for each in run.transitions() if each.episode == longest.episode]
        assert list(longest.actions) == episode
        assert longest.actions[-1] == longest.signature
        (start,) = [each for each in run.arrivals() if each.episode == longest.episode]
        assert longest.configuration == dict(start.configuration)


def test_a_finding_names_its_last_screens_and_a_capture_its_own(tmp_path: Path) -> None:
    explore(tmp_path / "run", pictures=True)
    with ss.open_run(tmp_path / "run") as run:
        found = run.findings()
        for each in found:
            assert each.state is not None
            assert 1 <= len(each.screenshots) <= LAST_SCREENSHOTS
            for before, path in zip(("", *each.screenshots), each.screenshots, strict=False):
                assert Path(path).is_file()
                assert path != before
            entry = next(entry for number, entry in run.entries() if number == each.first - 1)
            assert entry.episode == each.episode  # one worker: the entry before is the step before
            assert each.screenshots[-1] == run.artifacts.where(entry.evidence.screenshot or "")
            assert len(each.screenshots) == min(1 + each.state, LAST_SCREENSHOTS)  # the rooms on the way
            assert (each.screenshot is not None) == (each.outcome is ss.Outcome.CAPTURE)


def test_an_exit_teaches_nothing_and_has_a_count_of_its_own(tmp_path: Path) -> None:
    summary = explore(tmp_path / "run")
    with ss.open_run(tmp_path / "run") as run:
        exits = [each for each in run.transitions() if each.outcome is ss.Outcome.EXIT]
        assert summary.exits == len(exits) > 0
        assert summary.crashes == run.graph.outcomes["crash"]
        for each in exits:
            assert (each.decision, each.screen, each.reward) == (None, None, None)
            assert each.signature not in run.tried(each.source)
        assert run.verify().problems == ()


def test_outcomes_of_this_exploration_leave_out_what_it_resumed_from(tmp_path: Path) -> None:
    first = explore(tmp_path / "run", steps=100)
    second = ss.resume_exploration(tmp_path / "run", FailingWorld(), stop=ss.StopRule(steps=130))
    assert sum(first.new_outcomes.values()) == 100
    assert sum(second.new_outcomes.values()) == 30
    assert second.crashes == first.new_outcomes["crash"] + second.new_outcomes.get("crash", 0)


def test_what_was_skipped_is_counted_for_every_choice_as_it_was_logged(tmp_path: Path) -> None:
    rule = 'guard.rules=[{name="deny_labels", patterns=["^quit$", "^help$"]}]'
    summary = explore(tmp_path / "run", rule, *NO_LIMITS)
    assert (summary.exits, summary.captures) == (0, 0)
    with ss.open_run(tmp_path / "run") as run:
        skipped = run.skipped()
        logged = sum(each.choice.vetoed for each in run.transitions() if each.choice is not None)
        chosen_at = {each.source for each in run.transitions()}
    assert sum(each.choices for each in skipped) == logged > 0
    assert {each.label for each in skipped} == {"quit", "help"}
    assert {each.screens for each in skipped} == {len(chosen_at)}
    assert any("matches '^quit$'" in each.reason for each in skipped)
    assert [each.choices for each in skipped] == sorted((each.choices for each in skipped), reverse=True)


def test_without_a_veto_nothing_was_skipped(tmp_path: Path) -> None:
    explore(tmp_path / "run", *NO_LIMITS, steps=20)
    with ss.open_run(tmp_path / "run") as run:
        assert run.skipped() == []


@pytest.mark.parametrize("workers", [1, 3])
def test_findings_of_several_workers_keep_their_episodes_apart(tmp_path: Path, workers: int) -> None:
    ss.start_exploration(
        "synthetic:generated?states=100&hazards=1",
        tmp_path / "run",
        stop=ss.StopRule(steps=200),
        settings=ss.resolve(overrides=["explore.screenshots=none", "select.selector=random"]),
        workers=workers,
    )
    with ss.open_run(tmp_path / "run") as run:
        found = run.findings()
        assert found
        for each in found:
            episode = [step.signature for step in run.transitions() if step.episode == each.episode]
            assert list(each.actions) == episode
