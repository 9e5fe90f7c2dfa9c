from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from candidates_at_hand import clicks

from screensearch.errors import PluginMisbehaved, ScreenSearchError, SettingsError, UnknownPlugin
from screensearch.select.choose import Chooser
from screensearch.select.priors import PRIORS
from screensearch.select.selectors import SELECTORS, Selection
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


@pytest.mark.parametrize(
    "returned",
    [
        np.array([0.5, math.nan, 0.5]),
        np.array([math.inf, 0.0, 0.0]),
        np.array([1.5, -0.5, 0.0]),
        np.zeros(3),
        np.ones(3),
        np.array([0.5, 0.5]),
        np.array([[0.5, 0.25, 0.25]]),
        np.array([1, 0, 0]),
        [0.5, 0.25, 0.25],
        None,
    ],
    ids=repr,
)
def test_a_prior_that_returns_no_distribution_is_named_with_what_it_returned(returned: object) -> None:
    PRIORS.register("odd@1", lambda candidates, settings: returned)  # type: ignore[arg-type]
    chooser = Chooser(SelectSettings(prior="odd@1"))
    shown = " ".join(repr(returned).split())
    with pytest.raises(
        PluginMisbehaved, match=rf"prior 'odd@1' returned {re.escape(shown)} for 3 candidates"
    ):
        chooser.choose(AT_HAND, {}, rng=generator(), snapshot=0)


@pytest.mark.parametrize(
    "returned",
    [
        Selection(3, 0.0),
        Selection(-1, 0.0),
        Selection(np.int64(1), 0.0),  # type: ignore[arg-type]
        Selection(0, math.nan),
        Selection(0, -math.inf),
        Selection(0, np.float64(1.0)),
        (0, 1.0),
        None,
    ],
    ids=repr,
)
def test_a_selector_that_chooses_nothing_usable_is_named_with_what_it_returned(returned: object) -> None:
    SELECTORS.register("odd", lambda situation: returned)  # type: ignore[arg-type]
    chooser = Chooser(SelectSettings(selector="odd"))
    with pytest.raises(
        PluginMisbehaved,
        match=rf"selector 'odd' returned {re.escape(repr(returned))} for 3 candidates.*\[0, 2\]",
    ):
        chooser.choose(AT_HAND, {}, rng=generator(), snapshot=0)


def test_what_a_plugin_returned_is_shown_in_short() -> None:
    PRIORS.register("odd@1", lambda candidates, settings: "x" * 10_000)  # type: ignore[arg-type]
    with pytest.raises(PluginMisbehaved) as raised:
        Chooser(SelectSettings(prior="odd@1")).choose(AT_HAND, {}, rng=generator(), snapshot=0)
    assert len(str(raised.value)) < 600


def test_no_candidate_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ScreenSearchError, match=r"no candidate to choose from \(4 vetoed"):
        Chooser(SelectSettings()).choose([], {}, rng=generator(), snapshot=0, vetoed=4)


def test_an_unknown_plugin_is_refused_before_any_step() -> None:
    with pytest.raises(UnknownPlugin, match="did you mean 'puct'"):
        Chooser(SelectSettings(selector="puckt"))
    with pytest.raises(UnknownPlugin, match="did you mean 'heuristic@1'"):
        Chooser(SelectSettings(prior="heuristic@2"))


@pytest.mark.parametrize("name", ["c_puct", "overlap_weight", "typing_weight"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_a_constant_out_of_range_is_named(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=rf"select\.{name} is {value}.*>= 0"):
        SelectSettings(**{name: value})  # type: ignore[arg-type]
