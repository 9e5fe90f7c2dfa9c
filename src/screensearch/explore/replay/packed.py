"""Screens as a short text: what a test script carries to judge by. Atoms that screens share are told once."""

from __future__ import annotations

import base64
import textwrap
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from screensearch.domain.document import decode_document, encode_document
from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.encode.encoder import atoms_key
from screensearch.errors import FormatError

KIND = "screens"
WIDTH = 100  # characters of a line
LARGEST = 64 * 1024 * 1024  # bytes of what is unpacked: a script may come from anywhere


@dataclass(frozen=True, slots=True)
class _Packed:
    state: StateId
    metadata: Metadata
    roles: list[int]  # places in the list of atoms
    texts: list[int]


@dataclass(frozen=True, slots=True)
class _Screens:
    atoms: list[str]
    screens: list[_Packed]


def pack_screens(screens: Mapping[StateId, Screen]) -> str:
    """The screens of some states, in lines of letters, digits and signs that need no escape."""
    places: dict[str, int] = {}

    def placed(atoms: tuple[str, ...]) -> list[int]:
        return [places.setdefault(atom, len(places)) for atom in atoms]

    packed = [
        _Packed(state, screen.metadata, placed(screen.role_atoms), placed(screen.text_atoms))
        for state, screen in sorted(screens.items())
    ]
    document = encode_document(KIND, _Screens(list(places), packed))
    letters = base64.b64encode(zlib.compress(document, 9)).decode()
    return "\n".join(textwrap.wrap(letters, WIDTH))


def unpack_screens(packed: str) -> dict[StateId, Screen]:
    """The screens of `pack_screens`, by state. Raises `FormatError` for other texts."""
    try:
        unpacking = zlib.decompressobj()
        document = unpacking.decompress(base64.b64decode("".join(packed.split()), validate=True), LARGEST)
    except (ValueError, zlib.error) as problem:
        raise FormatError(
            f"packed screens are damaged: {problem}; write the script again from its run"
        ) from problem
    content = decode_document(document, KIND, _Screens)
    try:
        return {
            each.state: _screen(
                each.metadata,
                tuple(content.atoms[place] for place in each.roles),
                tuple(content.atoms[place] for place in each.texts),
            )
            for each in content.screens
        }
    except IndexError as problem:
        raise FormatError("packed screens are damaged: one names an atom that is not there") from problem


def _screen(metadata: Metadata, roles: tuple[str, ...], texts: tuple[str, ...]) -> Screen:
    """A screen with these atoms. The text is for embedders, which have no say here."""
    return Screen(atoms_key(roles, texts), roles, texts, "", metadata)
