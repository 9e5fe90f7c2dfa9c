"""A screen as an agent sees it, made an observation: what `Atlas.where_am_i` is asked about."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from screensearch.domain.document import decode_observation
from screensearch.domain.roles import CUSTOM, ROLES, map_role
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.errors import FormatError

MOST_ELEMENTS = 5_000
LARGEST_DOCUMENT = 4_000_000
"""Bounds of what may be asked about: elements, and characters of a document."""

_FAMILIES = ("uia", "atspi", "aria")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenElement:
    """An element that you see: its role (UIA, AT-SPI or ARIA name), its text, its box in pixels."""

    role: str
    x: float
    y: float
    width: float
    height: float
    text: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWindow:
    """The window that takes input: its title, its box in pixels, and its kind (main, dialog, menu, popup)."""

    x: float
    y: float
    width: float
    height: float
    title: str = ""
    kind: str = "main"


def role_of(name: str) -> str | None:
    """The role of our vocabulary, whichever toolkit's name it is; None if no table knows it."""
    if name in ROLES:
        return name
    for family in _FAMILIES:
        role = map_role(name, family=family)
        if role != CUSTOM:
            return role
    return None


def make_observation(
    elements: Sequence[SeenElement],
    window: SeenWindow,
    *,
    application: str,
    display_mode: str,
    text_scale: float,
) -> Observation:
    """The observation of a list of elements."""
    if len(elements) > MOST_ELEMENTS:
        raise FormatError(f"{len(elements):,} elements are too many: give at most {MOST_ELEMENTS:,}")
    if not (window.width > 0 and window.height > 0 and math.isfinite(window.width + window.height)):
        raise FormatError(
            f"the window is {window.width:g}×{window.height:g} pixels, so no element has a place in it: "
            "give the box of the window that takes the input"
        )
    return Observation(
        tuple(
            Element(
                role_of(each.role) or CUSTOM,
                each.text,
                Box(each.x, each.y, each.width, each.height),
                application,
                value=each.value,
            )
            for each in elements
        ),
        Window(window.title, window.kind, Box(window.x, window.y, window.width, window.height), application),
        display_mode,
        text_scale,
    )


def read_observation(document: str | dict[str, Any]) -> Observation:
    """The observation of a document of format ``screensearch.observation``."""
    text = document if isinstance(document, str) else json.dumps(document)
    if len(text) > LARGEST_DOCUMENT:
        raise FormatError(
            f"a document of {len(text):,} characters is too large: at most {LARGEST_DOCUMENT:,}"
        )
    observation = decode_observation(text.encode(errors="replace"))
    if len(observation.elements) > MOST_ELEMENTS:
        raise FormatError(
            f"{len(observation.elements):,} elements are too many: give at most {MOST_ELEMENTS:,}"
        )
    return observation
