"""What the states of a run look like, in columns: words of their founding screens, for maps and titles.

A state is titled by the text that fewest others show: what tells it from them. Texts alone are looked at, so
two states that differ only in where something is may have one title.
"""

from __future__ import annotations

from array import array

import numpy as np

from screensearch.domain.screen import Screen, StateId
from screensearch.view.entries import Numbers

LONGEST_TITLE = 60
"""Characters of a title."""

_LONGEST_PART = 36
_LONG = 20  # characters: beyond that, more of them tell no more


class Sights:
    """The states in the order in which they were added."""

    def __init__(self) -> None:
        self.states: list[StateId] = []
        self.places: dict[StateId, int] = {}
        self.application = array("i")
        self.display_mode = array("i")
        self.text_size = array("i")
        self.window = array("i")
        self.applications = Numbers()
        self.display_modes = Numbers()
        self.text_sizes = Numbers()
        self.windows = Numbers()
        self._texts: dict[str, int] = {}  # each with its number
        self._shown = array("I")  # numbers of the texts of all states, one after the other
        self._ends = array("I")
        self._titles: list[str] = []

    def __len__(self) -> int:
        return len(self.states)

    def add(self, state: StateId, screen: Screen) -> None:
        """Take in a state with its founding screen."""
        about = screen.metadata
        self.places[state] = len(self.states)
        self.states.append(state)
        self.application.append(self.applications.of(about.application))
        self.display_mode.append(self.display_modes.of(about.display_mode))
        self.text_size.append(self.text_sizes.of(about.text_size))
        self.window.append(self.windows.of(about.window))
        texts = dict.fromkeys(text for atom in screen.text_atoms if (text := atom.partition("|")[2]))
        numbers = self._texts
        self._shown.extend([numbers.setdefault(text, len(numbers)) for text in texts])
        self._ends.append(len(self._shown))

    def title(self, state: StateId) -> str:
        """A few words that tell a state from the others."""
        return self.titles()[self.places[state]]

    def titles(self) -> list[str]:
        """The same for every state, in order."""
        if len(self._titles) != len(self.states):
            self._titles = self._name_all()
        return self._titles

    def _name_all(self) -> list[str]:
        several = len(self.windows.texts) > 1
        rarest = self._rarest()
        named = [
            _joined(_window_words(self.windows.texts[self.window[place]]) if several else "", first)
            for place, (first, _) in enumerate(rarest)
        ]
        often: dict[str, int] = {}
        for title in named:
            often[title] = often.get(title, 0) + 1
        return [
            _cut(
                (title if often[title] == 1 or not second else _joined(title, second))
                or _window_words(self.windows.texts[self.window[place]])
                or "no text",
                LONGEST_TITLE,
            )
            for place, (title, (_, second)) in enumerate(zip(named, rarest, strict=True))
        ]

    def _rarest(self) -> list[tuple[str, str]]:
        """Of every state the two texts that fewest others show, if they are not shown by nearly all."""
        texts = list(self._texts)
        frequency = np.bincount(np.array(self._shown, dtype=np.int64), minlength=len(texts)).tolist()
        rare = [each for each in range(len(texts)) if frequency[each] * 2 <= len(self.states)]
        rare.sort(key=lambda each: (*_worth(texts[each], frequency[each]), each))
        ranks = [len(rare)] * len(texts)  # of the texts, the best first
        for rank, each in enumerate(rare):
            ranks[each] = rank
        words = [*(_cut(texts[each], _LONGEST_PART) for each in rare), ""]
        found, begin = [], 0
        for end in self._ends:
            best = sorted([ranks[each] for each in self._shown[begin:end]])
            first, second = (*best[:2], len(rare), len(rare))[:2]
            found.append((words[first], words[second]))
            begin = end
        return found


def _worth(text: str, frequency: int) -> tuple[bool, int, int]:
    """How well a text tells a state from others, the best lowest: words that are rare, rather long ones.

    What has no letters may be of a clock.
    """
    return not any(map(str.isalpha, text)), frequency, -min(len(text), _LONG)


def _window_words(window: str) -> str:
    """The window in words: its title, or its kind."""
    kind, _, title = window.partition("|")
    return title or kind


def _joined(*parts: str) -> str:
    return " · ".join(_cut(part, _LONGEST_PART) if part else part for part in parts if part)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
