"""What the graph counts, what it keeps apart, and what it refuses."""

from __future__ import annotations

import pytest

from screensearch.domain.transition import (
    Arrival,
    Decision,
    EpisodeId,
    Evidence,
    Outcome,
    Reward,
    Transition,
)
from screensearch.errors import FormatError, NewerFormat
from screensearch.record import columns
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row

SETTINGS = AmbiguitySettings()


def start(sequence: int, target: int = 0) -> Row:
    return Row(sequence, "start", None, None, target, None)


def ok(sequence: int, source: int, target: int, reward: float = 1.0, signature: str = "paste") -> Row:
    return Row(sequence, "ok", source, signature, target, reward)


def test_a_value_is_the_running_mean_of_the_logged_rewards() -> None:
    rewards = [2.0, 0.0, 0.25]
    rows = [start(1), *(ok(number, 0, 0, reward) for number, reward in enumerate(rewards, start=2))]
    tried = StateGraph.fold(rows, SETTINGS).tried(0)["paste"]
    assert (tried.visits, tried.value, tried.successors) == (3, 0.75, {0: 3})


def test_ten_trials_split_six_to_four_give_the_published_dispersion_shrunk_by_kappa() -> None:
    rows = [start(1), start(2, 1), start(3, 2)]
    rows += [ok(4 + trial, 0, 1 if trial < 6 else 2) for trial in range(10)]
    graph = StateGraph.fold(rows, SETTINGS)
    assert graph.ambiguity(0) == pytest.approx(10 / 30 * 0.970951 + 20 / 30 * 0.5, abs=1e-6)
    assert graph.ambiguity(1) == 0.5
    assert graph.ambiguity(99) == 0.5
    assert graph.trials(0) == 10


def test_a_landing_after_a_missed_click_is_occupancy_and_nothing_else() -> None:
    graph = StateGraph.fold([start(1), Row(2, "missed", 0, "paste", 1, None)], SETTINGS)
    assert (graph.visits(1), graph.first_seen(1), graph.states) == (1, 2, 2)
    assert graph.edges == 0
    assert not graph.tried(0)
    assert graph.failures(0) == {"paste": {"missed": 1}}


@pytest.mark.parametrize("outcome", ["capture", "crash", "hang", "exit", "lost"])
def test_failures_are_counted_apart_from_the_statistics(outcome: str) -> None:
    rows = [start(1), ok(2, 0, 0), Row(3, outcome, 0, "quit", None, None)]
    graph = StateGraph.fold(rows, SETTINGS)
    assert dict(graph.outcomes) == {"start": 1, "ok": 1, outcome: 1}
    assert graph.failures(0) == {"quit": {outcome: 1}}
    assert list(graph.tried(0)) == ["paste"]
    assert (graph.trials(0), graph.visits(0)) == (1, 2)


def test_two_that_find_one_edge_from_the_same_snapshot_both_found_it_unknown() -> None:
    graph = StateGraph.fold([start(1), start(2), ok(3, 0, 1), ok(4, 0, 1)], SETTINGS)
    snapshot = 2
    assert not graph.state_known(1, snapshot)
    assert not graph.edge_known(0, "paste", 1, snapshot)
    assert graph.state_known(1, 3)
    assert graph.edge_known(0, "paste", 1, 3)


def test_entries_fold_as_their_rows_do() -> None:
    episode = EpisodeId(0, 0)
    graph = StateGraph(SETTINGS)
    graph.apply_entry(1, Arrival(episode, Decision(0, "new"), 1, Evidence()))
    graph.apply_entry(
        2,
        Transition(
            episode,
            1,
            0,
            "paste",
            Outcome.OK,
            Decision(1, "new"),
            2,
            None,
            Reward(True, True, 0.0, 2.0),
            Evidence(),
        ),
    )
    assert graph.digest() == StateGraph.fold([start(1), ok(2, 0, 1, 2.0)], SETTINGS).digest()


@pytest.mark.parametrize(
    "row",
    [
        ok(3, 0, 0),  # a gap
        ok(1, 0, 0),  # again
        ok(2, 7, 0),  # from nowhere
        Row(2, "crash", None, "quit", None, None),
        Row(2, "ok", 0, None, 0, 1.0),
        Row(2, "ok", 0, "paste", None, 1.0),
        Row(2, "ok", 0, "paste", 0, None),
    ],
)
def test_a_row_that_cannot_follow_is_refused_and_changes_nothing(row: Row) -> None:
    graph = StateGraph.fold([start(1)], SETTINGS)
    before = graph.digest()
    with pytest.raises(FormatError, match="entry"):
        graph.apply(row)
    assert graph.digest() == before


def test_other_ambiguity_settings_are_another_graph() -> None:
    rows = [start(1), ok(2, 0, 1)]
    other = AmbiguitySettings(kappa=5.0)
    assert StateGraph.fold(rows, SETTINGS).digest() != StateGraph.fold(rows, other).digest()
    assert StateGraph.load(StateGraph.fold(rows, other).dump()).settings == other


def test_a_state_that_two_shards_left_is_of_neither() -> None:
    two = [StateGraph.fold([start(1), ok(2, 0, 0)], SETTINGS) for _ in range(2)]
    with pytest.raises(FormatError, match="state 0 was left in two shards"):
        StateGraph.join(two, SETTINGS)


def test_the_digest_is_the_digest_of_the_dump() -> None:
    graph = StateGraph.fold([start(1), ok(2, 0, 1)], SETTINGS)
    assert columns.digest_of([graph.dump()]) == graph.digest()


def test_the_digest_of_a_small_log_never_changes() -> None:
    rows = [start(1), ok(2, 0, 1, 2.5), ok(3, 1, 0, 1.25, "undo"), Row(4, "crash", 0, "quit", None, None)]
    expected = "657e1c2ed18617abf056e2b185db876e6ff9056d4f1885c43bf222d4a3b80dd3"
    assert StateGraph.fold(rows, SETTINGS).digest() == expected


def test_a_damaged_checkpoint_is_refused() -> None:
    data = StateGraph.fold([start(1), ok(2, 0, 1)], SETTINGS).dump()
    for damaged in (
        b"",
        data[:-1],
        data + b"\0",
        data[:20],
        b"x" + data[1:],
        data.replace(b'"kappa"', b'"kaqqa"'),
    ):
        with pytest.raises(FormatError):
            StateGraph.load(damaged)


def test_a_newer_checkpoint_is_refused_by_name() -> None:
    data = StateGraph.fold([start(1)], SETTINGS).dump()
    with pytest.raises(NewerFormat, match="format 9"):
        StateGraph.load(data.replace(b'"format":1', b'"format":9'))
