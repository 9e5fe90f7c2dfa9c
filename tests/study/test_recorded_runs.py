"""Studies of recorded runs where a log is not plain: several shards, secrets that may not leave, damage."""

from __future__ import annotations

import gzip
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from shards_run import explore_in_shards

import screensearch as ss
from screensearch.errors import FormatError
from screensearch.explore.remerge import remerge
from screensearch.record.sharded_log import ShardedLog
from screensearch.study.context_report import GROUPS, study_context
from screensearch.study.corpus import read_corpus
from screensearch.study.runs import opened


def test_a_run_of_several_shards_tells_the_same_as_its_log_in_one(tmp_path: Path) -> None:
    """Steps that cross from one shard to another are neither lost nor counted twice."""
    source = explore_in_shards(tmp_path / "shards")
    with ss.open_run(source) as run:
        assert isinstance(run.log, ShardedLog)
        remerge(run, run.settings, tmp_path / "one")
    apart, _ = study_context([source], tmp_path / "a")
    whole, _ = study_context([tmp_path / "one"], tmp_path / "b")
    assert apart.rows == whole.rows
    assert apart.rows[0].groups > 0
    ((sharded,), _), ((single,), _) = (read_corpus([each], 0) for each in (source, tmp_path / "one"))
    assert replace(sharded.row, runs=[]) == replace(single.row, runs=[])
    assert sharded.course.segments == single.course.segments
    assert sharded.row.windows > 0


def test_secrets_that_exports_lose_are_not_in_the_raw_results(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("redact.at=export", "explore.screenshots=none"))
    secret = replace(settings, redact=replace(settings.redact, patterns=("search this document|find next",)))
    stop = ss.StopRule(steps=120)
    ss.start_exploration("synthetic:notepad?noise=0", tmp_path / "run", stop=stop, settings=secret, seed=7)
    hidden = re.compile("search_this|find_next|search this|find next", re.IGNORECASE)
    with ss.open_run(tmp_path / "run") as run:
        repeated = [
            signature
            for state in run.states()
            for signature, tried in run.tried(state.id).items()
            if tried.visits > 1
        ]
    assert any(hidden.search(signature) for signature in repeated)  # the log keeps them
    study_context([tmp_path / "run"], tmp_path / "out")
    raw = gzip.decompress((tmp_path / "out" / GROUPS).read_bytes()).decode()
    assert len(raw.splitlines()) == len(repeated)
    assert not hidden.search(raw)


def test_an_entry_that_cannot_be_read_is_told_with_the_run_it_is_in(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("explore.screenshots=none",))
    folder = tmp_path / "run"
    ss.start_exploration("synthetic:notepad", folder, stop=ss.StopRule(steps=20), settings=settings)
    with closing(sqlite3.connect(folder / "log.sqlite")) as log:
        for (trigger,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            log.execute(f"DROP TRIGGER {trigger}")
        log.execute("UPDATE entries SET detail = CAST('{\"evidence\": 7}' AS BLOB) WHERE seq = 9")
        log.commit()
    with pytest.raises(FormatError, match=rf"{re.escape(str(folder))}.*screensearch verify"):
        read_corpus([folder], 0)


def test_a_run_says_which_one_it_is_and_how_far_it_was_read(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("explore.screenshots=none",))
    stop = ss.StopRule(steps=5)
    ss.start_exploration("synthetic:notepad", tmp_path / "run", stop=stop, settings=settings, seed=4)
    with opened(tmp_path / "run") as (run, source):
        assert source.entries == run.log.last_sequence
        assert (source.environment, source.seed) == ("synthetic:notepad", 4)
