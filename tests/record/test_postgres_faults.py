"""An owner under attack: what was acknowledged is there, once, or the owner says that it is not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from postgres_faults import (
    SCREEN,
    Wire,
    arrival,
    end_connections,
    episodes,
    frozen,
    owner_process,
    sql,
    wait_for,
)
from postgres_server import PostgresServer

from screensearch.config import Settings
from screensearch.domain.transition import (
    Choice,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    Outcome,
    Reward,
    Transition,
)
from screensearch.errors import AcknowledgedLost, DamagedStore, FormatError, StoreFailed
from screensearch.explore.messages import Begin, Report, Sighting
from screensearch.explore.store import ShardStore
from screensearch.record import postgres_lease, postgres_sending, postgres_session
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.postgres_lease import Lease, resume_lease
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_session import ConnectionLost, Session, StaleOwner

pytest_plugins = ["postgres_fixtures"]

CHOICE = Choice("sig", 1, 4, 0.25, 0.1, 2, 0.7)


def founding(state: int) -> Transition:
    return Transition(
        *(EpisodeId(0, 0), 1, 0, "sig", Outcome.OK, Decision(state, "new"), 1),
        *(CHOICE, Reward(True, True, 0.1, 1.1), Evidence()),
    )


def during_recovery(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act once, when an owner that lost its connection has just found that it still holds the lease."""
    acted: list[bool] = []

    def resumed(session: Session, lease: Lease) -> None:
        resume_lease(session, lease)
        if not acted:
            acted.append(True)
            act()

    monkeypatch.setattr(postgres_sending, "resume_lease", resumed)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_session, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(postgres_lease, "END_MILLISECONDS", 300)


# -- what the server does not commit -----------------------------------------------------------


def test_a_commit_that_the_server_answers_with_a_rollback_is_none(log: PostgresLog, url: str) -> None:
    with closing(Session(url, "test")) as session:
        session.run([("BEGIN", ())])
        with pytest.raises(StoreFailed, match="division by zero"):
            session.rows("SELECT 1/0")
        with pytest.raises(StoreFailed, match="did not commit but said 'ROLLBACK'"):
            session.commit()


def test_a_question_that_fails_drops_the_batch_that_was_sent_before_it(log: PostgresLog, url: str) -> None:
    log.append(arrival(1))
    assert log.last_episode(0) == 1  # which sends it
    process = owner_process(url)
    with (
        psycopg.connect(url, options="-c search_path=screensearch") as other,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute("LOCK TABLE checkpoints IN ACCESS EXCLUSIVE MODE")
        asked = pool.submit(lambda: list(log.checkpoints()))
        wait_for(
            lambda: sql(
                url, "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", process
            )
        )
        sql(url, "SELECT pg_cancel_backend(%s)", process)
        with pytest.raises(StoreFailed, match="cancel"):
            asked.result(60)
    log.commit()
    assert log.last_sequence == 1
    assert log.append(arrival(2)) == 2
    log.commit()
    assert episodes(url) == [(1, 0), (2, 2)]


def test_damage_found_on_the_way_is_no_fault_of_the_message(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql(
        url,
        "CREATE FUNCTION damaged() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'invalid page' USING ERRCODE = 'XX001'; END $$",
    )
    store = ShardStore(log, Settings())
    find = log.find

    def find_damage(episode: EpisodeId, step: int) -> tuple[int, Entry] | None:
        if episode.worker == 9:
            log._rows("SELECT damaged()")
        return find(episode, step)

    monkeypatch.setattr(log, "find", find_damage)
    with pytest.raises(DamagedStore, match="invalid page"):
        store.handle(
            [
                Begin(EpisodeId(1, 0), Sighting(row=1), Evidence()),
                Report(EpisodeId(9, 0), 5, 0, CHOICE, Outcome.OK, Sighting(row=1), Evidence()),
            ]
        )
    with pytest.raises(StoreFailed, match="could not be written"):
        store.handle([Begin(EpisodeId(2, 0), Sighting(row=1), Evidence())])
    assert episodes(url) == [(1, 0)]


def test_batches_that_fail_leave_nothing_that_hinders_later_ones(log: PostgresLog, url: str) -> None:
    sql(
        url,
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no room'; END $$",
    )
    for number in range(1, 15):
        if number == 3:
            sql(url, "CREATE TRIGGER fail BEFORE INSERT ON screens EXECUTE FUNCTION fail()")
        if number == 9:
            sql(url, "DROP TRIGGER fail ON screens")
        if 3 <= number < 9:  # its first statement fails: the server does not even look at the next
            log.add_screen(replace(SCREEN, key=f"{number}"), b"")
        log.append(arrival(number))
        if 3 <= number < 9:
            with pytest.raises(StoreFailed, match="no room"):
                log.commit()
        else:
            log.commit()
    assert [number for _, number in episodes(url)] == [0, 1, 2, *range(9, 15)]


def test_an_append_that_failed_can_be_repeated(
    log: PostgresLog, url: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(postgres_lease, "RECONNECT_SECONDS", 0.2)
        server.stop("immediate")
        try:
            with pytest.raises(ConnectionLost):
                log.append(founding(5))  # whose signature has to be looked up
        finally:
            server.start()
    assert log.append(founding(5)) == 2
    log.commit()
    assert len(episodes(url)) == 2


# -- two owners --------------------------------------------------------------------------------


def test_what_a_successor_wrote_is_not_acknowledged_as_ones_own(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def succeed() -> None:
        sql(url, "UPDATE logs SET epoch = 2, token = 'successor'")
        with closing(Session(url, "successor", writes=True)) as session:
            successor = PostgresLog(session, 1, Lease(1, 2, "successor"))
            successor.append(arrival(7))
            successor.commit()

    log.append(arrival(1))
    end_connections(url)
    during_recovery(monkeypatch, succeed)
    with pytest.raises(StaleOwner):
        log.commit()
    assert episodes(url) == [(1, 0), (2, 7)]


def test_the_same_epoch_given_out_again_after_a_restore_is_not_ours(log: PostgresLog, url: str) -> None:
    sql(url, "UPDATE logs SET token = 'who took it after the restore'")
    log.append(arrival(1))
    with pytest.raises(StaleOwner):
        log.commit()
    assert episodes(url) == [(1, 0)]


def test_an_owner_in_another_database_is_left_alone(
    log: PostgresLog, url: str, server: PostgresServer
) -> None:
    sql(server.url(), "CREATE DATABASE another")
    process = owner_process(url)
    with (
        closing(PostgresLog.create(server.url("another"), "run", "")),  # the log of the same number
        closing(PostgresLog.open_to_write(server.url("another"), "run", "", take_over=True)),
    ):
        pass
    log.append(arrival(1))
    log.commit()
    assert owner_process(url) == process


def test_a_process_of_the_server_that_does_not_end_is_named(
    impatient: None, log: PostgresLog, url: str
) -> None:
    log.append(arrival(1))
    assert log.last_episode(0) == 1  # so that it holds the lease
    process = owner_process(url)
    with frozen(process), pytest.raises(StoreFailed, match=f"process {process} of the server of"):
        PostgresLog.open_to_write(url, "run", "", take_over=True)


# -- a server that is silent, or forgets ----------------------------------------------------------


@pytest.mark.parametrize("sent", [False, True])
def test_an_owner_outlasts_a_freeze_of_its_servers_process(
    impatient: None, log: PostgresLog, url: str, caplog: pytest.LogCaptureFixture, sent: bool
) -> None:
    log.append(arrival(1))
    if sent:
        assert log.last_episode(0) == 1
    with ThreadPoolExecutor(1) as pool:
        with frozen(owner_process(url)):
            committed = pool.submit(log.commit)
            wait_for(lambda: "connecting again" in caplog.text)
            assert not committed.done()
        committed.result(60)
    log.append(arrival(2))
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1), (3, 2)]


def test_an_owner_gives_a_frozen_server_up_and_may_ask_again_later(
    impatient: None, log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(arrival(1))
    process = owner_process(url)
    with frozen(process):
        with monkeypatch.context() as patched:
            patched.setattr(postgres_lease, "RECONNECT_SECONDS", 0.5)
            with pytest.raises(ConnectionLost, match=f"process {process} of the server"):
                log.commit()
        with pytest.raises(ConnectionLost, match="is not known"):
            log.append(arrival(2))
    log.commit()
    assert log.append(arrival(2)) == 3
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1), (3, 2)]


def test_whoever_waits_for_a_frozen_server_can_give_it_up_at_once(log: PostgresLog, url: str) -> None:
    log.append(arrival(1))
    with frozen(owner_process(url)), ThreadPoolExecutor(1) as pool:
        committed = pool.submit(log.commit)
        log.give_up()
        with pytest.raises(ConnectionLost, match="given up at an interrupt"):
            committed.result(postgres_session.SILENCE_SECONDS)
        log.close()


def test_a_server_that_was_given_up_is_not_waited_for_over_a_new_connection_either(url: str) -> None:
    with closing(Session(url, "test")) as session:
        session.give_up()
        session.connect_again()
        process = session.one("SELECT pg_backend_pid()")
        with frozen(process), pytest.raises(ConnectionLost, match="given up at an interrupt"):
            session.one("SELECT 1")


def test_an_owner_stops_when_the_server_has_lost_what_was_acknowledged(log: PostgresLog, url: str) -> None:
    for number in (1, 2):
        log.append(arrival(number))
        log.commit()
    with psycopg.connect(url, options="-c search_path=screensearch") as connection:  # an older backup
        connection.execute("SET screensearch.dropping = 'on'")
        connection.execute("DELETE FROM entries WHERE seq > 1")
    end_connections(url)
    log.append(arrival(3))
    with pytest.raises(AcknowledgedLost, match=r"lost acknowledged entries 2\.\.3"):
        log.commit()
    with pytest.raises(AcknowledgedLost, match="lost acknowledged entries"):
        log.append(arrival(3))
    log.close()
    with closing(PostgresLog.open_to_write(url, "run", "")) as successor:
        assert successor.append(arrival(4)) == 2
        successor.commit()
    assert episodes(url) == [(1, 0), (2, 4)]


def test_a_commit_is_durable_whatever_the_default_of_the_database_is(log: PostgresLog, url: str) -> None:
    ((database,),) = sql(url, "SELECT current_database()")
    sql(url, f'ALTER DATABASE "{database}" SET synchronous_commit = off')
    end_connections(url)
    log.append(arrival(1))
    log.commit()
    assert sql(url, "SHOW synchronous_commit") == [("off",)]
    assert log._one("SHOW synchronous_commit") == "on"


def test_a_fence_sees_who_has_the_lease_when_it_gets_it_whatever_the_default_of_the_database_is(
    log: PostgresLog, url: str
) -> None:
    ((database,),) = sql(url, "SELECT current_database()")
    sql(url, f"ALTER DATABASE \"{database}\" SET default_transaction_isolation = 'repeatable read'")
    end_connections(url)
    log.append(arrival(1))
    log.commit()
    assert sql(url, "SHOW default_transaction_isolation") == [("repeatable read",)]
    assert log._one("SHOW transaction_isolation") == "read committed"


# -- lost connections --------------------------------------------------------------------------


def test_a_connection_lost_again_while_it_is_made_is_made_again(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log.append(arrival(1))
    end_connections(url)
    during_recovery(monkeypatch, lambda: end_connections(url))
    log.commit()
    assert episodes(url) == [(1, 0), (2, 1)]
    assert {record.name for record in caplog.records} == {"screensearch.record.postgres_sending"}


def test_nothing_is_written_after_closing(log: PostgresLog, url: str) -> None:
    log.append(arrival(1))
    log.close()
    for write in (log.commit, lambda: log.append(arrival(2)), lambda: log.last_episode(0)):
        with pytest.raises(StoreFailed, match="is closed"):
            write()
    assert episodes(url) == [(1, 0)]


def test_a_batch_whose_connection_was_lost_can_be_dropped(log: PostgresLog, url: str) -> None:
    log.append(arrival(1))
    assert log.last_episode(0) == 1
    end_connections(url)
    log.rollback()
    log.commit()
    assert log.append(arrival(2)) == 2
    log.commit()
    assert episodes(url) == [(1, 0), (2, 2)]


@pytest.mark.parametrize("again", [False, True])
def test_a_batch_that_may_be_committed_cannot_be_dropped(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    sockets = Path(url.partition("host=")[2])
    with closing(Wire(sockets / ".s.PGSQL.5432", tmp_path)) as wire:
        with closing(PostgresLog.create(url.replace(str(sockets), str(tmp_path)), "run", "")) as log:
            log.add_screen(SCREEN, b"[]")
            log.append(arrival(0))
            log.commit()
            log.append(arrival(1))
            wire.keeps_answers = wire.refuses = True
            with monkeypatch.context() as patched:
                patched.setattr(postgres_lease, "RECONNECT_SECONDS", 0.2)
                with pytest.raises(ConnectionLost):
                    log.commit()
            wire.refuses = False
            if again:
                log.commit()
                assert log.append(arrival(2)) == 3
            else:
                log.rollback()
                with pytest.raises(StoreFailed, match="open the log again"):
                    log.append(arrival(2))
                assert log.last_sequence == 2
        wait_for(lambda: len(episodes(url)) == 2)  # nobody waited for the server to finish


def test_a_reader_connects_again(log: PostgresLog, url: str, server: PostgresServer) -> None:
    with closing(PostgresLog.open_to_read(url, "run", "")) as reader:
        assert reader.last_sequence == 1
        server.stop("fast")
        server.start()
        assert reader.last_sequence == 1
        reader.integrity_check()


def test_a_connection_that_the_server_ended_is_not_waited_for_though_it_lingers(
    url: str, tmp_path: Path, impatient: None
) -> None:
    sockets = Path(url.partition("host=")[2])
    with (
        closing(Wire(sockets / ".s.PGSQL.5432", tmp_path)) as wire,
        closing(PostgresLog.create(url.replace(str(sockets), str(tmp_path)), "run", "")) as log,
        psycopg.connect(url, options="-c search_path=screensearch") as other,
        ThreadPoolExecutor(1) as pool,
    ):
        log.add_screen(SCREEN, b"[]")
        log.append(arrival(0))
        log.commit()
        process = owner_process(url)
        other.execute("LOCK TABLE entries IN ACCESS EXCLUSIVE MODE")
        wire.lingers = True
        asked = pool.submit(log.find, EpisodeId(0, 0), 0)
        wait_for(
            lambda: sql(
                url, "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", process
            )
        )
        sql(url, "SELECT pg_terminate_backend(%s, 5000)", process)
        other.rollback()
        assert asked.result(60) == (1, arrival(0))
        wire.lingers = False


def test_entries_that_name_what_is_not_there_are_found(log: PostgresLog, url: str) -> None:
    sql(
        url,
        "INSERT INTO entries (log, seq, worker, episode, step, outcome, founded, signature, screen, detail) "
        "VALUES (1, 2, 0, 1, 0, 'start', false, NULL, 99, '{}')",
    )
    with pytest.raises(FormatError, match="1 entries name a screen that is not there"):
        log.integrity_check()


# -- who is cut off ----------------------------------------------------------------------------


def test_an_owner_says_for_how_long_its_server_owes_it_an_answer(log: PostgresLog, url: str) -> None:
    """And whoever asks the same server at that moment learns that it answers others."""
    log.append(arrival(1))
    assert log.silent_seconds == 0.0
    with ThreadPoolExecutor(1) as pool:
        with frozen(owner_process(url)):
            committing = pool.submit(log.commit)
            wait_for(lambda: log.silent_seconds > 0.5)
            wait_for(lambda: PostgresLog.answers(url))  # at once, unless the machine is busy
            assert not committing.done()
        committing.result(60)
    assert log.silent_seconds == 0.0


def test_a_server_that_takes_a_graph_in_owes_nobody_an_answer(log: PostgresLog, url: str) -> None:
    """A large one takes it a while, and for that an owner is not cut off."""
    log.append(arrival(1))
    log.commit()
    graph = StateGraph.fold(log.rows(), AmbiguitySettings())
    log.write_checkpoint(1, graph.digest(), graph.dump())
    with ThreadPoolExecutor(1) as pool:
        with frozen(owner_process(url)):
            committing = pool.submit(log.commit)
            sender = log._sender
            wait_for(lambda: sender is not None and sender._asked is not None)
            assert log.silent_seconds == 0.0
            assert not committing.done()
        committing.result(60)
    assert log.latest_checkpoint() is not None


def test_an_owner_that_was_refused_waits_for_no_answer(log: PostgresLog, url: str) -> None:
    sql(url, "UPDATE logs SET epoch = epoch + 1, token = 'another'")
    log.append(arrival(1))
    with pytest.raises(StaleOwner):
        log.commit()
    assert log.silent_seconds == 0.0


def test_a_server_that_is_silent_or_not_there_does_not_answer(server: PostgresServer, url: str) -> None:
    with frozen(server.process):  # so that no connection is accepted
        assert not PostgresLog.answers(url)
    assert not PostgresLog.answers("postgresql://screensearch@127.0.0.1:1/none")


def test_whoever_may_write_a_log_can_ask_whether_the_server_answers(log: PostgresLog, url: str) -> None:
    ((database,),) = sql(url, "SELECT current_database()")
    role = f"plain_{database}"
    sql(url, f'CREATE ROLE "{role}" LOGIN')
    wait_for(lambda: PostgresLog.answers(url.replace("://tester@", f"://{role}@")))
