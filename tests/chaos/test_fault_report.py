"""What is said of how long workers waited is no less than they did."""

from __future__ import annotations

from cluster_faults import Injected
from fault_report import Report
from nightly import SECONDS
from struck import Struck

SECOND = 10**9


def struck(begun: int, since: int) -> Struck:
    return Struck(begun * SECOND, since * SECOND)


def test_two_faults_at_once_count_from_the_first_of_them() -> None:
    injected = Injected({"kill_owner": struck(10, 10), "pause_worker": struck(11, 15)})
    assert injected.since == 10 * SECOND
    assert injected.held_seconds == 4.0


def test_one_that_was_kept_going_before_the_other_began_holds_up_nothing() -> None:
    injected = Injected({"pause_conductor": struck(2, 10), "kill_owner": struck(11, 11)})
    assert injected.since == 10 * SECOND
    assert injected.held_seconds == 0.0


def test_a_silence_that_is_too_long_is_told() -> None:
    report = Report("a part", faults=4)
    report.add(SECONDS, "kill_owner", spent=1.0)
    report.add(SECONDS + 3, "kill_worker", "pause_conductor", spent=1.0, held=4.0)
    report.add(0.1, "pause_worker", spent=1.0, others=SECONDS)
    assert report.too_long == []
    report.add(SECONDS + 1, "kill_owner", spent=1.0)
    report.add(SECONDS + 5, "kill_worker", "pause_conductor", spent=1.0, held=4.0)
    report.add(0.1, "pause_worker", spent=1.0, others=SECONDS + 1)
    assert [told.split(":")[0] for told in report.too_long] == [
        "kill_owner",
        "kill_worker and pause_conductor",
        "pause_worker",
    ]
    assert report.figures()["kinds"]["pause_worker"]["worst_seconds_of_others"] == SECONDS + 1
