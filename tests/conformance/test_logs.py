"""What every log promises. A new backend adds a way to open one to `open_log`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres_server import PostgresServer, postgres_server
from properties import examples
from random_entries import entry_lists, screens

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import (
    Arrival,
    Choice,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    Outcome,
    Reward,
    Transition,
)
from screensearch.errors import FormatError, StoreFailed
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.columns import digest_of
from screensearch.record.graph import StateGraph
from screensearch.record.log import DuplicateEntry, Log, Outline, row_of
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.sqlite_log import SqliteLog

Open = Callable[[Path], Log]

SCREEN = Screen(
    "k", ("r0_c0|button",), ("r0_c0|ok",), "ok", Metadata("notepad", "light", "medium", "main|Notepad")
)
DECISION = Decision(0, "new")


def sqlite(folder: Path) -> Log:
    """Open the log of a folder to write, making it if needed."""
    path = folder / "log.sqlite"
    return SqliteLog.open_to_write(path) if path.exists() else SqliteLog.create(path)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def postgres(server: PostgresServer) -> Open:
    """The same in a database: the folder's name is that of the run."""

    def open_log(folder: Path) -> Log:
        if (folder / "made").exists():
            return PostgresLog.open_to_write(server.url(), str(folder), "")
        (folder / "made").touch()
        return PostgresLog.create(server.url(), str(folder), "")

    return open_log


@pytest.fixture(params=["sqlite", "postgres"])
def open_log(request: pytest.FixtureRequest) -> Open:
    return sqlite if request.param == "sqlite" else postgres(request.getfixturevalue("server"))


@pytest.fixture
def log(open_log: Open, tmp_path: Path) -> Iterator[Log]:
    with closing(open_log(tmp_path)) as log:
        log.add_screen(SCREEN, b"[]")
        yield log


def arrival(number: int = 0, decision: Decision = DECISION) -> Arrival:
    return Arrival(EpisodeId(0, number), decision, 1, Evidence())


def step(number: int, signature: str = "click", target: int = 0) -> Transition:
    return Transition(
        EpisodeId(0, 0),
        number,
        0,
        signature,
        Outcome.OK,
        Decision(target, "memo"),
        1,
        Choice(signature, number, 4, 0.25, 0.1, 2, 0.7),
        Reward(False, True, 0.1, 1.1),
        Evidence(),
    )


def told_by_outline(outline: Outline) -> tuple[object, ...]:
    episode = EpisodeId(outline.worker, outline.episode)
    seconds = outline.act_seconds, outline.decide_seconds
    return episode, outline.step, outline.founded, outline.screen, outline.screenshot, *seconds


def told_by_entry(entry: Entry) -> tuple[object, ...]:
    founded = entry.decision is not None and entry.decision.founded
    evidence = entry.evidence
    seconds = evidence.act_seconds, evidence.decide_seconds
    return entry.episode, entry.step, founded, entry.screen, evidence.screenshot, *seconds


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(50)
)
@given(entries=entry_lists(rows=2), cut=st.integers(0, 20))
def test_what_was_appended_is_read_back_equal(open_log: Open, entries: list[Entry], cut: int) -> None:
    with TemporaryDirectory() as folder:
        with closing(open_log(Path(folder))) as log:
            log.add_screen(SCREEN, b"")
            log.add_screen(replace(SCREEN, key="other"), b"")
            for entry in entries[:cut]:
                log.append(entry)
            log.commit()
            for entry in entries[cut:]:
                log.append(entry)
            log.commit()
        with closing(open_log(Path(folder))) as log:
            assert log.last_sequence == len(entries)
            assert list(log.read()) == list(enumerate(entries, start=1))
            assert list(log.rows()) == [
                row_of(number, entry) for number, entry in enumerate(entries, start=1)
            ]
            assert list(log.read(after=cut)) == list(enumerate(entries, start=1))[cut:]
            assert list(log.rows(after=cut)) == list(log.rows())[cut:]
            outlines = list(log.outlines())
            assert [outline.row for outline in outlines] == list(log.rows())
            assert list(map(told_by_outline, outlines)) == list(map(told_by_entry, entries))
            assert list(log.outlines(after=cut)) == outlines[cut:]
            for number, entry in enumerate(entries, start=1):
                assert log.find(entry.episode, entry.step) == (number, entry)
            log.integrity_check()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(50)
)
@given(given_screens=st.lists(screens, max_size=6))
def test_screens_are_stored_once_and_read_back_equal(open_log: Open, given_screens: list[Screen]) -> None:
    with TemporaryDirectory() as folder, closing(open_log(Path(folder))) as log:
        stored: dict[tuple[str, Metadata], int] = {}
        for place, screen in enumerate(given_screens):
            known = stored.get((screen.key, screen.metadata))
            assert log.screen_id(screen) == known
            row = log.add_screen(screen, str(place).encode())
            assert row == (known or len(stored) + 1)
            stored[screen.key, screen.metadata] = row
            if known is None:
                assert log.screen(row) == screen
                assert log.elements(row) == str(place).encode()
            assert log.has_screen(row)
        assert not log.has_screen(len(stored) + 1)
        assert not log.has_screen(0)


def test_numbers_go_on_without_a_gap_after_a_batch_was_dropped(log: Log) -> None:
    assert log.append(arrival()) == 1
    log.commit()
    assert log.append(step(1)) == 2
    assert log.add_screen(replace(SCREEN, key="dropped"), b"") == 2
    log.rollback()
    assert log.last_sequence == 1
    assert not log.has_screen(2)
    assert log.append(step(1, "another")) == 2
    log.commit()
    assert [entry.step for _, entry in log.read()] == [0, 1]
    assert next(iter(log.read(after=1)))[1] == step(1, "another")


def test_a_repeated_step_is_refused_and_the_batch_stands(log: Log) -> None:
    log.append(arrival())
    log.append(step(1))
    with pytest.raises(DuplicateEntry, match="step 1 of w0e0"):
        log.append(step(1, "another"))
    assert log.append(step(2)) == 3
    log.commit()
    assert [number for number, _ in log.read()] == [1, 2, 3]
    assert log.find(EpisodeId(0, 0), 1) == (2, step(1))
    assert log.find(EpisodeId(0, 0), 7) is None


def test_questions_about_the_whole_log_leave_the_open_batch_alone(open_log: Open, tmp_path: Path) -> None:
    with closing(open_log(tmp_path)) as log:
        log.add_screen(SCREEN, b"")
        log.append(arrival())
        log.commit()
        log.append(step(1))
        log.integrity_check()
        assert log.latest_checkpoint() is None
        assert log.damaged_checkpoints() == []
        log.append(step(2))
        log.integrity_check()
        log.commit()
    with closing(open_log(tmp_path)) as log:
        assert [number for number, _ in log.read()] == [1, 2, 3]


def test_a_step_is_known_as_repeated_also_after_an_earlier_one_was_added(
    open_log: Open, tmp_path: Path
) -> None:
    with closing(open_log(tmp_path)) as log:
        log.add_screen(SCREEN, b"")
        log.append(arrival())
        log.append(arrival(5, Decision(0, "memo")))
        log.commit()
    with closing(open_log(tmp_path)) as log:
        log.add_screen(replace(SCREEN, key="other"), b"")
        assert log.last_episode(0) == 5  # a question in the middle of the batch
        assert log.append(arrival(3, Decision(0, "memo"))) == 3
        log.commit()
        with pytest.raises(DuplicateEntry):
            log.append(arrival(5, Decision(0, "memo")))


def test_a_key_may_be_long(open_log: Open, tmp_path: Path) -> None:
    screen = replace(SCREEN, key=Random(0).randbytes(10_000).hex())  # which does not compress well
    with closing(open_log(tmp_path)) as log:
        row = log.add_screen(screen, b"")
        log.commit()
    with closing(open_log(tmp_path)) as log:
        assert log.screen_id(screen) == row
        assert log.screen(row) == screen


def test_nothing_of_an_uncommitted_batch_is_there_after_reopening(open_log: Open, tmp_path: Path) -> None:
    with closing(open_log(tmp_path)) as log:
        log.add_screen(SCREEN, b"")
        log.append(arrival())
        log.commit()
        log.append(step(1))
    with closing(open_log(tmp_path)) as log:
        assert log.last_sequence == 1
        assert log.append(step(1)) == 2


def test_an_entry_that_the_fold_could_not_use_is_refused_and_the_batch_stands(log: Log) -> None:
    log.append(arrival())
    for bad in (
        replace(step(1), decision=None),
        replace(step(1), signature=None),
        replace(step(1), reward=None),
        replace(step(1), reward=Reward(True, True, 0.0, float("nan"))),
        replace(step(1), choice=Choice("click", 1, 1, float("inf"), 0.0, 0, 0.0)),
        replace(step(1), evidence=Evidence(act_seconds=float("nan"))),
        replace(step(1), note="lone \ud800 surrogate"),
        replace(step(1), signature="lone \udfff surrogate"),
    ):
        with pytest.raises(FormatError):
            log.append(bad)
    with pytest.raises(FormatError):
        log.add_screen(replace(SCREEN, key="b", text="\ud800"), b"")
    with pytest.raises(FormatError):
        log.add_screen(replace(SCREEN, metadata=replace(SCREEN.metadata, window="\ud800")), b"")
    log.commit()
    assert [number for number, _ in log.read()] == [1]


def test_an_entry_that_names_no_stored_screen_is_refused(log: Log) -> None:
    with pytest.raises(StoreFailed):
        log.append(replace(arrival(), screen=7))
    assert log.last_sequence == 0


def test_a_state_is_founded_once(log: Log) -> None:
    log.append(arrival())
    with pytest.raises(StoreFailed):
        log.append(arrival(1))


def test_each_state_has_its_founder_and_each_screen_its_first_decision(
    open_log: Open, tmp_path: Path
) -> None:
    with closing(open_log(tmp_path)) as log:
        first = log.add_screen(SCREEN, b"")
        near = log.add_screen(replace(SCREEN, key="near"), b"")
        other = log.add_screen(replace(SCREEN, key="other"), b"")
        captured = log.add_screen(replace(SCREEN, key="captured"), b"")
        log.append(replace(arrival(), screen=first))
        log.append(replace(step(1), screen=near, decision=Decision(0, "match", 0.95)))
        log.append(replace(step(2), screen=other, decision=Decision(1, "new")))
        log.append(replace(step(3), screen=first, decision=Decision(0, "memo")))
        log.append(replace(step(4), outcome=Outcome.CAPTURE, screen=captured, decision=None, reward=None))
        log.commit()
        assert (log.founder(0), log.founder(1), log.founder(2)) == (first, other, None)
        decided = [(first, 0, True), (near, 0, False), (other, 1, True)]
        assert list(log.decided_screens()) == decided
        log.append(replace(arrival(1, Decision(1, "memo")), screen=first))  # decided before, and otherwise
        log.commit()
    with closing(open_log(tmp_path)) as log:
        log.append(replace(arrival(2, Decision(1, "memo")), screen=captured))
        log.append(replace(arrival(3, Decision(0, "memo")), screen=near))
        log.commit()
        decided.append((captured, 1, False))
        assert list(log.decided_screens()) == decided
        assert list(log.known_screens()) == [(each, log.screen(each[0])) for each in decided]
        log.integrity_check()


def test_the_last_episode_of_a_worker_is_known(log: Log) -> None:
    assert log.last_episode(0) == -1
    log.append(arrival(4))
    log.append(arrival(2, Decision(0, "memo")))
    assert log.last_episode(0) == 4
    assert log.last_episode(1) == -1


def test_a_checkpoint_gives_the_graph_back_and_its_digest_is_kept_for_ever(log: Log) -> None:
    assert log.latest_checkpoint() is None
    graph = StateGraph(AmbiguitySettings())
    noted = []
    for number in range(5):
        entry: Entry = step(number) if number else arrival()
        graph.apply_entry(log.append(entry), entry)
        log.write_checkpoint(graph.sequence, graph.digest(), graph.dump())
        noted.append((graph.sequence, graph.digest()))
    log.commit()
    latest = log.latest_checkpoint()
    assert latest == (5, graph.digest(), graph.dump())
    assert list(log.checkpoints()) == noted
    assert log.damaged_checkpoints() == []


def test_a_checkpoint_written_again_must_agree_with_the_first(log: Log) -> None:
    log.append(arrival())
    log.write_checkpoint(1, digest_of([b"graph"]), b"graph")
    log.write_checkpoint(1, digest_of([b"graph"]), b"graph")
    with pytest.raises(FormatError, match="at entry 1"):
        log.write_checkpoint(1, digest_of([b"other"]), b"other")
    with pytest.raises(StoreFailed, match="beyond the last entry"):
        log.write_checkpoint(2, "", b"")
    log.commit()
    assert log.last_sequence == 1


def test_a_checkpoint_that_does_not_match_its_digest_is_passed_over_and_named(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    log.append(arrival())
    log.write_checkpoint(1, digest_of([b"graph"]), b"another graph")
    assert log.latest_checkpoint() is None
    assert "does not match its digest" in caplog.text
    log.append(step(1))
    log.write_checkpoint(2, digest_of([b"whole"]), b"whole")
    log.append(step(2))
    log.write_checkpoint(3, digest_of([b"graph"]), b"another graph")
    assert log.latest_checkpoint() == (2, digest_of([b"whole"]), b"whole")
    (sentence,) = log.damaged_checkpoints()
    assert "entry 3 of" in sentence
    log.commit()
    log.integrity_check()  # the cache is not the truth


def test_what_is_not_there_is_said_so(log: Log) -> None:
    with pytest.raises(FormatError, match="no screen 9"):
        log.screen(9)
    with pytest.raises(FormatError, match="no screen 9"):
        log.elements(9)


def test_closing_twice_is_harmless(open_log: Open, tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.close()
    log.close()
