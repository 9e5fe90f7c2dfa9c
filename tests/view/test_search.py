"""Search: what is looked for comes first, whoever asks, whatever the screens say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner
from outgoing_runs import HOSTILE, SECRETS, explore_hostile, explore_mail, explore_notepad

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import Arrival, Decision, EpisodeId, Evidence
from screensearch.encode.embed import HashingEmbedder
from screensearch.encode.embedder import Vectors
from screensearch.encode.encoder import atoms_key
from screensearch.errors import ScreenSearchError
from screensearch.explore.redaction import Redaction
from screensearch.record.sqlite_log import SqliteLog
from screensearch.view.search import Found, SearchIndex, snippet


class Thesaurus(HashingEmbedder):
    """An embedder that knows which words mean the same."""

    name = "thesaurus"
    meanings: ClassVar = {"typeface": "font", "purchase": "buy"}

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed(
            [" ".join(self.meanings.get(word, word) for word in text.split()) for text in texts]
        )


class Book:
    """A log whose screens are given as texts."""

    def __init__(self, path: Path) -> None:
        self.log = SqliteLog.create(path)
        self._states = 0

    def see(self, *labels: str, state: int | None = None) -> int:
        """A screen that shows these labels; it founds a state, or belongs to one."""
        roles = tuple(sorted(f"r{row}_c0|text" for row in range(len(labels))))
        texts = tuple(sorted(f"r{row}_c0|{label}" for row, label in enumerate(labels)))
        metadata = Metadata("app", "light", "0.95-1.05", "main|app")
        row = self.log.add_screen(
            Screen(atoms_key(roles, texts), roles, texts, " ".join(labels), metadata), b""
        )
        decision = Decision(self._states, "new") if state is None else Decision(state, "match", 0.95)
        self._states += state is None
        episode = EpisodeId(0, self.log.last_sequence)
        self.log.append(Arrival(episode, decision, row, Evidence()))
        self.log.commit()
        return decision.state


@pytest.fixture
def book(tmp_path: Path) -> Book:
    made = Book(tmp_path / "log.sqlite")
    made.see("file", "edit", "untitled")
    made.see("file", "edit", "print", "print preview", "quit")
    made.see("file", "edit", "choose a font", "colour")
    return made


def index_of(book: Book) -> SearchIndex:
    index = SearchIndex(Thesaurus())
    index.add("book", book.log)
    return index


def states(found: list[Found]) -> list[int]:
    return [each.state for each in found]


def test_the_screen_with_the_word_comes_first(book: Book) -> None:
    found = index_of(book).search("print")
    assert found[0].state == 1
    assert found[0].by_words == 1


def test_a_word_is_found_while_it_is_typed(book: Book) -> None:
    index = index_of(book)
    for typed in ("p", "pr", "prev", "preview"):
        assert index.search(typed)[0].state == 1, typed
    assert index.search("file pre")[0].state == 1


def test_a_misspelt_word_is_found(book: Book) -> None:
    assert index_of(book).search("color")[0].state == 2


def test_another_word_of_the_same_meaning_is_found(book: Book) -> None:
    found = index_of(book).search("typeface")
    assert found[0].state == 2
    assert (found[0].by_words, found[0].by_meaning) == (None, 1)


def test_what_both_rankings_know_comes_before_what_one_knows(book: Book) -> None:
    both = book.see("typeface", "of the printer")
    found = index_of(book).search("typeface")
    assert states(found)[:2] == [both, 2]
    assert found[0].score > found[1].score


def test_nonsense_finds_nothing(book: Book) -> None:
    assert index_of(book).search("qqqqqqqqq") == []


@pytest.mark.parametrize("text", ["", "   ", "\x00\x1b", "…—", "%_*?"])
def test_a_question_without_words_finds_nothing(book: Book, text: str) -> None:
    assert index_of(book).search(text) == []


def test_a_further_screen_of_a_state_is_found_by_its_new_words_and_the_state_once(book: Book) -> None:
    index = index_of(book)
    before = len(index)
    index.extend()
    book.see("file", "edit", "untitled", "caret at line 7", state=0)
    book.see("file", "edit", state=0)  # nothing new: not worth a place
    found = index.search("caret line")
    assert states(found) == [0]
    assert "caret at line 7" in found[0].snippet
    assert len(index) == before + 4


def test_a_run_that_grows_is_followed(book: Book) -> None:
    index = index_of(book)
    assert index.search("mailbox") == []
    state = book.see("mailbox")
    assert states(index.search("mailbox")) == [state]


def test_an_index_that_is_built_in_slices_finds_the_same(book: Book) -> None:
    slices, whole = index_of(book), index_of(book)
    assert [slices.extend(most=2), slices.extend(most=2)] == [False, True]
    assert slices.search("file print") == whole.search("file print")


def test_several_runs_are_searched_together_and_apart(book: Book, tmp_path: Path) -> None:
    other = Book(tmp_path / "other.sqlite")
    other.see("print", "a picture")
    index = index_of(book)
    index.add("other", other.log)
    found = [(each.run, each.state) for each in index.search("print") if each.by_words]
    assert sorted(found) == [("book", 1), ("other", 0)]
    assert [(each.run, each.state) for each in index.search("print", runs=["other"])] == [("other", 0)]
    with pytest.raises(ScreenSearchError, match="another name"):
        index.add("other", other.log)


def test_screens_like_another_are_those_that_share_most_with_it(book: Book) -> None:
    near = book.see("file", "edit", "untitled 2")
    far = book.see("nothing", "in", "common")
    found = states(index_of(book).like("book", 0))
    assert found[0] == near
    assert 0 not in found
    assert far not in found[:2]


def test_an_unknown_state_is_named(book: Book) -> None:
    index = index_of(book)
    with pytest.raises(ScreenSearchError, match="book has no state 99"):
        index.like("book", 99)
    with pytest.raises(ScreenSearchError, match="missing has no state 0"):
        index.like("missing", 0)


def test_an_empty_run_has_nothing_to_find(tmp_path: Path) -> None:
    assert index_of(Book(tmp_path / "log.sqlite")).search("anything") == []


def test_a_snippet_shows_the_word_in_its_surroundings() -> None:
    text = " ".join(["left"] * 100 + ["needle"] + ["right"] * 100)
    shown = snippet(text, ["needle"])
    assert "left needle right" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 122
    assert snippet("short text", ["needle"]) == "short text"
    assert "needless" not in snippet("x" * 200 + " needless", ["needle"])


def test_hostile_texts_are_found_like_others(tmp_path: Path) -> None:
    with ss.open_run(explore_hostile(tmp_path / "run")) as run:
        index = SearchIndex(HashingEmbedder())
        index.add("run", run.log)
        assert index.search("script alert")[0].by_words == 1
        for text in HOSTILE:
            index.search(text)


def test_what_a_run_keeps_to_itself_cannot_be_searched_for(tmp_path: Path) -> None:
    folder = explore_mail(tmp_path / "run", "redact.at=export")
    with ss.open_run(folder) as run:
        open_index, index = SearchIndex(HashingEmbedder()), SearchIndex(HashingEmbedder())
        open_index.add("run", run.log)
        index.add("run", run.log, partial(Redaction(run.settings).screen, run.log))
        asked = [SECRETS[0].partition("@")[0], SECRETS[2], "correct-horse"]
        assert all(open_index.search(each)[0].by_words for each in asked)  # the log has them
        found = [each for secret in asked for each in index.search(secret + " ")]
        assert [each for each in found if each.by_words] == []
        assert not any(secret.lower() in repr(index.search("mailbox key")) for secret in SECRETS)


@pytest.mark.parametrize("text", ["", "  "])
def test_the_command_asks_for_a_text_that_has_a_word(tmp_path: Path, text: str) -> None:
    result = CliRunner().invoke(main, ["search", str(tmp_path), text])
    assert result.exit_code == 2
    assert f"the text to search for is {text!r}" in result.output


def test_every_state_of_a_real_run_is_found_by_its_own_text(tmp_path: Path) -> None:
    with ss.open_run(explore_notepad(tmp_path / "run", "explore.screenshots=none")) as run:
        index = SearchIndex(HashingEmbedder())
        index.add("run", run.log)
        texts = {state.id: state.text for state in run.states()}
        for state, text in texts.items():
            alike = {each for each, other in texts.items() if set(other.split()) == set(text.split())}
            assert alike & set(states(index.search(text + " ", 5))), state
