"""Atoms: what is where. A screen is two sets of them (paper, section 4.1)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from screensearch.encode.grid import cell_name


def role_atom(row: int, column: int, role: str) -> str:
    """A control of that role is in that cell: ``r12_c7|button``."""
    return f"{cell_name(row, column)}|{role}"


def text_atom(row: int, column: int, text: str) -> str:
    """That normalised text is in that cell: ``r12_c7|save``. A cell holds no ``|``, so this is injective."""
    return f"{cell_name(row, column)}|{text}"


class AtomTable:
    """Atoms as dense integers, numbered by first appearance.

    Role and text atoms share no table: ``r1_c1|button`` may be a control or a word.
    """

    def __init__(self) -> None:
        self._numbers = _Numbers()

    def intern(self, atoms: Iterable[str]) -> array[int]:
        """The numbers of these atoms, in their order, as unsigned 32-bit integers; new ones are added."""
        numbers = self._numbers
        return array("I", [numbers[atom] for atom in atoms])

    def __len__(self) -> int:
        return len(self._numbers)


class _Numbers(dict[str, int]):
    """Gives every new atom the next number."""

    def __missing__(self, atom: str) -> int:
        number = self[atom] = len(self)
        return number
