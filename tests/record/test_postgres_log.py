"""What goes wrong between an owner and its database: a successor, a lost connection, a server's restart."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from postgres_faults import SCREEN, Wire, arrival, end_connections, episodes
from postgres_server import PostgresServer

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import EpisodeId
from screensearch.errors import NewerFormat, RunBusy, RunNotFound, StoreFailed
from screensearch.record import postgres_lease
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_session import ConnectionLost, StaleOwner

pytest_plugins = ["postgres_fixtures"]

# -- two owners -------------------------------------------------------------------------------


def test_an_owner_that_is_at_work_is_left_alone(log: PostgresLog, url: str) -> None:
    with pytest.raises(RunBusy, match=r"is owned by process \d+ on"):
        PostgresLog.open_to_write(url, "run", "")
    log.append(arrival(1))
    log.commit()
    log.close()
    with closing(PostgresLog.open_to_write(url, "run", "")) as successor:
        assert (successor.epoch, successor.last_sequence) == (2, 2)


def test_an_owner_that_was_replaced_can_write_nothing_any_more(log: PostgresLog, url: str) -> None:
    with closing(PostgresLog.open_to_write(url, "run", "", take_over=True)) as successor:
        successor.append(arrival(1))
        successor.commit()
        log.append(arrival(2))
        with pytest.raises(StaleOwner, match=r"epoch 2, ours 1"):
            log.commit()
        successor.append(arrival(3))  # whose connection was left alone
        successor.commit()
    assert episodes(url) == [(1, 0), (2, 1), (3, 3)]


def test_each_statement_of_an_owner_that_was_replaced_is_refused_by_the_database(
    log: PostgresLog, url: str
) -> None:
    with psycopg.connect(url, options="-c search_path=screensearch") as connection:
        connection.execute("UPDATE logs SET epoch = epoch + 1")  # and its connection lives on
    other = Screen("other", (), (), "", Metadata("another", "light", "medium", "main|App"))
    for write in (
        lambda: log.append(arrival(1)),
        lambda: log.add_screen(other, b""),
        lambda: log.write_checkpoint(1, "digest", b"graph"),
    ):
        write()
        with pytest.raises(StaleOwner, match="epoch 1 of log 1 is over"):
            log.commit()
    with closing(PostgresLog.open_to_read(url, "run", "")) as reader:
        assert (reader.last_sequence, reader.has_screen(2), list(reader.checkpoints())) == (1, False, [])


def test_an_owner_frozen_in_the_middle_of_a_batch_does_not_hold_up_its_successor(
    log: PostgresLog, url: str
) -> None:
    log.append(arrival(1))
    assert log.last_episode(0) == 1  # which sends the batch: its transaction holds the lease now
    with closing(PostgresLog.open_to_write(url, "run", "", take_over=True)) as successor:
        assert successor.last_sequence == 1
        assert successor.append(arrival(7)) == 2
        successor.commit()
    with pytest.raises(StaleOwner):
        log.commit()
    assert episodes(url) == [(1, 0), (2, 7)]


# -- lost connections -------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [False, True])
def test_a_batch_whose_connection_was_lost_before_its_commit_is_sent_again(
    log: PostgresLog, url: str, sent: bool
) -> None:
    log.append(arrival(1))
    if sent:
        assert log.last_episode(0) == 1
    end_connections(url)
    log.append(arrival(2))
    log.commit()
    assert log.append(arrival(3)) == 4
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1), (3, 2), (4, 3)]


def test_a_question_after_the_connection_was_lost_is_asked_again(log: PostgresLog, url: str) -> None:
    end_connections(url)
    assert log.find(EpisodeId(0, 0), 0) == (1, arrival(0))
    log.append(arrival(1))
    end_connections(url)
    assert log.last_episode(0) == 1
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1)]


def test_a_batch_that_was_committed_though_nobody_heard_so_is_not_sent_twice(
    url: str, tmp_path: Path
) -> None:
    sockets = Path(url.partition("host=")[2])
    with closing(Wire(sockets / ".s.PGSQL.5432", tmp_path)) as wire:
        through = url.replace(str(sockets), str(tmp_path))
        with closing(PostgresLog.create(through, "run", "")) as log:
            log.add_screen(SCREEN, b"[]")
            log.append(arrival(0))
            log.commit()
            for number in range(1, 6):
                log.append(arrival(number))
                wire.keeps_answers = True
                log.commit()
                assert not wire.keeps_answers  # so it was cut
    assert episodes(url) == [(number + 1, number) for number in range(6)]


def test_an_owner_outlasts_a_crash_of_the_server(url: str, log: PostgresLog, server: PostgresServer) -> None:
    log.append(arrival(1))
    server.stop("immediate")
    restart = threading.Timer(0.3, server.start)
    restart.start()
    log.commit()
    restart.join()
    assert episodes(url) == [(1, 0), (2, 1)]


def test_a_server_that_stays_away_is_given_up_and_named(
    url: str, log: PostgresLog, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_lease, "RECONNECT_SECONDS", 0.2)
    server.stop("immediate")
    try:
        log.append(arrival(1))
        with pytest.raises(ConnectionLost, match="cannot connect to postgresql://tester@/test_"):
            log.commit()
    finally:
        server.start()
    assert episodes(url) == [(1, 0)]


# -- the tables -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement", ["UPDATE entries SET step = 9", "DELETE FROM screens", "TRUNCATE entries"]
)
def test_what_was_written_cannot_be_changed(log: PostgresLog, url: str, statement: str) -> None:
    with (
        psycopg.connect(url, options="-c search_path=screensearch") as connection,
        pytest.raises(psycopg.errors.RaiseException, match="append-only"),
    ):
        connection.execute(statement)
    assert episodes(url) == [(1, 0)]


def test_the_tables_are_made_once_however_many_begin_at_once(url: str) -> None:
    def create(number: int) -> int:
        with closing(PostgresLog.create(url, f"run {number}", "")) as made:
            return made.last_sequence

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(create, range(8))) == [0] * 8
    with pytest.raises(StoreFailed, match="never overwritten"):
        create(3)


def test_tables_of_a_newer_version_are_left_alone(log: PostgresLog, url: str) -> None:
    with psycopg.connect(url, options="-c search_path=screensearch") as connection:
        connection.execute("INSERT INTO migrations VALUES (99, now())")
    for attempt in (PostgresLog.open_to_read, PostgresLog.open_to_write, PostgresLog.create):
        with pytest.raises(NewerFormat, match="nothing was changed"):
            attempt(url, "run", "")


def test_what_is_not_there_or_must_not_be_is_said_so(url: str) -> None:
    with pytest.raises(RunNotFound, match="the log of run nobody, shard dark, is not in postgresql://"):
        PostgresLog.open_to_read(url, "nobody", "dark")
    with pytest.raises(StoreFailed, match=r"~/\.pgpass") as refused:
        PostgresLog.create(url.replace("tester@", "tester:secret@"), "run", "")
    assert "secret" not in str(refused.value)
    with pytest.raises(StoreFailed, match="not the address of a PostgreSQL database"):
        PostgresLog.create("postgresql://?nonsense=1", "run", "")
