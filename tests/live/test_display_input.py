"""Pointer and keys on a real X server: what a GTK window tells of what reached it."""

from __future__ import annotations

import pytest

from live.display_desks import Desk
from screensearch.errors import FormatError

SHIFT_MASK, CONTROL_MASK, ALT_MASK = 1, 4, 8


async def test_clicks_arrive_where_they_are_aimed_with_their_button_and_count(desk: Desk) -> None:
    x, y = desk.point()
    desk.display.click(x, y)
    await desk.rest()
    desk.display.click(x + 40.4, y + 9.6, button=3)
    await desk.rest()
    desk.display.click(x + 80, y, count=2)
    events = await desk.told_until(lambda event: event.get("times") == "2button-press")
    places = [
        (event["button"], event["times"], event["x"], event["y"]) for event in events if "button" in event
    ]
    assert places == [
        (1, "button-press", x, y),
        (3, "button-press", x + 40, y + 10),
        *[(1, "button-press", x + 80, y)] * 2,
        (1, "2button-press", x + 80, y),
    ]


async def test_two_clicks_in_a_row_are_no_double_click(desk: Desk) -> None:
    x, y = desk.point()
    desk.display.click(x, y)
    desk.display.click(x, y)
    desk.display.click(x, y, button=2)
    events = await desk.told_until(lambda event: event.get("button") == 2)
    assert [event["times"] for event in events if event.get("button") == 1] == ["button-press"] * 2


async def test_the_wheel_turns_its_four_ways(desk: Desk) -> None:
    for direction in ("up", "down", "left", "right"):
        desk.display.scroll(*desk.point(), direction, 2)
    desk.display.click(*desk.point())
    events = await desk.told_until(lambda event: "button" in event)
    turned = [event["scroll"] for event in events if "scroll" in event]
    assert turned == ["up", "up", "down", "down", "left", "left", "right", "right"]
    with pytest.raises(FormatError, match="cannot scroll 'over'"):
        desk.display.scroll(0, 0, "over", 1)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, World! {}[]<>|\\~^`'\"@#$%&*()_+-=:;?/ 0123456789",
        "ä€ß ÀÉ ‘quotes’ — Привет, Мир ЖЖжж λόγος 日本語 😀🇨🇭",
        "one\n\ttwo\nTHREE",
    ],
)
async def test_typed_text_arrives_to_the_character(desk: Desk, text: str) -> None:
    desk.display.type_text(text)
    events = await desk.told_until(lambda event: event.get("text") == text)
    assert events[-1]["text"] == text


async def test_more_foreign_characters_than_there_are_spare_keycodes_arrive_too(desk: Desk) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(120))
    desk.display.type_text(text)
    events = await desk.told_until(lambda event: len(event.get("text", "")) >= len(text))
    assert events[-1]["text"] == text


async def test_a_caps_lock_that_was_left_on_does_not_spoil_the_text(desk: Desk) -> None:
    desk.display.press("Caps_Lock")
    desk.display.type_text("aBc")
    events = await desk.told_until(lambda event: len(event.get("text", "")) == 3)
    assert events[-1]["text"] == "aBc"


async def test_combinations_hold_their_modifiers_and_release_them(desk: Desk) -> None:
    for keys in ("ctrl+shift+s", "alt+F9", "ctrl+plus", "Escape", "S", "q"):
        desk.display.press(keys)
    events = await desk.told_until(lambda event: event.get("key") == "q")
    every = SHIFT_MASK | CONTROL_MASK | ALT_MASK
    pressed = [(event["key"], event["state"] & every) for event in events if "key" in event]
    assert [key for key in pressed if not key[0].endswith(("_L", "_R"))] == [
        ("S", SHIFT_MASK | CONTROL_MASK),
        ("F9", ALT_MASK),
        ("plus", SHIFT_MASK | CONTROL_MASK),
        ("Escape", 0),
        ("S", SHIFT_MASK),
        ("q", 0),
    ]
