"""The tables of the controls, laid out as in the paper, with its figures in parentheses beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from screensearch.study.controls.figures import (
    ApplicationFigures,
    CausalRow,
    ControlSummary,
    ProbeRow,
    Reading,
)
from screensearch.study.controls.plan import TIMING_TRIALS, TOKENS, Kind
from screensearch.study.layout import latex_text, markdown, number
from screensearch.study.tables import application

TITLES: Mapping[Kind, str] = {
    Kind.HIDDEN: "Hidden clipboard variants",
    Kind.RACE: "Asynchronous race",
    Kind.NO_PROBE: "No probe",
    Kind.PASTE_UNDO: "Reversible Paste + Undo",
    Kind.FILE_MENU: "File-menu navigation",
}

CAUSAL: Mapping[Kind, tuple[int, float, float, float]] = {
    Kind.HIDDEN: (20, 1.000, 0.000, 1.000),
    Kind.RACE: (10, 0.971, 0.971, 0.000),
}
"""The paper's table "Controlled matched-action dispersion": trials, pooled, within, between."""

PROBE: Mapping[Kind, tuple[float, float | None, float]] = {
    Kind.NO_PROBE: (0.000, None, 0.500),
    Kind.PASTE_UNDO: (1.000, 0.000, 1.000),
    Kind.FILE_MENU: (0.000, 0.000, 0.500),
}
"""The paper's table "Probe-versus-escape control": disclosure, destination dispersion, accuracy."""

_DECIMALS = 3


def causal_cells(summary: ControlSummary) -> list[list[str]]:
    """The first table, line by line; the first is the head."""
    heads = ["Application", "Source", "Outcome", "Trials", "Pooled", "Within", "Between"]
    return [heads, *([application((row.application,)), *_causal_line(row)] for row in summary.causal)]


def _causal_line(row: CausalRow) -> list[str]:
    trials, *theirs = CAUSAL[row.source]
    ours = (row.pooled, row.within, row.between)
    figures = [_beside(mine, paper) for mine, paper in zip(ours, theirs, strict=True)]
    return [TITLES[row.source], row.reading.value, f"{row.trials} ({trials})", *figures]


def probe_cells(summary: ControlSummary) -> list[list[str]]:
    """The second table, likewise."""
    heads = [
        "Application",
        "Condition",
        "Runs",
        "Disclosure",
        "Destination dispersion",
        "Commitment accuracy",
    ]
    return [heads, *([application((row.application,)), *_probe_line(row)] for row in summary.probes)]


def _probe_line(row: ProbeRow) -> list[str]:
    ours = (row.disclosure, row.destination_dispersion, row.accuracy)
    figures = [_beside(mine, paper) for mine, paper in zip(ours, PROBE[row.condition], strict=True)]
    return [TITLES[row.condition], f"{row.trials} (20)", *figures]


def _beside(ours: float | None, theirs: float | None) -> str:
    return f"{_figure(ours)} ({_figure(theirs)})"


def _figure(value: float | None) -> str:
    return number(math.nan if value is None else value, _DECIMALS)


# -- Markdown -------------------------------------------------------------------------------------


def tables_page(summary: ControlSummary) -> str:
    """Both tables with what is needed to read them."""
    causal, probes = causal_cells(summary), probe_cells(summary)
    lines = [
        "# Study: controls",
        "",
        f"{summary.trials} trials of the hidden clipboard and of each way to probe, half with `{TOKENS[0]}` "
        f"and half with `{TOKENS[1]}` on the clipboard; {summary.race_trials} races; study seed "
        f"{summary.seed}. Each trial is an episode of its own. In parentheses: what the paper published for "
        "Notepad.",
        "",
        "## Controlled matched-action dispersion",
        "",
        "Of Paste, by the text of the document after it and by the state that the identity rule gives the "
        "screen. Within is what remains when it is known what the clipboard held at the start. A race has "
        "one such condition, so that its dispersion is within it by construction.",
        "",
        markdown([causal[0], ["---", "---", "---", *["--:"] * 4], *causal[1:]]),
        *_splits(summary),
        "## Probe against escape",
        "",
        "Disclosure is 1 − H(clipboard | read) / H(clipboard), with what can be read of the tokens on the "
        "screen at the probe. The destination is where the probe ends: after Undo, or with the menu closed "
        f"again. Who has read no token commits to `{TOKENS[0]}`, which is right in half of the trials.",
        "",
        markdown([probes[0], ["---", "---", *["--:"] * 4], *probes[1:]]),
        *(line for row in summary.probes for line in _probe_notes(row)),
        "",
        "## What else was seen",
        "",
        *(line for each in summary.applications for line in _about(each)),
        "",
    ]
    return "\n".join(lines)


def _splits(summary: ControlSummary) -> list[str]:
    told = [
        f"- {row.application}: the {row.trials} races ended with "
        + ", ".join(f"`{_last_line(outcome)}` ×{count}" for outcome, count in row.outcomes.items())
        for row in summary.causal
        if row.source is Kind.RACE and row.reading is Reading.DOCUMENT
    ]
    return [*told, ""] if told else []


def _last_line(text: str) -> str:
    """What was pasted stands at the end of a document."""
    return text.splitlines()[-1] if text else "(nothing)"


def _probe_notes(row: ProbeRow) -> list[str]:
    if row.returned is None:
        return []
    return [
        f"- {row.application}, {TITLES[row.condition]}: {row.returned} of {row.trials} returned to the state "
        f"and the document of their start; their documents there disperse by "
        f"{_figure(row.document_dispersion)}; a token was read in {row.evidence}; the states of the screens "
        f"at the probe disclose {_figure(row.state_disclosure)}."
    ]


def _about(figures: ApplicationFigures) -> list[str]:
    name = figures.application
    lines = [
        f"- {name}: {figures.trials} trials, {figures.repeated} of them run twice; "
        + _failures(figures)
        + f"; they began in {figures.start_states} state{'s' if figures.start_states != 1 else ''}."
    ]
    if figures.paste_likeness is not None:
        merged = figures.paste_likeness >= figures.threshold
        lines.append(
            f"- {name}: the screens after Paste of either token score {figures.paste_likeness:.4f} by "
            f"`{figures.identifier}`, whose threshold is {figures.threshold:g}: "
            + ("one state" if merged else "two states")
            + "."
        )
    if figures.paste_seconds is not None:
        lines.append(
            f"- {name}: a Paste took the text from the clipboard {1000 * figures.paste_seconds:.1f} ms after "
            f"it was begun (median of {TIMING_TRIALS} trials). In a race the update was due after 0 to 2 "
            f"times the median of the latest {TIMING_TRIALS}, drawn evenly. In {figures.race_as_taken or 0} "
            "races the document shows what the application took."
        )
    return lines


def _failures(figures: ApplicationFigures) -> str:
    told = ", ".join(f"{count} by {why}" for why, count in figures.failures.items())
    return f"failed and left out: {told}" if told else "none failed"


# -- LaTeX ----------------------------------------------------------------------------------------


def tables_latex(summary: ControlSummary) -> str:
    """Both tables in booktabs."""
    return "\n".join(
        [
            _latex_table(causal_cells(summary), "Controlled matched-action dispersion", left=3),
            _latex_table(probe_cells(summary), "Probe-versus-escape control", left=2),
        ]
    )


def _latex_table(cells: Sequence[Sequence[str]], title: str, *, left: int) -> str:
    heads, *lines = cells
    written = []
    before = ""
    for line in lines:
        named = "" if line[0] == before else line[0]
        if before and named:
            written.append(r"\midrule")
        before = line[0]
        written.append(" & ".join(map(latex_text, [named, *line[1:]])) + r"\\")
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            r"\small",
            rf"\caption{{{title}. In parentheses: the paper's figures, for Notepad.}}",
            rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(heads) - left)}}}",
            r"\toprule",
            " & ".join(map(latex_text, heads)) + r"\\",
            r"\midrule",
            *written,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
