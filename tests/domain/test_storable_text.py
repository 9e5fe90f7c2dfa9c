from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.text import storable


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert storable("a\ud800b\udfff") == "a\ufffdb\ufffd"


@given(st.text(st.characters(exclude_categories=[])))
def test_the_result_is_valid_and_nothing_else_is_changed(text: str) -> None:
    result = storable(text)
    assert result.encode().decode() == result
    assert len(result) == len(text)
    assert all(new in {old, "\ufffd"} for old, new in zip(text, result, strict=True))
    assert storable(result) == result


@given(st.text())
def test_valid_text_is_left_as_it_is(text: str) -> None:
    assert storable(text) == text
