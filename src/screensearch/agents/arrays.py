"""An observation and what can be done there as arrays of fixed size: what a learner is given.

A screen has any number of elements and actions; an array has not. What is more than fits is left out: of
the elements first those that no action aims at, of the actions those that come last. Rows that are not used
are zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from screensearch.act.candidates import CandidateSettings
from screensearch.act.templates import TEMPLATES
from screensearch.domain.action import Action, Candidate
from screensearch.domain.keys import parse_combination
from screensearch.domain.roles import ROLES, map_role
from screensearch.domain.screen import Box, Element, Image, Observation
from screensearch.encode.embed import EmbedSettings, HashingEmbedder
from screensearch.encode.encoder import shown_text
from screensearch.encode.text import normalise
from screensearch.errors import SettingsError

Arrays = dict[str, Any]
"""What a space of arrays holds: each an array, `window` a number."""

WINDOWS = ("main", "dialog", "menu", "popup")
"""Kinds of windows, counted from 1; 0 is any other."""

ROLE_NUMBERS: Mapping[str, int] = {role: number for number, role in enumerate(sorted(ROLES), start=1)}
"""The number of each role; 0 is no element."""

TEMPLATE_NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(TEMPLATES, start=1)}
"""The number of each action template; 0 is no action, or one of another kind."""

FLAGS = ("clickable", "editable", "enabled", "focused", "checked", "own")
"""The columns of `flags`; `own`: it belongs to the application."""

_LARGEST = 100_000  # rows of any of the arrays


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the arrays are."""

    elements: int = 256
    candidates: int = 128
    text_dimensions: int = 16
    screenshot: tuple[int, int] | None = None  # height, width in pixels; None: no picture

    def __post_init__(self) -> None:
        shown = self.screenshot or (1, 1)
        for name, value in (
            ("elements", self.elements),
            ("candidates", self.candidates),
            ("text_dimensions", self.text_dimensions),
            ("the height of screenshot", shown[0]),
            ("the width of screenshot", shown[1]),
        ):
            if not 1 <= value <= _LARGEST:
                raise SettingsError(f"{name} is {value!r}; it must be between 1 and {_LARGEST}")


class ArrayEncoder:
    """Writes observations as arrays, always new ones. The same observation gives the same arrays."""

    def __init__(self, sizes: Sizes, application: str, settings: CandidateSettings) -> None:
        self.sizes = sizes
        self._application = normalise(application)
        self._words = HashingEmbedder(EmbedSettings(dimensions=sizes.text_dimensions))
        self._arguments = argument_numbers(settings)

    @property
    def arguments(self) -> int:
        """How many kinds of arguments an action may have, none included."""
        return len(self._arguments) + 1

    def encode(self, observation: Observation, candidates: Sequence[Candidate]) -> Arrays:
        """All arrays of a screen, `action_mask` among them."""
        sizes = self.sizes
        aimed = {_key(each.action.element) for each in candidates if each.action.element is not None}
        kept = _kept(observation.elements, aimed, sizes.elements)
        places = {_key(element): row for row, element in reversed(list(enumerate(kept, start=1)))}
        arrays: Arrays = {
            "role": np.zeros(sizes.elements, np.int16),
            "box": np.zeros((sizes.elements, 4), np.float32),
            "flags": np.zeros((sizes.elements, len(FLAGS)), np.int8),
            "text": np.zeros((sizes.elements, sizes.text_dimensions), np.float32),
            "window": np.int64(_window_number(observation)),
            "candidates": np.zeros((sizes.candidates, 3), np.int32),
            "action_mask": action_mask(candidates, sizes),
        }
        for row, element in enumerate(kept):
            arrays["role"][row] = ROLE_NUMBERS[map_role(element.role)]
            arrays["box"][row] = within(element.box, observation.window.box)
            arrays["flags"][row] = self._flags(element)
        if kept:
            arrays["text"][: len(kept)] = self._words.embed([normalise(shown_text(each)) for each in kept])
        for row, candidate in enumerate(candidates[: sizes.candidates]):
            action = candidate.action
            place = 0 if action.element is None else places.get(_key(action.element), 0)
            arrays["candidates"][row] = (
                TEMPLATE_NUMBERS.get(action.template, 0),
                place,
                self._argument(action),
            )
        if sizes.screenshot is not None:
            arrays["screenshot"] = scaled(observation.screenshot, sizes.screenshot)
        return arrays

    def _flags(self, element: Element) -> tuple[bool, ...]:
        own = normalise(element.application) == self._application
        return (*(getattr(element, name) for name in FLAGS[:-1]), own)

    def _argument(self, action: Action) -> int:
        return self._arguments.get(tuple(value for _, value in action.arguments[:1]), 0)


def argument_numbers(settings: CandidateSettings) -> dict[tuple[Any, ...], int]:
    """The number of each argument that these settings propose: texts, then keys, then directions."""
    keys = [str(parse_combination(key)) for key in settings.keys]
    known = dict.fromkeys([*settings.texts, *keys, "down", "up"])
    return {(value,): number for number, value in enumerate(known, start=1)}


def action_mask(candidates: Sequence[Candidate], sizes: Sizes) -> NDArray[np.int8]:
    """1 for every action that can be done, as Gymnasium's own spaces take it."""
    mask = np.zeros(sizes.candidates, np.int8)
    mask[: len(candidates)] = 1
    return mask


def pixels(image: Image) -> NDArray[np.uint8]:
    """A picture as rows of RGB; a copy."""
    return np.frombuffer(image.pixels, np.uint8).reshape(image.height, image.width, 3).copy()


def scaled(image: Image | None, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A picture of exactly that height and width; black where there is none."""
    height, width = size
    if image is None:
        return np.zeros((height, width, 3), np.uint8)
    if (image.height, image.width) == size:
        return pixels(image)
    picture = Pillow.frombytes("RGB", (image.width, image.height), image.pixels)
    return np.array(picture.resize((width, height), Pillow.Resampling.BILINEAR), np.uint8)


def within(box: Box, window: Box) -> tuple[float, float, float, float]:
    """Left, top, width and height as fractions of the window, cut to it; zeros where there is no place."""
    numbers = (box.x, box.y, box.width, box.height, window.x, window.y, window.width, window.height)
    if not all(map(math.isfinite, numbers)) or window.width <= 0 or window.height <= 0:
        return 0.0, 0.0, 0.0, 0.0
    left, right = (_fraction(at - window.x, window.width) for at in (box.x, box.x + box.width))
    top, bottom = (_fraction(at - window.y, window.height) for at in (box.y, box.y + box.height))
    return left, top, max(0.0, right - left), max(0.0, bottom - top)


def _fraction(distance: float, length: float) -> float:
    return min(max(distance / length, 0.0), 1.0)


def _key(element: Element) -> tuple[Element, str]:
    return element, element.handle  # a handle is no part of what makes two elements equal


def _kept(elements: Sequence[Element], aimed: set[tuple[Element, str]], most: int) -> list[Element]:
    if len(elements) <= most:
        return list(elements)
    order = sorted(range(len(elements)), key=lambda place: _key(elements[place]) not in aimed)
    return [elements[place] for place in sorted(order[:most])]


def _window_number(observation: Observation) -> int:
    kind = normalise(observation.window.kind)
    return WINDOWS.index(kind) + 1 if kind in WINDOWS else 0
