"""States that read alike in a list are told apart by what differs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from screensearch import Metadata, Screen
from screensearch.cli.alike import tell_apart

CELLS = st.sampled_from(["r0_c0", "r0_c9", "r7_c3"])
TEXTS = st.sampled_from(["file", "edit", "10:06", "a text that goes on for long, and then for longer: one"])
ROLES = st.sampled_from(["button", "edit"])


def screen(*texts: str, roles: tuple[str, ...] = ()) -> Screen:
    atoms = tuple(sorted(texts))
    return Screen(repr((atoms, roles)), roles, atoms, "all alike", Metadata("app", "light", "1", "main"))


def atoms(words: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    placed = st.builds("{}|{}".format, CELLS, words)
    return st.sets(placed, max_size=4).map(lambda each: tuple(sorted(each)))


SCREENS = st.builds(lambda texts, roles: screen(*texts, roles=roles), atoms(TEXTS), atoms(ROLES))


def test_the_most_particular_text_tells_a_screen_apart() -> None:
    told = tell_apart(
        {
            4: screen("r0_c0|file", "r1_c0|hello"),
            7: screen("r0_c0|file", "r1_c0|world"),
            9: screen("r0_c0|file"),
        }
    )
    assert told == {4: "with 'hello'", 7: "with 'world'", 9: "without 'hello', without 'world'"}


def test_a_text_tells_more_than_a_figure_that_may_be_a_clocks() -> None:
    told = tell_apart({0: screen("r0_c0|10:06", "r1_c0|find"), 1: screen("r0_c0|10:07", "r1_c0|replace")})
    assert told == {0: "with 'find'", 1: "with 'replace'"}


def test_where_the_texts_are_the_same_it_is_said_what_is_elsewhere() -> None:
    moved = tell_apart({0: screen("r0_c0|file"), 1: screen("r0_c9|file")})
    assert moved == {0: "with 'file' at r0_c0", 1: "with 'file' at r0_c9"}
    grown = tell_apart({0: screen(), 1: screen(roles=("r2_c2|button",))})
    assert grown == {0: "without button at r2_c2", 1: "with button at r2_c2"}


def test_long_texts_that_differ_at_their_end_are_told_apart() -> None:
    start = "a long text that begins like the other one and "
    told = tell_apart({0: screen(f"r0_c0|{start}stops here"), 1: screen(f"r0_c0|{start}goes on")})
    assert told[0] != told[1]
    assert max(map(len, told.values())) < 60


@given(st.tuples(SCREENS, SCREENS))
def test_two_screens_get_different_words_unless_their_atoms_are_equal(pair: tuple[Screen, Screen]) -> None:
    told = tell_apart(dict(enumerate(pair)))
    if pair[0].key == pair[1].key:
        assert told == {0: "", 1: ""}
    else:
        assert told[0] != told[1]


@given(st.lists(SCREENS, max_size=6))
def test_what_is_said_of_a_screen_is_true_of_it(screens: list[Screen]) -> None:
    for state, words in tell_apart(dict(enumerate(screens))).items():
        texts = {repr(atom.partition("|")[2]) for atom in screens[state].text_atoms}
        for word in ("'file'", "'edit'", "'10:06'"):
            said = [each for each in words.split(", ") if each.endswith(word)]
            assert said in ([], [f"with {word}"] if word in texts else [f"without {word}"])
