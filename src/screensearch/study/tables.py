"""The tables of a study, laid out as in the paper: Markdown for reading, LaTeX for papers.

Both are made of the same cells. Where the paper has a figure for the same row, it stands behind ours in
parentheses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screensearch.study.conditions import FACTORS
from screensearch.study.layout import beside, latex_table, number
from screensearch.study.layout import latex_text as _latex
from screensearch.study.layout import markdown as _markdown
from screensearch.study.matching import Matching
from screensearch.study.paper import STAND_INS, published
from screensearch.study.statistics import Estimate
from screensearch.study.summary import Difference, Row, StudySummary

MACRO = "Macro-average"


@dataclass(frozen=True, slots=True)
class Column:
    """A metric as a column: its name, its head in Markdown and in LaTeX, its decimals."""

    metric: str
    head: str
    latex: str
    decimals: int


_NEW_STATES = Column("new_states", "New states", "New states", 3)
_STATE_AUC = Column("state_auc", "State AUC", "State AUC", 3)
_NEW_EDGES = Column("new_edges", "New edges", "New edges", 3)
_EDGE_AUC = Column("edge_auc", "Edge AUC", "Edge AUC", 3)
_NET = Column("net_ambiguity", "Net Δu", r"Net $\Delta u$", 4)
_HIGH = Column("high_occupancy", "High-u occ.", "High-$u$ occ.", 4)
_REVISIT = Column("revisit", "Revisit", "Revisit", 4)
_LOOP = Column("loop_stall", "Loop/stall", "Loop/stall", 4)

COLUMNS: dict[str, tuple[Column, ...]] = {
    "selector": (_NEW_STATES, _STATE_AUC, _EDGE_AUC, _NET, _REVISIT),
    "sensitivity": (_NEW_STATES, _STATE_AUC, _NET, _REVISIT),
    "components": (_NEW_STATES, _STATE_AUC, _NEW_EDGES, _EDGE_AUC, _NET, _HIGH, _REVISIT, _LOOP),
}
"""The columns of a study, as in the paper's tables 4 and 6; a study without its own has those of table 6."""

KINDS = {"selector": "Selector"}
"""What the second column of a study is called."""


def columns_of(study: str) -> tuple[Column, ...]:
    return COLUMNS.get(study, COLUMNS["components"])


def application(suites: Sequence[str]) -> str:
    """Who a row is about."""
    if len(suites) > 1:
        return MACRO
    stands_for = STAND_INS.get(suites[0])
    return suites[0] if stands_for in (None, "LibreOffice Calc") else f"{suites[0]} (for {stands_for})"


def interval(estimate: Estimate, decimals: int) -> str:
    """``+1.234 [0.500, 2.000]``"""
    low, high = number(estimate.low, decimals), number(estimate.high, decimals)
    return f"{estimate.mean:+,.{decimals}f} [{low}, {high}]"


# -- Markdown -------------------------------------------------------------------------------------


def results_markdown(summary: StudySummary) -> str:
    """The means, in the paper's layout."""
    heads, *lines = results_cells(summary)
    return _markdown([heads, ["---", "---", *["--:"] * (len(heads) - 2)], *lines])


def results_cells(summary: StudySummary) -> list[list[str]]:
    """The same, line by line; the first is the head."""
    columns = columns_of(summary.study)
    heads = [
        "Application",
        KINDS.get(summary.study, "Configuration"),
        "Starts",
        *(each.head for each in columns),
    ]
    heads[3] = f"New states @ {summary.steps}"
    lines = [
        [
            application(row.suites),
            row.title,
            _starts(row),
            *(_cell(summary, row, each) for each in columns),
        ]
        for row in summary.rows
    ]
    return [heads, *lines]


def differences_markdown(summary: StudySummary) -> str:
    """The first condition minus each other: mean, 95 % interval, p, and whether the difference stands."""
    heads, *lines = differences_cells(summary)
    return _markdown([heads, ["---", "---", "---", "--:", "--:", "--:", "--:", "---"], *lines])


def differences_cells(summary: StudySummary) -> list[list[str]]:
    """The same, line by line; the first is the head."""
    shown = {each.metric: each for each in columns_of(summary.study)}
    heads = ["Application", "Metric", "Against", "Difference [95 %]", "p", "p (Holm)", "Pairs", "Stands"]
    lines = [
        [
            application(each.suites),
            shown[each.metric].head,
            each.title,
            interval(each.comparison.difference, shown[each.metric].decimals),
            f"{each.comparison.p:.4f}",
            f"{each.corrected_p:.4f}",
            str(each.comparison.pairs),
            _stands(each),
        ]
        for each in summary.differences
        if each.metric in shown
    ]
    return [heads, *lines]


def _stands(difference: Difference) -> str:
    if not difference.stands:
        return "no"
    return "yes, more" if difference.comparison.difference.mean > 0 else "yes, less"


def _starts(row: Row) -> str:
    return f"{row.starts} ({row.failed} failed)" if row.failed else str(row.starts)


def _cell(summary: StudySummary, row: Row, column: Column) -> str:
    theirs = published(summary.study, row.suites, row.condition, summary.steps)
    value = None if theirs is None else getattr(theirs, column.metric)
    return beside(row.metrics[column.metric].mean, value, column.decimals)


# -- sensitivity, one line per factor -------------------------------------------------------------


def factors_markdown(summary: StudySummary, matchings: Sequence[Matching]) -> str:
    """The paper's table of one factor at a time: three values, their state AUC, and a diagnostic of each."""
    heads, *lines = factors_cells(summary, matchings)
    return _markdown([heads, ["---"] * len(heads), *lines])


def factors_latex(summary: StudySummary, matchings: Sequence[Matching]) -> str:
    """The same for a paper; all of its cells are words."""
    cells = factors_cells(summary, matchings)
    return latex_table(cells, caption="One factor at a time.", words=len(cells[0]))


def factors_cells(summary: StudySummary, matchings: Sequence[Matching]) -> list[list[str]]:
    """The same, line by line; the first is the head."""
    lines = [["Application", "Parameter", "Values", "New-state AUC", "Diagnostic"]]
    titles = {row.condition: row.title for row in summary.rows}
    for suites in dict.fromkeys(row.suites for row in summary.rows):
        rows = {row.condition: row for row in summary.rows if row.suites == suites}
        for factor, conditions in FACTORS.items():
            if not all(name in rows for name in conditions):
                continue
            three = [rows[name] for name in conditions]
            values = [_value(titles[name], factor) for name in conditions]
            aucs = [_cell(summary, row, _STATE_AUC) for row in three]
            revisits = "Revisit " + " / ".join(_cell(summary, row, _REVISIT) for row in three)
            merges = _merges(suites, conditions, matchings) if factor == "τ" else ""
            lines.append(
                [application(suites), factor, " / ".join(values), " / ".join(aucs), merges or revisits]
            )
    return lines


def _value(title: str, factor: str) -> str:
    """The value of a factor in the title of a condition, such as 0.93 in ``τ = 0.93, κ = 20``."""
    return next(part.partition(" = ")[2] for part in title.split(", ") if part.startswith(factor))


def _merges(suites: Sequence[str], conditions: Sequence[str], matchings: Sequence[Matching]) -> str:
    """False merges and pair F1 of each condition, mean over applications; nothing where one is not known."""
    found = {(each.suite, each.condition): each for each in matchings}
    if not all((suite, condition) in found for suite in suites for condition in conditions):
        return ""
    told = []
    for name, figure in (("False merge", "false_merge"), ("pair F1", "pair_f1")):
        means = [
            sum(getattr(found[suite, condition], figure) for suite in suites) / len(suites)
            for condition in conditions
        ]
        told.append(f"{name} {' / '.join(f'{mean:.3f}' for mean in means)}")
    return "; ".join(told)


# -- LaTeX ----------------------------------------------------------------------------------------


def results_latex(summary: StudySummary) -> str:
    """The same means as a booktabs table; an application is named once, as in the paper."""
    columns = columns_of(summary.study)
    kind = KINDS.get(summary.study, "Configuration")
    heads = ["Application", kind, *(each.latex for each in columns)]
    heads[2] = f"New states @ {summary.steps}"
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        r"\small",
        rf"\caption{{{_caption(summary)}}}",
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(heads) + r"\\",
        r"\midrule",
    ]
    before: tuple[str, ...] = ()
    for row in summary.rows:
        if before and len(row.suites) > 1 and len(before) == 1:
            lines.append(r"\midrule")
        name = "" if row.suites == before else _latex(application(row.suites))
        before = row.suites
        cells = [_latex(_cell(summary, row, each)) for each in columns]
        lines.append(" & ".join([name, _latex(row.title), *cells]) + r"\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}", ""])


def _caption(summary: StudySummary) -> str:
    starts = max((row.starts for row in summary.rows if len(row.suites) == 1), default=0)
    return (
        f"Matched study `{summary.study}': means over up to {starts} starts per application, "
        f"{summary.steps} steps per episode. In parentheses: the figures published for the application "
        "that ours stands in for."
    )
