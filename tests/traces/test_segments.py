from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import Told, episode, failed_start, walk

from screensearch.domain.transition import EpisodeId, Outcome
from screensearch.traces.loops import short_cycles
from screensearch.traces.segments import Segment, Segmenting, Step, segments, windows


def states_of(steps: list[Told]) -> list[tuple[int, ...]]:
    return [segment.states for segment in segments(episode(steps))]


def test_an_episode_that_always_gets_on_is_one_segment() -> None:
    assert states_of(walk([0, 1, 2, 3])) == [(0, 1, 2, 3)]


def test_a_step_that_changes_no_state_parts_two_segments() -> None:
    assert states_of(walk([0, 1, 1, 2, 3])) == [(0, 1), (1, 2, 3)]


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.OK])
def test_whatever_is_not_ok_parts_two_segments(outcome: Outcome) -> None:
    steps: list[Told] = [(0, "go", 1), (1, "fail", outcome), (1, "go", 2)]
    assert states_of(steps) == [(0, 1), (1, 2)]


def test_a_screen_that_changed_by_itself_parts_two_segments() -> None:
    assert states_of([(0, "go", 1), (5, "go", 6)]) == [(0, 1), (5, 6)]


def test_the_steps_of_a_loop_are_left_out_but_not_those_that_lead_in_and_out() -> None:
    assert states_of(walk([9, 1, 2, 1, 2, 8, 7])) == [(9, 1), (2, 8, 7)]


def test_there_and_back_once_stays() -> None:
    assert states_of(walk([1, 2, 1, 3])) == [(1, 2, 1, 3)]


def test_a_segment_knows_where_in_its_episode_it_began() -> None:
    found = list(segments(episode(walk([9, 1, 2, 1, 2, 8, 7]), number=4)))
    assert [(each.episode, each.first) for each in found] == [(EpisodeId(0, 4), 1), (EpisodeId(0, 4), 5)]


def test_episodes_are_not_joined_and_workers_not_mixed_up() -> None:
    ours, theirs = list(episode(walk([0, 1, 2]))), list(episode(walk([5, 6, 7]), worker=1))
    woven = list(chain.from_iterable(zip(ours, theirs, strict=True)))
    entries = [*woven, *episode(walk([2, 3]), number=1), failed_start(2)]
    assert {each.states for each in segments(entries)} == {(0, 1, 2), (5, 6, 7), (2, 3)}


def test_what_was_left_out_is_counted() -> None:
    making = Segmenting()
    entries = episode(walk([0, 0, 9, 1, 2, 1, 2, 8]))
    found = [segment for entry in entries for segment in making.add(entry)] + list(making.rest())
    assert (making.took, making.still, making.looped) == (7, 1, 3)
    assert sum(len(each.steps) for each in found) == 7 - 1 - 3


def made(states: list[int]) -> Segment:
    return Segment(EpisodeId(0, 0), 1, tuple(Step(a, "go", b) for a, b in pairwise(states)))


def test_windows_overlap_and_meet_no_state_twice() -> None:
    segment = made([0, 1, 2, 0, 3, 4])
    assert [tuple(step.source for step in each) for each in windows(segment, 3)] == [(1, 2, 0), (2, 0, 3)]
    assert len(list(windows(segment, 1))) == 5
    assert list(windows(segment, 6)) == []


@given(st.lists(st.integers(0, 4), max_size=25))
def test_segments_hold_the_steps_that_get_on_each_once_and_no_loop(states: list[int]) -> None:
    steps = walk(states)
    found = list(segments(episode(steps)))
    for each in found:
        assert all(step.source != step.target for step in each.steps)
        assert list(short_cycles(each.states)) == []
        numbered = [(step.source, step.signature, step.target) for step in each.steps]
        assert numbered == steps[each.first - 1 : each.first - 1 + len(numbered)]
    places = [place for each in found for place in range(each.first, each.first + len(each.steps))]
    assert places == sorted(set(places))


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(lambda s: all(a != b for a, b in pairwise(s)))
)
def test_a_longer_window_holds_two_of_the_next_shorter(states: list[int]) -> None:
    segment = made(states)
    shorter = set(windows(segment, 2))
    for window in windows(segment, 3):
        assert {window[:2], window[1:]} <= shorter
