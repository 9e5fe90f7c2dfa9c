"""The books find what they are for: an acknowledgement without its entry, a zombie's write, a step twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import psycopg
import pytest
from books import Books, note_writers
from fault_report import longest_silence
from noted import Told, notes_of
from one_log import SCREEN, arrival, step
from postgres_faults import end_connections
from postgres_server import PostgresServer, postgres_server
from refusals import read_refusals

from screensearch.domain.transition import Outcome
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.postgres_session import StaleOwner

SECOND = 10**9


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        note_writers(server.url())
        yield server


class Case:
    """A log with an arrival and two steps, of which the worker was told."""

    def __init__(self, url: str, folder: Path) -> None:
        self.run, self._folder, self._url = folder.name, folder, url
        notes_of(folder).mkdir()
        self.log = PostgresLog.create(url, self.run, "")
        self.log.add_screen(SCREEN, b"[]")
        self.books = Books(url, self.run, folder)
        self.told = [
            Told(1, 0, 0, number, "ok" if number else "start", 0 if number else None, None, 0, 1, 2)
            for number in range(4)
        ]
        self.log.append(arrival())
        for number in (1, 2):
            self.log.append(step(number))
        self.log.commit()
        self.tell(*self.told[:3])

    def tell(self, *told: Told) -> None:
        with (notes_of(self._folder) / f"{told[0].worker}-{told[0].life}.jsonl").open("ab") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in told)

    def as_someone_else(self, seq: int, number: int) -> None:
        """Write a step past the log's owner."""
        with psycopg.connect(self._url, application_name="screensearch owner zombie") as connection:
            connection.execute(
                "INSERT INTO screensearch.entries SELECT log, %s, worker, episode, %s, outcome, source, "
                "signature, target, founded, snapshot, reward, screen, detail FROM screensearch.entries "
                "JOIN screensearch.logs ON id = log WHERE run = %s AND seq = 2",
                (seq, number, self.run),
            )

    def decide_as_someone_else(self, seq: int) -> None:
        """Write a decision past the log's owner."""
        with psycopg.connect(self._url, application_name="screensearch owner zombie") as connection:
            connection.execute(
                "INSERT INTO screensearch.decisions SELECT id, %s, 99, 0, false FROM screensearch.logs "
                "WHERE run = %s",
                (seq, self.run),
            )

    def lose(self, seq: int) -> None:
        """Take an entry away, as no trigger would let anybody."""
        with psycopg.connect(self._url, options="-c session_replication_role=replica") as connection:
            connection.execute(
                "DELETE FROM screensearch.entries USING screensearch.logs "
                "WHERE id = log AND run = %s AND seq = %s",
                (self.run, seq),
            )

    def new_books(self) -> Books:
        return Books(self._url, self.run, self._folder)

    def problems(self) -> str:
        """Of two looks, since some things are judged when they have had time to settle."""
        return "; ".join([*self.books.look()[1], *self.books.look()[1]])


@pytest.fixture
def case(server: PostgresServer, tmp_path: Path) -> Iterator[Case]:
    case = Case(server.url(), tmp_path / f"{tmp_path.name}-run")
    with closing(case.log):
        yield case


def test_what_was_told_and_is_kept_holds(case: Case) -> None:
    assert case.problems() == ""
    assert (case.books.told, case.books.steps, case.books.unheard) == (3, 2, 0)
    assert case.books.founded == 1


def test_only_what_is_new_is_read_at_each_look(case: Case) -> None:
    assert len(case.books.look()[0]) == 3
    case.log.append(step(3))
    case.log.commit()
    case.tell(case.told[3])
    assert case.books.look() == ([case.told[3]], [])


def test_an_acknowledged_step_that_is_not_in_the_log_is_found(case: Case) -> None:
    case.tell(case.told[3])
    assert "in no log" in case.problems()


def test_a_step_that_was_acknowledged_as_another_is_found(case: Case) -> None:
    case.log.append(step(3))
    case.log.commit()
    case.tell(replace(case.told[3], state=1))
    assert "but the log has" in case.problems()


def test_a_step_that_was_acknowledged_twice_is_found(case: Case) -> None:
    case.tell(case.told[2])
    assert "twice" in case.problems()


def test_a_lost_step_that_was_acknowledged_is_found(case: Case) -> None:
    lost = replace(step(3), outcome=Outcome.LOST, decision=None, screen=None, reward=None)
    case.log.append(lost)
    case.log.commit()
    case.tell(case.told[3])
    assert "but the log has" in case.problems()


def test_a_write_by_anyone_but_the_owner_is_found(case: Case) -> None:
    case.as_someone_else(4, 3)
    case.tell(case.told[3])
    assert "was written by 'screensearch owner zombie'" in case.problems()


def test_a_decision_by_anyone_but_the_owner_is_found(case: Case) -> None:
    case.decide_as_someone_else(2)
    assert "the decision of entry 2" in case.problems()


def test_what_was_read_once_and_is_gone_is_found_by_new_books(case: Case) -> None:
    assert case.problems() == ""
    case.lose(3)
    assert case.problems() == ""
    assert "in no log" in "; ".join(case.new_books().look()[1])


def test_a_gap_is_found(case: Case) -> None:
    case.as_someone_else(5, 3)
    assert "comes after entry 3" in case.problems()


def test_the_last_step_of_a_worker_that_died_may_be_unheard_of(case: Case) -> None:
    case.log.append(step(3))
    case.log.commit()
    assert case.problems() == ""
    assert case.books.unheard == 1


def test_a_step_that_follows_one_that_nobody_was_told_of_is_found(case: Case) -> None:
    for number in (3, 4):
        case.log.append(step(number))
    case.log.commit()
    assert "nobody was told" in case.problems()


def test_a_step_that_follows_while_the_books_are_looked_at_is_no_problem_yet(case: Case) -> None:
    case.log.append(step(3))
    case.log.commit()
    assert case.books.look()[1] == []
    case.log.append(step(4))  # its worker's note of step 3 was written after the notes were read
    case.log.commit()
    assert case.books.look()[1] == []
    case.tell(case.told[3])
    assert case.problems() == ""


def test_a_step_of_an_episode_before_the_worker_s_latest_is_found(case: Case) -> None:
    case.log.append(arrival(1))
    case.log.append(step(3))
    case.log.commit()
    assert "comes after episode 1" in case.problems()


def test_an_owner_that_comes_back_after_its_log_was_taken_is_counted(
    case: Case, server: PostgresServer
) -> None:
    before = read_refusals(server.log)
    case.log.append(step(3))
    taken = PostgresLog.open_to_write(server.url(), case.run, "", take_over=True)
    with closing(taken), pytest.raises(StaleOwner):
        case.log.commit()
    after = read_refusals(server.log)
    assert (after.came_back - before.came_back, after.by_the_fence - before.by_the_fence) == (1, 0)


def test_an_owner_that_only_the_fence_keeps_from_writing_is_counted(
    case: Case, server: PostgresServer
) -> None:
    before = read_refusals(server.log)
    case.log.append(step(3))
    PostgresLog.open_to_write(server.url(), case.run, "", take_over=True).close()
    with pytest.raises(StaleOwner):
        case.log.commit()
    after = read_refusals(server.log)
    assert (after.came_back - before.came_back, after.by_the_fence - before.by_the_fence) == (1, 1)


def test_an_owner_that_loses_its_connection_and_keeps_its_log_is_not_counted(
    case: Case, server: PostgresServer
) -> None:
    before = read_refusals(server.log)
    end_connections(server.url())
    case.log.append(step(3))
    case.log.commit()
    assert read_refusals(server.log) == before


def test_the_longest_silence_is_that_of_the_worker_who_waited_longest() -> None:
    def told(worker: int, second: int) -> Told:
        at = second * SECOND
        return Told(1, worker, 0, second, "ok", 0, 0, 0, at, at)

    news = [told(0, 1), told(0, 3), told(0, 9), told(1, 2), told(1, 4), told(1, 8), told(1, 10)]
    assert longest_silence(news, [0, 1], 2 * SECOND, 10 * SECOND) == 6.0
    assert longest_silence(news, [0, 1, 2], 2 * SECOND, 10 * SECOND) == 8.0  # nobody heard of the third
