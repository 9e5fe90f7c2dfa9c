"""The elements of a screen as they are drawn over its picture: what each contributes, and what aims at it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from screensearch.act.signature import target_of
from screensearch.config import Settings
from screensearch.domain.roles import map_role
from screensearch.domain.screen import Box, Element, Observation
from screensearch.encode.atoms import role_atom, text_atom
from screensearch.encode.encoder import shown_text
from screensearch.encode.grid import cell_at, centre_of
from screensearch.encode.masks import Masks
from screensearch.encode.text import normalise
from screensearch.view.messages import ElementInfo, Rectangle

LONGEST_TEXT = 2_000
"""Characters of an element's text that are shown: an application may put a book into a field."""


def element_atoms(element: Element, window: Box, masks: Masks) -> tuple[str | None, str | None]:
    """The atoms that an element contributes, as the encoder makes them: of its role, and of its text.

    None twice if its box is no place; none of a text that is empty or blanked by a mask.
    """
    centre = centre_of(element.box, window)
    if centre is None:
        return None, None
    row, column = cell_at(centre)
    text = masks.apply(normalise(shown_text(element)), centre)
    return role_atom(row, column, map_role(element.role)), text_atom(row, column, text) if text else None


def elements_of(
    observation: Observation, settings: Settings, signatures: Iterable[str] = ()
) -> list[ElementInfo]:
    """Every element of an observation, with those of the signatures that aim at it."""
    masks = Masks(settings.encode.masks)
    aimed = by_target(signatures)
    return list(_describe(observation, masks, aimed))


def by_target(signatures: Iterable[str]) -> dict[str, list[str]]:
    """Signatures by what they are aimed at: the middle part of each."""
    aimed: defaultdict[str, list[str]] = defaultdict(list)
    for signature in signatures:
        parts = signature.split("::", 2)
        if len(parts) == 3:
            aimed[parts[1]].append(signature)
    return aimed


def _describe(
    observation: Observation, masks: Masks, aimed: Mapping[str, Sequence[str]]
) -> Iterator[ElementInfo]:
    window = observation.window.box
    for element in observation.elements:
        of_role, of_text = element_atoms(element, window, masks)
        yield ElementInfo(
            role=element.role,
            text=shortened(element.text),
            value=shortened(element.value),
            box=rectangle(element.box),
            clickable=element.clickable,
            editable=element.editable,
            enabled=element.enabled,
            focused=element.focused,
            checked=element.checked,
            secret=element.secret,
            role_atom=of_role,
            text_atom=of_text,
            signatures=list(aimed.get(str(target_of(element, window, masks)), ())) if aimed else [],
        )


def rectangle(box: Box) -> Rectangle:
    """A box as numbers; one that is no place is a point."""
    numbers = (box.x, box.y, box.width, box.height)
    if not all(map(math.isfinite, numbers)) or box.width < 0 or box.height < 0:
        return (0.0, 0.0, 0.0, 0.0)
    return numbers


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, cut if it is too long to be shown."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
