from __future__ import annotations

import pytest
from candidates_at_hand import click, clicks, type_into

from screensearch.select.priors import heuristic, shared_tokens, uniform
from screensearch.select.settings import PriorSettings

OPEN_THE_FILE = PriorSettings(instruction="Open the file menu")


def test_uniform_gives_every_candidate_the_same() -> None:
    assert uniform(clicks("a", "b", "c", "d"), PriorSettings()).tolist() == [0.25] * 4


def test_heuristic_is_equation_6_by_hand() -> None:
    at_hand = [click("Cancel"), click("Open File…"), type_into("Text editor"), type_into("file name")]
    scores = [1.0, 1.4, 1.15, 1.35]
    assert heuristic(at_hand, OPEN_THE_FILE) == pytest.approx([score / sum(scores) for score in scores])


def test_typing_counts_only_into_what_is_editable() -> None:
    at_hand = [click("name"), type_into("name", editable=False)]
    assert heuristic(at_hand, OPEN_THE_FILE).tolist() == [0.5, 0.5]


def test_a_token_counts_once_however_often_it_stands_in_the_label() -> None:
    assert shared_tokens("open the file menu", "file, FILE: file") == 1


def test_without_an_instruction_only_typing_is_preferred() -> None:
    prior = heuristic([click("Open"), type_into("Text editor")], PriorSettings(instruction=""))
    assert prior == pytest.approx([1 / 2.15, 1.15 / 2.15])


def test_the_weights_are_settings() -> None:
    settings = PriorSettings(instruction="open", overlap_weight=1.0, typing_weight=0.0)
    assert heuristic([click("open"), type_into("name")], settings) == pytest.approx([2 / 3, 1 / 3])
