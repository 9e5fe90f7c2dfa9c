"""How a log in a database is opened: by whom, with what address, and what is left alone."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from one_log import step
from postgres_faults import SCREEN, arrival, episodes, sql, wait_for
from postgres_server import PostgresServer, postgres_server

from screensearch.domain.screen import Metadata, Screen
from screensearch.errors import LogExists, NotLetIn, RunBusy, RunNotFound, ScreenSearchError, StoreFailed
from screensearch.record import postgres_log, postgres_session, run, stores
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_session import ConnectionLost
from screensearch.record.run import Manifest, create_run
from screensearch.record.stores import PostgresStore, find_store

pytest_plugins = ["postgres_fixtures"]

# -- who owns it -------------------------------------------------------------------------------


def test_of_many_who_open_a_log_at_once_one_owns_it(log: PostgresLog, url: str) -> None:
    log.close()
    for _ in range(5):
        together = threading.Barrier(6)

        def open_together(together: threading.Barrier = together) -> PostgresLog | None:
            together.wait()
            try:
                return PostgresLog.open_to_write(url, "run", "")
            except RunBusy:
                return None

        with ThreadPoolExecutor(6) as pool:
            opened = [each.result() for each in [pool.submit(open_together) for _ in range(6)]]
        (owner,) = [each for each in opened if each is not None]
        owner.close()


def test_an_owner_keeps_its_log_when_the_server_restarts(
    log: PostgresLog, url: str, server: PostgresServer
) -> None:
    server.stop("fast")
    server.start()
    with pytest.raises(RunBusy, match="lost its connection and was heard of"):
        PostgresLog.open_to_write(url, "run", "")
    log.append(arrival(1))
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1)]


def test_the_log_of_an_owner_that_was_killed_is_free_at_once(log: PostgresLog, url: str) -> None:
    log.close()
    program = (
        "import sys, time; from screensearch.record.postgres_log import PostgresLog; "
        f"log = PostgresLog.open_to_write({url!r}, 'run', ''); print('here', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "here\n"
        with pytest.raises(RunBusy, match=f"owned by process {owner.pid} on"):
            PostgresLog.open_to_write(url, "run", "")
    finally:
        owner.kill()
        owner.communicate()

    def is_free() -> bool:
        try:
            PostgresLog.open_to_write(url, "run", "").close()
        except RunBusy as problem:  # the server may not have seen its end yet
            return "lost its connection" in str(problem)
        return True

    wait_for(is_free)
    PostgresLog.open_to_write(url, "run", "").close()


@pytest.mark.parametrize("heard", ["1 second", "2 minutes"])
def test_an_owner_elsewhere_has_a_minute_to_come_back(log: PostgresLog, url: str, heard: str) -> None:
    log.close()
    sql(url, f"UPDATE logs SET token = 'x', place = 'another/1:1', renewed = now() - interval '{heard}'")
    if heard == "1 second":
        with pytest.raises(RunBusy, match=r"was heard of \d+ s ago: .* --take-over"):
            PostgresLog.open_to_write(url, "run", "")
    PostgresLog.open_to_write(url, "run", "", take_over=heard == "1 second").close()


def test_an_owner_elsewhere_that_is_idle_but_connected_is_left_alone(log: PostgresLog, url: str) -> None:
    sql(url, "UPDATE logs SET place = 'another/1:1', renewed = now() - interval '2 minutes'")
    with pytest.raises(RunBusy, match="is owned by process"):
        PostgresLog.open_to_write(url, "run", "")
    log.append(arrival(1))
    log.commit()


def test_an_owner_at_work_says_that_it_is_there(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql(url, "UPDATE logs SET renewed = now() - interval '2 minutes'")
    monkeypatch.setattr("screensearch.record.postgres_lease.RENEW_SECONDS", 0.0)
    log.append(arrival(1))
    log.commit()
    assert sql(url, "SELECT 1 FROM logs WHERE renewed > now() - interval '1 minute'")


def test_the_server_looks_whether_an_owner_is_still_there() -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with postgres_server() as server:  # one with a network, where keeping a connection alive means something
        for name, value in (("listen_addresses", "127.0.0.1"), ("port", port)):
            sql(server.url(), f"ALTER SYSTEM SET {name} = '{value}'")
        server.stop("fast")
        server.start()
        with closing(PostgresLog.create(f"postgresql://tester@127.0.0.1:{port}/postgres", "run", "")) as log:
            assert [
                log._one(f"SHOW {name}")
                for name in (
                    "tcp_keepalives_idle",
                    "tcp_keepalives_interval",
                    "tcp_keepalives_count",
                    "tcp_user_timeout",
                    "client_connection_check_interval",
                )
            ] == ["5", "2", "3", "10000", "5s"]


# -- with what address -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bob:hunter2@h/d",
        "postgresql://bob:hun%ter2@h/d",
        "postgresql://bob:hunter2@h:notaport/d?x=1",
        "postgresql://bob@h/d?password=hunter2",
        "postgresql://bob@h/d?sslpassword=hunter2",
        "postgresql://bob@h/d?oauth_client_secret=hunter2",
        "postgresql://bob@h/d?scram_client_key=hunter2",
        "postgresql+psycopg://bob:hunter2@h/d",
        "Postgresql://bob:hunter2@h/d",
        "bob:hunter2@h/d",
    ],
)
def test_no_secret_of_an_address_is_accepted_or_shown(address: str, tmp_path: Path) -> None:
    with pytest.raises(ScreenSearchError) as refused:
        find_store(address, tmp_path, "run").create()
    shown: BaseException | None = refused.value
    while shown is not None:
        assert "hun" not in str(shown)
        shown = shown.__cause__
    assert not isinstance(refused.value, ConnectionLost)  # it was not even tried


def test_what_an_address_may_say_counts(log: PostgresLog, url: str) -> None:
    log.close()
    address = f"{url}&options=-c%20work_mem%3D7MB%20-c%20synchronous_commit%3Doff&connect_timeout=9"
    with closing(PostgresLog.open_to_write(address, "run", "")) as again:
        assert again._one("SHOW work_mem") == "7MB"
        assert again._one("SHOW synchronous_commit") == "on"  # which is not theirs to say


def test_a_log_that_is_closed_can_be_opened_while_the_server_still_ends_its_process(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, close = log._session, postgres_session.Session.close
    with monkeypatch.context() as patched:
        takes_its_time = lambda self: None if self is session else close(self)  # noqa: E731
        patched.setattr(postgres_session.Session, "close", takes_its_time)
        log.close()
        PostgresLog.open_to_write(url, "run", "").close()
    session.close()


def test_a_writer_wants_a_server_that_can_be_written(log: PostgresLog, url: str) -> None:
    log.close()
    ((database,),) = sql(url, "SELECT current_database()")
    sql(url, f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')  # like a replica
    with pytest.raises(ConnectionLost, match="read-only"):
        PostgresLog.open_to_write(url, "run", "")
    assert episodes(url) == [(1, 0)]


def test_a_server_that_is_too_old_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_session, "MINIMUM_VERSION", 99)
    with pytest.raises(StoreFailed, match=r"is PostgreSQL \d+: 99 or a newer one is needed"):
        PostgresLog.create(url, "run", "")


# -- what is left alone ------------------------------------------------------------------------


def test_whoever_may_only_read_can_read(log: PostgresLog, url: str) -> None:
    for statement in (
        "CREATE ROLE reader LOGIN",
        "GRANT USAGE ON SCHEMA screensearch TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA screensearch TO reader",
    ):
        sql(url, statement)
    assert episodes(url.replace("tester@", "reader@")) == [(1, 0)]


def test_a_reader_makes_nothing(url: str) -> None:
    with pytest.raises(RunNotFound):
        PostgresLog.open_to_read(url, "run", "")
    with pytest.raises(RunNotFound):
        PostgresLog.open_to_write(url, "run", "")
    assert sql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'screensearch'") == []


def test_a_log_is_deleted_whole_and_leaves_others_alone(log: PostgresLog, url: str) -> None:
    with closing(PostgresLog.create(url, "other", "")) as other:
        other.add_screen(SCREEN, b"")
        other.append(arrival(0))
        other.write_checkpoint(1, "digest", b"graph")
        other.commit()
    assert sql(url, "SELECT drop_log('other')") == [(True,)]
    assert sql(url, "SELECT drop_log('other')") == [(False,)]
    for table in ("entries", "decisions", "screens", "metadata", "signatures", "checkpoints", "graphs"):
        assert sql(url, f"SELECT 1 FROM {table} WHERE log <> 1") == []
    with pytest.raises(RunNotFound):
        PostgresLog.open_to_read(url, "other", "")
    assert episodes(url) == [(1, 0)]
    sql(url, "SELECT drop_log('run')")
    log.append(arrival(1))
    with pytest.raises(StoreFailed):  # its owner is refused like one that was replaced
        log.commit()


def test_all_shards_of_a_run_are_deleted_by_one_statement(log: PostgresLog, url: str) -> None:
    """That of docs/how-to/keep-the-log-in-postgresql.md."""
    for shard in ("", "1"):
        PostgresLog.create(url, "other", shard).close()
    deleted = sql(url, "SELECT shard, drop_log(run, shard) FROM logs WHERE run = 'other'")
    assert sorted(deleted) == [("", True), ("1", True)]
    assert sql(url, "SELECT run FROM logs") == [("run",)]


def test_a_run_that_cannot_be_made_leaves_no_log(
    log: PostgresLog, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, content: bytes) -> None:
        raise OSError("no space")

    monkeypatch.setattr(run, "write_durably", fail)
    with pytest.raises(StoreFailed, match="no space"):
        create_run(tmp_path / "run", manifest("new", url))
    assert sql(url, "SELECT run FROM logs") == [("run",)]


def manifest(name: str, url: str) -> Manifest:
    return Manifest(
        run=name, created="", environment="synthetic:notepad", seed=0, settings={}, version="0", store=url
    )


def test_a_connection_that_is_lost_while_a_log_is_made_leaves_none(
    log: PostgresLog, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*arguments: object, **named: object) -> None:
        raise ConnectionLost("it is away")

    monkeypatch.setattr(postgres_log, "take_lease", lose)
    with pytest.raises(ConnectionLost, match="it is away"):
        create_run(tmp_path / "run", manifest("new", url))
    assert sql(url, "SELECT run FROM logs") == [("run",)]
    assert not list(tmp_path.iterdir())


def test_a_log_that_is_there_stays_when_a_run_is_to_be_made_with_its_name(
    log: PostgresLog, url: str, tmp_path: Path
) -> None:
    with pytest.raises(LogExists, match="never overwritten"):
        create_run(tmp_path / "run", manifest("run", url))
    assert episodes(url) == [(1, 0)]


def test_shards_that_cannot_be_read_as_one_are_let_go(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(logs: object) -> None:
        raise ConnectionLost("it is away")

    PostgresLog.create(url, "run", "1").close()
    monkeypatch.setattr(stores, "ShardedLog", fail)
    with pytest.raises(ConnectionLost):
        PostgresStore(url, "run").open_to_read(owned=False)
    reading = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'screensearch reader'"
    wait_for(lambda: not sql(url, reading))


# -- texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_text_is_refused(server: PostgresServer, encoding: str) -> None:
    name = encoding.lower()
    sql(server.url(), f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreFailed, match=f"has the encoding {encoding}"):
        PostgresLog.create(server.url(name), "run", "")


def test_the_encoding_of_the_surroundings_does_not_matter(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    screen = Screen("k→", (), (), "", Metadata("n→", "light", "medium", "main"))
    with closing(PostgresLog.create(url, "run", "")) as log:
        log.add_screen(screen, b"")
        log.commit()
        assert log.screen(1) == screen


def test_signatures_with_one_md5_are_two(log: PostgresLog, url: str) -> None:
    one = "TEXTCOLLBYfGiJUETHQ4hAcKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aLay"
    two = one.replace("hAcK", "hEcK")
    for number, signature in enumerate((one, two), start=1):
        log.append(step(number, signature))
        log.commit()
    assert [row.signature for row in log.rows(after=1)] == [one, two]


# -- who is let in -----------------------------------------------------------------------------


def test_who_has_no_password_is_told_where_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong one is the server's to tell: only where there is none can nothing come of waiting."""
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    with postgres_server() as server:
        server.lock("guest", "hunter2")
        url = server.url().replace("tester@", "guest@")
        with pytest.raises(NotLetIn, match=f"none for it on the machine {socket.gethostname()}") as told:
            PostgresLog.create(url, "run", "")
        assert isinstance(told.value, ConnectionLost)
        monkeypatch.setenv("PGPASSWORD", "wrong")
        with pytest.raises(ConnectionLost, match="cannot connect to") as wrong:
            PostgresLog.create(url, "run", "")
        assert not isinstance(wrong.value, NotLetIn)
        assert "wrong" not in str(wrong.value)
        monkeypatch.setenv("PGPASSWORD", "hunter2")
        PostgresLog.create(url, "run", "").close()
