from __future__ import annotations

import pytest

from screensearch.act.candidates import CandidateSettings, candidates
from screensearch.act.guard import (
    GUARDS,
    DenyLabels,
    GuardRule,
    GuardSettings,
    build_guards,
    guard,
    open_gates,
)
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.encode.masks import Masks, MaskSettings
from screensearch.errors import SettingsError, UnknownPlugin

WINDOW = Window("Files", "main", Box(0, 0, 300, 300), "files")
OBSERVATION = Observation(
    tuple(
        Element("button", label, Box(30 * place, 0, 10, 10), "files", clickable=True)
        for place, label in enumerate(["Open", "Delete all", "Empty Trash"])
    ),
    WINDOW,
)
PROPOSED = candidates(
    OBSERVATION, "files", CandidateSettings(texts=(), keys=("Delete",), scroll=False, wait=False)
)


class OnlyInDialogs:
    """A rule of somebody else's."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.kinds = patterns

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        return None if observation.window.kind in self.kinds else f"not in a {observation.window.kind} window"


def test_a_label_that_matches_is_vetoed_with_the_reason() -> None:
    allowed, vetoed = guard(PROPOSED, OBSERVATION, [DenyLabels(["^Delete", "trash$"])])
    assert [candidate.label for candidate in allowed] == ["open"]
    assert [(veto.candidate.label, veto.reason) for veto in vetoed] == [
        ("delete all", "the label 'delete all' matches '^Delete'"),
        ("empty trash", "the label 'empty trash' matches 'trash$'"),
        ("delete", "the label 'delete' matches '^Delete'"),
    ]


def test_a_mask_does_not_hide_what_is_forbidden() -> None:
    masks = Masks(MaskSettings(patterns=("delete",)))
    proposed = candidates(OBSERVATION, "files", CandidateSettings(texts=(), keys=()), masks)
    assert "delete all" not in {candidate.label for candidate in proposed}
    _, vetoed = guard(proposed, OBSERVATION, [DenyLabels(["delete"])])
    assert [veto.reason for veto in vetoed] == ["the label 'delete all' matches 'delete'"]


def test_candidates_keep_their_numbers() -> None:
    guarded = guard(PROPOSED, OBSERVATION, [DenyLabels(["open"])])
    assert [candidate.id for candidate in guarded.allowed] == [1, 2, 3]


def test_without_rules_everything_is_allowed() -> None:
    allowed, vetoed = guard(PROPOSED, OBSERVATION, build_guards(GuardSettings(), harmless=True))
    assert allowed == PROPOSED
    assert vetoed == []


def named(settings: GuardSettings, *, harmless: bool) -> list[str]:
    return [type(each).__name__ for each in build_guards(settings, harmless=harmless)]


def test_irreversible_actions_are_denied_where_they_could_do_harm() -> None:
    assert named(GuardSettings(), harmless=True) == ["Credentials"]
    assert named(GuardSettings(), harmless=False) == ["Credentials", "Irreversible"]
    assert named(GuardSettings(irreversible="deny"), harmless=True) == ["Credentials", "Irreversible"]
    assert named(GuardSettings(irreversible="allow", credentials="allow"), harmless=False) == []


def test_own_rules_are_asked_after_the_gates() -> None:
    settings = GuardSettings(rules=(GuardRule(patterns=("open",)),))
    assert named(settings, harmless=False) == ["Credentials", "Irreversible", "DenyLabels"]
    _, vetoed = guard(PROPOSED, OBSERVATION, build_guards(settings, harmless=False))
    assert [veto.reason for veto in vetoed] == [
        "the label 'open' matches 'open'",
        "irreversible: 'delete' in the label 'delete all'",
        "irreversible: 'empty trash' in the label 'empty trash'",
        "irreversible: Delete deletes",
    ]


def test_a_gate_that_stands_open_outside_a_sandbox_is_told() -> None:
    assert open_gates(GuardSettings(), harmless=False) == []
    assert open_gates(GuardSettings(irreversible="allow", credentials="allow"), harmless=True) == []
    told = open_gates(GuardSettings(irreversible="allow", credentials="allow"), harmless=False)
    assert [each.split(" without")[0] for each in told] == [
        "guard.irreversible = 'allow'",
        "guard.credentials = 'allow'",
    ]


@pytest.mark.parametrize("wrong", [{"credentials": "auto"}, {"irreversible": "yes"}])
def test_a_gate_is_in_one_of_its_positions(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"guard\.\w+ is '\w+', but must be one of"):
        GuardSettings(**wrong)  # type: ignore[arg-type]


def test_rules_are_built_by_name_and_the_first_veto_counts() -> None:
    GUARDS.register("only_in_dialogs", OnlyInDialogs)
    rules = build_guards(
        GuardSettings(
            rules=(GuardRule(patterns=("open",)), GuardRule(name="only_in_dialogs", patterns=("dialog",)))
        ),
        harmless=True,
    )
    _, vetoed = guard(PROPOSED, OBSERVATION, rules)
    assert vetoed[0].reason == "the label 'open' matches 'open'"
    assert vetoed[1].reason == "not in a main window"


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(UnknownPlugin, match="did you mean 'deny_labels'"):
        build_guards(GuardSettings(rules=(GuardRule(name="deny_label"),)), harmless=True)


def test_a_bad_pattern_is_named() -> None:
    with pytest.raises(SettingsError, match=r"deny_labels\.patterns\[1\] = '\*'.*position 0"):
        DenyLabels(["fine", "*"])
