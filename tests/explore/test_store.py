"""The single writer: what it answers, what it counts, what it refuses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sightings import CLICK, ask, begin, open_store, report

from screensearch.config import resolve
from screensearch.domain.transition import Arrival, EpisodeId, Outcome, Transition
from screensearch.errors import FormatError, StoreFailed
from screensearch.explore import store as store_module
from screensearch.explore.budget import Budget
from screensearch.explore.messages import Announce, Sighting
from screensearch.explore.store import ShardStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ShardStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.log.close()


def transitions(store: ShardStore) -> list[Transition]:
    return [entry for _, entry in store.log.read() if isinstance(entry, Transition)]


def test_a_new_screen_founds_a_state_and_earns_both_kinds_of_novelty(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    ask(store, report(start, receipt, "there", "now"))
    (transition,) = transitions(store)
    assert transition.reward is not None
    assert (transition.reward.state, transition.reward.edge) == (True, True)
    assert transition.reward.total == 2.0  # u is the prior's at both ends
    assert (store.graph.states, store.graph.edges) == (2, 1)


def test_a_report_repeated_is_answered_as_before_and_counted_once(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    step = report(start, receipt, "there", "now")
    (first,) = ask(store, step)
    digest = store.graph.digest()
    (second,) = ask(store, step)
    (begun_again,) = ask(store, start)
    assert second.here == first.here
    assert begun_again.here is not None
    assert receipt.here is not None
    assert begun_again.here.state == receipt.here.state
    assert store.graph.digest() == digest
    assert store.budget.taken == 1


def test_two_workers_that_find_one_screen_at_once_both_earn_novelty_and_share_the_state(
    store: ShardStore,
) -> None:
    starts = [begin(0, 0, "go"), begin(1, 0, "go")]
    receipts = ask(store, *starts)
    answers = ask(
        store, *(report(start, at, "there", "now") for start, at in zip(starts, receipts, strict=True))
    )
    rewards = [transition.reward for transition in transitions(store)]
    assert [(reward.state, reward.edge) for reward in rewards if reward] == [(True, True)] * 2
    assert {answer.here.state for answer in answers if answer.here} == {1}
    assert store.graph.edges == 1


def test_every_answer_of_a_batch_describes_the_same_committed_graph(store: ShardStore) -> None:
    answers = ask(store, begin(0, 0, "go"), begin(1, 0, "stay", "here"))
    assert {answer.snapshot for answer in answers} == {2}


@pytest.mark.parametrize("outcome", [Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE])
def test_a_failure_ends_the_episode_and_feeds_no_statistics(store: ShardStore, outcome: Outcome) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    labels = ("other", "application") if outcome is Outcome.CAPTURE else ()
    (answer,) = ask(store, report(start, receipt, *labels, outcome=outcome))
    assert answer.here is None
    assert store.graph.states == 1
    assert store.graph.tried(0) == {}
    assert store.graph.outcomes[outcome] == 1
    assert store.budget.taken == 1


def test_an_action_that_failed_counts_as_tried_for_the_next_choice(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    step = report(start, receipt, "go")
    (receipt,) = ask(store, step)
    ask(store, report(step, receipt, outcome=Outcome.CRASH))
    (receipt,) = ask(store, begin(0, 1, "go"))
    assert receipt.here is not None
    seen, logged = receipt.here.tried[CLICK], store.graph.tried(0)[CLICK]
    assert (seen.visits, logged.visits) == (2, 1)
    assert seen.value == logged.value / 2


def test_a_missed_target_goes_on_from_where_it_is_without_an_edge(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    (answer,) = ask(store, report(start, receipt, "moved", "on", outcome=Outcome.MISSED))
    assert answer.here is not None
    assert answer.here.state == 1
    assert store.graph.edges == 0


def test_the_budget_is_met_exactly_whoever_asks(tmp_path: Path) -> None:
    store = open_store(tmp_path, budget=Budget(steps=3))
    starts = [begin(worker, 0, "go") for worker in range(3)]
    receipts = ask(store, *starts)
    assert [receipt.proceed for receipt in receipts] == [True, True, True]
    steps = [report(start, at, "go") for start, at in zip(starts, receipts, strict=True)]
    assert [answer.proceed for answer in ask(store, *steps)] == [False, False, False]
    assert store.budget.taken == 3
    store.log.close()


def test_a_worker_keeps_its_grant_over_a_new_episode(tmp_path: Path) -> None:
    store = open_store(tmp_path, budget=Budget(steps=1))
    assert ask(store, begin(0, 0, "go"))[0].proceed
    assert not ask(store, begin(1, 0, "go"))[0].proceed
    assert ask(store, begin(0, 1, "go"))[0].proceed
    store.log.close()


def test_a_plateau_ends_the_run(tmp_path: Path) -> None:
    store = open_store(tmp_path, budget=Budget(plateau=2))
    start = begin(0, 0, "go")
    receipt = ask(store, start)[0]
    one = report(start, receipt, "go")
    receipt = ask(store, one)[0]
    assert receipt.proceed
    receipt = ask(store, report(one, receipt, "go"))[0]
    assert not receipt.proceed
    store.log.close()


def test_a_lost_worker_is_logged_as_lost_and_not_as_an_outcome(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    ask(store, start, begin(1, 0, "go"))
    store.lose(0, "killed")
    (lost,) = transitions(store)
    assert lost.outcome is Outcome.LOST
    assert lost.episode == EpisodeId(0, 0)
    assert lost.signature is None
    assert store.budget.taken == 0
    store.lose(0, "killed")
    assert len(transitions(store)) == 1


def test_a_screen_travels_once_and_is_known_by_its_row_after_that(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    assert receipt.here is not None
    known = replace(report(start, receipt, "go"), sighting=Sighting(row=receipt.here.row))
    (answer,) = ask(store, known)
    assert answer.here is not None
    assert answer.here.state == receipt.here.state


def test_a_bad_message_is_refused_alone_and_changes_nothing(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    good = report(start, receipt, "there", "now")
    assert good.choice is not None
    bad = [
        replace(good, choice=None),
        replace(good, outcome=Outcome.UNDECIDED),
        replace(good, source=7),
        replace(good, sighting=Sighting(row=99)),
        replace(good, sighting=None),
        replace(good, step=3),
        replace(good, episode=EpisodeId(4, 4)),
        replace(good, outcome=Outcome.LOST),
        replace(good, choice=replace(good.choice, score=float("nan"))),
    ]
    for message in bad:
        (refused,) = store.handle([message])
        assert isinstance(refused, FormatError)
    assert store.log.last_sequence == 1
    refused, taken = store.handle([bad[0], good])
    assert isinstance(refused, FormatError)
    assert not isinstance(taken, FormatError)


def test_after_a_log_that_failed_nothing_is_answered_any_more(
    store: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise StoreFailed("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(store.log, "commit", fail)
        with pytest.raises(StoreFailed, match="no space left"):
            ask(store, begin(0, 0, "go"))
    with pytest.raises(StoreFailed, match="no space left"):
        ask(store, begin(0, 0, "go"))


def test_a_store_opened_again_goes_on_as_if_it_had_never_been_closed(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    for folder in (whole, parted):
        folder.mkdir()
        store = open_store(folder)
        start = begin(0, 0, "go")
        (receipt,) = ask(store, start)
        step = report(start, receipt, "there", "now")
        (receipt,) = ask(store, step)
        if folder is parted:
            store.checkpoint()
            store.log.close()
            store = open_store(folder)
            assert store.next_episode(0) == 1
            assert store.next_episode(5) == 0
        ask(store, report(step, receipt, "go"))
        (receipt,) = ask(store, begin(0, 1, "there", "now"))
        assert receipt.here is not None
        assert receipt.here.state == 1
        store.log.close()
    digests = []
    for folder in (whole, parted):
        store = open_store(folder)
        digests.append(store.graph.digest())
        store.log.close()
    assert digests[0] == digests[1]


def test_choices_under_way_count_as_visits_until_they_are_reported(tmp_path: Path) -> None:
    store = open_store(tmp_path, resolve(overrides=["select.count_in_flight=true"]))
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    store.announce(Announce(start.episode, CLICK))
    (elsewhere,) = ask(store, begin(1, 0, "go"))
    assert elsewhere.here is not None
    assert elsewhere.here.tried[CLICK].visits == 1
    assert store.graph.tried(0) == {}
    ask(store, report(start, receipt, "go"))
    (elsewhere,) = ask(store, begin(1, 1, "go"))
    assert elsewhere.here is not None
    assert elsewhere.here.tried[CLICK].visits == 1
    store.log.close()


def test_an_arrival_keeps_the_configuration_of_its_episode(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    ask(store, replace(start, configuration=(("clipboard", "alpha"),)))
    ((_, entry),) = list(store.log.read())
    assert isinstance(entry, Arrival)
    assert entry.configuration == (("clipboard", "alpha"),)


def test_a_worker_that_was_given_up_is_not_told_that_its_step_was_recorded(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    late = report(start, receipt, "there", "now")
    store.lose(0, "it did not answer")
    (refused,) = store.handle([late])
    assert isinstance(refused, FormatError)
    assert [entry.outcome for entry in transitions(store)] == [Outcome.LOST]


def test_a_worker_that_was_given_up_does_not_go_on_after_its_next_life_began(
    store: ShardStore, tmp_path: Path
) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    store.log.close()
    restarted = open_store(tmp_path)  # which knows of no worker, so that none is logged as lost
    ask(restarted, begin(0, 1, "go"))
    (refused,) = restarted.handle([report(start, receipt, "there", "now")])
    assert isinstance(refused, FormatError)
    assert transitions(restarted) == []
    restarted.log.close()


def test_no_more_than_so_many_entries_are_left_to_fold_after_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the log is: whoever takes over would need the longer for its tail."""
    monkeypatch.setattr(store_module, "LONGEST_TAIL", 5)
    store = open_store(tmp_path, resolve(overrides=["explore.checkpoint_every=2"]))
    for episode in range(60):
        ask(store, begin(0, episode, "go"))
        store.checkpoint_if_due()
    checkpoints = [sequence for sequence, _ in store.log.checkpoints()]
    store.log.close()
    assert max(b - a for a, b in itertools.pairwise(checkpoints)) == 5
    assert checkpoints[-1] > 55
