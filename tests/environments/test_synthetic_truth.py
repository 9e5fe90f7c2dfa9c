from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from synthetic_walks import ALL, APPS, any_action, follow, score, walk

from screensearch.domain.screen import Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder
from screensearch.environments.protocol import Means
from screensearch.environments.synthetic import declared, open_world
from screensearch.environments.synthetic.apps import APPS as DECLARED
from screensearch.environments.synthetic.apps import survey
from screensearch.environments.synthetic.model import Deed, State
from screensearch.environments.synthetic.scene import Placement
from screensearch.environments.synthetic.stage import Stage
from screensearch.environments.synthetic.truth import affordances


@pytest.mark.parametrize("name", APPS)
def test_hand_written_applications_have_hundreds_of_screens_of_both_kinds(name: str) -> None:
    summary = declared(name)
    assert summary.states is not None
    assert summary.screens is not None
    assert summary.aliased is not None
    assert 200 < summary.screens < summary.states < 10_000
    assert 0.1 * summary.screens < summary.aliased < 0.9 * summary.screens


@pytest.mark.parametrize("name", APPS)
def test_the_branches_of_every_action_are_a_distribution(name: str) -> None:
    stage = Stage(DECLARED[name])
    names = [variable.name for variable in DECLARED[name].variables]
    states = [dict(zip(names, key, strict=True)) for key in survey(name).states]
    for state in random.Random(1).sample(states, 200):
        for deed in affordances(stage.drawn(state)):
            branches = stage.outcomes(state, deed)
            assert sum(branch.probability for branch in branches) == pytest.approx(1.0)
            assert all(branch.probability > 0 for branch in branches)
            assert all(list(branch.state) == names for branch in branches)


@pytest.mark.parametrize("name", APPS)
def test_a_screen_is_aliased_exactly_if_an_action_has_several_successor_screens(name: str) -> None:
    """Recomputed naively, per action over all states of the screen, for a sample of screens."""
    stage, found = Stage(DECLARED[name]), survey(name)
    names = [variable.name for variable in DECLARED[name].variables]
    by_screen: defaultdict[str, list[State]] = defaultdict(list)
    for key, look in found.states.items():
        by_screen[look].append(dict(zip(names, key, strict=True)))
    for look in random.Random(2).sample(sorted(by_screen), 40):
        successors: defaultdict[Deed, set[str]] = defaultdict(set)
        for state in by_screen[look]:
            for deed in affordances(stage.drawn(state)):
                for branch in stage.outcomes(state, deed):
                    if branch.outcome is Outcome.OK:
                        successors[deed].add(stage.drawn(found.representative(branch.state)).look)
        assert found.aliased[look] == any(len(reached) > 1 for reached in successors.values())


@pytest.mark.parametrize("argument", APPS)
async def test_both_kinds_of_screens_are_met_and_keep_their_kind(argument: str) -> None:
    kinds: defaultdict[object, set[bool]] = defaultdict(set)
    async for world, result in walk(argument, 600):
        if result.outcome is Outcome.OK:
            kinds[world.truth()["screen"]].add(world.truth()["aliased"])
    assert {kind for seen in kinds.values() for kind in seen} == {True, False}
    assert set(map(len, kinds.values())) == {1}


@pytest.mark.parametrize("argument", APPS)
async def test_a_certain_screen_never_surprises(argument: str) -> None:
    """Off the aliased screens, the same action has always led to the same true screen."""
    outcomes: defaultdict[tuple[object, ...], set[object]] = defaultdict(set)
    for seed in range(3):
        world = open_world(argument, Means(screenshots=False))
        rng = random.Random(seed)
        for episode in range(20):
            seen = (await world.reset(episode)).observation
            for _ in range(30):
                before, action = world.truth(), any_action(seen, world.application, rng)
                result = await world.perform(action)
                if result.outcome is not Outcome.OK or result.observation is None:
                    break
                if not before["aliased"]:
                    handle = "" if action.element is None else action.element.handle
                    key = before["screen"], action.template, handle, action.arguments
                    outcomes[key].add(world.truth()["screen"])
                seen = result.observation
    assert len(outcomes) > 50
    assert set(map(len, outcomes.values())) == {1}


def _plain(observation: Observation) -> tuple[object, ...]:
    """Everything an explorer may see, handles included, but not what has the focus."""
    box = observation.window.box

    def moved(element: Element) -> Element:
        at = replace(element.box, x=element.box.x - box.x, y=element.box.y - box.y)
        return replace(element, focused=False, box=at)

    elements = tuple(moved(e) for e in observation.elements)
    handles = tuple(e.handle for e in observation.elements)
    return elements, handles, observation.window.title, observation.display_mode, observation.text_scale


@pytest.mark.parametrize("argument", ALL)
async def test_nothing_seen_depends_on_what_is_hidden(argument: str) -> None:
    """Without noise, one true screen has one look, whatever the true state: truth does not leak."""
    looks: defaultdict[object, set[tuple[object, ...]]] = defaultdict(set)
    states: defaultdict[object, set[object]] = defaultdict(set)
    join = "&" if "?" in argument else "?"
    for seed in range(3):
        async for world, result in walk(f"{argument}{join}noise=0", 600, seed=seed):
            if result.observation is not None and result.outcome is not Outcome.CAPTURE:
                truth = world.truth()
                looks[truth["screen"]].add(_plain(result.observation))
                states[truth["screen"]].add(truth["state"])
    assert max(map(len, states.values())) > 1
    assert set(map(len, looks.values())) == {1}
    assert len({next(iter(seen)) for seen in looks.values()}) == len(looks)


@pytest.mark.parametrize("argument", ALL)
async def test_noise_keeps_a_screen_mostly_over_the_threshold(argument: str) -> None:
    encoder = Encoder()
    first: dict[object, Observation] = {}
    scores = []
    async for world, result in walk(argument, 800, seed=4):
        if result.observation is None or result.outcome is not Outcome.OK:
            continue
        screen = world.truth()["screen"]
        if screen in first:
            scores.append(score(encoder, first[screen], result.observation))
        first.setdefault(screen, result.observation)
    assert len(scores) > 100
    assert min(scores) < 1.0
    assert sum(value >= 0.93 for value in scores) / len(scores) > 0.95


@pytest.mark.parametrize("argument", ALL)
async def test_truth_never_stands_in_an_observation(argument: str) -> None:
    async for world, result in walk(argument, 200, seed=6):
        if result.observation is None or result.outcome is Outcome.CAPTURE:
            continue
        truth = world.truth()
        for element in result.observation.elements:
            if isinstance(truth["state"], str):
                assert truth["state"] not in element.text + element.handle
                assert truth["screen"] not in element.text + element.handle


async def test_the_clipboard_control_of_the_paper() -> None:
    """Paste differs between conditions and never within one (section 8.3, first control)."""
    pasted: defaultdict[str, set[str]] = defaultdict(set)
    for token in ("alpha", "beta"):
        world = open_world(f"notepad?clipboard={token}", Means(screenshots=False))
        for seed in range(10):
            (result,) = await follow(world, seed, "tool.paste")
            assert world.truth()["hidden"]["clipboard"] == token
            assert result.observation is not None
            pasted[token].update(e.text for e in result.observation.elements if e.handle == "own.pasted")
    assert pasted == {"alpha": {"alpha"}, "beta": {"beta"}}


async def test_the_race_of_the_paper_varies_within_one_condition() -> None:
    world = open_world("notepad?clipboard=alpha", Means(screenshots=False))
    pasted = Counter[str]()
    for seed in range(200):
        results = await follow(world, seed, "menubar.edit", "item.sync", "tool.paste")
        assert results[-1].observation is not None
        pasted.update(e.text for e in results[-1].observation.elements if e.handle == "own.pasted")
    assert pasted["alpha"] + pasted["beta"] == 200
    assert 50 < pasted["beta"] < 110  # 0.4 of 200, far from certain either way


async def test_waiting_lets_pending_events_land() -> None:
    world = open_world("notepad?clipboard=alpha", Means(screenshots=False))
    for seed in range(20):
        await follow(world, seed, "menubar.edit", "item.sync", None)
        assert world.truth()["hidden"] == {"clipboard": "beta", "syncing": False}


async def test_paste_and_undo_probe_what_the_file_menu_does_not() -> None:
    world = open_world("notepad?noise=0", Means(screenshots=False))
    start = (await world.reset(3)).observation
    probe = await follow(world, 3, "tool.paste", "tool.undo")
    assert probe[-1].observation == start
    escape = await follow(world, 3, "menubar.file", "title")
    assert escape[-1].observation == start


async def test_focus_decides_what_is_cleared() -> None:
    world = open_world("settings", Means(screenshots=False))
    texts = {}
    for last in ("first.field", "last.field"):
        fill = (("first.field", "ada"), ("last.field", "byron"))
        results = await follow(world, 1, "nav.accounts", *fill, last, "clear")
        before, after = results[-2].observation, results[-1].observation
        assert before is not None
        assert after is not None
        assert [e.handle for e in before.elements if e.focused] == [last]
        texts[last] = [e.text for e in after.elements if e.handle in ("first.field", "last.field")]
    assert texts == {"first.field": ["", "byron"], "last.field": ["ada", ""]}


async def test_a_permission_that_no_listing_shows_decides_about_a_folder() -> None:
    titles = {}
    for access in ("granted", "denied"):
        world = open_world(f"files?access={access}", Means(screenshots=False))
        results = await follow(world, 1, "place.documents", "payroll")
        assert results[-1].observation is not None
        titles[access] = results[-1].observation.window.title
    assert titles == {"granted": "Files", "denied": "Access denied"}


def test_typed_text_of_any_kind_has_a_truth() -> None:
    stage, found = Stage(DECLARED["notepad"]), survey("notepad")
    state = stage.begin(random.Random(0))
    for text in ("", "zebra", "alpha", "\ud800", "x" * 500):
        (branch,) = stage.outcomes(state, Deed("focus_type", "page", text))
        assert found.is_aliased(branch.state)
        assert stage.scene(branch.state, Placement(0, 0)).elements
