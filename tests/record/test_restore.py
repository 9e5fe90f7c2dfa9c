"""A graph from checkpoints is the graph of the log, as of the moment the log was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from shards_run import explore_in_shards

from screensearch import open_run
from screensearch.config import Settings
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.explore.messages import BeginFailed
from screensearch.explore.store import ShardStore
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log, Row
from screensearch.record.restore import restore_graph
from screensearch.record.run import open_run_folder
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.stores import SqliteStore

AMBIGUITY = Settings().ambiguity


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_in_shards(tmp_path_factory.mktemp("restored") / "run")


def folded(log: Log) -> str:
    return StateGraph.fold(log.rows(), AMBIGUITY).digest()


def test_the_graph_of_shards_is_joined_from_their_checkpoints(
    shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_run(shards) as run:
        assert isinstance(run.log, ShardedLog)
        expected, read = folded(run.log), list[int]()
        for _, log in run.log.shards:

            def noted(after: int = 0, rows: Callable[[int], Iterator[Row]] = log.rows) -> Iterator[Row]:
                read.append(after)
                return rows(after)

            monkeypatch.setattr(log, "rows", noted)
        assert restore_graph(run.log, AMBIGUITY).digest() == expected
        assert read == [last for _, last in run.log.lengths]  # nothing before them


def test_what_was_written_since_the_shards_were_opened_is_left_out(tmp_path: Path) -> None:
    path = explore_in_shards(tmp_path / "run")
    store = open_run_folder(path).store
    assert isinstance(store, SqliteStore)
    with open_run(path) as run:
        expected = folded(run.log)
        with closing(store.open_to_write()) as log:
            shard = ShardStore(log, run.settings)
            shard.handle([BeginFailed(EpisodeId(9, 0), Outcome.CRASH, Evidence(), note="it broke")])
            shard.checkpoint()
        assert restore_graph(run.log, AMBIGUITY).digest() == expected
    with open_run(path) as run:
        assert restore_graph(run.log, AMBIGUITY).digest() == folded(run.log) != expected
