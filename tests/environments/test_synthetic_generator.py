from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from properties import examples
from synthetic_walks import score, walk

from screensearch.domain.screen import Observation
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder
from screensearch.environments.synthetic import declared
from screensearch.environments.synthetic.generator import GeneratedModel, GeneratorSettings, Structure
from screensearch.environments.synthetic.looks import CODES, LAYOUTS, WORDS, screen_scene
from screensearch.environments.synthetic.model import Deed
from screensearch.environments.synthetic.scene import Placement
from screensearch.errors import SettingsError

HERE = Placement(20, 16)

structures = st.builds(
    GeneratorSettings,
    states=st.integers(3, 400),
    branching=st.integers(2, 32),
    aliasing=st.floats(0, 1),
    seed=st.integers(0, 2**63),
).map(Structure)


def _seen(screen: int, seed: int, branching: int = 8) -> Observation:
    scene = screen_scene(screen, seed, branching, HERE)
    return Observation(scene.elements, scene.window)


@given(structures)
@settings(deadline=None, max_examples=examples(60))
def test_every_state_can_be_reached_from_the_start(structure: Structure) -> None:
    reached, frontier = {0}, [0]
    while frontier:
        state = frontier.pop()
        ahead = {structure.successor(state, a) for a in range(structure.settings.branching)} - reached
        reached |= ahead
        frontier += ahead
    assert reached == set(range(structure.settings.states))


@given(structures)
@example(Structure(GeneratorSettings(states=9, branching=2, aliasing=1.0)))
@settings(deadline=None, max_examples=examples(60))
def test_aliased_screens_are_as_many_as_asked_and_truly_differ(structure: Structure) -> None:
    shown: dict[int, list[int]] = {}
    for state in range(structure.settings.states):
        shown.setdefault(structure.screen(state), []).append(state)
    assert len(shown) == structure.screens
    assert {screen for screen, states in shown.items() if len(states) == 2} == {
        screen for screen in shown if structure.aliased(screen)
    }
    share = sum(map(structure.aliased, shown)) / len(shown)
    assert share == pytest.approx(structure.settings.aliasing, abs=1.5 / structure.screens)
    for states in shown.values():
        if len(states) == 2 and structure.screens > 1:
            assert any(
                structure.screen(structure.successor(states[0], action))
                != structure.screen(structure.successor(states[1], action))
                for action in range(structure.settings.branching)
            )


def test_aliasing_met_on_a_walk_is_about_what_was_asked() -> None:
    structure = Structure(GeneratorSettings(states=100_000, aliasing=0.3, seed=8))
    rng = random.Random(1)
    screens = [rng.randrange(structure.screens) for _ in range(5_000)]
    assert sum(map(structure.aliased, screens)) / 5_000 == pytest.approx(0.3, abs=0.03)


def test_races_are_random_and_make_a_screen_aliased() -> None:
    model = GeneratedModel(GeneratorSettings(states=300, aliasing=0, races=0.2, hazards=0, branching=4))
    racing = [s for s in range(300) if model.structure.racing(s)]
    assert 30 < len(racing) < 100
    assert all(model.truth(state)["aliased"] for state in racing)
    for state in racing:
        one, two = model.outcomes(state, Deed("focus_click", "slot.3"))
        assert model.structure.screen(one.state) != model.structure.screen(two.state)
        assert one.probability + two.probability == pytest.approx(1.0)


@given(st.integers(0, CODES - 1), st.integers(0, 2**64 - 1), st.integers(0, 3), st.integers(1, 63))
@settings(deadline=None, max_examples=examples(200))
def test_screens_that_differ_in_one_digit_are_clearly_distinct(
    screen: int, seed: int, place: int, step: int
) -> None:
    """The worst pair: codes that differ in one of the four digits (see the bound in `generator`)."""
    inverse = pow(seed | 1, -1, CODES)
    code = (screen * (seed | 1) + (seed >> 7)) % CODES
    digit = code >> 6 * place & 63
    neighbour = code + ((digit + step) % 64 - digit << 6 * place)
    other = (neighbour - (seed >> 7)) * inverse % CODES
    assert score(Encoder(), _seen(screen, seed), _seen(other, seed)) <= 0.86


def test_sampled_screens_are_clearly_distinct_and_of_the_size_of_real_ones() -> None:
    encoder, rng = Encoder(), random.Random(4)
    sample = [_seen(rng.randrange(833_333), 77) for _ in range(60)]
    for one, two in itertools.combinations(sample, 2):
        assert score(encoder, one, two) < 0.93
    for seen in sample:
        screen = encoder.encode(seen)
        assert 60 <= len(screen.role_atoms) + len(screen.text_atoms) <= 140


def test_the_words_and_layouts_are_what_the_bound_assumes() -> None:
    assert len(set(WORDS)) == 64
    assert min(rows * 4 for rows, _, _ in LAYOUTS) >= 36


async def test_a_million_states_are_there_at_once() -> None:
    argument = "generated?states=1000000&branching=8&aliasing=0.2&seed=3"
    assert declared(argument).states == 1_000_000
    states = {world.truth()["state"] async for world, _ in walk(argument, 300)}
    assert max(s for s in states if isinstance(s, int)) > 10_000


async def test_hazards_end_episodes_and_can_be_turned_off() -> None:
    risky = {result.outcome async for _, result in walk("generated?hazards=0.5", 300)}
    safe = {result.outcome async for _, result in walk("generated?hazards=0", 300)}
    assert risky == {Outcome.OK, Outcome.CRASH, Outcome.HANG, Outcome.CAPTURE}
    assert safe == {Outcome.OK}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"states": 1}, "states=1 is not within 2"),
        ({"branching": 33}, "branching=33 is not within 2 … 32"),
        ({"aliasing": 1.5}, r"aliasing=1.5 is not within 0.0 … 1.0"),
        ({"races": float("nan")}, "races=nan"),
    ],
)
def test_settings_out_of_range_name_the_range(bad: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        GeneratorSettings(**bad)  # type: ignore[arg-type]
