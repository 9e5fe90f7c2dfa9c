"""What is special to the log in a file: triggers, readers beside the writer, damage, and sudden death."""

from __future__ import annotations

import random
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import one_log
import pytest
from damage import damage_index
from one_log import SCREEN, arrival, fill, step

from screensearch.errors import DamagedStore, FormatError, NewerFormat, RunNotFound, StoreFailed
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.sqlite_log import SqliteLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.sqlite"
    with closing(SqliteLog.create(path)) as log:
        fill(log)
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("table", ["entries", "signatures", "metadata", "screens", "checkpoints"])
def test_what_was_written_can_be_neither_changed_nor_deleted(path: Path, table: str) -> None:
    with closing(SqliteLog.open_to_write(path)) as log:
        graph = StateGraph.fold(log.rows(), AmbiguitySettings())
        log.write_checkpoint(graph.sequence, graph.digest(), graph.dump())
        log.commit()
    with closing(sqlite3.connect(path)) as outsider:
        (key,) = [row[1] for row in outsider.execute(f"PRAGMA table_info({table})") if row[5]]
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {key} = {key} + 100"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                outsider.execute(statement)


def test_a_closed_log_is_one_file_and_reading_it_leaves_nothing_beside_it(path: Path) -> None:
    before = files(path.parent)
    assert list(before) == ["log.sqlite"]
    with closing(SqliteLog.open_to_read(path)) as one, closing(SqliteLog.open_to_read(path)) as other:
        assert list(one.read()) == list(other.read())
        assert files(path.parent) == before
    assert files(path.parent) == before


def test_readers_see_what_is_committed_while_the_owner_writes(path: Path) -> None:
    with closing(SqliteLog.open_to_read(path)) as early, closing(SqliteLog.open_to_write(path)) as writer:
        writer.append(step(4))
        with closing(SqliteLog.open_to_read(path, owned=True)) as late:
            assert (early.last_sequence, late.last_sequence) == (4, 4)
            writer.commit()
            assert (early.last_sequence, late.last_sequence) == (5, 5)
            assert list(early.read(after=4)) == list(late.read(after=4)) == [(5, step(4))]
            writer.append(step(5))
            writer.commit()
            assert [row.signature for row in late.rows(after=5)] == ["click::5"]


def test_a_reading_that_is_under_way_goes_on_with_what_is_added_meanwhile(path: Path) -> None:
    with closing(SqliteLog.open_to_write(path)) as log:
        entries = log.read()
        assert next(entries)[0] == 1
        log.append(step(4))
        log.commit()
        assert [number for number, _ in entries] == [2, 3, 4, 5]


def test_a_reader_cannot_write(path: Path) -> None:
    with closing(SqliteLog.open_to_read(path)) as log:
        with pytest.raises(StoreFailed, match="reading only"):
            log.append(step(9))
        with pytest.raises(StoreFailed, match="reading only"):
            log.write_checkpoint(1, "", b"")
        assert log.add_screen(SCREEN, b"") == 1  # is there already: nothing to write


def test_a_log_is_never_created_over_a_file(path: Path) -> None:
    with pytest.raises(StoreFailed, match="exists already"):
        SqliteLog.create(path)


def test_the_owner_uses_the_write_ahead_log_and_full_synchronisation(path: Path) -> None:
    with closing(SqliteLog.open_to_write(path)) as log:
        assert log._one("PRAGMA journal_mode") == "wal"
        assert log._one("PRAGMA synchronous") == 2


def test_a_failed_commit_is_said_so_and_the_log_goes_on_from_the_last_good_one(path: Path) -> None:
    with closing(SqliteLog.open_to_write(path)) as log:
        log._connection.execute(f"PRAGMA max_page_count = {log._one('PRAGMA page_count')}")
        with pytest.raises(StoreFailed, match="full"):
            log.append(replace(step(4), note="x" * 100_000))
        assert log.last_sequence == 4
        log._connection.execute("PRAGMA max_page_count = 100000")
        assert log.append(step(4)) == 5
        log.commit()
        assert log.last_sequence == 5


def damage(path: Path, kind: str) -> None:
    content = bytearray(path.read_bytes())
    if kind == "empty":
        content.clear()
    elif kind == "not a database":
        content[:] = b"hello " * 1000
    elif kind == "half a page short":
        del content[-2000:]
    elif kind == "cut in the middle":
        del content[len(content) // 2 :]
    elif kind == "another program's":
        content[68:72] = b"xxxx"
    elif kind == "newer":
        content[60:64] = (99).to_bytes(4, "big")
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("empty", FormatError, "0 bytes"),
        ("not a database", FormatError, "does not begin as"),
        ("half a page short", FormatError, "truncated"),
        ("cut in the middle", FormatError, "truncated"),
        ("another program's", FormatError, "another program"),
        ("newer", NewerFormat, "format 99"),
    ],
)
@pytest.mark.parametrize("open_log", [SqliteLog.open_to_read, SqliteLog.open_to_write])
def test_a_log_that_cannot_be_read_is_refused_and_left_as_it_is(
    path: Path, kind: str, error: type[Exception], message: str, open_log: object
) -> None:
    damage(path, kind)
    before = files(path.parent)
    with pytest.raises(error, match=message):
        open_log(path)  # type: ignore[operator]
    assert files(path.parent) == before


def test_a_missing_log_is_said_so_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="no log at"):
        SqliteLog.open_to_read(tmp_path / "log.sqlite")
    assert not list(tmp_path.iterdir())


def test_damage_inside_the_file_is_found_by_the_integrity_check(path: Path) -> None:
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    for place in range(page, len(content) - page, page):
        content[place : place + 16] = b"\xff" * 16
    path.write_bytes(content)
    with pytest.raises(FormatError, match="damaged"), closing(SqliteLog.open_to_read(path)) as log:
        log.integrity_check()


@pytest.mark.parametrize("index", ["sqlite_autoindex_signatures_1", "founders"])
def test_damage_of_an_index_that_nobody_reads_is_found(path: Path, index: str) -> None:
    damage_index(path, index)
    with closing(SqliteLog.open_to_read(path)) as log:
        assert list(log.read())
        with pytest.raises(DamagedStore, match=r"log\.sqlite is damaged: .*; restore it from a copy$"):
            log.check_pages()


def test_an_index_that_lacks_a_row_of_its_table_is_found(path: Path) -> None:
    change = (
        "UPDATE sqlite_master SET sql = replace(sql, 'founded = {}', 'founded = {}') WHERE name = 'founders'"
    )
    for was, becomes in ((1, 7), (7, 1)):
        with closing(sqlite3.connect(path, isolation_level=None)) as outsider:
            outsider.execute("PRAGMA writable_schema = ON")
            outsider.execute(change.format(was, becomes))
        if becomes == 7:
            with closing(sqlite3.connect(path, isolation_level=None)) as outsider:
                outsider.execute("REINDEX founders")
    with closing(SqliteLog.open_to_read(path)) as log, pytest.raises(DamagedStore, match="founders"):
        log.check_pages()


def test_a_missing_entry_is_found_by_the_integrity_check(path: Path) -> None:
    with closing(sqlite3.connect(path)) as outsider:
        outsider.execute("DROP TRIGGER entries_no_delete")
        outsider.execute("DELETE FROM entries WHERE seq = 2")
        outsider.commit()
    with closing(SqliteLog.open_to_read(path)) as log:
        with pytest.raises(FormatError, match="3 entries but counts 4"):
            log.integrity_check()
        with pytest.raises(FormatError, match="gap"):
            StateGraph.fold(log.rows(), AmbiguitySettings())


def commit_before_each_statement_of(reader: SqliteLog, writer: SqliteLog) -> None:
    """Let the writer commit one more entry whenever the reader begins to read."""

    def one_more(_: str) -> None:
        writer.append(step(writer.last_sequence))
        writer.commit()

    reader._connection.set_trace_callback(one_more)


def test_the_integrity_check_sees_one_moment_while_the_owner_writes(path: Path) -> None:
    with closing(SqliteLog.open_to_write(path)) as writer:
        with closing(SqliteLog.open_to_read(path, owned=True)) as reader:
            commit_before_each_statement_of(reader, writer)
            reader.integrity_check()
            reader._connection.set_trace_callback(None)
            assert writer.last_sequence > 4
            assert reader.last_sequence == writer.last_sequence  # and the moment has passed
        writer.append(step(writer.last_sequence))
        writer.integrity_check()  # within the open batch, which stands
        writer.commit()


def test_the_integrity_check_finds_nothing_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    SqliteLog.create(path).close()
    with subprocess.Popen(
        [sys.executable, one_log.__file__, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with closing(SqliteLog.open_to_read(path, owned=True)) as log:
            for _ in range(25):
                writer.stdout.readline()
                log.integrity_check()
        writer.kill()


def checkpointed(path: Path) -> list[int]:
    """Note a checkpoint at the last two entries; returns where."""
    with closing(SqliteLog.open_to_write(path)) as log:
        for last in (log.last_sequence - 1, log.last_sequence):
            graph = StateGraph.fold(islice(log.rows(), last), AmbiguitySettings())
            log.write_checkpoint(last, graph.digest(), graph.dump())
        log.commit()
        return [last - 1, last]


def flip_a_byte(path: Path, sequence: int, place: int) -> None:
    """Flip one byte of a graph that is kept, in the file itself."""
    with closing(sqlite3.connect(path)) as outsider:
        ((graph,),) = outsider.execute("SELECT graph FROM graphs WHERE seq = ?", (sequence,))
    content = bytearray(path.read_bytes())
    (found,) = [match.start() for match in re.finditer(re.escape(graph), content)]
    content[found + place] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0, 20, 60])
def test_a_damaged_graph_is_passed_over_for_the_older_one_and_then_for_none(path: Path, place: int) -> None:
    older, newer = checkpointed(path)
    flip_a_byte(path, newer, place)
    with closing(SqliteLog.open_to_read(path)) as log:
        found = log.latest_checkpoint()
        assert found is not None
        assert found.sequence == older
        (sentence,) = log.damaged_checkpoints()
        assert f"entry {newer} of" in sentence
        log.integrity_check()
    flip_a_byte(path, older, place)
    with closing(SqliteLog.open_to_write(path)) as log:
        assert log.latest_checkpoint() is None
        assert len(log.damaged_checkpoints()) == 2
        graph = StateGraph.fold(log.rows(), AmbiguitySettings())
        log.write_checkpoint(newer, graph.digest(), graph.dump())  # heals it
        log.commit()
        assert log.latest_checkpoint() == (newer, graph.digest(), graph.dump())


def kill_writer(path: Path, after_acknowledgements: int, delay_lines: random.Random) -> int:
    """Start a writer, kill it -9 at some point after that many acknowledgements; returns the last heard."""
    with subprocess.Popen(
        [sys.executable, one_log.__file__, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(after_acknowledgements):
            acknowledged = int(writer.stdout.readline())
        for _ in range(delay_lines.randrange(20_000)):
            pass  # a moment of work, so that the signal falls anywhere within a batch
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split("\n")
    heard = [int(line) for line in rest[:-1]]  # what follows the last line break was cut off
    return heard[-1] if heard else acknowledged


def test_a_writer_killed_at_any_point_leaves_all_that_it_acknowledged_and_no_half_batch(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.sqlite"
    SqliteLog.create(path).close()
    chance = random.Random(11)
    for _ in range(6):
        acknowledged = kill_writer(path, chance.randrange(1, 40), chance)
        with closing(SqliteLog.open_to_read(path)) as log:
            entries = list(log.read())
            assert [number for number, _ in entries] == list(range(1, len(entries) + 1))
            assert len(entries) >= acknowledged
            # at most the one batch that was committed but not yet acknowledged, and all of it
            assert len(entries) in (acknowledged, acknowledged + acknowledged % 50 + 1)
            assert entries == [
                (1, arrival()),
                *((number + 1, step(number)) for number in range(1, len(entries))),
            ]
            log.integrity_check()
            assert StateGraph.fold(log.rows(), AmbiguitySettings()).sequence == len(entries)


@pytest.mark.parametrize("write_ahead_log", ["kept", "lost"])
def test_a_killed_writers_file_that_is_then_cut_is_refused(tmp_path: Path, write_ahead_log: str) -> None:
    path = tmp_path / "log.sqlite"
    SqliteLog.create(path).close()
    kill_writer(path, 30, random.Random(3))
    pending = path.with_name("log.sqlite-wal")
    assert pending.stat().st_size > path.stat().st_size  # most pages are only there, and count as present
    SqliteLog.open_to_read(path).close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    if write_ahead_log == "lost":
        pending.unlink()
    before = files(tmp_path)
    with pytest.raises(FormatError, match="truncated"):
        SqliteLog.open_to_read(path)
    assert files(tmp_path) == before
