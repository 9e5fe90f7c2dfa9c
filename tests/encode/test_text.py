from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from screensearch.encode.text import TEXT_LIMIT, normalise, tokens, words

any_text = st.text(st.characters(exclude_categories=[]), max_size=400)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Save", "save"),
        ("  Save \t As…\n", "save as..."),
        ("ﬁle", "file"),  # a ligature
        ("ＦＵＬＬ", "full"),
        ("É", "é"),
        ("", ""),
        (" \u00a0\u2003 ", ""),
        ("a\x00b\x07c\x7f", "abc"),
        ("\x01é", "é"),
        ("\u202bשלום\u202c", "שלום"),  # right-to-left embedding: marks go, letters stay in order
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("bad \ud800 half", "bad \ufffd half"),
        ("👍🏽", "👍🏽"),
        ("x" * 500, "x" * 120),
        ("x" * 119 + " y", "x" * 119),  # never ends in a space
    ],
)
def test_spellings_of_one_label_are_one_text(raw: str, text: str) -> None:
    assert normalise(raw) == text


@given(any_text)
@example("e\u200d\u0301")  # removing a joiner lets an accent combine
@example("İ")  # lower case of two code points
@example("ϓ")  # compatibility form of a capital
@example("¨" * 130)  # a compatibility form that begins with a space
@example("ﷺ" * 30)  # one code point becomes eighteen
@example("\u0345\u0301Α\u0345")
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(any_text)
def test_the_result_is_short_clean_and_storable(text: str) -> None:
    result = normalise(text)
    assert len(result) <= TEXT_LIMIT
    assert result == " ".join(result.split())
    assert result.encode("utf-8").decode("utf-8") == result
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs"} for character in result)


def test_every_single_character_reaches_its_final_form() -> None:
    changing = (
        character
        for character in map(chr, range(0x80, sys.maxunicode + 1))
        if character.lower() != character or not unicodedata.is_normalized("NFKC", character)
    )
    for character in changing:
        once = normalise(f"a{character}\u0301")
        assert normalise(once) == once, hex(ord(character))


@pytest.mark.parametrize("filler", [" ", "\u0301\u0316", "x", "\u200b", "é", "\ud800", "\U0001f600 "])
def test_a_megabyte_label_is_cut_before_it_costs_anything(filler: str) -> None:
    result = normalise("Start " + filler * (1_000_000 // len(filler)))
    assert result.startswith("start")
    assert len(result) <= TEXT_LIMIT


def test_white_space_before_a_label_is_not_counted() -> None:
    assert normalise(" " * 1_000_000 + "Save") == "save"


def test_tokens_are_the_distinct_words() -> None:
    assert tokens("Save the file_name, SAVE it: 2x") == {"save", "the", "file", "name", "it", "2x"}
    assert tokens("…  |") == frozenset()


def test_the_words_of_a_long_instruction_are_all_seen() -> None:
    assert words("open " * 100 + "Settings")[-1] == "settings"
    assert words("öffne " * 100 + "Ümlaut")[-1] == "ümlaut"
