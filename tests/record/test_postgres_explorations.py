"""An exploration with one owner after another has its log until another exploration takes it."""

from __future__ import annotations

from contextlib import closing

import pytest
from postgres_faults import arrival, end_connections, episodes, sql
from postgres_server import PostgresServer

from screensearch.errors import RunBusy, RunContended
from screensearch.record import postgres_lease
from screensearch.record.postgres_lease import session_name
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_session import StaleOwner
from screensearch.record.stores import PostgresStore

pytest_plugins = ["postgres_fixtures"]

OURS, THEIRS = "0123456789abcdef", "fedcba9876543210"


def by(exploration: str, url: str) -> PostgresStore:
    return PostgresStore(url, "run", exploration=exploration)


def write(log: PostgresLog, number: int) -> None:
    log.append(arrival(number))
    log.commit()


@pytest.fixture
def free(log: PostgresLog) -> None:
    """There is a log, and nobody owns it."""
    log.close()


@pytest.mark.usefixtures("free")
def test_an_owner_replaces_the_one_before_it_in_its_exploration_without_asking(url: str) -> None:
    with (
        closing(by(OURS, url).open_to_write()) as before,
        closing(by(OURS, url).open_to_write(again=True)) as after,
    ):
        write(after, 1)
        with pytest.raises(StaleOwner):
            write(before, 2)
        with pytest.raises(RunBusy, match=r"is owned by process \d+ on .* --take-over"):
            by(THEIRS, url).open_to_write()
    assert episodes(url) == [(1, 0), (2, 1)]


@pytest.mark.usefixtures("free")
@pytest.mark.parametrize("gone", [False, True])
def test_an_exploration_that_lost_its_log_to_another_does_not_take_it_back(url: str, gone: bool) -> None:
    """Else two clusters that both come back after a time without the database would never be done."""
    with closing(by(OURS, url).open_to_write()) as before:
        end_connections(url)  # and it does not notice for more than a minute
        sql(url, "UPDATE logs SET place = 'elsewhere/1:1', renewed = now() - interval '2 minutes'")
        with closing(by(THEIRS, url).open_to_write()) as rightful:
            with pytest.raises(StaleOwner):
                write(before, 1)
            if gone:
                end_connections(url)
                sql(url, "UPDATE logs SET place = 'elsewhere/1:1', renewed = now() - interval '2 minutes'")
            with pytest.raises(RunBusy, match="which took it over from this exploration"):
                by(OURS, url).open_to_write(again=True)
            write(rightful, 2)
    assert episodes(url) == [(1, 0), (2, 2)]


@pytest.mark.usefixtures("free")
def test_a_log_that_the_other_exploration_has_closed_is_free_for_the_first(url: str) -> None:
    by(OURS, url).open_to_write().close()
    by(THEIRS, url).open_to_write().close()
    with closing(by(OURS, url).open_to_write(again=True)) as again:
        assert again.epoch == 4


@pytest.mark.usefixtures("free")
def test_each_opening_without_an_exploration_is_one_of_its_own(url: str) -> None:
    with closing(by("", url).open_to_write()), pytest.raises(RunBusy):
        by("", url).open_to_write()


@pytest.mark.usefixtures("free")
def test_a_log_without_an_owner_that_somebody_holds_is_worth_another_try(url: str) -> None:
    """Its last owner is about to leave it, or the next one to take it."""
    with closing(by(THEIRS, url).open_to_write()) as holder:
        sql(url, "UPDATE logs SET token = ''")
        for again in (False, True):
            with pytest.raises(RunContended, match="at this moment: try again"):
                by(OURS, url).open_to_write(again=again)
        assert holder.last_sequence == 1


@pytest.mark.usefixtures("free")
def test_who_loses_a_race_for_a_log_is_told_to_try_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = postgres_lease._lock

    def late(*arguments: object) -> bool:
        sql(url, "UPDATE logs SET epoch = epoch + 1, token = %s", f"{THEIRS}.1")
        return lock(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(postgres_lease, "_lock", late)
    with pytest.raises(RunContended, match="at this moment"):
        by(OURS, url).open_to_write()


@pytest.mark.usefixtures("free")
def test_the_server_knows_an_owner_by_the_whole_of_its_token(url: str, server: PostgresServer) -> None:
    """It cuts longer names: then it could not be asked for the connections of one owner alone."""
    with closing(by(OURS, url).open_to_write()):
        ((token,),) = sql(url, "SELECT token FROM logs")
        named = sql(url, "SELECT 1 FROM pg_stat_activity WHERE application_name = %s", session_name(token))
    assert token.startswith(f"{OURS}.")
    assert named == [(1,)]
