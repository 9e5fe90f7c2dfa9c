"""Every registered guard passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from screensearch.act.guard import GUARDS, Guard
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation
from screensearch.errors import SettingsError
from screensearch.testing import ContractBroken, check_guard

PATTERNS = {
    "credentials": ("^save",),
    "deny_labels": ("^delete", "save", r"\d+%"),
    "irreversible": ("a menu",),
}
"""Some that make sense to each of ours, so that the check meets vetoes."""

Rule = Callable[[Candidate, Observation], str | None]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_guard_of_ours_keeps_the_contract(name: str) -> None:
    check_guard(GUARDS.get(name), PATTERNS[name])


def test_no_guard_of_ours_is_left_out() -> None:
    ours = [name for name in GUARDS.names() if GUARDS.origin(name).startswith("screensearch.")]
    assert ours == sorted(PATTERNS)


class By:
    """A guard of one rule."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        return self._rule(candidate, observation)


class OncePerLabel:
    """Vetoes a label only when it is met again."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._met: set[str] = set()

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        if candidate.label in self._met:
            return "met before"
        self._met.add(candidate.label)
        return None


class OfItsOwnMind:
    """Every other one denies everything."""

    made = 0

    def __init__(self, patterns: tuple[str, ...]) -> None:
        OfItsOwnMind.made += 1
        self._denies = OfItsOwnMind.made % 2 == 0

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        return "as the mood takes it" if self._denies else None


class NeedsAPattern:
    """Says in our words that it needs a pattern."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        if not patterns:
            raise SettingsError("guard.rules: `needs_a_pattern` needs one pattern")
        self._only = patterns[0]

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        return None if self._only in candidate.label else f"it is not {self._only!r}"


class TakesTheFirst(NeedsAPattern):
    """Says nothing: it falls over."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._only = patterns[0]


def test_a_guard_may_refuse_to_be_without_patterns_in_our_words() -> None:
    check_guard(NeedsAPattern, ("save",))
    with pytest.raises(ContractBroken, match="without patterns, or refuses"):
        check_guard(TakesTheFirst, ("save",))


def of(rule: Rule) -> Callable[[tuple[str, ...]], Guard]:
    return lambda patterns: By(rule)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (of(lambda c, o: ""), "None or a reason in words"),
        (of(lambda c, o: False), "None or a reason in words"),  # type: ignore[arg-type, return-value]
        (of(lambda c, o: c.action.element.text and None), "it raised AttributeError"),  # type: ignore[union-attr]
        (of(lambda c, o: None if c.id < 3 else "too far down"), "unstable `id`"),
        (OncePerLabel, "what was asked before"),
        (OfItsOwnMind, "guards of the same rule"),
        (lambda patterns: By(patterns and 1 / 0), "built from its patterns; it raised ZeroDivisionError"),  # type: ignore[arg-type]
    ],
)
def test_a_broken_clause_is_named(broken: Callable[[tuple[str, ...]], Guard], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        check_guard(broken, ("save",))
