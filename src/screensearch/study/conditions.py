"""Conditions: what is under test, as changes of a suite's settings. Everything else the suite fixes.

A study is a named list of conditions; the first is the one that all others are compared with. To add a study,
add its list to `STUDIES`, and its table to `tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from screensearch.config import Settings
from screensearch.config.layers import changed
from screensearch.errors import SettingsError
from screensearch.explore.remerge import REMADE
from screensearch.study.names import check_name


class Initial(StrEnum):
    """What the graph of every episode begins with."""

    CORPUS = "corpus"  # the graph of the suite: only what goes beyond it counts
    EMPTY = "empty"  # nothing: no state, edge or statistic of earlier episodes


@dataclass(frozen=True, slots=True)
class Condition:
    """One row of a study: a name for files, a title for tables, and the settings that differ."""

    name: str  # letters, digits and hyphens
    title: str
    overrides: tuple[str, ...] = ()  # such as ``select.selector=greedy``
    policy: str = ""  # one of `frontier.POLICIES`, which then chooses instead of the selector
    initial: Initial = Initial.CORPUS

    def settings(self, suite: Settings) -> Settings:
        """The settings of an episode under this condition."""
        settings = changed(suite, self.overrides)
        for table in _FIXED:
            if getattr(settings, table) != getattr(suite, table):
                raise SettingsError(
                    f"the condition {self.name!r} changes the settings of {table}, which decide where a "
                    f"prefix leads: a condition may change {', '.join(_FREE)}"
                )
        return settings

    def remade(self, suite: Settings) -> bool:
        """Whether the initial graph has to be made anew: it rests on what this condition changes."""
        if self.initial is Initial.EMPTY:
            return False
        settings = self.settings(suite)
        return any(getattr(settings, table) != getattr(suite, table) for table in REMADE)


_FREE = (*REMADE, "select")
_FIXED = ("app", "desktop", "redact", "encode", "candidates", "guard", "explore", "stop")

HEURISTIC = "select.prior=heuristic@1"
"""Both rows of the paper's table 4 use this prior, and so do its ablations unless they name another."""

PAPER_FILTERS = 'identify.filters=["display_mode", "text_size"]'

SELECTOR = (
    Condition("puct", "PUCT", (HEURISTIC, "select.selector=puct")),
    Condition("greedy", "Greedy", (HEURISTIC, "select.selector=greedy")),
    Condition("random", "Random", (HEURISTIC, "select.selector=random")),
    Condition("breadth-first", "Breadth-first", (HEURISTIC,), policy="breadth-first"),
    Condition("depth-first", "Depth-first", (HEURISTIC,), policy="depth-first"),
)

PAPER_PUCT = Condition("puct-c1", "PUCT, c_p = 1", (HEURISTIC, "select.selector=puct", "select.c_puct=1.0"))
"""The paper's constant, where a suite's settings have another (as on every live desktop by default)."""

LIVE_PUCT = Condition("puct-c20", "PUCT, c_p = 20", (HEURISTIC, "select.selector=puct", "select.c_puct=20.0"))
"""The constant of live desktops, where all suites have the paper's."""

COMPONENTS = (
    Condition("full", "Full: novelty + ambiguity", (HEURISTIC, "reward.objective=full")),
    Condition("novelty", "Novelty only", (HEURISTIC, "reward.objective=novelty")),
    Condition("ambiguity", "Ambiguity only", (HEURISTIC, "reward.objective=ambiguity")),
    Condition("prior", "Prior only", (HEURISTIC, "reward.objective=prior")),
    Condition("uniform", "Full + uniform prior", ("select.prior=uniform@1", "reward.objective=full")),
    Condition(
        "identical",
        "Full + exact matching",
        (HEURISTIC, "reward.objective=full", "identify.identifier=identical"),
    ),
    Condition(
        "hybrid",
        "Full + hybrid retrieval, paper's filters",
        (HEURISTIC, "reward.objective=full", "identify.identifier=hybrid", PAPER_FILTERS),
    ),
    Condition(
        "content-free",
        "Full + roles only",
        (HEURISTIC, "reward.objective=full", "identify.identifier=content_free"),
    ),
)


def _varied(name: str, title: str, *, tau: float = 0.93, kappa: float = 20.0, u0: float = 0.5) -> Condition:
    """One point of the sensitivity study; what is not named has the paper's value."""
    return Condition(
        name,
        title,
        (
            HEURISTIC,
            f"identify.merge.threshold={tau}",
            f"ambiguity.kappa={kappa}",
            f"ambiguity.prior_ambiguity={u0}",
        ),
    )


SENSITIVITY = (
    _varied("base", "τ = 0.93, κ = 20, u₀ = 0.5"),
    _varied("tau-0.90", "τ = 0.90", tau=0.90),
    _varied("tau-0.96", "τ = 0.96", tau=0.96),
    _varied("kappa-5", "κ = 5", kappa=5.0),
    _varied("kappa-50", "κ = 50", kappa=50.0),
    _varied("u0-0.25", "u₀ = 0.25", u0=0.25),
    _varied("u0-0.75", "u₀ = 0.75", u0=0.75),
)
"""One factor at a time, each below and above the paper's value (table "One-factor-at-a-time sensitivity")."""

FACTORS = {
    "τ": ("tau-0.90", "base", "tau-0.96"),
    "κ": ("kappa-5", "base", "kappa-50"),
    "u₀": ("u0-0.25", "base", "u0-0.75"),
}
"""The conditions of each factor, from its lowest value to its highest."""

STUDIES: dict[str, tuple[Condition, ...]] = {
    "selector": SELECTOR,
    "components": COMPONENTS,
    "sensitivity": SENSITIVITY,
}


def own_conditions(written: Sequence[str]) -> list[Condition]:
    """Conditions of the user's: ``NAME=KEY=VALUE`` each; those of one name are one condition."""
    found: dict[str, list[str]] = {}
    for text in written:
        name, equals, override = text.partition("=")
        if not equals or "=" not in override:
            raise SettingsError(
                f"--add {text!r} is not of the form NAME=KEY=VALUE, such as eager=select.c_puct=5"
            )
        check_name("a condition", name)
        found.setdefault(name, []).append(override)
    return [Condition(name, name, tuple(overrides)) for name, overrides in found.items()]


def conditions_for(study: str, suites: Sequence[Settings]) -> list[Condition]:
    """The conditions of a study on these suites."""
    listed = list(STUDIES[study])
    if study == "selector":
        others = any(settings.select.c_puct != 1.0 for settings in suites)
        listed.insert(1, PAPER_PUCT if others else LIVE_PUCT)
    return listed
