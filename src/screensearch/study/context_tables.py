"""The audit of repeated groups as numbers of applications, and as tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

from screensearch.study.context import Context
from screensearch.study.layout import beside, latex_table, markdown_table, number
from screensearch.study.published_corpus import CONTEXT
from screensearch.study.runs import RunSource, titled


@dataclass(frozen=True, slots=True)
class Parts:
    """Means of the parts of dispersion over groups."""

    pooled: float
    within: float
    between: float
    chance: float

    @property
    def beyond(self) -> float:
        """The share of what chance leaves open that the context explains.

        NaN where chance leaves less than a hundredth: a ratio of two such remainders tells nothing.
        """
        left = self.pooled - self.chance
        return (self.between - self.chance) / left if left > self.pooled / 100 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One application under one definition of context."""

    application: str
    stands_for: str
    context: Context
    groups: int
    trials: int
    dispersed: int  # groups with more than one successor
    repeated: int  # groups in which some context has two trials or more
    repeated_dispersed: int  # the same of the dispersed ones: elsewhere nothing is to be explained
    contexts: float  # of a group, on average
    parts: Parts  # every group weighs the same, as in the paper
    weighted: Parts  # every trial weighs the same, as in D(s)
    beyond: float  # of `parts`


@dataclass(frozen=True, slots=True)
class Chance:
    """Between of an application's groups against the same with their contexts shuffled."""

    low: float  # 95 % of the shuffles lie from here
    high: float  # to here
    p: float  # of the shuffles, how many explain as much


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSummary:
    """The study as numbers. `rows` and `chances` are of the chosen definition, `definitions` of all."""

    context: Context
    draws: int
    rows: list[Explained]
    chances: list[Chance]
    definitions: list[Explained]
    runs: list[RunSource]


def paper_cells(summary: ContextSummary) -> list[list[str]]:
    """The paper's table: line by line, the first is the head."""
    lines = [["Application", "Groups", "Pooled", "Within context", "Between context"]]
    for row in summary.rows:
        theirs = CONTEXT.get(row.stands_for)
        groups = f"{row.groups:,}" if theirs is None else f"{row.groups:,} ({theirs.groups:,})"
        figures = [
            beside(getattr(row.parts, name), None if theirs is None else getattr(theirs, name), 3)
            for name in ("pooled", "within", "between")
        ]
        lines.append([titled(row.application, row.stands_for), groups, *figures])
    return lines


def chance_cells(summary: ContextSummary) -> list[list[str]]:
    """What between means: how much chance explains, and what is left of it."""
    heads = [
        "Application",
        "Dispersed groups",
        "Of those, with a repeated context",
        "Between",
        "By chance [95 %]",
    ]
    lines = [[*heads, "p", "Explained beyond chance"]]
    for row, chance in zip(summary.rows, summary.chances, strict=True):
        span = f"[{number(chance.low, 3)}, {number(chance.high, 3)}]"
        lines.append(
            [
                titled(row.application, row.stands_for),
                f"{row.dispersed:,} of {row.groups:,}",
                f"{row.repeated_dispersed:,}",
                number(row.parts.between, 3),
                f"{number(row.parts.chance, 3)} {span}",
                f"{chance.p:.3f}",
                number(row.beyond, 3),
            ]
        )
    return lines


def definition_cells(summary: ContextSummary) -> list[list[str]]:
    """All definitions of context beside each other."""
    lines = [
        [
            "Application",
            "Context",
            "Contexts per group",
            "Dispersed groups with a repeated context",
            "Within",
            "Between",
            "By chance",
            "Beyond chance",
        ]
    ]
    lines += [
        [
            titled(each.application, each.stands_for),
            each.context.value,
            number(each.contexts, 1),
            f"{each.repeated_dispersed:,} of {each.dispersed:,}",
            *(number(getattr(each.parts, name), 3) for name in ("within", "between", "chance")),
            number(each.beyond, 3),
        ]
        for each in summary.definitions
    ]
    return lines


def _weighted_cells(summary: ContextSummary) -> list[list[str]]:
    lines = [["Application", "Trials", "Pooled", "Within", "Between", "By chance"]]
    lines += [
        [
            titled(row.application, row.stands_for),
            f"{row.trials:,}",
            *(number(getattr(row.weighted, name), 3) for name in ("pooled", "within", "between", "chance")),
        ]
        for row in summary.rows
    ]
    return lines


def context_page(summary: ContextSummary) -> str:
    """All tables with what is needed to read them."""
    return "\n".join(
        [
            "# Study: context",
            "",
            "Repeated state–action groups: one action at one state of one run, carried out twice or more "
            f"with outcome `ok`. Context: `{summary.context.value}`. Means over groups, each of the same "
            "weight. In parentheses: what the paper published for the application that ours stands in for, "
            "under contexts of its own that it does not define.",
            "",
            markdown_table(paper_cells(summary)),
            "## Against chance",
            "",
            "By chance: the same contexts, shuffled among the trials of each group; the mean is exact, the "
            f"interval and p (one-sided) are of {summary.draws} shuffles. Beyond chance: (between − "
            "chance) / (pooled − chance), 1 if the context explains all that chance does not; a dash if "
            "chance leaves less than a hundredth, since hardly a context comes twice in a dispersed group: "
            "the definition can tell nothing then.",
            "",
            markdown_table(chance_cells(summary)),
            "## By definition of context",
            "",
            markdown_table(definition_cells(summary), words=2),
            "## Weighted by trials",
            "",
            markdown_table(_weighted_cells(summary)),
            "## Runs",
            "",
            *(f"- `{each.folder}` ({each.environment}): {each.entries:,} entries" for each in summary.runs),
            "",
        ]
    )


def context_latex(summary: ContextSummary) -> str:
    return latex_table(
        paper_cells(summary),
        caption="Context decomposition of repeated matched-action dispersion, context "
        f"{summary.context.value}. In parentheses: the figures published for the application that ours "
        "stands in for.",
    ) + latex_table(chance_cells(summary), caption="The same against contexts shuffled within each group.")
