from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic_walks import ALL, APPS, GENERATED, click, find, follow, walk

from screensearch.domain.action import Action
from screensearch.domain.transition import Outcome
from screensearch.environments.protocol import ENVIRONMENTS, Means, TruthTeller
from screensearch.environments.synthetic import open_world
from screensearch.errors import EnvironmentFailed
from screensearch.testing import check_environment


@pytest.mark.parametrize("argument", ALL)
async def test_every_application_keeps_the_contract_of_environments(argument: str) -> None:
    await check_environment(lambda: open_world(argument, Means(screenshots=False)), steps=300)


async def test_the_plugin_opens_by_name() -> None:
    world = ENVIRONMENTS.get("synthetic")("notepad", Means(screenshots=False))
    assert isinstance(world, TruthTeller)
    assert (await world.reset(1)).observation.screenshot is None


@pytest.mark.parametrize("argument", ALL)
async def test_the_same_seed_and_actions_give_the_same_observations(argument: str) -> None:
    one = [(result, dict(world.truth())) async for world, result in walk(argument, 200, seed=5)]
    two = [(result, dict(world.truth())) async for world, result in walk(argument, 200, seed=5)]
    assert one == two


@pytest.mark.parametrize("argument", ALL)
async def test_another_seed_gives_another_episode(argument: str) -> None:
    world = open_world(argument, Means(screenshots=False))
    starts = [await world.reset(seed) for seed in range(12)]
    assert len({tuple(sorted(start.configuration.items())) for start in starts}) > 1


@pytest.mark.parametrize("argument", APPS)
async def test_noise_does_not_change_what_happens(argument: str) -> None:
    loud = [world.truth() async for world, _ in walk(f"{argument}?noise=1", 150, seed=2)]
    still = [world.truth() async for world, _ in walk(f"{argument}?noise=0", 150, seed=2)]
    assert loud == still


@pytest.mark.parametrize("argument", ALL)
async def test_main_screens_are_of_realistic_size(argument: str) -> None:
    world = open_world(argument, Means(screenshots=False))
    start = await world.reset(0)
    assert 40 <= len(start.observation.elements) <= 120
    async for _, result in walk(argument, 100):
        seen = result.observation
        if seen is not None and seen.window.kind == "main" and result.outcome is Outcome.OK:
            assert 40 <= len(seen.elements) <= 120


async def test_crash_hang_capture_and_missed_all_happen() -> None:
    outcomes: dict[str, set[Outcome]] = {}
    for argument in ALL:
        outcomes[argument] = {result.outcome async for _, result in walk(argument, 1_500)}
    assert {Outcome.CRASH, Outcome.HANG, Outcome.CAPTURE} <= outcomes[GENERATED]
    assert Outcome.CAPTURE in outcomes["notepad"] & outcomes["files"] & outcomes["settings"]


async def test_notepad_hangs_on_large_text_without_wrapping_and_crashes_on_read_only_feedback() -> None:
    world = open_world("notepad", Means(screenshots=False))
    hung = await follow(world, 1, "menubar.view", "item.wrap", "tool.font", "size.1.25")
    assert [result.outcome for result in hung] == [Outcome.OK] * 3 + [Outcome.HANG]
    assert hung[-1].observation is None
    assert world.truth()["screen"] is None
    fine = await follow(world, 1, "tool.font", "size.1.25")
    assert fine[-1].observation is not None
    assert fine[-1].observation.text_scale == 1.25
    crashed = await follow(world, 1, "menubar.view", "item.readonly", "menubar.help", "item.report")
    assert crashed[-1].outcome is Outcome.CRASH
    assert crashed[-1].note


async def test_an_action_after_a_failure_asks_for_a_reset() -> None:
    world = open_world("notepad", Means(screenshots=False))
    start = await world.reset(1)
    captured = await world.perform(click(start.observation, "tool.print"))
    assert captured.outcome is Outcome.CAPTURE
    assert captured.observation is not None
    assert captured.observation.window.application == "print-service"
    with pytest.raises(EnvironmentFailed, match=r"ended with capture; call reset"):
        await world.perform(Action("wait@1"))
    await world.reset(1)
    assert (await world.perform(Action("wait@1"))).outcome is Outcome.OK


async def test_a_click_can_come_too_late() -> None:
    """The transfer row of the file manager goes away by itself: its button is missed, or reached."""
    world = open_world("files", Means(screenshots=False))
    path = ("file.0", "menubar.edit", "item.copy", "place.pictures", "tool.paste", "transfer.cancel")
    seen = {}
    for seed in range(20):
        results = await follow(world, seed, *path)
        seen[results[-1].outcome] = results[-1]
    assert set(seen) == {Outcome.OK, Outcome.MISSED}
    after = seen[Outcome.MISSED].observation
    assert after is not None
    assert any(element.text == "Pasted item" for element in after.elements)
    assert (await world.perform(Action("wait@1"))).outcome is Outcome.OK


async def test_a_target_that_is_not_on_the_screen_is_missed() -> None:
    for argument in ALL:
        world = open_world(argument, Means(screenshots=False))
        start = await world.reset(0)
        stale = replace(start.observation.elements[3], handle="slot.999")
        assert (await world.perform(Action("focus_click@1", stale))).outcome is Outcome.MISSED


async def test_settings_change_the_metadata_of_the_screen() -> None:
    world = open_world("settings?apply_mode=now&managed=false", Means(screenshots=False))
    results = await follow(world, 1, "nav.display", "dark", "apply", "large", "apply")
    modes = [r.observation.display_mode for r in results if r.observation is not None]
    scales = [r.observation.text_scale for r in results if r.observation is not None]
    assert modes == ["light", "light", "dark", "dark", "dark"]
    assert scales == [1.0, 1.0, 1.0, 1.0, 1.25]


async def test_scrolling_the_window_scrolls_what_can_be_scrolled() -> None:
    world = open_world("settings?content=workshop", Means(screenshots=False))
    start = await world.reset(1)
    down = Action("scroll@1", None, (("amount", 3), ("direction", "down")))
    result = await world.perform(down)
    assert result.observation is not None
    assert find(start.observation, "fact.0").text == "Device name"
    assert find(result.observation, "fact.0").text == "Disk"


async def test_modes_and_sizes_vary_only_when_asked() -> None:
    plain = open_world("notepad", Means(screenshots=False))
    varied = open_world("notepad?modes=light,dark&text_scales=1,1.5&scales=1,1.25", Means(screenshots=False))
    usual = [(await plain.reset(seed)) for seed in range(20)]
    other = [(await varied.reset(seed)) for seed in range(20)]
    assert {start.observation.display_mode for start in usual} == {"light"}
    assert {start.observation.display_mode for start in other} == {"light", "dark"}
    assert {start.observation.text_scale for start in other} == {1.0, 1.5}
    assert {start.configuration["window_size"] for start in other} == {"1200x840", "1500x1050"}
    assert all(s.configuration["display_mode"] == s.observation.display_mode for s in other)


async def test_misuse_is_refused_with_a_reason() -> None:
    world = open_world("notepad", Means(screenshots=False))
    with pytest.raises(EnvironmentFailed, match="no episode"):
        await world.perform(Action("wait@1"))
    with pytest.raises(EnvironmentFailed, match="no episode"):
        world.truth()
    await world.reset(1)
    with pytest.raises(EnvironmentFailed, match=r"no template 'drag@1' here \(known: focus_click@1"):
        await world.perform(Action("drag@1"))
    with pytest.raises(EnvironmentFailed, match="needs an element"):
        await world.perform(Action("focus_click@1"))
    await world.close()
    await world.close()
    with pytest.raises(EnvironmentFailed, match="closed"):
        await world.reset(1)
