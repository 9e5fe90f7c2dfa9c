"""What is counted about a shard: what is durable, once, and all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sightings import ask, begin, open_store, report

from screensearch.domain.shard import first_of
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.errors import StoreFailed
from screensearch.explore.budget import Budget
from screensearch.explore.messages import BeginFailed
from screensearch.explore.metrics import METRICS, Distribution, Kind, Metrics, Spread
from screensearch.explore.store import ShardStore

NO_LEASE = {"screensearch_lease_epoch"}
ON_A_CLUSTER = {"screensearch_owner_replacements_total"}


def measured(folder: Path, budget: Budget | None = None, seconds: float | None = None) -> ShardStore:
    store = open_store(folder, budget=budget)
    store.observer = Metrics(
        store, run="r1", environment="toy", folder=str(folder), version="1", seconds=seconds
    )
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ShardStore]:
    opened = measured(tmp_path)
    yield opened
    opened.log.close()


def read(store: ShardStore, name: str, *labels: str) -> float:
    assert isinstance(store.observer, Metrics)
    series = store.observer.read()[name]
    assert not isinstance(series, Spread)
    return series[labels]


def spread(store: ShardStore, name: str) -> Spread:
    assert isinstance(store.observer, Metrics)
    series = store.observer.read()[name]
    assert isinstance(series, Spread)
    return series


def steps(store: ShardStore) -> dict[str, float]:
    """The outcomes that came up, and how often."""
    counts = {each.value: read(store, "screensearch_steps_total", each) for each in Outcome}
    return {outcome: count for outcome, count in counts.items() if count}


def test_every_kind_of_entry_is_counted_for_what_it_is(store: ShardStore) -> None:
    first, second = begin(0, 0, "go"), begin(1, 0, "stay", "here")
    one, two = ask(store, first, second)
    ask(store, report(first, one, "there", "now"), report(second, two, outcome=Outcome.CRASH))
    ask(store, BeginFailed(EpisodeId(1, 1), Outcome.HANG, Evidence()))
    store.lose(0, "it was killed")
    assert steps(store) == {"ok": 1, "crash": 1, "lost": 1}
    starts = {
        each: read(store, "screensearch_starts_total", each) for each in ("ok", "crash", "hang", "exit")
    }
    assert starts == {"ok": 2, "crash": 0, "hang": 1, "exit": 0}
    assert read(store, "screensearch_states") == store.graph.states == 3
    assert read(store, "screensearch_edges") == store.graph.edges == 1
    assert read(store, "screensearch_worker_failures_total", "0") == 1
    assert spread(store, "screensearch_decide_seconds").count == 2  # the lost step was never decided
    batches = spread(store, "screensearch_batch_entries")
    assert (batches.count, batches.total, batches.at_most[:2]) == (4, 6, (2, 4))
    assert spread(store, "screensearch_commit_seconds").count == 4


def test_a_message_repeated_or_refused_is_not_counted(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    step = report(start, receipt, "there", "now")
    ask(store, step)
    ask(store, step, start)
    store.handle([report(step, receipt, outcome=Outcome.LOST)])
    assert steps(store) == {"ok": 1}
    assert read(store, "screensearch_starts_total", "ok") == 1
    assert spread(store, "screensearch_commit_seconds").count == 2


def test_what_could_not_be_made_durable_is_not_counted(
    store: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)

    def fail() -> None:
        raise StoreFailed("the disk is full")

    monkeypatch.setattr(store.log, "commit", fail)
    with pytest.raises(StoreFailed):
        store.handle([report(start, receipt, "there", "now")])
    assert steps(store) == {}
    assert store.graph.states == 2
    assert read(store, "screensearch_states") == 1


def test_entries_that_wait_for_a_later_commit_are_not_counted_with_an_earlier_one(store: ShardStore) -> None:
    """An owner may append the next batch while a thread commits the last."""
    observer = store.observer
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    ask(store, report(start, receipt, "there", "now"))
    (_, arrival), (_, transition) = store.log.read()
    late = Metrics(store, run="r1", environment="toy", folder="", version="1")
    store.observer = late
    late.appended(3, arrival, store.graph)
    late.appended(4, transition, store.graph)
    late.committed(3, 0.001)
    assert steps(store) == {"ok": 1}  # the one that was there before
    late.committed(4, 0.001)
    assert steps(store) == {"ok": 2}
    store.observer = observer


def test_a_resumed_run_counts_on(tmp_path: Path) -> None:
    store = measured(tmp_path)
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    ask(store, report(start, receipt, "there", "now"))
    ask(store, BeginFailed(EpisodeId(0, 1), Outcome.EXIT, Evidence()))
    store.log.close()
    again = measured(tmp_path)
    assert steps(again) == {"ok": 1}
    assert read(again, "screensearch_starts_total", "exit") == 1
    assert (read(again, "screensearch_states"), read(again, "screensearch_edges")) == (2, 1)
    assert spread(again, "screensearch_commit_seconds").count == 0  # times are of this exploration
    again.log.close()


def test_checkpoints_are_counted_and_are_no_batches(store: ShardStore) -> None:
    ask(store, begin(0, 0, "go"))
    store.checkpoint()
    assert spread(store, "screensearch_checkpoint_seconds").count == 1
    assert spread(store, "screensearch_batch_entries").count == 1


def test_what_is_left_is_told_for_the_rules_that_were_given(tmp_path: Path) -> None:
    store = measured(tmp_path, Budget(steps=10, states=5, plateau=4), seconds=3_600.0)
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    there = report(start, receipt, "there", "now")
    (receipt,) = ask(store, there)
    ask(store, report(there, receipt, "there", "now"))
    left = ("steps", "states", "plateau_steps")
    assert [read(store, f"screensearch_budget_left_{each}") for each in left] == [8, 3, 3]
    assert 0 < read(store, "screensearch_budget_left_seconds") <= 3_600
    assert read(store, "screensearch_steps_under_way") == 1
    assert read(store, "screensearch_stopping") == 0
    store.budget.stopping = True
    assert read(store, "screensearch_stopping") == 1
    store.log.close()


def test_workers_are_counted_by_their_lives(store: ShardStore) -> None:
    for worker in (0, 1):
        store.observer.worker_started(worker)
    store.observer.worker_ended(1)
    store.lose(1, "it was killed")
    store.observer.worker_started(1)
    assert read(store, "screensearch_workers", "working") == 2
    assert [read(store, "screensearch_worker_starts_total", each) for each in "01"] == [1, 2]
    assert [read(store, "screensearch_worker_failures_total", each) for each in "01"] == [0, 1]
    store.observer.watch_queue(lambda: 17)
    assert read(store, "screensearch_queue_messages") == 17


def test_an_owner_on_a_cluster_does_not_say_that_there_are_no_workers(tmp_path: Path) -> None:
    """They are the conductor's: nobody tells the owner which there are."""
    store = open_store(tmp_path)
    metrics = Metrics(store, run="r1", environment="toy", folder="", version="1", part="0")
    store.log.close()
    assert "screensearch_workers" not in metrics.read()


def test_every_metric_of_the_table_is_read_and_has_the_labels_it_names(tmp_path: Path) -> None:
    store = measured(tmp_path, Budget(steps=10, states=5, plateau=4), seconds=60.0)
    ask(store, begin(0, 0, "go"))
    store.observer.worker_started(0)
    assert isinstance(store.observer, Metrics)
    values = store.observer.read()
    of_a_shard = [metric for metric in METRICS if metric.name not in ON_A_CLUSTER]
    assert list(values) == [metric.name for metric in of_a_shard]
    for metric in of_a_shard:
        series = values[metric.name]
        assert isinstance(series, Spread) == (metric.kind is Kind.HISTOGRAM)
        if not isinstance(series, Spread):
            assert bool(series) == (metric.name not in NO_LEASE)
            assert {len(labels) for labels in series} <= {len(metric.labels)}
        assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
        assert metric.meaning.endswith(".")
    store.log.close()


def test_a_shard_among_others_tells_nothing_of_the_run_and_counts_no_state_of_another(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.observer = Metrics(store, run="r1", environment="toy", folder="", version="1", part="0")
    values = store.observer.read()
    assert set(values) == {metric.name for metric in METRICS if not metric.of_run}
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    landed = replace(report(start, receipt, "there", "now"), sighting=None, landed=first_of(1))
    ask(store, landed)
    assert store.graph.states == 2  # and that of shard 1 is counted there
    assert read(store, "screensearch_states") == 1
    assert read(store, "screensearch_edges") == 1
    store.log.close()


@given(st.lists(st.floats(0, 20, allow_nan=False)), st.sets(st.floats(0.1, 10), min_size=1, max_size=6))
def test_a_distribution_counts_as_the_definition_of_its_buckets_does(
    values: list[float], bounds: set[float]
) -> None:
    ordered = tuple(sorted(bounds))
    distribution = Distribution(ordered)
    for value in values:
        distribution.add(value)
    found = distribution.read()
    assert found.at_most == tuple(sum(value <= bound for value in values) for bound in ordered)
    assert found.count == len(values)
    assert found.total == pytest.approx(sum(values))
