"""Whatever a backend reports: the encoder does not raise, and a bad element changes no other atom."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import WINDOW, any_element, any_observation, bad_box, element, good_element, observe

from screensearch.domain.screen import Box, Element, Observation
from screensearch.encode.atoms import role_atom, text_atom
from screensearch.encode.encoder import Encoder

ENCODER = Encoder()


@given(any_observation)
def test_no_observation_makes_the_encoder_raise(observation: Observation) -> None:
    screen = ENCODER.encode(observation)
    assert screen.role_atoms == tuple(sorted(set(screen.role_atoms)))
    assert screen.text_atoms == tuple(sorted(set(screen.text_atoms)))
    for text in (
        screen.key,
        screen.text,
        *screen.role_atoms,
        *screen.text_atoms,
        *dataclasses.astuple(screen.metadata),
    ):
        text.encode("utf-8")


@given(st.lists(good_element, max_size=6), any_element, bad_box, st.integers(0, 6))
def test_an_element_without_a_place_changes_nothing(
    good: list[Element], bad: Element, box: Box, place: int
) -> None:
    encoder = Encoder()
    without = encoder.encode(observe(*good))
    with_bad = encoder.encode(observe(*good[:place], dataclasses.replace(bad, box=box), *good[place:]))
    assert with_bad == without
    assert encoder.counts.malformed == 1


@given(st.lists(good_element, max_size=6), any_element)
def test_a_strange_element_adds_its_own_atoms_and_takes_none_away(
    good: list[Element], strange: Element
) -> None:
    without, alone, together = (
        Encoder().encode(observe(*elements)) for elements in (good, [strange], [strange, *good])
    )
    assert set(together.role_atoms) == {*without.role_atoms, *alone.role_atoms}
    assert set(together.text_atoms) == {*without.text_atoms, *alone.text_atoms}


@pytest.mark.parametrize("parents", [(1, 0), (0, 1), (-1, 99), (10**30, None)])
def test_cycles_and_wild_parents_do_not_matter(parents: tuple[int | None, int | None]) -> None:
    plain = [element("pane", "a", 5, 5), element("button", "b", 50, 50)]
    wild = [dataclasses.replace(each, parent=parent) for each, parent in zip(plain, parents, strict=True)]
    assert Encoder().encode(observe(*wild)) == Encoder().encode(observe(*plain))


@pytest.mark.parametrize(
    "label",
    [
        "x" * 2**20,
        "\u0301\u0316" * 2**19,
        " " * 2**20 + "x",
        "\ud800" * 2**20,
        "\u202e" * 2**20,
        "\x00" * 2**20,
    ],
    ids=["letters", "accents", "spaces", "surrogates", "overrides", "nulls"],
)
def test_megabyte_labels_leave_their_neighbours_alone(label: str) -> None:
    encoder = Encoder()
    neighbour = element("button", "Save", 70, 120)
    screen = encoder.encode(observe(element("text", label, 5, 5), neighbour))
    assert role_atom(12, 7, "button") in screen.role_atoms
    assert text_atom(12, 7, "save") in screen.text_atoms
    assert len(screen.text) <= 130
    assert encoder.encode(observe(neighbour)) == Encoder().encode(observe(neighbour))


def test_a_window_without_area_gives_an_empty_screen() -> None:
    encoder = Encoder()
    nowhere = dataclasses.replace(WINDOW, box=Box(math.nan, 0, -1, math.inf))
    screen = encoder.encode(observe(element("button", "Save", 5, 5), window=nowhere))
    assert screen.role_atoms == screen.text_atoms == ()
    assert encoder.counts.malformed == 1
