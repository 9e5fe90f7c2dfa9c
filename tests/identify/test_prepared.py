"""A decision prepared ahead is the decision that is made without: for every identifier, whenever it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Decision
from screensearch.encode.embed import HashingEmbedder
from screensearch.encode.encoder import atoms_key
from screensearch.identify.exact import ExactIdentifier
from screensearch.identify.resolve import Continuing, IdentifySettings, Match, Pool, Prepared, Query, Resolver
from screensearch.identify.verify import MergeSettings

IDENTIFIERS = ("exact", "identical", "content_free", "hybrid")
MAIN = Metadata("notepad", "light", "1", "main|notepad")
DIALOG = replace(MAIN, window="dialog|save")


def make_screen(roles: frozenset[int], texts: frozenset[int], metadata: Metadata = MAIN) -> Screen:
    role_atoms = tuple(sorted(f"r{place}_c0|button" for place in roles))
    text_atoms = tuple(sorted(f"r0_c0|word{text}" for text in texts))
    words = " ".join(f"word{text}" for text in sorted(texts))
    return Screen(atoms_key(role_atoms, text_atoms), role_atoms, text_atoms, words, metadata)


few = st.frozensets(st.integers(0, 9), max_size=7)
screens = st.builds(make_screen, few, few, st.sampled_from([MAIN, MAIN, MAIN, DIALOG]))
# Each screen is prepared when the one that many places before it has its turn.
histories = st.lists(st.tuples(screens, st.integers(0, 12)), max_size=40)
thresholds = st.sampled_from([0.3, 0.5, 0.75, 0.93, 1.0])


def make_resolver(name: str, threshold: float = 0.93) -> Resolver:
    merge = MergeSettings(threshold=threshold)
    return Resolver(IdentifySettings(identifier=name, merge=merge), HashingEmbedder())


def decide_all(
    resolver: Resolver, history: list[tuple[Screen, int]], *, ahead: bool
) -> list[tuple[Decision, Decision]]:
    """The decision about each screen, and the one that its memo gives after it."""
    prepared: dict[int, Prepared | None] = {}
    decisions = []
    for turn, (screen, _) in enumerate(history):
        for later, (other, lead) in enumerate(history[turn:], start=turn):
            if ahead and later - lead <= turn and later not in prepared:
                prepared[later] = resolver.prepare(other)
        decisions.append((resolver.resolve(screen, prepared.get(turn)), resolver.resolve(screen)))
    return decisions


@pytest.mark.parametrize("name", IDENTIFIERS)
@settings(max_examples=examples(120), deadline=None)
@given(thresholds, histories)
def test_a_history_prepared_ahead_has_the_decisions_of_one_that_is_not(
    name: str, threshold: float, history: list[tuple[Screen, int]]
) -> None:
    plain = decide_all(make_resolver(name, threshold), history, ahead=False)
    assert decide_all(make_resolver(name, threshold), history, ahead=True) == plain


@settings(max_examples=examples(60), deadline=None)
@given(thresholds, histories)
def test_the_same_holds_without_the_compiled_core(
    threshold: float, history: list[tuple[Screen, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        plain = decide_all(make_resolver("exact", threshold), history, ahead=False)
        patched.setattr("screensearch.identify.exact.CompiledIndex", None)
        assert decide_all(make_resolver("exact", threshold), history, ahead=True) == plain


@pytest.mark.parametrize("name", IDENTIFIERS)
@settings(max_examples=examples(40), deadline=None)
@given(histories)
def test_what_is_prepared_and_never_decided_changes_nothing(
    name: str, history: list[tuple[Screen, int]]
) -> None:
    """As when a worker's message is refused."""
    plain, disturbed = make_resolver(name), make_resolver(name)
    for turn, (screen, lead) in enumerate(history):
        disturbed.prepare(history[(turn + lead) % len(history)][0])
        assert disturbed.resolve(screen) == plain.resolve(screen)
    assert disturbed.states == plain.states


def test_a_better_state_founded_since_wins_and_the_one_found_before_is_the_runner_up() -> None:
    resolver = make_resolver("exact")
    resolver.resolve(screen_of(50))
    prepared = resolver.prepare(screen_of(45))
    assert prepared is not None
    assert prepared.match is not None
    assert (prepared.among, prepared.match.state, prepared.match.runner_up) == (1, 0, None)
    resolver.resolve(screen_of(42))
    decision = resolver.resolve(screen_of(45), prepared)
    assert decision.runner_up is not None
    assert (decision.state, decision.runner_up.state) == (1, 0)


def test_an_equal_state_founded_since_does_not_displace_the_older_one() -> None:
    resolver = make_resolver("exact", 0.9)
    roles, base = frozenset({1}), range(10)
    around = [make_screen(roles, frozenset([*base, 20 + each, 30 + each])) for each in range(3)]
    wanted = make_screen(roles, frozenset(base))  # as near to each of them, which are further apart
    assert [resolver.resolve(each).state for each in around[:2]] == [0, 1]
    prepared = resolver.prepare(wanted)
    assert resolver.resolve(around[2]).state == 2
    decision = resolver.resolve(wanted, prepared)
    assert decision.runner_up is not None
    assert (decision.state, decision.runner_up.state) == (0, 1)


def test_a_screen_that_was_decided_since_is_a_memo() -> None:
    resolver = make_resolver("exact")
    resolver.resolve(screen_of(50))
    prepared = resolver.prepare(screen_of(48))
    first = resolver.resolve(screen_of(48))
    assert resolver.resolve(screen_of(48), prepared) == replace(first, how="memo")


def test_a_repeat_needs_no_preparation() -> None:
    resolver = make_resolver("exact")
    assert resolver.prepare(screen_of(50)) is not None
    resolver.resolve(screen_of(50))
    assert resolver.prepare(screen_of(50)) is None


class Counting(ExactIdentifier):
    """Notes how much is searched."""

    def __init__(self, settings: IdentifySettings) -> None:
        super().__init__(settings)
        self.searched: list[str] = []

    def find(self, query: Query) -> Match | None:
        self.searched.append("all")
        return super().find(query)

    def find_since(self, query: Query, since: int, earlier: Match | None) -> Match | None:
        self.searched.append(f"since {since}")
        return super().find_since(query, since, earlier)


def test_in_its_turn_a_prepared_screen_is_compared_with_new_states_alone() -> None:
    resolver, identifier = make_resolver("exact"), Counting(IdentifySettings())
    pool = Pool(identifier)

    def decide(screen: Screen, new: StateId, prepared: Prepared | None = None) -> StateId:
        return pool.decide(screen, resolver._query, new, prepared).state

    first, second, third = screen_of(50), screen_of(30), screen_of(10)
    ahead = [pool.prepare(screen, resolver._query) for screen in (first, second, third)]
    assert [decide(first, 0, ahead[0]), decide(second, 1, ahead[1]), decide(third, 2, ahead[2])] == [0, 1, 2]
    assert identifier.searched == ["all"] * 3 + ["since 0", "since 0"]  # the first: nothing was new
    late = pool.prepare(screen_of(49), resolver._query)
    assert decide(screen_of(49), 3, late) == 0
    assert identifier.searched[5:] == ["all"]


def test_only_hybrid_is_searched_whole_in_its_turn() -> None:
    for name in IDENTIFIERS:
        resolver = make_resolver(name)
        resolver.resolve(screen_of(50))
        prepared = resolver.prepare(screen_of(49))
        assert prepared is not None
        (pool,) = resolver._pools.values()
        continuing = isinstance(pool._identifier, Continuing)
        assert continuing == (name != "hybrid")
        assert prepared.among == (1 if continuing else 0)


def screen_of(texts: int) -> Screen:
    return make_screen(frozenset(range(5)), frozenset(range(texts)))
