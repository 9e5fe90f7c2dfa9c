"""Texts of an explored application on a terminal: it may have put anything into them."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text on one line, with what a terminal would obey rather than show written out."""
    return "".join(each if each.isprintable() else _written(each) for each in text)


def _written(character: str) -> str:
    return " " if character in "\n\t\r" else character.encode("unicode_escape").decode()
