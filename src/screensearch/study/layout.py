"""Tables as text: Markdown for reading, LaTeX for papers, of the same cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

Cells = Sequence[Sequence[str]]
"""Line by line; the first is the head."""

_ESCAPED = {
    "\\": r"\textbackslash{}",
    **{each: "\\" + each for each in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
    "₀": "$_0$",
}


def number(value: float, decimals: int) -> str:
    """A figure as the paper writes it: 1,076.400, -0.0505, and a dash for none."""
    return "–" if math.isnan(value) else f"{value:,.{decimals}f}"


def beside(ours: float, theirs: float | None, decimals: int) -> str:
    """Our figure, and behind it in parentheses the paper's, if it has one."""
    told = number(ours, decimals)
    return told if theirs is None or math.isnan(theirs) else f"{told} ({number(theirs, decimals)})"


def markdown(lines: Cells) -> str:
    """Lines of cells as they are: the line below the head is the caller's."""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_table(cells: Cells, *, words: int = 1) -> str:
    """A table whose first `words` columns are words, all others figures."""
    heads, *lines = cells
    return markdown([heads, [*["---"] * words, *["--:"] * (len(heads) - words)], *lines])


def latex_table(cells: Cells, *, caption: str, words: int = 1, last_apart: bool = False) -> str:
    """The same as a booktabs table, with a rule above its last line if that is a sum of the others."""
    heads, *lines = [[latex_text(cell) for cell in line] for line in cells]
    told = [" & ".join(line) + r"\\" for line in lines]
    if last_apart and len(told) > 1:
        told.insert(-1, r"\midrule")
    return "\n".join(
        [
            r"\begin{table*}[t]",
            r"\centering",
            r"\small",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\begin{{tabular}}{{{'l' * words}{'r' * (len(heads) - words)}}}",
            r"\toprule",
            " & ".join(heads) + r"\\",
            r"\midrule",
            *told,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
            "",
        ]
    )


def latex_text(text: str) -> str:
    """A text with nothing in it that TeX would act on."""
    return "".join(_ESCAPED.get(letter, letter) for letter in text)
