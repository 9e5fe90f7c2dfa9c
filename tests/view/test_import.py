"""An export becomes a run again: the same graph, or a clear word and nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from outgoing_runs import SECRETS, explore_hostile, explore_mail, explore_notepad
from properties import examples
from random_entries import entry_lists
from shards_run import explore_in_shards

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import Entry
from screensearch.errors import FormatError, NewerFormat
from screensearch.record.run import read_manifest
from screensearch.view.exchange.conversion import entry_from_row, row_from_entry
from screensearch.view.exchange.entering import import_run
from screensearch.view.exchange.export import export_run

WAYS = ("json", "parquet")


@pytest.fixture(scope="module")
def notepad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_notepad(tmp_path_factory.mktemp("import") / "notepad")


@pytest.fixture(scope="module")
def document(notepad: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("import") / "run.json"
    with ss.open_run(notepad) as run:
        export_run(run, out, "json")
    return out.read_bytes()


@pytest.fixture(scope="module")
def tables(notepad: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("import") / "tables"
    with ss.open_run(notepad) as run:
        export_run(run, out, "parquet", pictures=True)
    return out


def round_trip(folder: Path, tmp_path: Path, format_: str, *, pictures: bool = False) -> Path:
    with ss.open_run(folder) as run:
        export_run(run, tmp_path / "exported", format_, pictures=pictures)
    import_run(tmp_path / "exported", tmp_path / "again")
    return tmp_path / "again"


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def with_pictures_out(entry: Entry) -> Entry:
    return replace(entry, evidence=replace(entry.evidence, screenshot=None))


# -- there and back ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_hostile(tmp_path_factory.mktemp("import") / "hostile")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_in_shards(tmp_path_factory.mktemp("import") / "shards")


@pytest.mark.parametrize("format_", WAYS)
@pytest.mark.parametrize("kind", ["notepad", "hostile", "shards"])
def test_a_run_comes_back_with_the_same_graph_and_holds(
    kind: str, format_: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(kind)
    again = round_trip(folder, tmp_path, format_)
    with ss.open_run(folder) as before, ss.open_run(again) as after:
        assert after.graph.digest() == before.graph.digest()
        assert after.verify().problems == ()
        assert (after.environment, after.seed, after.settings) == (
            before.environment,
            before.seed,
            before.settings,
        )
        kept = [with_pictures_out(entry) for _, entry in before.entries()]
        assert [entry for _, entry in after.entries()] == kept
        for state in before.graph.iter_states():
            assert after.founding_screen(state) == before.founding_screen(state)
            assert after.founding_observation(state) == before.founding_observation(state)
    assert read_manifest(again).run != read_manifest(folder).run
    assert read_manifest(again).created == read_manifest(folder).created


def test_pictures_come_back_too(notepad: Path, tables: Path, tmp_path: Path) -> None:
    imported = import_run(tables, tmp_path / "again")
    with ss.open_run(notepad) as before, ss.open_run(tmp_path / "again") as after:
        assert list(after.entries()) == list(before.entries())
        verification = after.verify()
        assert verification.problems == ()
        assert verification.screenshots == imported.pictures > 0
    assert imported.without_pictures == 0


def test_a_run_that_came_back_can_be_gone_on_with(document: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(document)
    import_run(tmp_path / "run.json", tmp_path / "again")
    with ss.open_run(tmp_path / "again") as run:
        before = run.graph.sequence
    ss.resume_exploration(tmp_path / "again", stop=ss.StopRule(steps=60))
    with ss.open_run(tmp_path / "again") as run:
        assert run.graph.sequence > before
        assert run.verify().problems == ()


@settings(max_examples=examples(60), deadline=None)
@given(entry_lists(rows=5))
def test_every_entry_comes_back_as_it_was(entries: list[Entry]) -> None:
    rows = [row_from_entry(sequence, entry) for sequence, entry in enumerate(entries, start=1)]
    assert [entry_from_row(row) for row in rows] == entries


@pytest.mark.parametrize("format_", WAYS)
def test_a_run_without_its_secrets_holds_and_says_what_is_missing(format_: str, tmp_path: Path) -> None:
    folder = explore_mail(tmp_path / "run", "redact.at=export")
    with ss.open_run(folder) as run:
        export_run(run, tmp_path / "exported", format_)
    result = command("import", tmp_path / "exported", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    assert "signatures had lost a secret" in result.output
    with ss.open_run(folder) as before, ss.open_run(tmp_path / "again") as after:
        assert after.verify().problems == ()
        assert after.graph.digest() != before.graph.digest()
        assert (after.graph.states, after.graph.edges) == (before.graph.states, before.graph.edges)
        for state in before.graph.iter_states():
            assert after.graph.ambiguity(state) == before.graph.ambiguity(state)
    files = b"".join(path.read_bytes() for path in (tmp_path / "again").rglob("*") if path.is_file())
    assert [secret for secret in SECRETS if secret.encode() in files] == []


# -- what is wrong with it --------------------------------------------------------------------------


def changed(document: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    content = json.loads(document)
    change(content)
    return json.dumps(content).encode()


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another document": (lambda it: it.update(format="screensearch.observation"), "no JSON export"),
    "no body": (lambda it: it.pop("body"), "body"),
    "a table is missing": (lambda it: it["body"].pop("screens"), "screens"),
    "a column is missing": (lambda it: it["body"]["transitions"][3].pop("outcome"), r"transitions\[3\]"),
    "a value of another type": (lambda it: it["body"]["screens"][0].update(text=7), r"screens\[0\].text"),
    "an entry is missing": (lambda it: it["body"]["transitions"].pop(5), "entry 7 .* number 6"),
    "the last entry is missing": (lambda it: it["body"]["transitions"].pop(), "changed or damaged"),
    "a screen is missing": (lambda it: it["body"]["screens"].pop(0), "screen 1"),
    "screens are out of order": (lambda it: it["body"]["screens"].reverse(), "not in order"),
    "an element is missing": (lambda it: it["body"]["elements"].pop(0), "elements of screen 1"),
    "atoms were changed": (lambda it: it["body"]["screens"][0]["text_atoms"].append("x"), "its key"),
    "a reward was changed": (lambda it: change_reward(it), "changed or damaged"),
    "an outcome that there is not": (
        lambda it: it["body"]["transitions"][4].update(outcome="won"),
        "entry 5 .* 'won'",
    ),
    "a decision by half": (lambda it: it["body"]["transitions"][4].update(score=None), "score is missing"),
    "settings of another world": (lambda it: it["body"]["run"].update(settings={}), "settings"),
    "several shards": (lambda it: it["body"]["run"].update(shards=3), "3 shards"),
}


def change_reward(document: dict[str, Any]) -> None:
    row = next(row for row in document["body"]["transitions"] if row["reward"] is not None)
    row["reward"] += 0.25


@pytest.mark.parametrize("name", BAD)
def test_a_bad_document_is_refused_by_name_and_leaves_nothing(
    document: bytes, name: str, tmp_path: Path
) -> None:
    change, message = BAD[name]
    source = tmp_path / "bad.json"
    source.write_bytes(changed(document, change))
    with pytest.raises(ss.ScreenSearchError, match=message):
        import_run(source, tmp_path / "run")
    assert list(tmp_path.iterdir()) == [source]


def test_a_document_of_a_newer_version_is_refused(document: bytes, tmp_path: Path) -> None:
    source = tmp_path / "new.json"
    source.write_bytes(changed(document, lambda it: it.update(version=99)))
    with pytest.raises(NewerFormat, match="upgrade"):
        import_run(source, tmp_path / "run")


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"\xff\xfe", b"<graphml/>"])
def test_what_is_no_document_is_refused(content: bytes, tmp_path: Path) -> None:
    source = tmp_path / "some.json"
    source.write_bytes(content)
    result = command("import", source, "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "screensearch export RUN --format json" in result.output
    assert list(tmp_path.iterdir()) == [source]


def cut(folder: Path) -> None:
    path = folder / "transitions.parquet"
    path.write_bytes(path.read_bytes()[:-200])


def drop_column(folder: Path) -> None:
    path = folder / "screens.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["key"]), path)


def null_out(folder: Path) -> None:
    path = folder / "elements.parquet"
    table = pq.read_table(path)
    nothing = pa.nulls(table.num_rows, pa.string())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", nothing), path)


def change_picture(folder: Path) -> None:
    first, second, *_ = sorted(folder.rglob("*.png"))
    shutil.copyfile(first, second)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "export.json").unlink(), "has no export.json"),
        (lambda folder: (folder / "export.json").write_text("{}"), "export.json is malformed"),
        (lambda folder: (folder / "screens.parquet").unlink(), "screens.parquet is missing"),
        (cut, "cannot be read as Parquet"),
        (drop_column, "no column 'key'"),
        (null_out, "row 1 of .*elements.parquet"),
        (change_picture, "artifact"),
    ],
)
def test_a_damaged_folder_is_refused_by_name_and_leaves_nothing(
    damage: Callable[[Path], object], message: str, tables: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    shutil.copytree(tables, folder)
    damage(folder)
    with pytest.raises(FormatError, match=message):
        import_run(folder, tmp_path / "run")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_graph_cannot_become_a_run(notepad: Path, tmp_path: Path) -> None:
    with ss.open_run(notepad) as run:
        export_run(run, tmp_path / "run.graphml", "graphml")
    with pytest.raises(FormatError, match="not the log"):
        import_run(tmp_path / "run.graphml", tmp_path / "run")


def test_a_place_that_is_taken_is_refused(document: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(document)
    (tmp_path / "run").mkdir()
    result = command("import", tmp_path / "run.json", "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "exists" in result.output


def test_an_export_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = command("import", tmp_path / "nowhere.json", "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "cannot read" in result.output
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_made(document: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(document)
    result = command("import", tmp_path / "run.json", "--out", tmp_path / "run", "--json")
    said = json.loads(result.output)
    assert said["digest"] == said["original"]
    assert 0 < said["without_pictures"] < said["entries"]  # each counts once, however often it was seen


def test_the_command_counts_the_pictures_that_stayed_behind_as_the_export_did(
    notepad: Path, document: bytes, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_bytes(document)
    with ss.open_run(notepad) as run:
        named = {entry.evidence.screenshot for _, entry in run.entries()} - {None}
    told = command("import", tmp_path / "run.json", "--out", tmp_path / "run").output
    assert f"{len(named)} screenshots are not in the export" in told
