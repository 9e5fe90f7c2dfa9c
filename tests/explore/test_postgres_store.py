"""A run whose log is in PostgreSQL is the run it would be in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from postgres_faults import frozen, owner_process, sql, wait_for
from postgres_server import PostgresServer, postgres_server

from screensearch import StopRule, open_run, remerge, resolve, resume_exploration, start_exploration
from screensearch.cli import main
from screensearch.errors import SettingsError, StoreFailed
from screensearch.explore.progress import Progress
from screensearch.record import postgres_lease, postgres_schema, postgres_session

WITHOUT_PICTURES = resolve(overrides=["explore.screenshots=none"])


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def test_the_same_seed_gives_the_same_graph_in_both_stores(server: PostgresServer, tmp_path: Path) -> None:
    digests = {
        store: start_exploration(
            *("synthetic:notepad", tmp_path / name),
            stop=StopRule(steps=150),
            settings=WITHOUT_PICTURES,
            seed=5,
            store=store,
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
        assert remerge(run, run.settings, tmp_path / "remade").same  # a file again, with the same graph


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
        stop=StopRule(steps=300),
        settings=WITHOUT_PICTURES,
        workers=2,
        store=server.url(),
        on_progress=crash,
    )
    assert crashed.is_set()
    assert (summary.steps, summary.lost) == (300, 0)
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert sum(1 for _ in run.transitions()) == 300


@pytest.fixture
def url(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """A database of the test's own."""
    name = f"test_{abs(hash(request.node.name))}"
    sql(server.url(), f"CREATE DATABASE {name}")
    return server.url(name)


def has_steps(url: str) -> bool:
    try:
        return bool(sql(url, "SELECT 1 FROM entries WHERE seq > 20"))
    except psycopg.errors.UndefinedTable:
        return False


def test_an_interrupt_ends_an_exploration_whose_server_is_frozen(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_session, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(postgres_lease, "END_MILLISECONDS", 300)
    monkeypatch.setattr(postgres_lease, "RECONNECT_SECONDS", 2.0)
    over = threading.Event()

    def freeze_and_interrupt() -> None:
        wait_for(lambda: has_steps(url))
        with frozen(owner_process(url)):
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(120)

    with ThreadPoolExecutor(1) as pool:
        frozen_meanwhile = pool.submit(freeze_and_interrupt)
        try:
            with pytest.raises(StoreFailed, match="does not end, and may still write"):
                start_exploration(
                    "synthetic:notepad", tmp_path / "run", stop=StopRule(steps=10**6), workers=2, store=url
                )
            assert not frozen_meanwhile.done()  # it was over while the server was frozen
        finally:
            over.set()
        frozen_meanwhile.result()
    wait_for(lambda: not sql(url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"))
    with open_run(tmp_path / "run") as run:
        steps = sum(1 for _ in run.transitions())
    more = resume_exploration(tmp_path / "run", stop=StopRule(steps=steps + 10))
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert run.describe()["digest"] == more.digest


def test_two_interrupts_end_the_command_though_its_server_is_frozen(url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "screensearch", "explore", "synthetic:notepad", "--steps", "1000000"]
    exploring = subprocess.Popen(
        [*command, "--workers", "2", "--store", url, "--out", tmp_path / "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(lambda: has_steps(url))
        with frozen(owner_process(url)):
            exploring.send_signal(signal.SIGINT)
            wait_for(lambda: signals_pending(exploring.pid) == 0)
            exploring.send_signal(signal.SIGINT)
            said, _ = exploring.communicate(timeout=60)
    finally:
        exploring.kill()
        exploring.wait()
    assert "Traceback" not in said
    assert "given up at an interrupt" in " ".join(said.split())


def signals_pending(process: int) -> int:
    """The signals that a process has not received yet."""
    status = Path(f"/proc/{process}/status").read_text()
    return sum(
        int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))
    )


def test_a_run_whose_owner_is_gone_is_taken_over(url: str, tmp_path: Path) -> None:
    start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=20), store=url)
    sql(url, "UPDATE logs SET token = 'x', place = 'elsewhere/1:1', holder = 'nobody', renewed = now()")
    resume = ["explore", "--resume", "--steps", "30", "--out", str(tmp_path / "run")]
    refused = CliRunner().invoke(main, resume)
    assert refused.exit_code != 0
    assert "--take-over" in refused.output
    taken = CliRunner().invoke(main, [*resume, "--take-over"])
    assert taken.exit_code == 0, taken.output
    with open_run(tmp_path / "run") as run:
        assert sum(1 for _ in run.transitions()) == 30


def test_a_run_of_an_earlier_version_is_read_once_it_was_resumed(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=20), store=url)
    steps = (*postgres_schema.MIGRATIONS, "ALTER TABLE entries ADD COLUMN weight integer;")
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", steps)
    refused = CliRunner().invoke(main, ["show", str(tmp_path / "run")])
    assert refused.exit_code == 1
    assert "resuming a run that is kept there brings them up to date" in " ".join(refused.output.split())
    resume = ["explore", "--resume", "--steps", "30", "--out", str(tmp_path / "run")]
    resumed = CliRunner().invoke(main, resume)
    assert resumed.exit_code == 0, resumed.output
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert sum(1 for _ in run.transitions()) == 30


def test_only_a_log_in_a_database_can_be_taken_over(tmp_path: Path) -> None:
    start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=5))
    with pytest.raises(SettingsError, match="is a file"):
        resume_exploration(tmp_path / "run", stop=StopRule(steps=9), take_over=True)
    alone = CliRunner().invoke(main, ["explore", "synthetic:notepad", "--take-over"])
    assert "--take-over goes with --resume only" in alone.output


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
