"""A run of several shards is viewed as one: a step from one into another has both of its ends."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import sightings
import test_shards
from sightings import ask, begin, observation, report
from test_shards import STEP, Two

from screensearch.config import Settings
from screensearch.domain.document import encode_observation
from screensearch.domain.shard import first_of
from screensearch.encode.encoder import Encoder
from screensearch.explore.messages import Sighting
from screensearch.record.run import Manifest, RunFolder, create_run
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.sqlite_log import SqliteLog
from screensearch.view.edge_page import make_edge_page
from screensearch.view.map_page import make_map
from screensearch.view.reading import Reading
from screensearch.view.state_page import make_observations, make_state_page

DARK = first_of(1)


def sighting(*labels: str) -> Sighting:
    """One whose elements can be read back."""
    seen = observation(*labels)
    elements = zlib.compress(encode_observation(seen))
    return Sighting(screen=Encoder(Settings().encode).encode(seen), elements=elements)


def opened(logs: list[Path]) -> ShardedLog:
    return ShardedLog([(shard, SqliteLog.open_to_read(path, owned=True)) for shard, path in enumerate(logs)])


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    for module in (sightings, test_shards):
        monkeypatch.setattr(module, "sighting", sighting)
    with closing(Two(tmp_path)) as two:
        start = begin(0, 0, "go")
        (receipt,) = ask(two.light, start)
        step = report(start, receipt, "dark", signature=STEP)
        landed, _ = two.cross(step, receipt, ("go", "in the dark"))
        ask(two.dark, report(step, landed, "deeper", "in the dark"))
        manifest = Manifest(
            run="two",
            created="2026-11-16",
            environment="toy",
            seed=0,
            settings={"version": 1, "settings": msgspec.to_builtins(Settings())},
            version="0",
        )
        create_run(tmp_path / "run", manifest)
        logs = [tmp_path / name / "log.sqlite" for name in ("light", "dark")]
        monkeypatch.setattr(RunFolder, "read_log", lambda self: opened(logs))
        with closing(Reading(tmp_path / "run", "two")) as reading:
            reading.follow()
            yield reading


def test_the_map_has_the_states_of_all_shards_and_the_way_between(reading: Reading) -> None:
    drawn = make_map(reading)
    assert sorted(drawn.states.id) == [0, DARK, DARK + 1]
    depth = dict(zip(drawn.states.id, drawn.states.depth, strict=True))
    assert depth == {0: 0, DARK: 1, DARK + 1: 2}
    assert sorted(drawn.links.count) == [1, 1]


def test_a_state_knows_from_which_shard_it_was_reached(reading: Reading) -> None:
    page = make_state_page(reading, DARK, 1)
    assert [(each.state, each.count) for each in page.incoming] == [(0, 1)]
    assert {each.text for each in page.elements} == {"go", "in the dark"}
    assert make_observations(reading, DARK, 0, 10).total == 1


def test_an_edge_that_begins_where_a_step_of_another_shard_ended_has_its_element(reading: Reading) -> None:
    (transition,) = make_edge_page(reading, DARK, DARK + 1, None, 0, 10).transitions
    assert transition.sequence == 4
    (crossing,) = make_edge_page(reading, 0, DARK, None, 0, 10).transitions
    assert (crossing.source, crossing.target) == (0, DARK)
