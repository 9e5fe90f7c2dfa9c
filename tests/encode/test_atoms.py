from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from screensearch.encode.atoms import AtomTable, role_atom, text_atom

cells = st.integers(0, 29)


def test_atoms_say_what_is_where() -> None:
    assert role_atom(12, 7, "button") == "r12_c7|button"
    assert text_atom(12, 7, "save") == "r12_c7|save"


@given(st.tuples(cells, cells, st.text()), st.tuples(cells, cells, st.text()))
def test_different_places_or_texts_are_different_atoms(
    one: tuple[int, int, str], other: tuple[int, int, str]
) -> None:
    assert (text_atom(*one) == text_atom(*other)) == (one == other)


def test_atoms_are_numbered_by_first_appearance() -> None:
    table = AtomTable()
    assert table.intern(["b", "a", "b"]) == array("I", [0, 1, 0])
    assert table.intern(iter(["c", "a"])) == array("I", [2, 1])
    assert len(table) == 3


@given(st.lists(st.lists(st.text(max_size=3))))
def test_one_atom_has_one_number_and_numbers_are_dense(screens: list[list[str]]) -> None:
    table = AtomTable()
    numbered = [table.intern(atoms) for atoms in screens]
    pairs = {
        pair
        for atoms, numbers in zip(screens, numbered, strict=True)
        for pair in zip(atoms, numbers, strict=True)
    }
    distinct = {atom for atoms in screens for atom in atoms}
    assert len(table) == len(pairs) == len(distinct)
    assert {number for _, number in pairs} == set(range(len(distinct)))
    assert all(numbers.itemsize == 4 for numbers in numbered)
