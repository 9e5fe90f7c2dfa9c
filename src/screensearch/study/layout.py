"""Cells as tables: Markdown for reading, and texts that TeX does not act on for papers."""

from __future__ import annotations

from collections.abc import Sequence

_ESCAPED = {
    "\\": r"\textbackslash{}",
    **{each: "\\" + each for each in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "±": r"$\pm$",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
    "₀": "$_0$",
}


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """A table of these lines; the first is the head, the second says how columns are set."""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tex(text: str) -> str:
    """A text with nothing in it that TeX would act on."""
    return "".join(_ESCAPED.get(letter, letter) for letter in text)
