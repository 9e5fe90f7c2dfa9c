"""Observations to test with: ordinary ones, and all the nonsense that backends have been seen to report."""

from __future__ import annotations

from hypothesis import strategies as st

from screensearch.domain.screen import Box, Element, Observation, Window

WINDOW = Window("notes.txt - Notepad", "main", Box(0, 0, 300, 300), "Notepad")

any_text = st.text(st.characters(exclude_categories=[]), max_size=12)
_any_number = st.floats(allow_nan=True, allow_infinity=True)
any_box = st.builds(Box, _any_number, _any_number, _any_number, _any_number)

good_element = st.builds(
    Element,
    role=st.sampled_from(["button", "edit", "text", "listitem"]),
    text=st.sampled_from(["", "Save", "Save As", "12:03", "a|b"]) | any_text,
    box=st.builds(Box, st.integers(0, 300), st.integers(0, 300), st.integers(0, 50), st.integers(0, 50)),
    application=st.just("Notepad"),
)
any_element = st.builds(
    Element,
    role=st.sampled_from(["button", "edit", "Button", "flux capacitor"]) | any_text,
    text=any_text,
    box=any_box,
    application=any_text,
    clickable=st.booleans(),
    editable=st.booleans(),
    enabled=st.booleans(),
    parent=st.none() | st.integers(-5, 5),
    handle=any_text,
)
bad_box = any_box.filter(lambda box: not (box.width >= 0 and box.height >= 0))
any_window = st.builds(Window, any_text, any_text, any_box, any_text)
any_observation = st.builds(
    Observation,
    elements=st.lists(any_element, max_size=8).map(tuple),
    window=any_window | st.just(WINDOW),
    display_mode=any_text,
    text_scale=_any_number,
)


def element(role: str, text: str, x: float, y: float, width: float = 10, height: float = 10) -> Element:
    return Element(role, text, Box(x, y, width, height), "Notepad")


def observe(*elements: Element, window: Window = WINDOW) -> Observation:
    return Observation(elements, window)
