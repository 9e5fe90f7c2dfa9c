"""The controls in a real editor, with the real clipboard of its display."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from screensearch.config import settings_for, settings_from_document
from screensearch.domain.action import Action
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.environment import DesktopEnvironment, open_desktop
from screensearch.errors import EnvironmentFailed
from screensearch.explore.worker import means_of
from screensearch.study.controls import plan as plans
from screensearch.study.controls.conduct import plan_application, run_controls
from screensearch.study.controls.figures import paste_seconds, summarise
from screensearch.study.controls.plan import ControlPlan, Kind, Moment, Place, Trial
from screensearch.study.controls.trial import read_document, run_trial


def plan_of(*, trials: int = 2, race_trials: int = 1) -> ControlPlan:
    return ControlPlan(
        applications=[plan_application("mousepad")],
        trials=trials,
        race_trials=race_trials,
        seed=1,
        version="test",
    )


def test_the_tables_of_the_paper_come_out_in_a_real_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "TIMING_TRIALS", 1)
    plan = plan_of()
    trials = run_controls(plan, tmp_path)
    assert [(each.place, each.note) for each in trials if not each.complete] == []
    summary = summarise(plan, trials)
    hidden = [(row.pooled, row.within, row.between) for row in summary.causal if row.source is Kind.HIDDEN]
    assert hidden == [(1.0, 0.0, 1.0)] * 2  # by the document, and by the state
    found = [(row.disclosure, row.destination_dispersion, row.accuracy) for row in summary.probes]
    assert found == [(0.0, None, 0.5), (1.0, 0.0, 1.0), (0.0, 0.0, 0.5)]
    assert [row.returned for row in summary.probes] == [None, 2, 2]
    (about,) = summary.applications
    assert about.start_states == 1
    (race,) = [each for each in trials if each.place.kind is Kind.RACE]
    median = paste_seconds(trials[:1])
    assert median is not None
    assert race.delay_seconds == median * plan.delay_share(race.place)
    assert about.race_as_taken == 1  # whichever came first
    assert race.taken_seconds is not None
    assert race.taken == ("alpha" if race.taken_seconds < race.delay_seconds else "beta")


def test_a_clipboard_that_is_not_set_discloses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(self: DesktopEnvironment, text: str) -> None:
        return

    monkeypatch.setattr(DesktopEnvironment, "hold_clipboard", nothing)
    plan = plan_of()
    (application,) = plan.applications
    settings = settings_from_document(application.settings)
    trials: list[Trial] = [
        asyncio.run(run_trial(plan, settings, Place(application.name, kind, number)))
        for kind in (Kind.HIDDEN, Kind.PASTE_UNDO)
        for number in range(2)
    ]
    pasted = [sight.document for each in trials if (sight := each.sight(Moment.PROBE)) is not None]
    assert pasted == [""] * 4
    summary = summarise(plan, trials)
    assert {(row.pooled, row.between) for row in summary.causal} == {(0.0, 0.0)}
    assert [(row.disclosure, row.accuracy) for row in summary.probes] == [(0.0, 0.5)]


async def test_the_clipboard_changes_hands_as_among_programs() -> None:
    _, settings = settings_for("mousepad", overrides=("explore.screenshots=none",))
    world = open_desktop("mousepad", means_of(settings))
    try:
        with pytest.raises(EnvironmentFailed, match="before the application was reset"):
            world.update_clipboard("late", seconds=0)
        await world.hold_clipboard("Grüße, 世界")
        seen = (await world.reset(1)).observation
        assert await pasted(world) == "Grüße, 世界"
        assert [taken.text for taken in world.take_taken()] == ["Grüße, 世界"]
        await world.hold_clipboard("second ")
        await press(world, "ctrl+a")
        assert await pasted(world) == "second "
        world.update_clipboard("third ", seconds=3600)  # dropped by the next
        world.update_clipboard("third ", seconds=0)
        await press(world, "ctrl+a")
        assert await pasted(world) == "third "
        await press(world, "ctrl+a")
        seen = await press(world, "ctrl+c")  # the editor takes it over
        world.take_taken()
        assert read_document(seen) == "third "
        await press(world, "Right")
        assert await pasted(world) == "third third "
        assert world.take_taken() == []  # nobody asked us
        world.update_clipboard("late", seconds=3600)  # must not outlive the episode
        await world.reset(1)
        assert await pasted(world) == "second "  # what episodes begin with
    finally:
        await world.close()


async def press(world: DesktopEnvironment, key: str) -> Observation:
    result = await world.perform(Action("key@1", None, (("key", key),)))
    assert result.outcome is Outcome.OK
    assert result.observation is not None
    return result.observation


async def pasted(world: DesktopEnvironment) -> str | None:
    return read_document(await press(world, "ctrl+v"))
