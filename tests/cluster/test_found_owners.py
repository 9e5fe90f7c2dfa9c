"""What a conductor that is started anew makes of the owners that are there, or are not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from owner_stand_ins import DARK, LIGHT, SERVING, Opening, owners_of, stand_in
from stand_ins import Actor, Method, job, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import keeping
from screensearch.cluster.names import Job, OwnerReport, Place
from screensearch.explore.budget import StopRule


@pytest.mark.parametrize(
    ("held", "report", "asked"),
    [
        (False, None, (True, False)),
        (False, replace(SERVING, epoch=0), (True, False)),
        (False, replace(SERVING, failure="the connection was lost"), (False, True)),
        (True, None, (False, True)),
    ],
)
async def test_a_conductor_that_is_started_anew_takes_a_log_by_force_only_if_it_was_not_held_yet(
    monkeypatch: pytest.MonkeyPatch, held: bool, report: OwnerReport | None, asked: tuple[bool, bool]
) -> None:
    tries = list[tuple[bool, bool]]()
    on(monkeypatch, Opening(tries))
    monkeypatch.setattr(keeping, "START_SECONDS", 0.2)  # the spare says no more
    stand_in(monkeypatch, {} if report is None else {"run/owner/0/1": Actor(report)})
    found = owners_of(replace(job(), take_over=True))
    await found.find({}, {}, {}, held=held)
    found.end()
    assert tries == [asked]


async def test_of_several_owners_that_are_there_the_latest_that_has_the_log_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unopened = replace(SERVING, epoch=0)
    there = {f"run/owner/0/{number}": Actor(*[each] * 1000) for number, each in ((1, SERVING), (2, unopened))}
    cluster = on(monkeypatch)
    stand_in(monkeypatch, there)
    held = owners_of(job())
    await held.find({}, {}, {}, held=True)
    assert held.locate(0) == Place(0, 1, "run/owner/0/1")
    assert cluster.ended == [there["run/owner/0/2"]]
    held.end()


async def test_an_owner_that_opens_its_log_for_a_conductor_that_is_gone_is_not_asked_to_open_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening, tries = Opening([], None, replace(SERVING, epoch=0, opening=True)), list[tuple[bool, bool]]()
    cluster = on(monkeypatch, Opening(tries))
    stand_in(monkeypatch, {"run/owner/0/1": opening})
    held = owners_of(job())
    await held.find({}, {}, {}, held=True)
    held.end()
    assert cluster.ended == [opening]
    assert len(tries) == 1


@pytest.mark.parametrize("limits", [{0: 60, 1: 40}, {0: 60, 1: 80}])
async def test_owners_that_are_gone_with_their_conductor_are_followed_by_some_that_may_grant_as_much(
    limits: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the conductor was lost in the middle of a move: together they grant what the run shall have."""
    granted, allotted = dict[int, int](), dict[int, int]()

    class Granting(Actor):
        """It has granted 40 steps already."""

        def __init__(self) -> None:
            super().__init__()
            self.allot, self._number = Method(self._allot), 0

        async def _open(self, job: Job, number: int, steps: int, **named: Any) -> None:
            self._number, granted[number], allotted[number] = number, steps, steps

        async def _allot(self, limit: int) -> int:
            allotted[self._number] = max(limit, 40)
            return allotted[self._number]

        async def _report(self) -> OwnerReport:
            return replace(SERVING, limit=allotted.get(self._number))

    on(monkeypatch, Granting(), Granting())
    stand_in(monkeypatch, {})
    held = owners_of(replace(job(), stop=StopRule(steps=100)))
    await held.find({0: DARK, 1: LIGHT}, {}, limits, held=True)
    held.end()
    assert granted == limits
    assert sum(allotted.values()) == 100


async def test_the_next_owner_starts_while_one_from_before_the_conductor_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent, spare = Actor(), Actor(*[SERVING] * 1000)
    cluster = on(monkeypatch, spare)
    stand_in(monkeypatch, {"run/owner/0/1": silent})
    monkeypatch.setattr(keeping, "where_placed", lambda actor: ("b", "10.0.0.3"))
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    found = owners_of(job())
    finding = asyncio.ensure_future(found.find({}, {}, {}, held=True))
    await until(lambda: cluster.avoided == ["b"])
    assert not cluster.ended
    silent.say(replace(SERVING, failure="the connection was lost"))  # as good as gone
    await finding
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [silent]


async def test_of_an_owner_from_before_the_conductor_that_stays_silent_the_spare_takes_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent, unopened = Actor(), Actor(*[replace(SERVING, epoch=0)] * 2, *[SERVING] * 1000)
    cluster = on(monkeypatch)  # nobody else is needed
    stand_in(monkeypatch, {"run/owner/0/1": silent, "run/owner/0/2": unopened})
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    found = owners_of(job())
    await found.find({}, {}, {}, held=True)
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [silent]


async def test_an_owner_from_before_the_conductor_whose_log_was_longer_does_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Either it is a former one and does not know it, or the database has lost something: the next tells."""
    former = Actor(replace(SERVING, recorded=4))
    cluster = on(monkeypatch, Actor(*[replace(SERVING, recorded=7)] * 1000))
    stand_in(monkeypatch, {"run/owner/0/1": former})
    found = owners_of(job())
    await found.find({}, {0: 7}, {}, held=True)
    found.end()
    assert found.locate(0) == Place(0, 2, "run/owner/0/2")
    assert cluster.ended == [former]


async def test_one_from_before_the_conductor_that_answers_late_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late, spare = Actor(), Actor()
    cluster = on(monkeypatch, spare)
    stand_in(monkeypatch, {"run/owner/0/1": late})
    monkeypatch.setattr(keeping, "where_placed", lambda actor: None)
    monkeypatch.setattr(keeping, "DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "SILENT_SECONDS", 60.0)
    found = owners_of(job())
    finding = asyncio.ensure_future(found.find({}, {}, {}, held=True))
    await until(lambda: cluster.avoided == [""])
    late.say(*[SERVING] * 1000)
    await finding
    found.end()
    assert found.locate(0) == Place(0, 1, "run/owner/0/1")
    assert cluster.ended == [spare]
