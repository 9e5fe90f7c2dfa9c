"""A run whose log is in PostgreSQL is the run it would be in a file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer, postgres_server

from screensearch import StopRule, open_run, resume_exploration, start_exploration
from screensearch.errors import SettingsError, StoreFailed
from screensearch.explore.progress import Progress


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def test_the_same_seed_gives_the_same_graph_in_both_stores(server: PostgresServer, tmp_path: Path) -> None:
    digests = {
        store: start_exploration(
            "synthetic:notepad", tmp_path / name, stop=StopRule(steps=150), seed=5, store=store
        ).digest
        for name, store in (("file", ""), ("database", server.url()))
    }
    assert digests[""] == digests[server.url()]
    assert not (tmp_path / "database" / "log.sqlite").exists()
    more = resume_exploration(tmp_path / "database", stop=StopRule(steps=200), workers=2)
    with open_run(tmp_path / "database") as run:
        assert run.verify().problems == ()
        assert run.describe()["digest"] == more.digest
        assert sum(1 for _ in run.transitions()) == 200


def test_an_exploration_outlasts_a_crash_of_its_database(server: PostgresServer, tmp_path: Path) -> None:
    crashed = threading.Event()

    def crash(progress: Progress) -> None:
        if progress.steps >= 50 and not crashed.is_set():
            crashed.set()
            server.stop("immediate")
            threading.Timer(0.2, server.start).start()

    summary = start_exploration(
        "synthetic:notepad",
        tmp_path / "run",
        stop=StopRule(steps=1500),
        workers=2,
        store=server.url(),
        on_progress=crash,
    )
    assert crashed.is_set()
    assert (summary.steps, summary.lost) == (1500, 0)
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert sum(1 for _ in run.transitions()) == 1500


def test_a_store_that_cannot_be_used_leaves_no_run_behind(tmp_path: Path) -> None:
    for store, kind, complaint in (
        ("mysql://nobody", SettingsError, "of no known kind"),
        (f"postgresql://tester@/none?host={tmp_path}", StoreFailed, "cannot connect to"),
        ("postgresql://tester:secret@localhost/none", StoreFailed, "holds a password"),
    ):
        with pytest.raises(kind, match=complaint) as refused:
            start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=1), store=store)
        assert "secret" not in str(refused.value)
        assert list(tmp_path.iterdir()) == []
