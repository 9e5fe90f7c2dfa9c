"""What a person recognises a screen by on the way to it: its window, and what was not said before it."""

from __future__ import annotations

from screensearch.domain.screen import Screen

MOST_TEXTS = 3

_LONGEST_TEXT = 40


def landmarks(screen: Screen, before: Screen | None = None) -> list[str]:
    """A few texts of a screen that the one before it had not, where it has such; else of its own.

    Texts of letters only: figures may be of a clock.
    """
    known = set() if before is None else set(_texts(before))
    worded = [text for text in _texts(screen) if any(map(str.isalpha, text))]
    new = [text for text in worded if text not in known] or worded
    return [_cut(text) for text in new[:MOST_TEXTS]]


def describe_screen(screen: Screen, before: Screen | None = None) -> str:
    """The window and the landmarks: ``dialog|save as with 'name', 'cancel'``."""
    texts = landmarks(screen, before)
    return screen.metadata.window + (f" with {', '.join(map(repr, texts))}" if texts else "")


def _texts(screen: Screen) -> list[str]:
    return list(dict.fromkeys(atom.partition("|")[2] for atom in screen.text_atoms))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
