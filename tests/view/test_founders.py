"""Ranking the founding screens of a run, against the plain comparison of each with each."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from screensearch import Metadata, Screen
from screensearch.encode.encoder import atoms_key
from screensearch.identify.verify import MergeSettings, compare, merge_rule
from screensearch.record.log import DecidedScreen
from screensearch.view.founders import Founders

ROLES = [f"r0_c{place}|button" for place in range(6)]
TEXTS = [f"r0_c{place}|word" for place in range(6)]


def screen(roles: frozenset[str], texts: frozenset[str], window: str = "main|a") -> Screen:
    first, second = tuple(sorted(roles)), tuple(sorted(texts))
    return Screen(atoms_key(first, second), first, second, "", Metadata("app", "light", "1", window))


screens = st.builds(
    screen,
    st.frozensets(st.sampled_from(ROLES)),
    st.frozensets(st.sampled_from(TEXTS)),
    st.sampled_from(["main|a", "menu|a"]),
)


class DecidedOnly:
    """As much of a log as founders are made of: every screen founds a state."""

    def __init__(self, found: list[Screen]) -> None:
        self.found = found

    @property
    def last_sequence(self) -> int:
        return len(self.found)

    def decided_screens(self) -> list[DecidedScreen]:
        return [DecidedScreen(place + 1, place, founder=True) for place in range(len(self.found))]

    def screen(self, row: int) -> Screen:
        return self.found[row - 1]


merges = st.sampled_from(
    [
        MergeSettings(),
        MergeSettings(threshold=0.5),
        MergeSettings(threshold=1.0),
        MergeSettings(threshold=0.6, role_weight=1.0, text_weight=0.0),
    ]
)


@given(st.lists(screens, max_size=12), screens, merges, st.integers(0, 3))
def test_ranking_equals_comparing_with_each_alone(
    known: list[Screen], asked: Screen, merge: MergeSettings, nearest: int
) -> None:
    founders = Founders.of(DecidedOnly(known))  # type: ignore[arg-type]
    places = founders.pool(asked.metadata, ("window",), len(known))
    assert places == [place for place, each in enumerate(known) if each.metadata == asked.metadata]
    ranked = founders.rank(asked, places, merge_rule(merge), nearest)
    plain = sorted(
        ((compare(known[place], asked, merge), place) for place in places),
        key=lambda each: (-each[0].score, each[1]),
    )
    passing = [place for comparison, place in plain if comparison.same]
    failing = [place for comparison, place in plain if not comparison.same]
    assert [each.state for each in ranked] == passing + failing[:nearest]
    for each in ranked:
        comparison = compare(known[each.state], asked, merge)
        assert (each.score, each.role_jaccard, each.text_jaccard, each.passes) == (
            comparison.score,
            comparison.role_jaccard,
            comparison.text_jaccard,
            comparison.same,
        )


def test_a_score_exactly_at_the_threshold_passes() -> None:
    hundred = [f"r0_c{place}|button" for place in range(100)]
    founder = screen(frozenset(hundred[:93]), frozenset())
    asked = screen(frozenset(hundred), frozenset())
    founders = Founders.of(DecidedOnly([founder]))  # type: ignore[arg-type]
    merge = MergeSettings(threshold=0.965)  # half of 0.93, and half of 1 for two empty sets
    assert Fraction(93, 200) + Fraction(1, 2) == Fraction("0.965")
    (ranked,) = founders.rank(asked, [0], merge_rule(merge), 1)
    assert ranked.passes


def test_a_log_that_grew_is_taken_in_where_it_was_left() -> None:
    log = DecidedOnly([screen(frozenset(ROLES[:2]), frozenset())])
    founders = Founders.of(log)  # type: ignore[arg-type]
    log.found.append(screen(frozenset(ROLES[2:]), frozenset()))
    founders.extend(log)  # type: ignore[arg-type]
    assert founders.states == [0, 1]
    assert (founders.known_before(1), founders.known_before(2)) == (0, 1)


@given(st.lists(screens, max_size=12), st.integers(1, 5))
def test_taken_in_a_few_at_a_time_they_are_the_same(known: list[Screen], most: int) -> None:
    log = DecidedOnly(known)
    parts = Founders()
    turns = 1
    while not parts.extend(log, most=most):  # type: ignore[arg-type]
        turns += 1
    assert turns == max(1, -(-len(known) // most))
    whole = Founders.of(log)  # type: ignore[arg-type]
    assert (parts.states, parts.metadata) == (whole.states, whole.metadata)
    assert [parts.known_before(row) for row in range(9)] == [whole.known_before(row) for row in range(9)]
    if known:
        everywhere, rule = list(range(len(known))), merge_rule(MergeSettings())
        assert parts.rank(known[0], everywhere, rule, 3) == whole.rank(known[0], everywhere, rule, 3)
