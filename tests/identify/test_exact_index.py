"""The compiled core and its twin have one interface and one way to refuse."""

from __future__ import annotations

import shutil
from array import array
from typing import Any

import pytest
from exact_cores import CORES

from screensearch.identify.exact import CompiledIndex, Index


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler to build it with")
def test_the_core_is_built_wherever_there_is_a_compiler() -> None:
    assert CompiledIndex is not None


def atoms(*numbers: int) -> array[int]:
    return array("I", numbers)


@pytest.mark.parametrize("core", CORES)
def test_the_answer_counts_what_is_shared(core: type[Index]) -> None:
    index = core(50, 50, 60)
    assert index.find(atoms(1), atoms(2)) is None
    assert index.add(atoms(1, 2, 3, 4), atoms(1, 2)) == 0
    assert index.find(atoms(1, 2, 3), atoms(2, 1)) == ((0, 3, 4, 2, 2), None)
    assert index.compare(0, atoms(9), atoms()) == (0, 0, 5, 0, 2)
    assert len(index) == 1
    assert index.nbytes > 0


@pytest.mark.parametrize("core", CORES)
def test_repeated_atoms_count_once(core: type[Index]) -> None:
    index = core(50, 50, 93)
    index.add(atoms(1, 1, 2), atoms(3, 3))
    assert index.find(atoms(2, 1), atoms(3)) == ((0, 2, 2, 1, 1), None)
    assert index.find(atoms(2, 2, 2, 1), atoms(3, 3)) == ((0, 2, 2, 1, 1), None)
    assert index.compare(0, atoms(1, 1), atoms(4, 4)) == (0, 1, 2, 0, 2)


@pytest.mark.parametrize("core", CORES)
def test_the_same_number_as_role_and_as_text_is_two_atoms(core: type[Index]) -> None:
    index = core(50, 50, 50)
    index.add(atoms(1), atoms(2))
    assert index.find(atoms(2), atoms(1)) is None


@pytest.mark.parametrize("core", CORES)
def test_atoms_out_of_range_are_refused_and_change_nothing(core: type[Index]) -> None:
    index = core(50, 50, 93)
    for number in (2**31 - 1, 2**31, 2**32 - 1):
        for call in (index.add, index.find):
            with pytest.raises(ValueError, match="below"):
                call(atoms(1), atoms(number))
    assert len(index) == 0
    assert index.add(atoms(2**31 - 2), atoms()) == 0


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("rule", [(50, 50, 0), (50, 50, 101), (0, 0, 1), (2**20, 1, 5)])
def test_a_rule_that_makes_no_sense_is_refused(core: type[Index], rule: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="threshold"):
        core(*rule)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("state", [1, 2**40])
def test_comparing_with_a_state_that_is_not_there_is_an_index_error(core: type[Index], state: int) -> None:
    index = core(50, 50, 93)
    index.add(atoms(1), atoms(1))
    with pytest.raises(IndexError, match="the index holds 1"):
        index.compare(state, atoms(1), atoms(1))


@pytest.mark.parametrize("core", CORES)
def test_a_search_that_goes_on_looks_at_later_states_and_those_it_is_told(core: type[Index]) -> None:
    index = core(50, 50, 60)
    for _ in range(3):
        index.add(atoms(1, 2), atoms(3))
    query = atoms(1, 2), atoms(3)
    assert index.find_since(1, *query) == ((1, 2, 2, 1, 1), (2, 2, 2, 1, 1))
    assert index.find_since(2, *query, 0) == ((0, 2, 2, 1, 1), (2, 2, 2, 1, 1))
    assert index.find_since(3, *query) is None
    assert index.find_since(2**40, *query, 1) == ((1, 2, 2, 1, 1), None)
    assert index.find_since(0, atoms(7), atoms(8), 1) is None  # what it is told must pass as well


@pytest.mark.parametrize("core", CORES)
def test_a_search_cannot_go_on_from_what_is_not_there(core: type[Index]) -> None:
    index = core(50, 50, 93)
    index.add(atoms(1), atoms(1))
    with pytest.raises(IndexError, match="no state 1: the index holds 1"):
        index.find_since(1, atoms(1), atoms(1), 1)
    with pytest.raises(OverflowError):
        index.find_since(-1, atoms(1), atoms(1))
    with pytest.raises(TypeError):
        index.find_since(0, atoms(1))  # type: ignore[call-arg]


@pytest.mark.skipif(CompiledIndex is None, reason="the compiled core is not built")
@pytest.mark.parametrize("given", [array("i", [1]), array("d", [1.0]), b"abcd", [1, 2], None])
def test_the_compiled_core_wants_buffers_of_unsigned_integers(given: Any) -> None:
    assert CompiledIndex is not None
    index = CompiledIndex(50, 50, 93)
    for call in (index.add, index.find):
        with pytest.raises(TypeError):
            call(given, atoms(1))
        with pytest.raises(TypeError):
            call(atoms(1), given)
    assert len(index) == 0
