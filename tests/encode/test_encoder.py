from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import WINDOW, element, good_element, observe

from screensearch.domain.screen import Element, Observation, Window
from screensearch.encode.encoder import Encoder, EncodeSettings, atoms_key, text_size, title_class
from screensearch.errors import SettingsError


def test_a_screen_has_what_is_where() -> None:
    screen = Encoder().encode(
        observe(
            element("edit", "Text  Editor", 145, 145),
            element("button", "Save", 70, 120),
            element("pane", "", 0, 0),
        )
    )
    assert screen.role_atoms == ("r0_c0|pane", "r12_c7|button", "r15_c15|edit")
    assert screen.text_atoms == ("r12_c7|save", "r15_c15|text editor")
    assert screen.text == "save text editor"
    assert screen.key == atoms_key(screen.role_atoms, screen.text_atoms)
    assert screen.metadata.application == "notepad"
    assert screen.metadata.display_mode == "light"
    assert screen.metadata.text_size == "0.95-1.05"
    assert screen.metadata.window == "main|notepad"


def test_text_is_read_row_by_row_though_atoms_sort_by_name() -> None:
    screen = Encoder().encode(
        observe(
            element("text", "ten", 0, 100), element("text", "two", 0, 20), element("text", "two b", 100, 20)
        )
    )
    assert screen.text == "two two b ten"


def test_pixels_that_stay_in_their_cell_change_nothing() -> None:
    encoder = Encoder()
    one, other = (encoder.encode(observe(element("button", "Save", x, 120))) for x in (70, 73))
    assert one == other


def test_moving_the_window_changes_nothing() -> None:
    encoder = Encoder()
    here = observe(element("button", "Save", 70, 120))
    there = observe(
        element("button", "Save", 1070, 620),
        window=dataclasses.replace(WINDOW, box=dataclasses.replace(WINDOW.box, x=1000, y=500)),
    )
    assert encoder.encode(here) == encoder.encode(there)


@given(
    st.lists(good_element, max_size=12).flatmap(lambda each: st.tuples(st.just(each), st.permutations(each)))
)
def test_the_order_of_elements_changes_nothing(orders: tuple[list[Element], list[Element]]) -> None:
    one, other = (Encoder().encode(observe(*elements)) for elements in orders)
    assert one == other


@given(st.lists(st.lists(good_element, max_size=6), max_size=6))
def test_what_was_encoded_before_changes_nothing(screens: list[list[Element]]) -> None:
    seasoned = Encoder()
    for elements in screens * 2:
        assert seasoned.encode(observe(*elements)) == Encoder().encode(observe(*elements))


def test_memories_that_overflow_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_ELEMENTS_REMEMBERED", "_ATOMS_REMEMBERED", "_METADATA_REMEMBERED"):
        monkeypatch.setattr(f"screensearch.encode.encoder.{name}", 3)
    encoder = Encoder()
    for number in range(40):
        window = dataclasses.replace(WINDOW, title=f"{'x' * number} - Notepad {number}")
        seen = observe(
            *(element("text", f"{number} {each}", each * 20, 5) for each in range(5)), window=window
        )
        assert encoder.encode(seen) == Encoder().encode(seen)


def test_equal_keys_mean_equal_atoms_and_equal_text() -> None:
    encoder = Encoder()
    one = encoder.encode(observe(element("text", "button", 5, 5)))
    other = encoder.encode(observe(element("button", "text", 5, 5)))
    assert one.key != other.key


def test_unknown_roles_become_custom_and_are_counted() -> None:
    encoder = Encoder()
    for _ in range(2):
        screen = encoder.encode(observe(element("flux capacitor", "", 5, 5), element("Button", "", 50, 5)))
    assert screen.role_atoms == ("r1_c1|custom", "r1_c5|button")
    assert dict(encoder.counts.unknown_roles) == {"flux capacitor": 2}
    assert encoder.counts.screens == 2
    assert encoder.counts.elements == 4


def test_counts_are_a_value_of_that_moment() -> None:
    encoder = Encoder()
    before = encoder.counts
    encoder.encode(observe(element("flux capacitor", "", 5, 5)))
    assert before.screens == 0
    assert not before.unknown_roles


@pytest.mark.parametrize(
    ("kind", "title", "expected"),
    [
        ("main", "*notes 2.txt - Mousepad", "mousepad"),
        ("main", "Untitled 1 — LibreOffice Calc", "libreoffice calc"),
        ("main", "● Settings", "settings"),
        ("main", "Well-known", "well-known"),
        ("dialog", "Page 3 of 12", "page # of #"),
        ("dialog", "Save - Notepad", "save - notepad"),
        ("menu", "", ""),
    ],
)
def test_the_title_class_leaves_out_the_document(kind: str, title: str, expected: str) -> None:
    assert title_class(Window(title, kind, WINDOW.box, "x")) == expected


@pytest.mark.parametrize(
    ("scale", "name"),
    [
        (0.5, "<0.95"),
        (1.0, "0.95-1.05"),
        (1.05, "1.05-1.3"),
        (2, ">=1.6"),
        (float("nan"), "unknown"),
        (float("inf"), "unknown"),
        (-1.0, "unknown"),
    ],
)
def test_text_sizes_fall_into_bins(scale: float, name: str) -> None:
    assert text_size(scale, EncodeSettings().text_size_bins) == name


def test_without_edges_there_is_one_bin() -> None:
    seen = Observation((), WINDOW, text_scale=1.5)
    assert Encoder(EncodeSettings(text_size_bins=())).encode(seen).metadata.text_size == "any"


@pytest.mark.parametrize(
    "settings",
    [
        {"text_size_bins": (2.0, 1.0)},
        {"text_size_bins": (0.0,)},
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        EncodeSettings(**settings)  # type: ignore[arg-type]
