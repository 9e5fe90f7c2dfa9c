"""Keys by name, text by keysym, and keycodes for what no key gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.environments.desktop.keys import (
    Combination,
    Keyboard,
    Stroke,
    keysym_of_character,
    keysyms_of_text,
    parse_combination,
)
from screensearch.errors import FormatError

CTRL, ALT, SHIFT = 0xFFE3, 0xFFE9, 0xFFE1


@pytest.mark.parametrize(
    ("text", "combination"),
    [
        ("Escape", Combination((), 0xFF1B)),
        ("escape", Combination((), 0xFF1B)),
        ("Enter", Combination((), 0xFF0D)),
        ("F10", Combination((), 0xFFC7)),
        ("F35", Combination((), 0xFFE0)),
        ("ctrl+shift+s", Combination((CTRL, SHIFT), ord("s"))),
        ("ctrl+S", Combination((CTRL,), ord("s"))),
        ("S", Combination((), ord("S"))),
        ("alt+F4", Combination((ALT,), 0xFFC1)),
        ("alt", Combination((), ALT)),
        ("+", Combination((), ord("+"))),
        ("ctrl++", Combination((CTRL,), ord("+"))),
        ("ctrl+plus", Combination((CTRL,), ord("+"))),
        ("ctrl+ctrl+a", Combination((CTRL,), ord("a"))),
        ("space", Combination((), 0x20)),
        ("ä", Combination((), 0xE4)),
        ("€", Combination((), 0x010020AC)),
    ],
)
def test_a_combination_is_read(text: str, combination: Combination) -> None:
    assert parse_combination(text) == combination


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("Escpe", "did you mean 'Escape'"),
        ("ctrl+Retrun", "did you mean 'Return'"),
        ("crtl+s", "did you mean 'ctrl'"),
        ("x2+s", "known: ctrl, control, alt, shift, super"),
        ("", "known: BackSpace"),
        ("ctrl+", "known: BackSpace"),
    ],
)
def test_an_unknown_key_is_refused_with_a_near_one(text: str, remedy: str) -> None:
    with pytest.raises(FormatError, match="is not a key") as refusal:
        parse_combination(text)
    assert remedy in str(refusal.value)


def test_characters_have_the_keysyms_of_x() -> None:
    text = "aZ ä€ж😀\t\r\n\n"
    assert keysyms_of_text(text) == [
        *(0x61, 0x5A, 0x20, 0xE4, 0x010020AC, 0x01000436, 0x0101F600),
        *(0xFF09, 0xFF0D, 0xFF0D),
    ]


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x85", "\ud800"])
def test_a_character_that_no_key_gives_is_refused(character: str) -> None:
    with pytest.raises(FormatError, match="cannot be typed"):
        keysym_of_character(character)


def keyboard(*, spare: int) -> Keyboard:
    """Keys for a and b from keycode 10 on, then a shift key, then spare keycodes."""
    return Keyboard(10, [[ord("a"), ord("A")], [ord("b"), ord("B"), ord("ß")], [SHIFT], *[[0, 0]] * spare])


def test_what_a_key_gives_is_pressed_with_or_without_shift() -> None:
    (segment,) = keyboard(spare=1).segments(keysyms_of_text("aBa"))
    assert segment.strokes == (Stroke(10, False), Stroke(11, True), Stroke(10, False))
    assert not segment.assign
    assert not segment.reuses


def test_what_no_key_gives_on_its_first_levels_gets_a_spare_keycode_and_keeps_it() -> None:
    keys = keyboard(spare=2)
    (first,) = keys.segments(keysyms_of_text("ßaß"))
    assert first.assign == ((13, ord("ß")),)
    assert first.strokes == (Stroke(13, False), Stroke(10, False), Stroke(13, False))
    (again,) = keys.segments(keysyms_of_text("ß"))
    assert (again.assign, again.strokes) == ((), first.strokes[:1])


def test_the_spare_keycode_that_was_used_longest_ago_is_taken_again_after_a_wait() -> None:
    keys = keyboard(spare=2)
    (both,) = keys.segments(keysyms_of_text("жя"))
    assert not both.reuses
    (segment,) = keys.segments(keysyms_of_text("жю"))
    assert (segment.assign, segment.reuses) == (((14, 0x0100044E),), True)
    assert segment.strokes == (Stroke(13, False), Stroke(14, False))


def test_a_keyboard_without_spare_keycodes_says_so() -> None:
    with pytest.raises(FormatError, match="none to spare"):
        list(keyboard(spare=0).segments(keysyms_of_text("ж")))


def test_a_changed_keyboard_frees_the_keycodes_that_lost_their_keysym() -> None:
    keys = keyboard(spare=2)
    list(keys.segments(keysyms_of_text("жя")))
    keys.read(10, [[ord("a")], [ord("b")], [SHIFT], [0x01000436, 0x01000436], [0, 0]])
    assert dict(keys.assigned) == {13: 0x01000436}
    (segment,) = keys.segments(keysyms_of_text("ю"))
    assert (segment.assign, segment.reuses) == (((14, 0x0100044E),), False)


@given(
    texts=st.lists(st.text(st.sampled_from("abABжяюß€😀"), max_size=12), max_size=5), spare=st.integers(1, 4)
)
def test_an_application_that_looks_late_still_gets_the_text(texts: list[str], spare: int) -> None:
    keys = keyboard(spare=spare)
    table = {10: "aA", 11: "bB"}  # what each keycode means on its two levels, as the application sees it
    pending: list[Stroke] = []
    arrived = ""
    for text in texts:
        for segment in keys.segments(keysyms_of_text(text)):
            if segment.reuses:  # only here does the application catch up
                arrived += "".join(table[stroke.code][stroke.shift] for stroke in pending)
                pending = []
            for code, keysym in segment.assign:
                character = chr(keysym & 0xFFFFFF)
                table[code] = character * 2
            pending += segment.strokes
    arrived += "".join(table[stroke.code][stroke.shift] for stroke in pending)
    assert arrived == "".join(texts)
