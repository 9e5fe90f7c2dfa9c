"""The graph equals the blackboard's, in one go or in parts, and its digest tells graphs apart."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_fold import naive_ambiguity, naive_fold
from random_rows import row_lists, shard_lists

from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row

SETTINGS = AmbiguitySettings(kappa=3.0, prior_ambiguity=0.4)


@given(row_lists())
def test_the_fold_equals_the_naive_fold(rows: list[Row]) -> None:
    graph, naive = StateGraph.fold(rows, SETTINGS), naive_fold(rows)

    assert graph.sequence == len(rows)
    assert dict(graph.outcomes) == dict(naive.outcomes)
    assert list(graph.iter_states()) == sorted(naive.occupancy)
    assert {state: graph.visits(state) for state in graph.iter_states()} == naive.occupancy
    assert {state: graph.first_seen(state) for state in graph.iter_states()} == naive.first_seen
    edges = {(source, signature, target): count for source, signature, target, count in graph.iter_edges()}
    assert edges == {edge: len(seen) for edge, seen in naive.edges.items()}
    assert graph.edges == len(naive.edges)
    for (source, signature), rewards in naive.rewards.items():
        tried = graph.tried(source)[signature]
        assert tried.visits == len(rewards)
        assert tried.value == pytest.approx(math.fsum(rewards) / len(rewards))
        assert sum(tried.successors.values()) == tried.visits
    failures = {
        (state, signature, outcome): count
        for state in graph.iter_states()
        for signature, counts in graph.failures(state).items()
        for outcome, count in counts.items()
    }
    assert failures == naive.failures


@given(row_lists())
def test_ambiguity_equals_equations_1_and_2_written_out(rows: list[Row]) -> None:
    graph = StateGraph.fold(rows, SETTINGS)
    expected = naive_ambiguity(naive_fold(rows), SETTINGS.kappa, SETTINGS.prior_ambiguity)
    for state in graph.iter_states():
        assert graph.ambiguity(state) == pytest.approx(expected[state])
        assert 0.0 <= graph.ambiguity(state) <= 1.0


@given(row_lists(), st.data())
def test_cached_ambiguity_equals_that_of_a_fresh_fold(rows: list[Row], data: st.DataObject) -> None:
    asked = StateGraph(SETTINGS)
    for row in rows:
        asked.apply(row)
        asked.ambiguity(data.draw(st.integers(0, 6)))
    fresh = StateGraph.fold(rows, SETTINGS)
    for state in fresh.iter_states():
        assert asked.ambiguity(state) == fresh.ambiguity(state)


@given(row_lists(), st.data())
def test_first_sequence_numbers_say_what_was_known_when(rows: list[Row], data: st.DataObject) -> None:
    graph, naive = StateGraph.fold(rows, SETTINGS), naive_fold(rows)
    at = data.draw(st.integers(0, len(rows)))
    for state, first in naive.first_seen.items():
        assert graph.state_known(state, at) == (first <= at)
    for edge, seen in naive.edges.items():
        assert graph.edge_known(*edge, at) == (seen[0] <= at)
    assert not graph.state_known(99, at)
    assert not graph.edge_known(0, "never tried", 0, at)


@given(row_lists(), st.data())
def test_folding_in_two_parts_through_a_checkpoint_equals_folding_at_once(
    rows: list[Row], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    head = StateGraph.load(StateGraph.fold(rows[:cut], SETTINGS).dump())
    in_parts = StateGraph.fold(rows[cut:], head.settings, start=head)
    at_once = StateGraph.fold(rows, SETTINGS)

    assert in_parts.digest() == at_once.digest()
    assert in_parts.dump() == at_once.dump()
    for state in at_once.iter_states():
        assert in_parts.ambiguity(state).hex() == at_once.ambiguity(state).hex()
        assert list(in_parts.tried(state)) == list(at_once.tried(state))
        assert repr(in_parts.tried(state)) == repr(at_once.tried(state))
    assert (in_parts.edges, in_parts.outcomes) == (at_once.edges, at_once.outcomes)


@given(shard_lists(), st.booleans())
def test_shards_folded_apart_and_joined_equal_all_their_rows_folded_at_once(
    shards: list[list[Row]], loaded: bool
) -> None:
    apart = [StateGraph.fold(rows, SETTINGS) for rows in shards]
    if loaded:
        apart = [StateGraph.load(graph.dump()) for graph in apart]
    for graph in apart:
        for state in graph.iter_states():
            graph.ambiguity(state)  # which is kept: no such figure of one shard may stay
    joined = StateGraph.join(apart, SETTINGS)
    rows = [row for shard in shards for row in shard]
    at_once = StateGraph.fold(
        (row._replace(sequence=number) for number, row in enumerate(rows, start=1)), SETTINGS
    )

    assert joined.dump() == at_once.dump()
    for state in at_once.iter_states():
        assert joined.ambiguity(state).hex() == at_once.ambiguity(state).hex()
        assert repr(joined.tried(state)) == repr(at_once.tried(state))
        assert (joined.trials(state), joined.failures(state)) == (
            at_once.trials(state),
            at_once.failures(state),
        )
    assert (joined.edges, joined.outcomes) == (at_once.edges, at_once.outcomes)


@given(row_lists(), st.data())
def test_a_log_that_differs_in_one_row_has_another_digest(rows: list[Row], data: st.DataObject) -> None:
    learned = [place for place, row in enumerate(rows) if row.outcome == "ok"]
    if not learned:
        return
    place = data.draw(st.sampled_from(learned))
    row = rows[place]
    assert row.reward is not None
    changed = data.draw(
        st.sampled_from([row._replace(signature="another"), row._replace(reward=row.reward + 0.5)])
    )
    other = [*rows[:place], changed, *rows[place + 1 :]]
    assert StateGraph.fold(rows, SETTINGS).digest() != StateGraph.fold(other, SETTINGS).digest()


@given(row_lists())
def test_every_prefix_of_a_log_has_a_digest_of_its_own(rows: list[Row]) -> None:
    graph = StateGraph(SETTINGS)
    digests = [graph.digest()]
    for row in rows:
        graph.apply(row)
        digests.append(graph.digest())
    assert len(set(digests)) == len(digests)
