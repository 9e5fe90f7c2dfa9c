"""Every identifier, ours or a third party's, passes one check."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Decision
from screensearch.encode.embed import Embedder, HashingEmbedder
from screensearch.encode.encoder import atoms_key
from screensearch.identify.exact import ExactIdentifier
from screensearch.identify.exact_python import ExactIndex
from screensearch.identify.resolve import IDENTIFIERS, IdentifySettings, Resolver
from screensearch.identify.verify import MergeSettings, jaccard, merge_rule


def check_identifier(
    name: str,
    *,
    settings: IdentifySettings | None = None,
    embedder: Embedder | None = None,
    seed: int = 11,
    screens: int = 400,
) -> None:
    """Assert what every identifier promises, on a drawn history of screens.

    Decisions are a function of the history alone; states are dense; equal atoms are one state; no match
    scores below the threshold; what is reported is true of the founding screen; a resolver restored
    from a log goes on as the one that wrote it.
    """
    settings = replace(settings or IdentifySettings(), identifier=name)
    history = draw_history(random.Random(seed), screens)
    resolver = Resolver(settings, embedder)
    decisions = [resolver.resolve(screen) for screen in history]
    assert resolver.describe()
    check_states_are_dense(decisions, resolver)
    check_equal_atoms_are_one_state(history, decisions, resolver)
    check_matches_are_true(history, decisions, settings)
    again = Resolver(settings, embedder)
    assert [again.resolve(screen) for screen in history] == decisions, "equal histories, equal decisions"
    check_restoring(history, decisions, settings, embedder)


def check_states_are_dense(decisions: list[Decision], resolver: Resolver) -> None:
    founded = [decision.state for decision in decisions if decision.founded]
    assert founded == list(range(resolver.states)), "states are counted from 0 in order of discovery"
    count = 0
    for decision in decisions:
        count += decision.founded
        assert 0 <= decision.state < count, "no screen joins a state that is not there yet"


def check_equal_atoms_are_one_state(
    history: list[Screen], decisions: list[Decision], resolver: Resolver
) -> None:
    first: dict[tuple[str, Metadata], Decision] = {}
    for screen, decision in zip(history, decisions, strict=True):
        earlier = first.setdefault((screen.key, screen.metadata), decision)
        if earlier is not decision:
            assert decision == replace(earlier, how="memo"), "the memo repeats the first decision"
        assert resolver.known(screen) == decision.state
    stranger = make_screen(["r0_c0|stranger"], ["r0_c0|never seen"], history[0].metadata)
    assert resolver.known(stranger) is None


def check_matches_are_true(
    history: list[Screen], decisions: list[Decision], settings: IdentifySettings
) -> None:
    founders: dict[StateId, Screen] = {}
    for screen, decision in zip(history, decisions, strict=True):
        founder = founders.setdefault(decision.state, screen)
        assert founder.metadata == screen.metadata, "pools never mix"
        assert decision.role_jaccard == jaccard(screen.role_atoms, founder.role_atoms)
        assert decision.text_jaccard == jaccard(screen.text_atoms, founder.text_atoms)
        assert settings.merge.threshold <= decision.score <= 1, "no match below the threshold"
        if decision.runner_up is not None:
            assert decision.runner_up.state != decision.state
            assert settings.merge.threshold <= decision.runner_up.score <= 1


def check_restoring(
    history: list[Screen], decisions: list[Decision], settings: IdentifySettings, embedder: Embedder | None
) -> None:
    half = len(history) // 2
    for with_decisions in (True, False):
        restored = Resolver(settings, embedder)
        for screen, decision in zip(history[:half], decisions[:half], strict=True):
            logged = decision if with_decisions else None
            if restored.known(screen) is None:
                restored.restore(screen, decision.state, founder=decision.founded, decision=logged)
        for screen, decision in zip(history, decisions, strict=True):
            expected = replace(decision, how="memo") if restored.known(screen) is not None else decision
            found = restored.resolve(screen)
            if not with_decisions:  # a log without decisions cannot tell the runner-up
                found, expected = replace(found, runner_up=None), replace(expected, runner_up=None)
            assert found == expected, "a restored resolver goes on as the one that wrote the log"


def make_screen(roles: list[str], texts: list[str], metadata: Metadata) -> Screen:
    role_atoms, text_atoms = tuple(sorted(set(roles))), tuple(sorted(set(texts)))
    text = " ".join(atom.partition("|")[2] for atom in text_atoms)
    return Screen(atoms_key(role_atoms, text_atoms), role_atoms, text_atoms, text, metadata)


def draw_history(random_: random.Random, count: int) -> list[Screen]:
    """Screens as an explorer meets them: repeats, near duplicates, new views, two windows, bare ones."""
    windows = [Metadata("app", "light", "1", "main|app"), Metadata("app", "light", "1", "dialog|save")]
    chrome = [f"r0_c{place}|menu {place}" for place in range(12)]
    views: list[tuple[list[str], list[str], Metadata]] = []
    history: list[Screen] = []
    for number in range(count):
        chance = random_.random()
        if history and chance < 0.4:
            history.append(random_.choice(history))
            continue
        if not views or chance < 0.55:
            size = random_.choice((0, 1, 4, 25, 60))
            content = [f"r{place % 30}_c{place % 7}|item {number} {place}" for place in range(size)]
            roles = [f"r{place % 30}_c{place % 11}|button" for place in range(random_.choice((0, 1, 20, 50)))]
            views.append((roles, [*chrome, *content] if size > 1 else content, random_.choice(windows)))
        roles, texts, window = random_.choice(views)
        texts = [text for text in texts if random_.random() > 0.03]
        if random_.random() < 0.5:
            texts.append(f"r29_c29|clock {number}")
        history.append(make_screen(roles, texts, window))
    return history


@pytest.mark.parametrize("name", IDENTIFIERS.names())
@pytest.mark.parametrize("threshold", [0.93, 0.75, 1.0])
def test_every_identifier_keeps_its_promises(name: str, threshold: float) -> None:
    settings = IdentifySettings(merge=MergeSettings(threshold=threshold))
    check_identifier(name, settings=settings, embedder=HashingEmbedder())


def test_the_pure_python_twin_keeps_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screensearch.identify.exact.CompiledIndex", None)
    for name in ("exact", "identical", "content_free"):
        check_identifier(name)
    assert "pure Python" in Resolver(IdentifySettings()).describe()


def test_the_twin_and_the_core_in_use_decide_alike() -> None:
    settings = IdentifySettings(merge=MergeSettings(threshold=0.8))
    rule = merge_rule(settings.merge)
    history = draw_history(random.Random(3), 400)
    twin = Resolver(settings)
    twin._factory = lambda given, _: ExactIdentifier(
        given, index=ExactIndex(rule.role_weight, rule.text_weight, rule.threshold)
    )
    usual = Resolver(settings)
    assert [twin.resolve(screen) for screen in history] == [usual.resolve(screen) for screen in history]


def test_a_rule_that_merges_below_the_threshold_is_caught() -> None:
    class TooKind(ExactIdentifier):
        def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
            super().__init__(replace(settings, merge=MergeSettings(threshold=0.5)))

    IDENTIFIERS.register("too_kind", TooKind)
    try:
        with pytest.raises(AssertionError, match="below the threshold"):
            check_identifier("too_kind")
    finally:
        del IDENTIFIERS._registered["too_kind"]
