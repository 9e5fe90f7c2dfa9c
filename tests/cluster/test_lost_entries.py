"""What a database has lost ends a run, whoever finds out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from owner_stand_ins import SERVING, Opening, owners_of, stand_in
from stand_ins import Actor, job, on, quick  # noqa: F401 (a fixture)

from screensearch.cluster import shards
from screensearch.errors import AcknowledgedLost

LOST = replace(SERVING, recorded=7, failure="the server lost acknowledged entries 5..7", lost=True)


async def test_what_an_owner_says_is_lost_ends_the_run_and_nobody_writes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = on(monkeypatch, first := Actor(SERVING, SERVING, LOST), Actor(*[SERVING] * 1000))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match=r"lost acknowledged entries 5\.\.7"):
        await held.despair()
    assert held.locate(0) is None
    assert cluster.ended == [first]
    assert cluster.avoided == [""]  # no other was placed
    held.end()


async def test_what_is_lost_is_found_though_the_owner_dies_before_it_can_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = replace(SERVING, recorded=7)
    gone = replace(SERVING, recorded=7, failure="the connection was lost")
    first, second = Actor(SERVING, told, gone), Actor(*[replace(SERVING, recorded=4)] * 1000)
    cluster = on(monkeypatch, first, second, Actor(*[SERVING] * 1000))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match=r"entries 5\.\.7 are lost: .* Nothing more is written"):
        await held.despair()
    assert held.locate(0) is None
    assert cluster.ended == [first, second]
    held.end()


async def test_an_owner_that_finds_the_loss_while_it_opens_the_log_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = on(monkeypatch, Opening([], AcknowledgedLost("lost entries 5..7")), Opening([]))
    held = owners_of(job(), shards.Shard(0, None))
    with pytest.raises(AcknowledgedLost, match="lost entries"):
        await held.despair()
    assert cluster.avoided == [""]
    held.end()


async def test_the_next_life_of_a_conductor_hears_what_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"run/owner/0/1": Actor(LOST)}
    on(monkeypatch)
    stand_in(monkeypatch, there)
    with pytest.raises(AcknowledgedLost, match="lost acknowledged entries"):
        await owners_of(job()).find({}, {}, {}, held=True)


@pytest.mark.parametrize("shard", [0, 1])
async def test_the_next_life_of_a_conductor_finds_what_is_lost_though_no_owner_is_there(
    shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a shard that the database has no more: it is not explored anew as if it had been empty."""
    on(monkeypatch, *(Actor(*[replace(SERVING, recorded=4)] * 1000) for _ in range(2)))
    stand_in(monkeypatch, {})
    held = owners_of(job())
    finding = asyncio.ensure_future(held.find({}, {shard: 7}, {}, held=True))
    with pytest.raises(AcknowledgedLost, match=rf"the log of shard {shard} ends with entry 4, .* 5\.\.7"):
        await asyncio.wait_for(held.despair(), 20)
    finding.cancel()
    held.end()
