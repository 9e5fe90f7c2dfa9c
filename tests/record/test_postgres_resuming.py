"""Tables that are behind, or not there, when a run in a database is to be gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_faults import sql

from screensearch.errors import FormatError, RunNotFound
from screensearch.record import postgres_schema
from screensearch.record.run import Manifest, create_run, open_run_folder, own
from screensearch.record.stores import PostgresStore

pytest_plugins = ["postgres_fixtures"]


@pytest.fixture
def folder(url: str, tmp_path: Path) -> Path:
    manifest = Manifest(
        run="run", created="", environment="synthetic:notepad", seed=0, settings={}, version="0", store=url
    )
    return create_run(tmp_path / "run", manifest).path


def test_tables_that_are_behind_are_no_hindrance_to_whoever_brings_them_up_to_date(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_more = (*postgres_schema.MIGRATIONS, "CREATE TABLE later (number integer)")
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", one_more)
    with pytest.raises(FormatError, match=r"version 1, .* resuming a run that is kept there brings"):
        open_run_folder(folder)
    run = open_run_folder(folder, to_write=True)
    assert run.store.shards() == [0]
    with pytest.raises(FormatError, match="resuming a run"):
        run.read_log()
    assert sql(url, "SELECT max(number) FROM migrations") == [(1,)]  # a look changes nothing
    with own(folder) as owned:
        owned.write_log().close()
    assert sql(url, "SELECT max(number) FROM migrations") == [(2,)]
    open_run_folder(folder).read_log().close()


@pytest.mark.parametrize("to_write", [False, True])
def test_a_database_without_our_tables_has_no_log_of_the_run(folder: Path, url: str, to_write: bool) -> None:
    sql(url, "DROP SCHEMA screensearch CASCADE")
    with pytest.raises(RunNotFound, match="the log of run run is not in postgresql://"):
        open_run_folder(folder, to_write=to_write)
    assert PostgresStore(url, "run").shards() == []
    assert sql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'screensearch'") == []
