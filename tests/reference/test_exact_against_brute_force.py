"""The compiled core, its twin and the pool around them answer as brute force does, whatever the rule."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from fractions import Fraction

import pytest
from brute_force import BruteForce, Compared
from exact_cores import CORES
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from screensearch.domain import screen as domain
from screensearch.identify.exact import ExactIdentifier, Index
from screensearch.identify.exact_python import Overlaps
from screensearch.identify.resolve import IdentifySettings, Pool, Query
from screensearch.identify.verify import MergeSettings

Screen = tuple[list[int], list[int]]
Rule = tuple[int, int, int]

RULES = [
    (50, 50, 93),
    (50, 50, 50),
    (50, 50, 51),
    (50, 50, 75),
    (50, 50, 86),
    (50, 50, 100),
    (100, 0, 93),
    (0, 100, 93),
    (0, 100, 50),
    (80, 20, 80),
    (80, 20, 90),
    (20, 80, 60),
    (1, 0, 1),
    (3, 1, 1),
    (333_333, 666_667, 950_000),
]

rules = st.one_of(
    st.sampled_from(RULES),
    st.tuples(st.integers(0, 100), st.integers(1, 100)).map(lambda each: (each[0], 100 - each[0], each[1])),
)
small_sets = st.lists(st.integers(0, 14), max_size=12)
screens = st.tuples(small_sets, small_sets)


def atoms(numbers: list[int]) -> array[int]:
    return array("I", numbers)


def counted(rule: Rule, found: Overlaps) -> Compared:
    role_weight, text_weight, _ = rule
    state, shared_roles, union_roles, shared_texts, union_texts = found
    score = role_weight * Fraction(shared_roles, union_roles) + text_weight * Fraction(
        shared_texts, union_texts
    )
    return Compared(state, score / (role_weight + text_weight))


def check_find(index: Index, truth: BruteForce, rule: Rule, screen: Screen) -> None:
    answer = index.find(atoms(screen[0]), atoms(screen[1]))
    expected = truth.over(*screen)
    if not expected:
        assert answer is None
        return
    assert answer is not None
    best, second = answer
    assert counted(rule, best) == expected[0]
    assert (None if second is None else counted(rule, second)) == (expected[1] if len(expected) > 1 else None)


@pytest.mark.parametrize("core", CORES)
@settings(max_examples=examples(300), deadline=None)
@given(rules, st.lists(screens, max_size=25), st.lists(screens, min_size=1, max_size=5), st.data())
def test_a_search_that_goes_on_finds_what_a_whole_one_finds(
    core: type[Index], rule: Rule, founders: list[Screen], queries: list[Screen], data: st.DataObject
) -> None:
    index = core(*rule)
    since = data.draw(st.integers(0, len(founders)))
    for founder in founders[:since]:
        index.add(atoms(founder[0]), atoms(founder[1]))
    asked = [(atoms(roles), atoms(texts)) for roles, texts in [*queries, *founders]]
    earlier = [index.find(*query) for query in asked]
    for founder in founders[since:]:
        index.add(atoms(founder[0]), atoms(founder[1]))
    for query, before in zip(asked, earlier, strict=True):
        found = [each[0] for each in before or () if each is not None]
        assert index.find_since(since, *query, *found) == index.find(*query)


class Decider:
    """A pool over one of the cores, led through a history beside brute force."""

    def __init__(self, core: type[Index], rule: Rule) -> None:
        whole = rule[0] + rule[1]
        role_weight, text_weight, threshold = (part / whole for part in rule)
        merge = MergeSettings(threshold=threshold, role_weight=role_weight, text_weight=text_weight)
        self.index, self.truth = core(*rule), BruteForce(*rule)
        self.pool = Pool(ExactIdentifier(IdentifySettings(merge=merge), index=self.index))

    def check(self, screen: Screen) -> None:
        key = repr([sorted(set(part)) for part in screen])
        seen = domain.Screen(key, (), (), "", domain.Metadata("app", "light", "1", "main"))
        found = self.pool.decide(
            seen, lambda seen: Query(seen, atoms(screen[0]), atoms(screen[1])), len(self.index)
        )
        how, best, second = self.truth.resolve(*screen)
        assert (found.how, found.state, found.score) == (how, best.state, float(best.score))
        runner_up = None if found.runner_up is None else (found.runner_up.state, found.runner_up.score)
        assert runner_up == (None if second is None else (second.state, float(second.score)))


def check_all(core: type[Index], rule: Rule, founders: list[Screen], queries: list[Screen]) -> None:
    index, truth = core(*rule), BruteForce(*rule)
    for number, founder in enumerate(founders):
        assert index.add(atoms(founder[0]), atoms(founder[1])) == truth.add(*founder) == number
    for query in [*queries, *founders]:
        check_find(index, truth, rule, query)


@pytest.mark.parametrize("core", CORES)
@settings(max_examples=examples(400), deadline=None)
@given(rules, st.lists(screens, max_size=25), st.lists(screens, min_size=1, max_size=8))
def test_every_state_over_the_threshold_is_found(
    core: type[Index], rule: Rule, founders: list[Screen], queries: list[Screen]
) -> None:
    check_all(core, rule, founders, queries)


@pytest.mark.parametrize("core", CORES)
@settings(max_examples=examples(300), deadline=None)
@given(rules, st.lists(screens, min_size=1, max_size=40))
def test_a_history_of_decisions_is_the_one_of_brute_force(
    core: type[Index], rule: Rule, history: list[Screen]
) -> None:
    decider = Decider(core, rule)
    for screen in [*history, *history]:
        decider.check(screen)


def families(seed: int, *, count: int, size: int) -> Iterator[Screen]:
    """Screens in families: shared chrome, a content of their own, and relatives that differ by a little."""
    random_ = random.Random(seed)
    chrome = list(range(size // 2))
    fresh = 10_000
    family: list[Screen] = []
    for _ in range(count):
        if not family or random_.random() < 0.2:
            content = list(range(fresh, fresh + size // 2))
            fresh += size // 2
            screen = (chrome + content[::2], [*chrome[::2], *content])
        else:
            roles, texts = random_.choice(family)
            screen = (roles[:], texts[:])
            for part in screen:
                for _ in range(random_.randrange(0, max(2, size // 8))):
                    if part and random_.random() < 0.7:
                        part.pop(random_.randrange(len(part)))
                    if random_.random() < 0.7:
                        new = random_.choice((fresh, random_.randrange(fresh)))
                        if new not in part:
                            part.append(new)
                        fresh += 1
        random_.shuffle(screen[0])
        family.append(screen)
        yield screen


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [4, 30, 140])
def test_families_of_near_duplicates(core: type[Index], rule: Rule, size: int) -> None:
    decider = Decider(core, rule)
    for screen in families(size, count=90, size=size):
        check_find(decider.index, decider.truth, rule, screen)
        decider.check(screen)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("rule", RULES)
def test_empty_sets_and_single_atoms(core: type[Index], rule: Rule) -> None:
    tiny: list[Screen] = [
        (roles, texts) for roles in ([], [0], [1], [0, 1]) for texts in ([], [0], [1], [0, 1])
    ]
    check_all(core, rule, tiny + tiny[::-1], [*tiny, ([7], []), ([], [7]), ([7], [7])])


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("rule", [(50, 50, 93), (50, 50, 60), (100, 0, 93)])
def test_huge_screens(core: type[Index], rule: Rule) -> None:
    many = list(range(20_000))
    founders: list[Screen] = [
        (many, many),
        (many[:18_000], many),
        (many[700:], many[700:]),
        (many[:50], many),
        (many[::2], many[1::2]),
    ]
    queries: list[Screen] = [
        (many[1_400:], many),
        (many[1_395:], many[5:]),
        (many, many[:17_200]),
        (many, []),
    ]
    check_all(core, rule, founders, queries)


@pytest.mark.parametrize("core", CORES)
def test_thousands_of_states_of_equal_size_over_the_same_atoms(core: type[Index]) -> None:
    random_ = random.Random(5)
    switches = 40
    states: list[Screen] = [
        (list(range(20)), [2 * switch + random_.randrange(2) for switch in range(switches)])
        for _ in range(2_000)
    ]
    rule = (50, 50, 93)
    index, truth = core(*rule), BruteForce(*rule)
    for roles, texts in states:
        index.add(atoms(roles), atoms(texts))
        truth.add(roles, texts)
    for roles, texts in states[:20]:
        near = texts[:]
        near[7] ^= 1
        check_find(index, truth, rule, (roles, near))


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(
    ("lacking", "matches"), [(6, True), (7, True), (8, False)], ids=["over", "at the threshold", "below"]
)
def test_a_score_at_the_threshold_passes(core: type[Index], lacking: int, matches: bool) -> None:
    """J(texts) = 43/50 gives 0.5 + 0.43, which floats would put below 0.93."""
    index = core(50, 50, 93)
    index.add(atoms([1, 2, 3]), atoms(list(range(50))))
    answer = index.find(atoms([1, 2, 3]), atoms(list(range(lacking, 50))))
    assert (answer is not None) is matches


@pytest.mark.parametrize("core", CORES)
def test_equal_scores_go_to_the_oldest(core: type[Index]) -> None:
    index = core(50, 50, 80)
    for last in (30, 31, 32):
        index.add(atoms([1]), atoms([*range(10), last]))
    answer = index.find(atoms([1]), atoms([*range(10), 99]))
    assert answer is not None
    best, second = answer
    assert best[0] == 0
    assert second is not None
    assert second[0] == 1
