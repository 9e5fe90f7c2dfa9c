"""An observation becomes a screen: two sets of atoms, a text, metadata (paper, section 4.1).

Most observations repeat most elements of an earlier one, so what an element contributes is
remembered, as is the finished form of a set of atoms. The memories are bounded and emptied when full;
they never change a result.
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from screensearch.domain.roles import ROLES, UnknownRoles, map_role
from screensearch.domain.screen import Box, Element, Metadata, Observation, Screen, Window
from screensearch.encode.atoms import role_atom, text_atom
from screensearch.encode.grid import GRID, cell_at, centre_of
from screensearch.encode.masks import Masks, MaskSettings
from screensearch.encode.text import normalise
from screensearch.errors import SettingsError

_ELEMENTS_REMEMBERED = 10_000  # some 6 MB
_ATOMS_REMEMBERED = 40_000  # of finished screens, all together: some 3 MB
_METADATA_REMEMBERED = 1_024
_LONGEST_REMEMBERED = 1_000  # characters of a raw label: longer ones would hold memory for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeSettings:
    """How screens are represented (paper, section 4.1 and "Text normalization")."""

    masks: MaskSettings = field(default_factory=MaskSettings)
    text_size_bins: tuple[float, ...] = (0.95, 1.05, 1.3, 1.6)  # ascending edges of the text scale, > 0

    def __post_init__(self) -> None:
        edges = self.text_size_bins
        if not all(low < high for low, high in zip((0.0, *edges), (*edges, math.inf), strict=True)):
            raise SettingsError(f"encode.text_size_bins = {edges} must ascend and be positive and finite")


@dataclass(frozen=True, slots=True)
class EncodeCounts:
    """What an encoder has met so far. Nothing of this enters a screen."""

    screens: int
    elements: int
    malformed: int  # elements dropped: their box says nothing about a place
    masked: int  # texts that a mask changed
    unknown_roles: UnknownRoles


class _Part(NamedTuple):
    """What one element contributes."""

    role_atom: str
    text_atom: str | None
    reading: tuple[int, str]  # cell in reading order, text
    remark: bool  # masked or of an unknown role: to be counted


class _Atoms(NamedTuple):
    """The finished form of two atom sets."""

    key: str
    roles: tuple[str, ...]
    texts: tuple[str, ...]
    text: str


class Encoder:
    """Encodes observations; total: no tree, however malformed, makes it raise.

    An element whose box is no place (NaN, infinite, negative size) is dropped and counted, and changes
    nothing else. `parent` is never followed, so cycles do not matter; nor does the order of elements.
    """

    def __init__(self, settings: EncodeSettings | None = None) -> None:
        self.settings = EncodeSettings() if settings is None else settings
        masks = self.settings.masks
        self._masks = Masks(masks) if masks.patterns or masks.regions else None
        self._parts: dict[tuple[object, ...], dict[tuple[object, ...], _Part]] = {}
        self._remembered = 0
        self._finished: dict[tuple[frozenset[str], frozenset[str]], _Atoms] = {}
        self._finished_atoms = 0
        self._metadata: dict[tuple[object, ...], Metadata] = {}
        self._unknown = UnknownRoles()
        self._screens = self._elements = self._malformed = self._masked = 0

    @property
    def counts(self) -> EncodeCounts:
        """What has been met until now."""
        return EncodeCounts(
            self._screens, self._elements, self._malformed, self._masked, self._unknown.copy()
        )

    def encode(self, observation: Observation) -> Screen:
        """The screen of an observation."""
        self._screens += 1
        self._elements += len(observation.elements)
        window = observation.window.box
        known = self._known_parts(window)
        roles: set[str] = set()
        texts: dict[str, tuple[int, str]] = {}
        for element in observation.elements:
            box = element.box
            part = known.get((element.role, element.text, element.value, box.x, box.y, box.width, box.height))
            if part is None:
                part = self._read(element, window, known)
                if part is None:
                    self._malformed += 1
                    continue
            roles.add(part[0])
            if part[1] is not None:
                texts[part[1]] = part[2]
            if part[3]:
                self._remark(element, part)
        atoms = self._finish(roles, texts)
        return Screen(atoms.key, atoms.roles, atoms.texts, atoms.text, self._describe(observation))

    def _known_parts(self, window: Box) -> dict[tuple[object, ...], _Part]:
        if self._remembered > _ELEMENTS_REMEMBERED:
            self._parts.clear()
            self._remembered = 0
        place = (window.x, window.y, window.width, window.height)
        known = self._parts.get(place)
        if known is None:
            known = self._parts[place] = {}
            self._remembered += 1
        return known

    def _read(self, element: Element, window: Box, known: dict[tuple[object, ...], _Part]) -> _Part | None:
        box = element.box
        centre = centre_of(box, window)
        if centre is None:
            return None
        row, column = cell_at(centre)
        text = normalise(shown_text(element))
        kept = text if self._masks is None else self._masks.apply(text, centre)
        part = _Part(
            role_atom(row, column, map_role(element.role)),
            text_atom(row, column, kept) if kept else None,
            (row * GRID + column, kept),
            remark=kept != text or element.role not in ROLES,
        )
        if len(element.text) + len(element.value) <= _LONGEST_REMEMBERED:
            known[(element.role, element.text, element.value, box.x, box.y, box.width, box.height)] = part
            self._remembered += 1
        return part

    def _remark(self, element: Element, part: _Part) -> None:
        if part.reading[1] != normalise(shown_text(element)):
            self._masked += 1
        map_role(element.role, unknown=self._unknown)

    def _finish(self, roles: set[str], texts: dict[str, tuple[int, str]]) -> _Atoms:
        sets = frozenset(roles), frozenset(texts)
        atoms = self._finished.get(sets)
        if atoms is None:
            if self._finished_atoms > _ATOMS_REMEMBERED:
                self._finished.clear()
                self._finished_atoms = 0
            self._finished_atoms += len(roles) + len(texts)
            sorted_roles, sorted_texts = tuple(sorted(roles)), tuple(sorted(texts))
            atoms = self._finished[sets] = _Atoms(
                atoms_key(sorted_roles, sorted_texts),
                sorted_roles,
                sorted_texts,
                " ".join([text for _, text in sorted(texts.values())]),
            )
        return atoms

    def _describe(self, observation: Observation) -> Metadata:
        window = observation.window
        seen = (
            window.application,
            window.kind,
            window.title,
            observation.display_mode,
            observation.text_scale,
        )
        metadata = self._metadata.get(seen)
        if metadata is None:
            metadata = Metadata(
                application=normalise(window.application),
                display_mode=normalise(observation.display_mode),
                text_size=text_size(observation.text_scale, self.settings.text_size_bins),
                window=f"{normalise(window.kind)}|{title_class(window)}",
            )
            if len(self._metadata) >= _METADATA_REMEMBERED:
                self._metadata.clear()
            if len(window.title) <= _LONGEST_REMEMBERED:
                self._metadata[seen] = metadata
        return metadata


def shown_text(element: Element) -> str:
    """All that an element shows: what it is called and what it holds. (A signature has the former only.)"""
    return f"{element.text} {element.value}" if element.value else element.text


def atoms_key(roles: tuple[str, ...], texts: tuple[str, ...]) -> str:
    """The hash of two sorted atom sets. Atoms hold no line break, so the joined form is unambiguous."""
    joined = "\n".join(roles) + "\n\n" + "\n".join(texts)
    return hashlib.blake2b(joined.encode(), digest_size=16).hexdigest()


def text_size(scale: float, edges: tuple[float, ...]) -> str:
    """The bin of a text scale, named by its edges: ``<0.95``, ``0.95-1.05``, …, ``>=1.6``."""
    if not 0 < scale < math.inf:
        return "unknown"
    if not edges:
        return "any"
    place = bisect_right(edges, scale)
    if place == 0:
        return f"<{edges[0]:g}"
    if place == len(edges):
        return f">={edges[-1]:g}"
    return f"{edges[place - 1]:g}-{edges[place]:g}"


_SEPARATOR = re.compile(r" [-–—] ")
_DIGITS = re.compile(r"\d+")


def title_class(window: Window) -> str:
    """A window's title without what varies by document.

    A main window is titled ``document - application``: only what follows the last dash is kept. In
    every window a leading mark of unsaved changes (``*``, ``•``, ``●``) is dropped and digits become
    ``#``. So ``*notes 2.txt - Mousepad`` gives ``mousepad``, and the dialog ``Page 3 of 12`` gives
    ``page # of #``.
    """
    title = normalise(window.title)
    if window.kind == "main":
        title = _SEPARATOR.split(title)[-1]
    return _DIGITS.sub("#", title.lstrip("*•● "))
