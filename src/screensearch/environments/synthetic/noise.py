"""Cosmetic noise: what changes on a screen without meaning anything.

Pixel shifts, a clock, and lists without a fixed order. Noise never touches the true state, and draws
from a generator of its own, so that the level of noise does not change what happens.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

from screensearch.domain.screen import Box, Element
from screensearch.environments.synthetic.scene import Scene

NOON = 12 * 60
SHIFTS = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Noise:
    """The noise of one episode. `level` is the chance of each kind in each observation."""

    def __init__(self, level: float, seed: str) -> None:
        self._level = level
        self._rng = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self._minutes = self._rng.randrange(24 * 60) if level else NOON

    def shown(self, scene: Scene, focus: str) -> tuple[Element, ...]:
        """The scene as it is seen this time."""
        level, draw = self._level, self._rng.random
        elements = scene.elements
        changed: dict[int, Element] = {}
        if level:
            if draw() < level:
                self._minutes = (self._minutes + 1) % (24 * 60)
            if draw() < level and scene.window.kind != "dialog":
                elements = _shifted(scene, *self._rng.choice(SHIFTS))
            if len(scene.unordered) > 1 and draw() < level:
                place = self._rng.randrange(len(scene.unordered) - 1)
                one, two = scene.unordered[place : place + 2]
                changed[one] = replace(elements[one], box=elements[two].box)
                changed[two] = replace(elements[two], box=elements[one].box)
            for index in scene.clocks:
                changed[index] = _clock(elements[index], self._minutes)
        focused = scene.focusable.get(focus)
        if focused is not None:
            changed[focused] = replace(changed.get(focused, elements[focused]), focused=True)
        if not changed:
            return elements
        seen = list(elements)
        for index, element in changed.items():
            seen[index] = element
        return tuple(seen)


@lru_cache(maxsize=4_096)
def _clock(element: Element, minutes: int) -> Element:
    return replace(element, text=f"{minutes // 60:02d}:{minutes % 60:02d}")


@lru_cache(maxsize=512)
def _shifted(scene: Scene, dx: int, dy: int) -> tuple[Element, ...]:
    """Everything a pixel aside within its window."""
    return tuple(
        Element(
            e.role,
            e.text,
            Box(e.box.x + dx, e.box.y + dy, e.box.width, e.box.height),
            e.application,
            e.clickable,
            e.editable,
            e.enabled,
            e.focused,
            e.checked,
            e.parent,
            e.handle,
        )
        for e in scene.elements
    )
