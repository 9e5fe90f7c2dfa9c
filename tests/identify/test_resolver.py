"""The resolver: memo first, then the identifier, within one pool."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import Decision, RunnerUp
from screensearch.encode.encoder import atoms_key
from screensearch.errors import FormatError, SettingsError, UnknownPlugin
from screensearch.identify.exact import CompiledIndex, ExactIdentifier
from screensearch.identify.resolve import IdentifySettings, Pool, Query, Resolver

MAIN = Metadata("notepad", "light", "1", "main|notepad")


def screen(roles: int, *texts: int, metadata: Metadata = MAIN) -> Screen:
    """A screen with that many controls and these words."""
    role_atoms = tuple(sorted(f"r{place}_c0|button" for place in range(roles)))
    text_atoms = tuple(sorted(f"r0_c0|{text}" for text in texts))
    return Screen(atoms_key(role_atoms, text_atoms), role_atoms, text_atoms, "", metadata)


def test_the_first_screen_founds_state_zero() -> None:
    resolver = Resolver(IdentifySettings())
    assert resolver.states == 0
    assert resolver.resolve(screen(5, 1)) == Decision(0, "new")
    assert resolver.states == 1


def test_a_near_duplicate_joins_and_its_repeat_is_a_memo_with_the_same_scores() -> None:
    resolver = Resolver(IdentifySettings())
    resolver.resolve(screen(5, *range(50)))
    joined = resolver.resolve(screen(5, *range(48)))
    assert joined == Decision(0, "match", 0.98, 1.0, 0.96)
    assert resolver.resolve(screen(5, *range(48))) == replace(joined, how="memo")


def test_a_repeat_is_answered_without_interning_its_atoms() -> None:
    interned: list[Screen] = []

    def intern(screen: Screen) -> Query:
        interned.append(screen)
        return Query(screen, array("I", [1]), array("I", [2]))

    pool = Pool(ExactIdentifier(IdentifySettings()))
    first, again = screen(1, 2), screen(1, 2)
    assert pool.decide(first, intern, 7) == Decision(7, "new")
    assert pool.decide(again, intern, 8) == Decision(7, "memo")
    assert interned == [first]


def test_a_resumed_memo_has_the_scores_of_the_first_decision_and_no_runner_up() -> None:
    founders, member = [screen(5, *range(50)), screen(5, *range(42))], screen(5, *range(45))
    writer, resumed = Resolver(IdentifySettings()), Resolver(IdentifySettings())
    for state, founder in enumerate(founders):
        writer.resolve(founder)
        resumed.restore(founder, state, founder=True)
    decision = writer.resolve(member)
    resumed.restore(member, decision.state, founder=False)
    assert decision.runner_up is not None
    assert resumed.resolve(member) == replace(decision, how="memo", runner_up=None)


def test_the_best_score_wins_and_the_second_is_the_runner_up() -> None:
    resolver = Resolver(IdentifySettings())
    resolver.resolve(screen(5, *range(50)))
    resolver.resolve(screen(5, *range(42)))
    found = resolver.resolve(screen(5, *range(45)))
    assert (found.state, found.how) == (1, "match")
    assert found.runner_up == RunnerUp(0, 0.95)


def test_a_state_cannot_drift_by_chaining() -> None:
    resolver = Resolver(IdentifySettings())
    first = [resolver.resolve(screen(5, *range(start, 50 + start))).state for start in range(0, 12, 2)]
    assert first == [0, 0, 1, 1, 2, 2]


def test_screens_of_different_pools_are_never_compared() -> None:
    resolver = Resolver(IdentifySettings())
    dialog = replace(MAIN, window="dialog|save")
    assert resolver.resolve(screen(5, 1)).state == 0
    assert resolver.resolve(screen(5, 1, metadata=dialog)) == Decision(1, "new")


def test_the_filters_say_what_makes_a_pool() -> None:
    resolver = Resolver(IdentifySettings(filters=("display_mode", "text_size")))
    resolver.resolve(screen(5, 1))
    dialog = replace(MAIN, window="dialog|save")
    assert resolver.resolve(screen(5, 1, metadata=dialog)).state == 0
    dark = replace(MAIN, display_mode="dark")
    assert resolver.resolve(screen(5, 1, metadata=dark)).state == 1


def test_without_filters_there_is_one_pool() -> None:
    resolver = Resolver(IdentifySettings(filters=()))
    resolver.resolve(screen(5, 1))
    other = Metadata("files", "dark", "2", "menu|")
    assert resolver.resolve(screen(5, 1, metadata=other)).state == 0


def test_a_role_and_a_text_of_the_same_name_are_different_atoms() -> None:
    resolver = Resolver(IdentifySettings())
    name = ("r0_c0|button",)
    for roles, texts in ((name, ()), ((), name)):
        resolver.resolve(Screen(atoms_key(roles, texts), roles, texts, "", MAIN))
    assert resolver.states == 2


def test_a_mistyped_filter_gets_a_hint() -> None:
    with pytest.raises(SettingsError, match=r"'display_mod'.*did you mean 'display_mode'"):
        IdentifySettings(filters=("display_mod",))
    with pytest.raises(SettingsError, match="twice"):
        IdentifySettings(filters=("window", "window"))


@pytest.mark.parametrize(
    ("name", "value"), [("bm25_b", 1.5), ("rrf_k", -1), ("fused_top", 0), ("hnsw_connectivity", 1)]
)
def test_constants_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"identify.{name} is {value}"):
        IdentifySettings(**{name: value})  # type: ignore[arg-type]


def test_an_unknown_identifier_gets_a_hint() -> None:
    with pytest.raises(UnknownPlugin, match="did you mean 'exact'"):
        Resolver(IdentifySettings(identifier="exat"))


def test_hybrid_without_an_embedder_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match="was given no embedder"):
        Resolver(IdentifySettings(identifier="hybrid"))


def test_the_description_says_which_core_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    if CompiledIndex is not None:
        assert Resolver(IdentifySettings()).describe() == "exact (compiled core)"
    monkeypatch.setattr("screensearch.identify.exact.CompiledIndex", None)
    assert "install a C compiler and reinstall" in Resolver(IdentifySettings()).describe()


def test_a_log_that_skips_a_state_is_refused() -> None:
    resolver = Resolver(IdentifySettings())
    with pytest.raises(FormatError, match="founds state 3, but the next one is 0"):
        resolver.restore(screen(5, 1), 3, founder=True)
    with pytest.raises(FormatError, match="names state 0, but only 0 were founded"):
        resolver.restore(screen(5, 1), 0, founder=False)


def test_a_log_with_other_filters_is_refused_when_its_screen_is_met() -> None:
    resolver = Resolver(IdentifySettings())
    resolver.restore(screen(5, 1), 0, founder=True)
    elsewhere = screen(5, 2, metadata=replace(MAIN, window="menu|file"))
    resolver.restore(elsewhere, 0, founder=False)
    with pytest.raises(FormatError, match="another pool"):
        resolver.resolve(elsewhere)


def test_identical_merges_nothing_but_equal_atoms() -> None:
    resolver = Resolver(IdentifySettings(identifier="identical"))
    assert [resolver.resolve(screen(5, *range(count))).state for count in (60, 59, 60)] == [0, 1, 0]


def test_content_free_does_not_read() -> None:
    resolver = Resolver(IdentifySettings(identifier="content_free"))
    resolver.resolve(screen(20, 1, 2, 3))
    found = resolver.resolve(screen(20, 7, 8))
    assert found == Decision(0, "match", 1.0, 1.0, 0.0)
    assert resolver.resolve(screen(17, 1, 2, 3)).state == 1
