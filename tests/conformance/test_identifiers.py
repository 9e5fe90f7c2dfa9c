"""Every registered identifier passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Decision, RunnerUp
from screensearch.encode.embed import Embedder, HashingEmbedder
from screensearch.identify.exact import ExactIdentifier
from screensearch.identify.resolve import IDENTIFIERS, IdentifySettings, Match, Query, Resolver
from screensearch.identify.verify import MergeSettings
from screensearch.testing import ContractBroken, check_identifier
from screensearch.testing.identifiers import draw_history


@pytest.mark.parametrize("name", IDENTIFIERS.names())
def test_every_identifier_keeps_the_contract(name: str) -> None:
    check_identifier(IDENTIFIERS.get(name))


@pytest.mark.parametrize("name", ["exact", "identical", "content_free"])
def test_those_of_the_compiled_core_keep_it_without_the_core(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screensearch.identify.exact.CompiledIndex", None)
    check_identifier(IDENTIFIERS.get(name))


@pytest.mark.parametrize("name", IDENTIFIERS.names())
class TestUnderAnyIdentifierAResolver:
    """What the resolver adds to an identifier: dense states, a memo, and going on from a log."""

    history = draw_history(random.Random(3), 200)

    def make(self, name: str) -> Resolver:
        return Resolver(IdentifySettings(identifier=name), HashingEmbedder())

    def test_counts_states_from_0_in_order_of_discovery(self, name: str) -> None:
        resolver = self.make(name)
        count = 0
        for screen in self.history:
            decision = resolver.resolve(screen)
            assert decision.state == count if decision.founded else 0 <= decision.state < count
            count += decision.founded
        assert resolver.states == count

    def test_repeats_the_first_decision_about_equal_atoms(self, name: str) -> None:
        resolver = self.make(name)
        first: dict[tuple[str, Metadata], Decision] = {}
        for screen in self.history:
            decision = resolver.resolve(screen)
            earlier = first.setdefault((screen.key, screen.metadata), decision)
            assert decision == (earlier if earlier is decision else replace(earlier, how="memo"))

    def test_goes_on_from_a_log_as_the_one_that_wrote_it_but_without_runners_up(self, name: str) -> None:
        writer, resumed = self.make(name), self.make(name)
        decisions = [writer.resolve(screen) for screen in self.history]
        seen: set[tuple[str, Metadata]] = set()
        for screen, decision in list(zip(self.history, decisions, strict=True))[: len(decisions) // 2]:
            if (screen.key, screen.metadata) not in seen:
                resumed.restore(screen, decision.state, founder=decision.founded)
                seen.add((screen.key, screen.metadata))
        for screen, decision in zip(self.history, decisions, strict=True):
            logged = (screen.key, screen.metadata) in seen
            expected = replace(decision, how="memo", runner_up=None) if logged else decision
            assert resumed.resolve(screen) == expected


Find = Callable[["Tampered", Query], Match | None]


class Tampered(ExactIdentifier):
    """A sound identifier, except for what a test tampers with."""

    made = 0

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        super().__init__(settings, embedder)
        type(self).made += 1
        self.number = self.made
        self.founders: dict[StateId, Screen] = {}
        self.finds = 0

    def add(self, state: StateId, query: Query) -> None:
        self.founders[state] = query.screen
        super().add(state, query)


def tampered(**methods: Any) -> type[Tampered]:
    return type("Broken", (Tampered,), methods)


def finding(change: Callable[[Tampered, Query, Match], Match | None]) -> type[Tampered]:
    """One whose matches are changed."""

    def find(self: Tampered, query: Query) -> Match | None:
        self.finds += 1
        match = ExactIdentifier.find(self, query)
        return None if match is None else change(self, query, match)

    return tampered(find=find)


class TooKind(Tampered):
    """Merges at half of what is asked."""

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        super().__init__(replace(settings, merge=MergeSettings(threshold=0.5)))


class WakesBySearching(Tampered):
    """Finds nothing until it has searched as often as it has states: a restored one begins asleep."""

    def find(self, query: Query) -> Match | None:
        self.finds += 1
        return None if self.finds < len(self.founders) else super().find(query)


class OnePoolForAll(Tampered):
    """All instances share what they know."""

    latest: StateId = -1

    def add(self, state: StateId, query: Query) -> None:
        type(self).latest = state
        super().add(state, query)

    def find(self, query: Query) -> Match | None:
        return None if self.latest % 2 else super().find(query)


def drops_an_atom(self: Tampered, query: Query) -> Match | None:
    match = ExactIdentifier.find(self, query)
    if query.texts:
        query.texts.pop()
    return match


def first_state(self: Tampered, state: StateId, query: Query) -> Match:
    return ExactIdentifier.measure(self, state if state in self.founders else min(self.founders), query)


def below_one(self: Tampered, state: StateId, query: Query) -> Match:
    match = ExactIdentifier.measure(self, state, query)
    return replace(match, score=0.999) if self.founders[state].key == query.screen.key else match


def never(self: Tampered, query: Query) -> Match | None:
    return None


def vague(self: Tampered, state: StateId, query: Query) -> Match:
    """Right about founding screens alone."""
    match = ExactIdentifier.measure(self, state, query)
    return match if match.score == 1 else replace(match, role_jaccard=0.0, text_jaccard=0.0)


def with_runner_up(state: Callable[[Tampered, Match], StateId | None]) -> type[Tampered]:
    """One that claims a runner-up as good as equal."""

    def claim(self: Tampered, query: Query, match: Match) -> Match:
        second = state(self, match)
        return match if second is None else replace(match, runner_up=RunnerUp(second, 1.0))

    return finding(claim)


def any_other(self: Tampered, match: Match) -> StateId | None:
    return next((state for state in self.founders if state != match.state), None)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (tampered(describe=lambda self: ""), "describes itself in words"),
        (tampered(describe=lambda self: 1 / 0), "describes itself; it raised"),
        (tampered(measure=lambda self, state, query: {}[state]), "`measure` knows every state of its pool"),
        (finding(lambda self, query, match: replace(match, state=10**6)), "a state of its own pool"),
        (TooKind, "no match scores below the threshold"),
        (
            finding(lambda self, query, match: replace(match, score=1.5)),
            "no match scores below the threshold",
        ),
        (
            finding(lambda self, query, match: replace(match, role_jaccard=0.5)),
            "`role_jaccard` compares with",
        ),
        (
            finding(lambda self, query, match: replace(match, text_jaccard=0.5)),
            "`text_jaccard` compares with",
        ),
        (finding(lambda self, query, match: replace(match, score=1.0)), "`measure` says the same"),
        (with_runner_up(lambda self, match: match.state), "a runner-up is another state"),
        (with_runner_up(lambda self, match: 10**6), "a runner-up is another state"),
        (with_runner_up(any_other), "a runner-up passes the threshold too"),
        (tampered(measure=below_one, find=never), "measures 1 against its own state"),
        (tampered(measure=vague, find=never), "_jaccard` compares with the founding screen"),
        (tampered(measure=first_state), "raises KeyError for state"),
        (finding(lambda self, query, match: match if self.finds % 2 else None), "`find` changes nothing"),
        (tampered(find=drops_an_atom), "`find` leaves the query"),
        (WakesBySearching, "one that was only given its states"),
        (OnePoolForAll, "whatever happens in other pools"),
        (
            finding(lambda self, query, match: match if self.number < 3 else None),
            "equal calls in equal order",
        ),
        (
            finding(lambda self, query, match: replace(match, state=[][0])),
            "answers about every screen; it raised",
        ),
        (tampered(add=lambda self, state, query: 1 / 0), "`add` takes in every screen; it raised"),
        (tampered(find_since=lambda self, query, since, earlier: earlier), "answers as `find` does"),
        (
            tampered(find_since=lambda self, query, since, earlier: 1 / 0),
            "`find_since` answers about every screen; it raised",
        ),
    ],
)
def test_a_broken_clause_is_named(broken: type[Tampered], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        check_identifier(broken, settings=IdentifySettings(merge=MergeSettings(threshold=0.75)))


def test_an_identifier_that_needs_an_embedder_gets_one_and_others_get_none() -> None:
    given: list[Embedder | None] = []

    class Noting(Tampered):
        def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
            super().__init__(settings, embedder)
            given.append(embedder)

    check_identifier(Noting)
    assert set(given) == {None}
    given.clear()
    Noting.needs_embedder = True  # type: ignore[attr-defined]
    check_identifier(Noting)
    assert all(isinstance(each, HashingEmbedder) for each in given)
