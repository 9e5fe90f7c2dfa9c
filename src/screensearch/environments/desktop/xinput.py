"""Pointer and keys of an X screen: what to press, in which order, and when to wait in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from screensearch.environments.desktop.keys import (
    CAPS_LOCK,
    SHIFT,
    Keyboard,
    Stroke,
    keysyms_of_text,
    parse_combination,
)
from screensearch.errors import FormatError

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 3, 4, 5, 6
_SCROLL_BUTTONS = {"up": 4, "down": 5, "left": 6, "right": 7}
_LOCK_MASK = 2
_NEAR_PIXELS = 10  # two clicks this near may make a double click


class InputWire(Protocol):
    """What input needs of a connection."""

    core: Any
    root: int
    keycodes: tuple[int, int]  # the lowest and the highest

    def replies(self, cookies: Sequence[Any]) -> list[Any]:
        """The answers, in order."""
        ...

    def fake(self, kind: int, detail: int, milliseconds: int = 0, place: tuple[int, int] = (0, 0)) -> None:
        """Make an input event, after a pause of the server's: what is sent later waits with it."""
        ...


class Input:
    """Pointer and keyboard. Everything is sent, nothing is waited for, unless it says so."""

    def __init__(
        self,
        wire: InputWire,
        size: tuple[int, int],
        *,
        double_click_seconds: float,
        until_handled: Callable[[], None],
    ) -> None:
        """`until_handled` waits until the application has looked at the keys that were pressed."""
        self._wire = wire
        self._size = size
        self._double_click_seconds = double_click_seconds
        self._until_handled = until_handled
        self._last_click = (0, 0, 0, 0.0)  # x, y, button, time
        self._keyboard = Keyboard(wire.keycodes[0], self._rows())
        self._keyboard_changed = False

    def keyboard_changed(self, first_code: int, count: int) -> None:
        """An event said so; our own assignments come one by one."""
        if count != 1 or first_code not in self._keyboard.assigned:
            self._keyboard_changed = True

    def move(self, x: float, y: float) -> tuple[int, int]:
        """Move the pointer, within the screen; returns where it is."""
        place = (min(max(round(x), 0), self._size[0] - 1), min(max(round(y), 0), self._size[1] - 1))
        self._wire.fake(MOTION, 0, 0, place)
        return place

    def click(self, x: float, y: float, *, button: int, count: int) -> None:
        """Move the pointer there, then press and release a button, `count` times in a row."""
        pause = self._click_pause(*self.move(x, y), button)
        for _ in range(count):
            self._wire.fake(BUTTON_PRESS, button, pause)
            self._wire.fake(BUTTON_RELEASE, button)
            pause = 0

    def scroll(self, x: float, y: float, direction: str, amount: int) -> None:
        """Move the pointer there and turn the wheel by so many clicks."""
        button = _SCROLL_BUTTONS.get(direction)
        if button is None:
            raise FormatError(f"cannot scroll {direction!r}; known are {', '.join(_SCROLL_BUTTONS)}")
        self.move(x, y)
        for _ in range(amount):
            self._wire.fake(BUTTON_PRESS, button)
            self._wire.fake(BUTTON_RELEASE, button)

    def press(self, combination: str) -> None:
        """Press a key while its modifiers are held."""
        wanted = parse_combination(combination)
        self._unlock()
        held = [self._stroke(modifier).code for modifier in wanted.modifiers]
        stroke = self._stroke(wanted.key)
        for code in held:
            self._wire.fake(KEY_PRESS, code)
        self._tap([Stroke(stroke.code, stroke.shift and SHIFT not in wanted.modifiers)])
        for code in reversed(held):
            self._wire.fake(KEY_RELEASE, code)

    def type_text(self, text: str) -> None:
        """Type any text; waits only when the spare keycodes do not suffice for its characters."""
        keysyms = keysyms_of_text(text)
        self._unlock()
        for segment in self._layout().segments(keysyms):
            self._assign(segment.assign, reuses=segment.reuses)
            self._tap(segment.strokes)

    def _click_pause(self, x: int, y: int, button: int) -> int:
        """Milliseconds to wait, so that this click and the last one are not taken for a double click."""
        now = time.monotonic()
        last_x, last_y, last_button, last_time = self._last_click
        pause = 0.0
        if button == last_button and max(abs(x - last_x), abs(y - last_y)) <= _NEAR_PIXELS:
            pause = max(0.0, last_time + self._double_click_seconds - now)
        self._last_click = (x, y, button, now + pause)
        return round(1000 * pause)

    def _layout(self) -> Keyboard:
        if self._keyboard_changed:
            self._keyboard_changed = False
            self._keyboard.read(self._wire.keycodes[0], self._rows())
        return self._keyboard

    def _rows(self) -> list[list[int]]:
        first, last = self._wire.keycodes
        (reply,) = self._wire.replies([self._wire.core.GetKeyboardMapping(first, last - first + 1)])
        width, keysyms = reply.keysyms_per_keycode, list(reply.keysyms)
        return [keysyms[at : at + width] for at in range(0, len(keysyms), width)]

    def _unlock(self) -> None:
        """Release a caps lock: letters would come in the wrong case."""
        (reply,) = self._wire.replies([self._wire.core.QueryPointer(self._wire.root)])
        if reply.mask & _LOCK_MASK:
            self._tap([self._stroke(CAPS_LOCK)])

    def _stroke(self, keysym: int) -> Stroke:
        (segment,) = self._layout().segments([keysym])
        self._assign(segment.assign, reuses=segment.reuses)
        return segment.strokes[0]

    def _assign(self, assign: Sequence[tuple[int, int]], *, reuses: bool) -> None:
        if reuses:
            self._until_handled()
        for code, keysym in assign:
            # On both levels: a letter on the first one alone would stand for its lower case.
            self._wire.core.ChangeKeyboardMapping(1, code, 2, [keysym, keysym])

    def _tap(self, strokes: Iterable[Stroke]) -> None:
        shift = self._stroke(SHIFT).code
        held = False
        for stroke in strokes:
            if stroke.shift != held:
                self._wire.fake(KEY_PRESS if stroke.shift else KEY_RELEASE, shift)
                held = stroke.shift
            self._wire.fake(KEY_PRESS, stroke.code)
            self._wire.fake(KEY_RELEASE, stroke.code)
        if held:
            self._wire.fake(KEY_RELEASE, shift)
