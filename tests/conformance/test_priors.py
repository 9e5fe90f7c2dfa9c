"""The contract of every prior, ours and others': a new one needs only its name in the registry."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.action import Action, Candidate
from screensearch.domain.screen import Box, Element
from screensearch.select.priors import PRIORS
from screensearch.select.settings import SelectSettings

PLUGINS = {name: PRIORS.get(name) for name in PRIORS.names()}


def candidate(place: int, label: str, template: str, editable: bool) -> Candidate:
    element = Element("edit" if editable else "button", label, Box(0, 0, 1, 1), "app", editable=editable)
    signature = f"{template}::r0_c{place}|{element.role}|{place}|app::none"
    return Candidate(place, Action(template, element), signature, label)


at_hand = st.lists(
    st.tuples(st.text(max_size=20), st.sampled_from(["focus_click@1", "focus_type@1"]), st.booleans()),
    min_size=1,
    max_size=20,
).map(lambda rows: [candidate(place, *row) for place, row in enumerate(rows)])


@pytest.mark.parametrize("name", PLUGINS)
@given(candidates=at_hand, instruction=st.text(max_size=30))
def test_it_gives_every_candidate_a_probability(
    name: str, candidates: list[Candidate], instruction: str
) -> None:
    priors = PLUGINS[name](candidates, SelectSettings(instruction=instruction))
    assert priors.shape == (len(candidates),)
    assert priors.dtype == np.float64
    assert (priors > 0).all()
    assert priors.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", PLUGINS)
@given(candidates=at_hand)
def test_a_probability_does_not_depend_on_the_order(name: str, candidates: list[Candidate]) -> None:
    prior = PLUGINS[name]
    forward = prior(candidates, SelectSettings())
    backward = prior(candidates[::-1], SelectSettings())
    assert backward[::-1] == pytest.approx(forward)


@pytest.mark.parametrize("name", PLUGINS)
@given(candidates=at_hand)
def test_the_same_candidates_give_the_same_bits(name: str, candidates: list[Candidate]) -> None:
    prior = PLUGINS[name]
    first, second = prior(candidates, SelectSettings()), prior(candidates, SelectSettings())
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("name", PLUGINS)
def test_its_name_carries_a_version(name: str) -> None:
    assert re.fullmatch(r"[a-z_]+@[1-9]\d*", name)


def test_the_priors_of_the_paper_are_there() -> None:
    assert {"uniform@1", "heuristic@1"} <= PLUGINS.keys()
