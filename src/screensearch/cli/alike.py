"""What tells screens apart that read alike in a list: a few words for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from screensearch import Screen
from screensearch.domain.screen import StateId

MOST_MARKS = 3
"""How many differences are named for one screen."""

_LONGEST = 40  # characters of a text that are shown
_TAIL = 14  # of them from its end, where long texts tend to differ

_Kind = Callable[[Screen], Iterable[str]]
"""What may be said of a screen, in words."""

_Marks = dict[str, int]
"""What is said of any screen, with a bit for each screen that it holds of."""


def tell_apart(screens: Mapping[StateId, Screen]) -> dict[StateId, str]:
    """For each screen, what it has or lacks beside the others: ``with 'hello', without 'replace'``.

    Texts come first, then where something is. As few as set it apart from all others, at most `MOST_MARKS`.
    Screens with equal atoms get nothing: there is nothing to say.
    """
    kinds = [_marks_by(kind, screens) for kind in (_texts, _places)]
    everyone = (1 << len(screens)) - 1
    told = {}
    for place, state in enumerate(screens):
        others = everyone & ~(1 << place)
        words: list[str] = []
        for marks in kinds:
            for word, left in _choose(marks, 1 << place, others, MOST_MARKS - len(words)):
                words.append(word)
                others = left
        told[state] = ", ".join(words)
    return told


def _choose(marks: _Marks, own: int, others: int, most: int) -> Iterator[tuple[str, int]]:
    """Words that set a screen apart from others, the most telling first; with those that are left each time.

    What it has is preferred to what it lacks, and words to figures, which may be of a clock.
    """
    for _ in range(most):
        if not marks or not others:
            return
        alike = {word: others & (having if having & own else ~having) for word, having in marks.items()}
        word = min(alike, key=lambda each: (alike[each].bit_count(), not marks[each] & own, _is_figure(each)))
        if alike[word] == others:
            return
        others = alike[word]
        yield f"{'with' if marks[word] & own else 'without'} {word}", others


def _is_figure(word: str) -> bool:
    return not any(map(str.isalpha, word))


def _marks_by(kind: _Kind, screens: Mapping[StateId, Screen]) -> _Marks:
    marks: defaultdict[str, int] = defaultdict(int)
    for place, screen in enumerate(screens.values()):
        for word in kind(screen):
            marks[word] |= 1 << place
    return marks


def _texts(screen: Screen) -> Iterator[str]:
    for atom in screen.text_atoms:
        yield repr(_cut(atom.partition("|")[2]))


def _places(screen: Screen) -> Iterator[str]:
    for atom in screen.text_atoms:
        cell, _, text = atom.partition("|")
        yield f"{_cut(text)!r} at {cell}"
    for atom in screen.role_atoms:
        cell, _, role = atom.partition("|")
        yield f"{role} at {cell}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - _TAIL - 1]}…{text[-_TAIL:]}"
