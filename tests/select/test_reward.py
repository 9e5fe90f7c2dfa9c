from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.transition import Reward
from screensearch.errors import SettingsError
from screensearch.select.reward import OBJECTIVES, RewardSettings, Weights, reward

ambiguities = st.floats(0, 1)


def test_the_reward_is_equation_5_by_hand() -> None:
    earned = reward(
        new_state=True, new_edge=True, source_ambiguity=0.75, target_ambiguity=0.5, settings=RewardSettings()
    )
    assert earned == Reward(state=True, edge=True, ambiguity=0.25, total=2.25)


def test_rising_ambiguity_costs_nothing() -> None:
    earned = reward(
        new_state=False, new_edge=False, source_ambiguity=0.2, target_ambiguity=0.9, settings=RewardSettings()
    )
    assert earned == Reward(state=False, edge=False, ambiguity=0.0, total=0.0)


@pytest.mark.parametrize(
    ("objective", "total"), [("full", 2.25), ("novelty", 2.0), ("ambiguity", 0.25), ("prior", 0.0)]
)
def test_an_objective_switches_terms_off_but_keeps_them_in_the_record(objective: str, total: float) -> None:
    earned = reward(
        new_state=True,
        new_edge=True,
        source_ambiguity=0.75,
        target_ambiguity=0.5,
        settings=RewardSettings(objective=objective),
    )
    assert earned == Reward(state=True, edge=True, ambiguity=0.25, total=total)


def test_the_weights_of_the_paper_are_the_defaults() -> None:
    assert RewardSettings().weights == Weights(state=1.0, edge=1.0, ambiguity=1.0)


def test_an_objective_keeps_the_weights_of_the_terms_that_are_left() -> None:
    settings = RewardSettings(objective="novelty", state=3.0, edge=0.5, ambiguity=2.0)
    assert settings.weights == Weights(state=3.0, edge=0.5, ambiguity=0.0)


@given(
    st.booleans(),
    st.booleans(),
    ambiguities,
    ambiguities,
    st.sampled_from(sorted(OBJECTIVES)),
    st.tuples(*[st.floats(0, 5)] * 3),
)
def test_the_total_is_the_weighted_sum_of_the_terms_and_never_negative(
    new_state: bool,
    new_edge: bool,
    source: float,
    target: float,
    objective: str,
    weights: tuple[float, float, float],
) -> None:
    settings = RewardSettings(objective=objective, state=weights[0], edge=weights[1], ambiguity=weights[2])
    earned = reward(
        new_state=new_state,
        new_edge=new_edge,
        source_ambiguity=source,
        target_ambiguity=target,
        settings=settings,
    )
    terms = (earned.state, earned.edge, earned.ambiguity)
    assert earned.total == pytest.approx(
        sum(weight * term for weight, term in zip(settings.weights, terms, strict=True))
    )
    assert earned.total >= 0


def test_an_unknown_objective_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'curiosity'.*full, novelty, ambiguity, prior"):
        RewardSettings(objective="curiosity")


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["state", "edge", "ambiguity"])
def test_a_weight_out_of_range_is_named(name: str, weight: float) -> None:
    with pytest.raises(SettingsError, match=rf"reward\.{name} is .*>= 0"):
        RewardSettings(**{name: weight})  # type: ignore[arg-type]
