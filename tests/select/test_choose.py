from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from candidates_at_hand import clicks

from screensearch.errors import ScreenSearchError, SettingsError, UnknownPlugin
from screensearch.select.choose import Chooser
from screensearch.select.settings import SelectSettings


@dataclass(frozen=True)
class Seen:
    visits: int
    value: float


AT_HAND = clicks("New", "Save", "Quit")
NEW, SAVE, QUIT = (candidate.signature for candidate in AT_HAND)


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_choice_records_what_the_selector_saw() -> None:
    chooser = Chooser(SelectSettings(prior="uniform@1"))
    tried = {NEW: Seen(3, 0.5), SAVE: Seen(1, 2.0), QUIT: Seen(5, 0.0)}
    candidate, choice = chooser.choose(AT_HAND, tried, rng=generator(), snapshot=41, vetoed=2)
    assert candidate is AT_HAND[1]
    assert (choice.signature, choice.snapshot, choice.candidates, choice.vetoed) == (SAVE, 41, 3, 2)
    assert (choice.visits, choice.value) == (1, 2.0)
    assert choice.prior == pytest.approx(1 / 3)
    assert choice.score == pytest.approx(2.0 + (1 / 3) * 3 / 2)


def test_signatures_that_cannot_be_executed_now_take_no_part() -> None:
    chooser = Chooser(SelectSettings(prior="uniform@1"))
    _, alone = chooser.choose(AT_HAND, {NEW: Seen(4, 0.0)}, rng=generator(), snapshot=1)
    _, beside = chooser.choose(
        AT_HAND, {NEW: Seen(4, 0.0), "gone": Seen(500, 9.0)}, rng=generator(), snapshot=1
    )
    assert alone == beside


def test_the_same_seed_gives_the_same_choices() -> None:
    chooser = Chooser(SelectSettings(prior="uniform@1"))

    def walk(seed: int) -> list[str]:
        rng = generator(seed)
        return [chooser.choose(AT_HAND, {}, rng=rng, snapshot=0)[1].signature for _ in range(20)]

    assert walk(3) == walk(3)
    assert walk(3) != walk(4)


def test_prior_only_by_objective_and_by_value_weight_choose_alike() -> None:
    """With no reward Q stays 0; with no weight on Q it does not matter what it is."""
    unrewarded = Chooser(SelectSettings())
    unvalued = Chooser(SelectSettings(value_weight=0.0))
    visits = {NEW: 0, SAVE: 0, QUIT: 0}
    for step in range(30):
        zero = {signature: Seen(count, 0.0) for signature, count in visits.items()}
        some = {signature: Seen(count, 1.7) for signature, count in visits.items()}
        _, first = unrewarded.choose(AT_HAND, zero, rng=generator(step), snapshot=step)
        _, second = unvalued.choose(AT_HAND, some, rng=generator(step), snapshot=step)
        assert first.signature == second.signature
        visits[first.signature] += 1


def test_no_candidate_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ScreenSearchError, match=r"no candidate to choose from \(4 vetoed"):
        Chooser(SelectSettings()).choose([], {}, rng=generator(), snapshot=0, vetoed=4)


def test_an_unknown_plugin_is_refused_before_any_step() -> None:
    with pytest.raises(UnknownPlugin, match="did you mean 'puct'"):
        Chooser(SelectSettings(selector="puckt"))
    with pytest.raises(UnknownPlugin, match="did you mean 'heuristic@1'"):
        Chooser(SelectSettings(prior="heuristic@2"))


@pytest.mark.parametrize("name", ["c_puct", "value_weight", "overlap_weight", "typing_weight"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_a_constant_out_of_range_is_named(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=rf"select\.{name} is {value}.*>= 0"):
        SelectSettings(**{name: value})  # type: ignore[arg-type]
