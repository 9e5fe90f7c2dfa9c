"""What the diagnostic leaves behind: the paper's two tables with its rows below ours, and the two curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from screensearch.select.policy import OF_THE_ENDPOINT, Unanswered
from screensearch.study.diagnostic import REACTIVE, Answers, Diagnostic, DiagnosticRow, Spread, diagnose
from screensearch.study.figures import line_chart
from screensearch.study.layout import latex_text, markdown, number
from screensearch.study.metrics import STEPS
from screensearch.study.paper import STAND_INS
from screensearch.study.paper_diagnostic import CURVES, PRIORS
from screensearch.study.plan import RESULTS, Plan, write_whole
from screensearch.study.report import FIGURES, LATEX, SUMMARY, TABLES, failures
from screensearch.study.summary import curves_of
from screensearch.study.tables import application
from screensearch.study.trace import Trace

KINDS = ("frontier", "ambiguity")

Cells = list[list[str]]

_ALWAYS = (Unanswered.REFUSAL, Unanswered.BAD_JSON, Unanswered.INVENTED_ID, Unanswered.TIMEOUT)
"""These are counted even where there was none: the paper's protocol names what they are."""


def write_diagnostic(plan: Plan, traces: Sequence[Trace], folder: Path) -> tuple[Diagnostic, list[Path]]:
    """Write tables, figures and numbers of a finished diagnostic; the figures, and what was written."""
    found = diagnose(plan, traces)
    numbers = msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
    files = {
        TABLES: diagnostic_page(plan, found, traces),
        LATEX: diagnostic_latex(found),
        SUMMARY: numbers,
    }
    for suite in plan.suites:
        for kind in KINDS:
            curves = curves_of(plan, traces, suite, kind)
            title, label = FIGURES[kind]
            if curves:
                files[f"{suite.name}-{kind}.svg"] = line_chart(
                    {
                        each.title.removeprefix("Reactive "): curves[each.name]
                        for each in plan.conditions
                        if each.name in curves
                    },
                    title=f"{suite.name}: {title}",
                    x_label="step",
                    y_label=label,
                )
    for name, content in files.items():
        write_whole(folder / name, content.encode())
    return found, [folder / RESULTS, *(folder / name for name in files)]


def diagnostic_page(plan: Plan, found: Diagnostic, traces: Sequence[Trace]) -> str:
    """All tables with what is needed to read them."""
    answers = answers_cells(found)
    lines = [
        f"# Study: {plan.study}",
        "",
        f"{plan.steps} steps per episode: the start and {plan.steps - 1} actions; study seed {plan.seed}. "
        "The graph of every episode begins empty. Means over starts ± standard deviation. So few starts show "
        "how conditions behave, not which is better: nothing is tested here.",
        "",
        *_with_paper(found),
        "## Frontier and ambiguity",
        "",
        f"M_V({plan.steps - 1}): states met beyond the start, higher is better. Δu: u of the state at a step "
        "minus u of the start, lower is towards states of less dispersion. AUC: the sum over all steps.",
        "",
        _markdown(curves_cells(found)),
        "## Coverage",
        "",
        _markdown(coverage_cells(found)),
        *(["## What the models answered", "", _told(plan), "", _markdown(answers)] if answers[1:] else []),
        *failures(traces),
        "## Suites",
        "",
        *(
            f"- `{suite.name}` ({suite.environment}): {len(suite.starts)} starts, digest "
            f"`{suite.digest[:16]}`"
            for suite in plan.suites
        ),
        "",
    ]
    return "\n".join(lines)


def _with_paper(found: Diagnostic) -> list[str]:
    if not any(_comparable(found, row.suite) for row in found.rows):
        return []
    return [
        "Rows of the paper are of Windows' Notepad, of other models and of its own starts: compare how "
        "curves behave, not their size.",
        "",
    ]


def _told(plan: Plan) -> str:
    changed = dict.fromkeys(
        override.removeprefix(REACTIVE)
        for condition in plan.conditions
        for override in condition.overrides
        if override.startswith(REACTIVE) and not override.startswith(f"{REACTIVE}model=")
    )
    asked = f" Asked with the settings {', '.join(f'`{each}`' for each in changed)}." if changed else ""
    return (
        "A question whose answer is no valid action costs its step, in which nothing is done. "
        f"{', '.join(each.value for each in sorted(OF_THE_ENDPOINT))} say nothing about the model; an "
        f"episode that came to nothing else has failed.{asked}"
    )


# -- cells ----------------------------------------------------------------------------------------


def curves_cells(found: Diagnostic) -> Cells:
    """The table "Exact frontier and ambiguity summaries", line by line; the first is the head."""
    last = found.steps - 1
    lines = [
        ["Application", "Method", "Starts", f"M_V({last})", "Frontier AUC", f"Δu_{last}", "Ambiguity AUC"]
    ]
    for suite, rows in _by_suite(found):
        lines += [
            [
                application((suite,)),
                row.title,
                _starts(row),
                *(_figure(each, 2) for each in (row.frontier, row.frontier_auc)),
                *(_figure(each, 2) for each in (row.ambiguity, row.ambiguity_auc)),
            ]
            for row in rows
        ]
        if _comparable(found, suite):
            lines += [
                [
                    "Notepad (paper)",
                    each.title,
                    "3",
                    *(
                        number(value, 2)
                        for value in (each.frontier, each.frontier_auc, each.ambiguity, each.ambiguity_auc)
                    ),
                ]
                for each in CURVES.values()
            ]
    return lines


def coverage_cells(found: Diagnostic) -> Cells:
    """The table "Additional learned-proposal control", with a row for every condition of ours."""
    lines = [
        [
            "Application",
            "Method",
            "Prior",
            "States",
            "State AUC",
            "Edges",
            "Edge AUC",
            "Revisit",
            "Loop/stall",
        ]
    ]
    for suite, rows in _by_suite(found):
        lines += [
            [
                application((suite,)),
                row.title,
                "–" if row.answers else "Uniform",
                *(_figure(each, 2) for each in (row.frontier, row.frontier_auc, row.edges, row.edge_auc)),
                *(_figure(each, 3) for each in (row.revisit, row.loop_stall)),
            ]
            for row in rows
        ]
        if _comparable(found, suite):
            lines += [
                [
                    "Notepad (paper)",
                    each.selector,
                    each.prior,
                    *(number(value, 2) for value in (each.states, each.state_auc, each.edges, each.edge_auc)),
                    *(number(value, 3) for value in (each.revisit, each.loop_stall)),
                ]
                for each in PRIORS
            ]
    return lines


def answers_cells(found: Diagnostic) -> Cells:
    """What became of the questions of each condition that asks; the head alone if none does."""
    asking = [(row, row.answers) for row in found.rows if row.answers is not None]
    shown = [
        each
        for each in Unanswered
        if each in _ALWAYS or any(each.value in answers.undecided for _, answers in asking)
    ]
    heads = ["Application", "Method", "Asked", "Acted", *(each.value for each in shown)]
    heads += ["Tokens of a question", "of an answer"]
    return [
        heads,
        *(
            [
                application((row.suite,)),
                row.title,
                f"{answers.questions:,}",
                f"{answers.decided:,}",
                *(f"{answers.undecided.get(each.value, 0):,}" for each in shown),
                _tokens(answers, answers.question_tokens),
                _tokens(answers, answers.answer_tokens),
            ]
            for row, answers in asking
        ),
    ]


def _tokens(answers: Answers, tokens: int) -> str:
    """The mean over questions; a dash where the endpoint told nothing."""
    return f"{tokens / answers.questions:,.0f}" if tokens and answers.questions else "–"


def _by_suite(found: Diagnostic) -> list[tuple[str, list[DiagnosticRow]]]:
    names = dict.fromkeys(row.suite for row in found.rows)
    return [(name, [row for row in found.rows if row.suite == name]) for name in names]


def _comparable(found: Diagnostic, suite: str) -> bool:
    """Whether the paper has rows for this application and this budget."""
    return STAND_INS.get(suite) == "Notepad" and found.steps == STEPS


def _starts(row: DiagnosticRow) -> str:
    return f"{row.starts} ({row.failed} failed)" if row.failed else str(row.starts)


def _figure(spread: Spread, decimals: int) -> str:
    mean = number(spread.mean, decimals)
    if spread.deviation is None or math.isnan(spread.deviation):
        return mean
    return f"{mean} ± {number(spread.deviation, decimals)}"


# -- texts ----------------------------------------------------------------------------------------


def _markdown(cells: Cells) -> str:
    heads, *lines = cells
    return markdown([heads, ["---", "---", *["--:"] * (len(heads) - 2)], *lines])


_TEX_HEADS = {"Δu_": r"$\Delta u$ at ", "M_V": r"$M_V$"}


def diagnostic_latex(found: Diagnostic) -> str:
    """The first two tables with booktabs, each as the paper has it."""
    starts = max((row.starts for row in found.rows), default=0)
    captions = (
        "Frontier and ambiguity summaries of the diagnostic",
        "Coverage of the diagnostic",
    )
    texts = []
    for caption, (heads, *lines) in zip(captions, (curves_cells(found), coverage_cells(found)), strict=True):
        texts += [
            r"\begin{table}[t]",
            r"\centering",
            r"\small",
            rf"\caption{{{caption}: up to {starts} starts, {found.steps} steps, graphs that begin empty.}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(heads) - 2)}}}",
            r"\toprule",
            " & ".join(map(_tex_head, heads)) + r"\\",
            r"\midrule",
            *(" & ".join(map(latex_text, line)) + r"\\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    return "\n".join(texts)


def _tex_head(head: str) -> str:
    for written, symbol in _TEX_HEADS.items():
        if head.startswith(written):
            return symbol + latex_text(head.removeprefix(written))
    return latex_text(head)
