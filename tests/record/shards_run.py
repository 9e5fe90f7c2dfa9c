"""A run of several shards in a folder, as a cluster makes one: an owner for each, and workers that cross."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window
from screensearch.config import Settings, resolve
from screensearch.domain.shard import ShardKey, first_of, shard_key, shard_of, within
from screensearch.explore.beginning import new_manifest
from screensearch.explore.budget import Budget
from screensearch.explore.messages import (
    DECIDED,
    Announce,
    Begin,
    BeginFailed,
    Land,
    Receipt,
    Report,
    Sighting,
)
from screensearch.explore.store import ShardStore
from screensearch.explore.worker import work
from screensearch.record.run import RunFolder, create_run
from screensearch.record.sqlite_log import SqliteLog
from screensearch.record.stores import SqliteStore


class Lamp:
    """Pages to turn, and a switch of the display mode: a step from one shard into the other."""

    application = "lamp"

    def __init__(self) -> None:
        self._page, self._mode = 0, "light"

    async def reset(self, seed: int) -> Start:
        self._page, self._mode = 0, ("light", "dark")[seed % 2]
        return Start(self._look(), {"mode": self._mode})

    async def perform(self, action: Action) -> Result:
        text = "" if action.element is None else action.element.text
        if text == "Switch":
            self._mode = "light" if self._mode == "dark" else "dark"
        elif text == "Break" and self._page == 3:
            return Result(Outcome.CRASH, None, "it broke")
        elif text in ("Next", "Back"):
            self._page = (self._page + (1 if text == "Next" else -1)) % 4
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        elements = [
            Element("button", text, Box(20, 20 + 40 * place, 80, 30), "lamp", clickable=True)
            for place, text in enumerate(("Next", "Back", "Switch", "Break"))
        ]
        elements.append(
            Element("text", f"page {self._page}", Box(150, 20 + 60 * self._page, 100, 30), "lamp")
        )
        tint = 250 if self._mode == "light" else 5
        return Observation(
            tuple(elements),
            Window("Lamp", "main", Box(0, 0, 300, 300), "lamp"),
            display_mode=self._mode,
            screenshot=Image(300, 300, bytes([tint + self._page]) * 270_000),
        )


class WorkerDied(Exception):
    """Raised in a worker of a test."""


class Owners:
    """What a worker of a cluster talks to. Others get their turn between the two halves of a crossing."""

    def __init__(self, folder: RunFolder, settings: Settings, steps: int) -> None:
        self._folder = folder
        self._settings = settings
        self._left = steps
        self._shards: dict[ShardKey, int] = {}
        self.stores: dict[int, ShardStore] = {}
        self.dies_at_crossing: int | None = None  # a worker
        self.open_shard(0)

    def open_shard(self, shard: int) -> None:
        store = self._folder.store
        assert isinstance(store, SqliteStore)
        log = store.create_shard(shard) if shard else SqliteLog.open_to_write(store.path)
        self.stores[shard] = ShardStore(log, self._settings, Budget(), shard=shard)

    def _shard(self, sighting: Sighting) -> int:
        if sighting.row is not None:
            return shard_of(sighting.row)
        assert sighting.screen is not None
        shard = self._shards.setdefault(shard_key(sighting.screen.metadata), len(self._shards))
        if shard not in self.stores:
            self.open_shard(shard)
        return shard

    def _ask(self, shard: int, message: Begin | BeginFailed | Land | Report) -> Receipt:
        (receipt,) = self.stores[shard].handle([message])
        assert isinstance(receipt, Receipt), receipt
        if receipt.here is not None:
            receipt = replace(receipt, here=replace(receipt.here, row=first_of(shard) + receipt.here.row))
        return replace(receipt, proceed=self._left > 0)

    async def begin(self, begin: Begin) -> Receipt:
        await asyncio.sleep(0)
        return self._ask(self._shard(begin.sighting), replace(begin, sighting=_inside(begin.sighting)))

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        return self._ask(0, failed)

    async def record(self, report: Report) -> Receipt:
        await asyncio.sleep(0)
        self._left -= 1
        source, landed = shard_of(report.source), None
        if report.sighting is not None and report.outcome in DECIDED:
            shard = self._shard(report.sighting)
            if shard != source:
                sighting = _inside(report.sighting)
                landed = self._ask(shard, Land(report.episode, report.step, sighting, report.evidence))
                assert landed.here is not None
                report = replace(report, sighting=None, landed=landed.here.state)
                await asyncio.sleep(0)
                if report.episode.worker == self.dies_at_crossing:
                    raise WorkerDied
        if report.sighting is not None:
            report = replace(report, sighting=_inside(report.sighting))
        receipt = self._ask(source, report)
        return receipt if landed is None else landed

    def close(self) -> None:
        for store in self.stores.values():
            store.log.close()

    async def announce(self, announcement: Announce) -> None:
        pass


def _inside(sighting: Sighting) -> Sighting:
    return sighting if sighting.row is None else replace(sighting, row=within(sighting.row))


def explore_in_shards(path: Path, *overrides: str, steps: int = 120, dies: int | None = None) -> Path:
    """A run of two workers and two shards; one of the workers may die between the two."""
    settings = resolve(overrides=("select.selector=random", "explore.episode_steps=15", *overrides))
    manifest = new_manifest("object:lamp", settings, seed=5, store="", artifacts="")
    folder = create_run(path, manifest)
    with closing(Owners(folder, settings, steps)) as owners:
        owners.dies_at_crossing = dies

        async def worker(number: int) -> None:
            world = Lamp()
            try:
                await work(world, owners, settings, folder=path, worker=number, seed=5, first_episode=0)
            except WorkerDied:
                for store in owners.stores.values():
                    store.lose(number, "killed")

        async def both() -> None:
            await asyncio.gather(worker(0), worker(1))

        asyncio.run(both())
        for store in owners.stores.values():
            store.checkpoint()
    return path
