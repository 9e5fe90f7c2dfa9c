"""The tables of one version and the code of the next: rows, others at work, and steps that fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from one_log import step
from postgres_faults import arrival, end_connections, episodes, sql, wait_for

from screensearch.domain.transition import Entry
from screensearch.errors import FormatError, NewerFormat, RunBusy, RunNotFound, StoreFailed
from screensearch.record import postgres_lease, postgres_log, postgres_schema, postgres_session
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_schema import NotMigrated
from screensearch.record.postgres_session import StaleOwner
from screensearch.record.stores import PostgresStore

pytest_plugins = ["postgres_fixtures"]

SECOND = "ALTER TABLE entries ADD COLUMN weight integer NOT NULL DEFAULT 7; CREATE INDEX ON entries (weight);"
BROKEN = "ALTER TABLE screens ADD COLUMN weight integer; SELECT 1 / 0;"
STEPS = 40

WAITING_FOR_A_LEASE = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s AND "
    "datname = current_database()"
)


@contextmanager
def version_with(*steps: str) -> Iterator[None]:
    """Be the version that has these steps after the first."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(postgres_schema, "MIGRATIONS", (postgres_schema.MIGRATIONS[0], *steps))
        yield


@pytest.fixture
def filled(log: PostgresLog) -> PostgresLog:
    """A log of the first version with entries in it, open for writing."""
    for number in range(1, STEPS + 1):
        log.append(step(number))
    graph = StateGraph.fold(log.rows(), AmbiguitySettings())
    log.write_checkpoint(log.last_sequence, graph.digest(), b"graph")
    log.commit()
    return log


def content(url: str) -> tuple[str, list[tuple[int, Entry]]]:
    """The digest of the graph, and every entry."""
    with closing(PostgresLog.open_to_read(url, "run", "")) as reader:
        reader.integrity_check()
        return StateGraph.fold(reader.rows(), AmbiguitySettings()).digest(), list(reader.read())


def versions(url: str) -> list[int]:
    return [number for (number,) in sql(url, "SELECT number FROM migrations ORDER BY number")]


def columns(url: str, table: str) -> list[str]:
    found = sql(
        url,
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'screensearch' "
        "AND table_name = %s",
        table,
    )
    return [name for (name,) in found]


# -- readers -----------------------------------------------------------------------------------


def test_a_reader_that_meets_earlier_tables_is_told_what_brings_them_up_to_date(
    filled: PostgresLog, url: str
) -> None:
    filled.close()
    with version_with(SECOND):
        for read in (PostgresLog.open_to_read, PostgresLog.how_far):
            with pytest.raises(FormatError, match=r"of version 1, and .* reads version 2: resuming a run"):
                read(url, "run", "")
    assert versions(url) == [1]
    assert len(content(url)[1]) == 1 + STEPS


def test_whoever_will_write_may_look_at_earlier_tables_before(filled: PostgresLog, url: str) -> None:
    filled.close()
    with version_with(SECOND):
        assert PostgresStore(url, "run").shards() == [0]
        PostgresStore(url, "run").check(owned=False, to_write=True)
        with pytest.raises(RunNotFound):
            PostgresStore(url, "nobody").check(owned=False, to_write=True)
    assert versions(url) == [1]


def test_a_database_without_tables_has_no_run(url: str) -> None:
    assert PostgresStore(url, "run").shards() == []
    for attempt in (PostgresStore(url, "run").check, PostgresStore(url, "run").open_to_read):
        with pytest.raises(RunNotFound):
            attempt(owned=False)


# -- writers -----------------------------------------------------------------------------------


def open_again(url: str) -> None:
    PostgresLog.open_to_write(url, "run", "").close()


def begin_another(url: str) -> None:
    PostgresLog.create(url, "another", "").close()


@pytest.mark.parametrize("begin", [open_again, begin_another])
def test_whoever_writes_first_brings_the_tables_up_to_date_and_changes_no_row(
    filled: PostgresLog, url: str, begin: Callable[[str], None]
) -> None:
    filled.close()
    before = content(url)
    with version_with(SECOND):
        begin(url)
        assert versions(url) == [1, 2]
        assert content(url) == before
        with closing(PostgresLog.open_to_write(url, "run", "")) as log:
            assert log.append(step(STEPS + 1)) == STEPS + 2
            log.commit()
            assert list(log.checkpoints()) == [(1 + STEPS, before[0])]
        assert content(url)[1][:-1] == before[1]
        assert sql(url, "SELECT DISTINCT weight FROM entries") == [(7,)]
    for attempt in (PostgresLog.open_to_read, PostgresLog.open_to_write, PostgresLog.create):
        with pytest.raises(NewerFormat, match="nothing was changed"):
            attempt(url, "run", "")


def test_several_steps_are_made_one_after_another(filled: PostgresLog, url: str) -> None:
    filled.close()
    before = content(url)
    with version_with(SECOND, "ALTER TABLE entries RENAME COLUMN weight TO mass;"):
        open_again(url)
        assert versions(url) == [1, 2, 3]
        assert "mass" in columns(url, "entries")
        assert content(url) == before


def test_of_many_who_begin_at_once_one_brings_the_tables_up_to_date_and_the_others_wait(
    filled: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for longer than any other lock is waited for: there may be much to do."""
    filled.close()
    before = content(url)
    for number in range(6):
        PostgresLog.create(url, f"run {number}", "").close()
    monkeypatch.setitem(postgres_session._SESSION, "lock_timeout", "100ms")

    def begin(number: int) -> int:
        with closing(PostgresLog.open_to_write(url, f"run {number}", "")) as log:
            return log.last_sequence

    def waiting() -> int:
        ((count,),) = sql(
            url,
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND "
            "datname = current_database() AND clock_timestamp() - query_start > interval '300 ms'",
        )
        return int(count)

    with version_with(SECOND):
        with ThreadPoolExecutor(6) as pool, psycopg.connect(url, autocommit=True) as slow:
            slow.execute("SELECT pg_advisory_lock(%s)", [postgres_schema._MIGRATION_LOCK])
            beginning = [pool.submit(begin, number) for number in range(6)]
            wait_for(lambda: waiting() == 6 or any(each.done() for each in beginning))
            slow.execute("SELECT pg_advisory_unlock_all()")
            assert [each.result() for each in beginning] == [0] * 6
        assert versions(url) == [1, 2]
        assert content(url) == before


# -- steps that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [(BROKEN,), (SECOND, BROKEN)])
def test_a_step_that_fails_leaves_everything_as_it_was_and_says_so(
    filled: PostgresLog, url: str, steps: tuple[str, ...]
) -> None:
    filled.close()
    before = content(url)
    complaint = (
        f"from version 1 to version {1 + len(steps)}: .*division by zero; they are as they were: mend that"
    )
    with version_with(*steps):
        for begin in (open_again, begin_another):
            with pytest.raises(NotMigrated, match=complaint):
                begin(url)
    assert versions(url) == [1]
    assert "weight" not in columns(url, "entries") + columns(url, "screens")
    assert content(url) == before
    with closing(PostgresLog.open_to_write(url, "run", "")) as log:  # the version before goes on
        log.append(step(STEPS + 1))
        log.commit()
    with version_with(SECOND):  # and so does one whose step is right
        open_again(url)
        assert len(content(url)[1]) == STEPS + 2


def test_tables_that_somebody_reads_for_long_are_not_waited_for_for_ever(
    filled: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    monkeypatch.setitem(postgres_session._SESSION, "lock_timeout", "100ms")
    with version_with(SECOND):
        with psycopg.connect(url, options="-c search_path=screensearch") as dump:
            dump.execute("SELECT count(*) FROM entries")
            with pytest.raises(NotMigrated, match="lock timeout; they are as they were"):
                open_again(url)
        open_again(url)
        assert versions(url) == [1, 2]


# -- owners of the version before --------------------------------------------------------------


@pytest.mark.parametrize("begin", [open_again, begin_another])
def test_an_owner_of_an_earlier_version_that_is_at_work_is_named_and_left_alone(
    filled: PostgresLog, url: str, begin: Callable[[str], None]
) -> None:
    with version_with(SECOND):
        with pytest.raises(RunBusy, match=f"process {os.getpid()} on .* writes run run: stop those runs"):
            begin(url)
        assert versions(url) == [1]
        filled.append(step(STEPS + 1))
        filled.commit()
        filled.close()
        begin(url)
        assert versions(url) == [1, 2]
        assert len(content(url)[1]) == STEPS + 2


@pytest.mark.parametrize("sent", [False, True])
def test_an_owner_of_an_earlier_version_that_comes_back_is_refused(
    filled: PostgresLog, url: str, sent: bool
) -> None:
    before = content(url)
    filled.append(step(STEPS + 1))
    if sent:
        assert filled.last_episode(0) == 0
    end_connections(url)
    with version_with(SECOND):
        begin_another(url)
        open_again(url)  # its log is free at once, though its process lives
        with pytest.raises(StaleOwner):
            filled.commit()
        assert content(url) == before
    with pytest.raises(NewerFormat):
        open_again(url)


def test_an_owner_that_is_overtaken_while_it_opens_its_log_does_not_get_it(
    log: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.close()
    take_lease = postgres_lease.take_lease

    def take_late(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(postgres_log, "take_lease", take_lease)
        with version_with(SECOND):
            begin_another(url)
        return take_lease(*given, **options)

    monkeypatch.setattr(postgres_log, "take_lease", take_late)
    with pytest.raises(NewerFormat):
        open_again(url)
    with version_with(SECOND):
        open_again(url)
        assert episodes(url) == [(1, 0)]


def test_a_batch_under_way_is_whole_before_the_tables_change(
    filled: PostgresLog, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that holds its lease is waited for, also if nobody has seen that it is at work."""
    filled.append(step(STEPS + 1))
    assert filled.last_episode(0) == 0  # which sends the batch: its transaction holds the lease now
    monkeypatch.setattr(postgres_schema, "owners_at_work", lambda session: [])
    with version_with(SECOND), ThreadPoolExecutor(1) as pool:
        beginning = pool.submit(begin_another, url)
        wait_for(lambda: beginning.done() or sql(url, WAITING_FOR_A_LEASE, "UPDATE logs%"))
        assert not beginning.done()
        filled.commit()
        beginning.result()
        assert versions(url) == [1, 2]
        filled.append(arrival(1))
        with pytest.raises(StoreFailed):
            filled.commit()
        assert len(content(url)[1]) == STEPS + 2
