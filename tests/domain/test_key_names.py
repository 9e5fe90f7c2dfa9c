from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.keys import KEYSYMS, MODIFIERS, parse_combination
from screensearch.errors import FormatError


@pytest.mark.parametrize(
    ("text", "written", "keysym"),
    [
        ("Escape", "Escape", 0xFF1B),
        ("F10", "F10", 0xFFC7),
        ("Page_Down", "Page_Down", 0xFF56),
        ("KP_Page_Down", "KP_Page_Down", 0xFF9B),
        ("KP_9", "KP_9", 0xFFB9),
        ("ctrl+s", "ctrl+s", 0x73),
        ("ctrl+S", "ctrl+s", 0x73),
        ("S", "S", 0x53),
        ("shift+ctrl+Delete", "ctrl+shift+Delete", 0xFFFF),
        ("+", "plus", 0x2B),
        ("ctrl++", "ctrl+plus", 0x2B),
        ("alt+-", "alt+minus", 0x2D),
        ("at", "at", 0x40),
        ("~", "asciitilde", 0x7E),
        ("é", "é", 0xE9),
        ("ж", "ж", 0x0100_0436),
    ],
)
def test_a_combination_is_read_and_written_in_one_way(text: str, written: str, keysym: int) -> None:
    combination = parse_combination(text)
    assert str(combination) == written
    assert combination.keysym == keysym
    assert parse_combination(written) == combination


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' names no key"),
        ("ctrl+", r"'ctrl\+' names no key"),
        ("esc", "no key 'esc'; did you mean 'Escape'"),
        ("enter", "did you mean 'Return'"),
        ("page down", "did you mean 'Page_Down'"),
        ("ctrl+Delte", r"no key 'Delte' in 'ctrl\+Delte'; did you mean 'Delete'"),
        ("control+s", r"no modifier 'control' in 'control\+s'; did you mean 'ctrl'"),
        ("fn+s", r"no modifier 'fn' .*\(known: ctrl, alt, shift, super\)"),
        ("ctrl+ctrl+s", "holds a modifier twice"),
        (" ", "no key ' '"),
        ("\n", "no key"),
        ("\ud800", "no key"),
        ("jabberwocky", "names that X gives them"),
    ],
)
def test_what_no_keyboard_has_is_refused_with_help(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_combination(text)


@given(st.lists(st.sampled_from(sorted(MODIFIERS)), unique=True), st.sampled_from(sorted(KEYSYMS)))
def test_the_order_of_modifiers_does_not_matter(held: list[str], key: str) -> None:
    one, other = (parse_combination("+".join((*order, key))) for order in (held, held[::-1]))
    assert one == other
    assert one.keysym == KEYSYMS[key]


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        combination = parse_combination(text)
    except FormatError:
        return
    assert parse_combination(str(combination)) == combination
