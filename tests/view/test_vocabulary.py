"""Words, and what a person may have meant by one."""

from __future__ import annotations

from screensearch.view.vocabulary import MOST_MEANT, Vocabulary


def vocabulary(*texts: str) -> Vocabulary:
    made = Vocabulary()
    for text in texts:
        made.count(made.intern(text.split()))
    return made


def meant(made: Vocabulary, word: str, *, unfinished: bool = True) -> list[str]:
    return list(made.meant(word, unfinished=unfinished))


def test_an_unfinished_word_means_all_that_begins_with_it_the_most_frequent_first() -> None:
    made = vocabulary("print preview", "print prefer", "preview")
    assert meant(made, "pre") == ["preview", "prefer"]
    assert meant(made, "pr") == ["preview", "print", "prefer"]


def test_a_finished_word_that_is_known_means_itself_alone() -> None:
    assert meant(vocabulary("print printer"), "print", unfinished=False) == []
    assert meant(vocabulary("print printer"), "print") == ["printer"]


def test_a_finished_word_that_nobody_says_is_taken_for_a_beginning() -> None:
    assert meant(vocabulary("preferences"), "prefer", unfinished=False) == ["preferences"]


def test_a_misspelt_word_means_what_is_one_letter_away() -> None:
    made = vocabulary("replace color settings")
    for typed, word in (
        ("replcae", "replace"),
        ("repalce", "replace"),
        ("colour", "color"),
        ("setings", "settings"),
        ("settinks", "settings"),
    ):
        assert meant(made, typed) == [word], typed


def test_short_words_are_not_taken_for_misspelt() -> None:
    assert meant(vocabulary("cut all"), "cat") == []


def test_words_that_came_later_are_found_too() -> None:
    made = vocabulary("alpha")
    assert meant(made, "al") == ["alpha"]
    made.count(made.intern(["albatross"]))
    assert meant(made, "al") == ["albatross", "alpha"]


def test_one_letter_means_no_more_words_than_the_bound() -> None:
    made = vocabulary(" ".join(f"w{number}" for number in range(100)))
    assert len(meant(made, "w")) == MOST_MEANT


def test_no_word_is_too_long_or_too_strange_to_be_asked_for() -> None:
    made = vocabulary("ein größerer 文件 word")
    assert meant(made, "größ") == ["größerer"]
    assert meant(made, "文") == ["文件"]
    assert meant(made, "z" * 100_000) == []
