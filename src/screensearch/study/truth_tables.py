"""The truth study as Markdown, one table per question. With several seeds, figures have intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from screensearch.study.calibration import Bin
from screensearch.study.layout import markdown
from screensearch.study.reach import SYNTHETIC
from screensearch.study.statistics import Estimate
from screensearch.study.truth_averages import Average, AverageCoverage, Contrast

Cell = Callable[[Average], str]


def rules_table(averages: Sequence[Average]) -> str:
    """Merges, and how well u and D rank aliased states."""
    return _by_rule(
        averages,
        {
            "observations": _count("observations"),
            "true screens": _count("true_screens"),
            "states": _count("states"),
            "mixed": _count("mixed_states"),
            "split": _count("split_screens"),
            "precision": _rate("precision"),
            "recall": _rate("recall"),
            "F1": _rate("f1"),
            "aliased": _count("aliased_states"),
            "dispersed": _count("dispersed_states"),
            "of those aliased": _count("dispersed_aliased"),
            "AUROC of u": _rate("ambiguity_auroc"),
            "of u, n ≥ 20": _rate("ambiguity_auroc_tried"),
            "of D": _rate("dispersion_auroc"),
        },
    )


def sources_table(averages: Sequence[Average]) -> str:
    """What the dispersion comes from, in shares of it."""
    return _by_rule(
        averages,
        {
            "mean D": _rate("pooled"),
            "merged": _percent("merged_share"),
            "hidden state": _percent("hidden_share"),
            "timing": _percent("timing_share"),
            "split": _percent("split_share"),
            "merged by chance": _percent("merged_by_chance", interval=False),
            "hidden by chance": _percent("hidden_by_chance", interval=False),
        },
    )


def calibration_table(averages: Sequence[Average]) -> str:
    """u and D taken for the chance that a state is aliased, over the states of all runs."""
    return _by_rule(
        averages,
        {
            "states": lambda each: f"{each.ambiguity_calibration.states:,}",
            "Brier of the base rate": lambda each: _number(each.ambiguity_calibration.base_brier),
            "of u": lambda each: _number(each.ambiguity_calibration.brier),
            "of D": lambda each: _number(each.dispersion_calibration.brier),
            "calibration error of u": lambda each: _number(each.ambiguity_calibration.error),
            "error of D": lambda each: _number(each.dispersion_calibration.error),
        },
    )


def reliability_table(averages: Sequence[Average]) -> str:
    """Bins of u and of D with the share of truly aliased states in each; empty bins are left out."""
    heads = ["application", "rule", "score", "bin", "states", "mean score", "truly aliased"]
    rows = [heads, ["---", "---", "---", "---", "--:", "--:", "--:"]]
    for each in averages:
        for score, calibration in (("u", each.ambiguity_calibration), ("D", each.dispersion_calibration)):
            rows += [
                [_name(each.environment), each.rule, score, *_bin(part)]
                for part in calibration.bins
                if part.states
            ]
    return markdown(rows)


def contrast_table(contrasts: Sequence[Contrast]) -> str:
    """Every rule minus the first."""
    names = {"f1": "F1", "dispersion_auroc": "AUROC of D"}
    rows = [["rule", "measure", "difference", "p", "runs", "stands"], ["---", "---", *["--:"] * 3, "---"]]
    for each in contrasts:
        compared = each.comparison
        rows.append(
            [
                each.rule,
                names.get(each.measure, each.measure),
                _figure(compared.difference, lambda value: f"{value:+.3f}"),
                f"{compared.p:.4f}",
                f"{compared.pairs}",
                "yes" if each.stands else "no",
            ]
        )
    return markdown(rows)


def coverage_table(coverages: Sequence[AverageCoverage]) -> str:
    """True states and screens met, of those there are."""
    heads = ["application", "runs", "steps", "true states met", "of", "share"]
    heads += ["true screens met", "of", "share", "outside"]
    rows = [heads, ["---", *["--:"] * (len(heads) - 1)]]
    rows += [
        [
            _name(each.environment),
            f"{each.seeds}",
            f"{each.steps:,}",
            _whole(each.states),
            _known(each.reachable_states),
            _figure(each.state_share, _as_percent),
            _whole(each.screens),
            _known(each.reachable_screens),
            _figure(each.screen_share, _as_percent),
            f"{each.outside:,}",
        ]
        for each in coverages
    ]
    return markdown(rows)


def _by_rule(averages: Sequence[Average], columns: dict[str, Cell]) -> str:
    rows = [["application", "rule", *columns], ["---", "---", *["--:"] * len(columns)]]
    rows += [
        [_name(each.environment), each.rule, *(cell(each) for cell in columns.values())] for each in averages
    ]
    return markdown(rows)


def _count(measure: str) -> Cell:
    return lambda each: _whole(each.measures[measure])


def _rate(measure: str) -> Cell:
    return lambda each: _figure(each.measures[measure], _number)


def _percent(measure: str, *, interval: bool = True) -> Cell:
    def cell(each: Average) -> str:
        found = each.measures[measure]
        return _figure(found, _as_percent) if interval else _as_percent(found.mean)

    return cell


def _whole(found: Estimate) -> str:
    """A mean of counts: whole if it is, else with one decimal."""
    return f"{found.mean:,.0f}" if found.mean == round(found.mean) else f"{found.mean:,.1f}"


def _figure(found: Estimate, write: Callable[[float], str]) -> str:
    """A mean, with its interval if there is one that has any width."""
    if math.isnan(found.low) or found.low == found.high:
        return write(found.mean)
    return f"{write(found.mean)} [{write(found.low)}, {write(found.high)}]"


def _bin(part: Bin) -> list[str]:
    within = f"{part.low:.1f} – {part.high:.1f}"
    return [within, f"{part.states:,}", _number(part.score), _as_percent(part.share)]


def _number(value: float) -> str:
    return f"{value:.3f}"


def _as_percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def _known(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _name(environment: str) -> str:
    return environment.removeprefix(SYNTHETIC)
