"""What a conductor counts and tells of the parts of its run."""

from __future__ import annotations

import logging

import pytest

from screensearch.cluster.account import MOST_TROUBLES, Account, Counts


def test_starts_failures_and_replacements_are_counted_on_from_an_earlier_life() -> None:
    account = Account(workers=3)
    assert account.counts() == Counts({0: 0, 1: 0, 2: 0}, {0: 0, 1: 0, 2: 0}, 0)
    account.go_on(Counts({0: 2, 1: 1}, {0: 1}, 4))
    account.worker_started(0, "10.0.0.2", adopted=False)
    account.worker_failed(2, "it was killed")
    account.owner_replaced(1, "it did not answer for 5 s")
    assert account.counts() == Counts({0: 3, 1: 1, 2: 0}, {0: 1, 1: 0, 2: 1}, 5)
    assert (account.worker_failures, account.failures(2)) == (2, 1)


def test_a_worker_that_was_at_work_before_the_conductor_counts_as_started_once() -> None:
    account = Account(workers=2)
    account.go_on(Counts({0: 1, 1: 0}, {}, 0))
    for worker in (0, 1):  # the conductor before this one was gone before it could keep the start of 1
        account.worker_started(worker, "10.0.0.2", adopted=True)
    assert account.counts().starts == {0: 1, 1: 1}


def test_every_trouble_has_a_time_of_its_own_and_the_latest_are_kept() -> None:
    account = Account()
    for number in range(MOST_TROUBLES + 5):
        account.note(f"trouble {number}")
    times = [each.time for each in account.troubles]
    assert times == sorted(set(times))
    assert len(times) == MOST_TROUBLES
    assert account.trouble == f"trouble {MOST_TROUBLES + 4}"


def test_what_happened_is_logged_with_the_part_and_the_reason_as_fields(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    account = Account(workers=1)
    account.worker_started(0, "10.0.0.2", adopted=False)
    account.worker_failed(0, "it was killed")
    account.owner_replaced(1, "it did not answer for 5 s")
    told = [
        (each.getMessage(), vars(each).get("worker"), vars(each).get("shard"), vars(each)["figures"])
        for each in caplog.records
    ]
    assert told == [
        ("worker 0 begins on 10.0.0.2", 0, None, {"node": "10.0.0.2"}),
        ("worker 0 failed: it was killed", 0, None, {"why": "it was killed"}),
        (
            "the owner of shard 1 was replaced: it did not answer for 5 s",
            None,
            1,
            {"why": "it did not answer for 5 s"},
        ),
    ]
