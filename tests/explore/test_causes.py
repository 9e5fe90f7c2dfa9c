"""One fault that many states lead to is one cause, with all of its places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from failing_world import ENDS, FailingWorld

import screensearch as ss
from screensearch.domain.transition import EpisodeId
from screensearch.explore.causes import group_by_cause


def finding(**changes: object) -> ss.Finding:
    known = ss.Finding(
        outcome=ss.Outcome.CRASH,
        state=0,
        signature="a",
        count=1,
        note="it was killed by SIGSEGV; it said: 17",
        first=1,
        episode=EpisodeId(0, 0),
        configuration={},
        actions=("a",),
        screenshots=(),
        screenshot=None,
    )
    return replace(known, **changes)  # type: ignore[arg-type]  # tests give what the fields take


def test_each_way_to_end_is_one_cause_over_all_rooms(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=["candidates.wait=false", "candidates.scroll=false"])
    stop = ss.StopRule(steps=250)
    ss.start_exploration(FailingWorld(), tmp_path / "run", stop=stop, settings=settings, seed=3)
    with ss.open_run(tmp_path / "run") as run:
        found = run.findings()
    causes = group_by_cause(found)
    assert [(each.outcome, each.how, each.action) for each in causes] == [
        (outcome, note, f'click "{label}" (button)') for label, (outcome, note) in ENDS.items()
    ]
    assert sum(each.count for each in causes) == sum(each.count for each in found)
    crash = causes[0]
    assert len(crash.findings) == len({each.state for each in crash.findings}) > 1
    assert crash.oldest.first == min(each.first for each in crash.findings)


def test_what_the_application_said_last_does_not_make_another_cause() -> None:
    other = finding(state=7, first=9, note="it was killed by SIGSEGV; it said: 18")
    (cause,) = group_by_cause([finding(), other])
    assert (cause.how, cause.count, cause.findings) == ("it was killed by SIGSEGV", 2, (finding(), other))


def test_another_outcome_signal_or_action_is_another_cause() -> None:
    others = [
        finding(outcome=ss.Outcome.HANG),
        finding(note="it was killed by SIGABRT"),
        finding(note="before this action was given: it was killed by SIGSEGV"),
        finding(signature="b"),
    ]
    assert len(group_by_cause([finding(), *others])) == 5


def test_starts_that_failed_under_other_configurations_stay_apart() -> None:
    light, dark = (
        finding(state=None, signature="", configuration={"display_mode": mode}) for mode in ("light", "dark")
    )
    assert len(group_by_cause([light, dark])) == 2
    inside = [replace(each, state=3, signature="a") for each in (light, dark)]
    assert len(group_by_cause(inside)) == 1  # there, it is the first episode's and says nothing of the others
