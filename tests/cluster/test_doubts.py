"""How soon a process is started in doubt again."""

from __future__ import annotations

import time

import pytest

from screensearch.cluster import doubts


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def until_there_may_be(self, doubted: doubts.Doubts) -> float:
        """How many seconds it takes."""
        begun = self.now
        while not doubted.may_be:
            self.now += 1.0
        return self.now - begun


def test_the_more_often_it_was_for_nothing_the_later_is_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, doubted = Clock(monkeypatch), doubts.Doubts()
    pauses = []
    for _ in range(7):
        pauses.append(clock.until_there_may_be(doubted))
        doubted.were_for_nothing()
    assert pauses == [0, 5, 10, 20, 40, 60, 60]


def test_after_a_quiet_minute_the_next_is_the_first_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, doubted = Clock(monkeypatch), doubts.Doubts()
    for _ in range(3):
        doubted.were_for_nothing()
    assert clock.until_there_may_be(doubted) == 20
    clock.now += doubts.LONGEST_PAUSE_SECONDS - 1.0
    doubted.were_for_nothing()
    assert clock.until_there_may_be(doubted) == 40
    clock.now += doubts.LONGEST_PAUSE_SECONDS
    doubted.were_for_nothing()
    assert clock.until_there_may_be(doubted) == 5
