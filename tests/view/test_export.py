"""What leaves a run can be read by others, says what the run says, and is there whole or not at all."""

from __future__ import annotations

import json
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from outgoing_runs import ADDRESSES, HOSTILE, SECRETS, explore_hostile, explore_mail, explore_notepad

import screensearch as ss
from screensearch.cli import main
from screensearch.errors import SettingsError
from screensearch.record.placing import OutExists
from screensearch.view.exchange import parquet
from screensearch.view.exchange.export import FORMATS, export_run
from screensearch.view.exchange.rows import TABLES, VERSION, columns_of

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture(scope="module")
def notepad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_notepad(tmp_path_factory.mktemp("export") / "notepad")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_hostile(tmp_path_factory.mktemp("export") / "hostile")


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its log keeps the secrets."""
    return explore_mail(tmp_path_factory.mktemp("export") / "mail", "redact.at=export")


def write(folder: Path, out: Path, format_: str, *, pictures: bool = False) -> Path:
    with ss.open_run(folder) as run:
        export_run(run, out, format_, pictures=pictures)
    return out


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def texts_in(value: object) -> Iterator[str]:
    """Every text of a JSON document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


# -- what the formats hold --------------------------------------------------------------------------


def test_the_tables_of_a_document_and_of_parquet_say_the_same(notepad: Path, tmp_path: Path) -> None:
    body = json.loads(write(notepad, tmp_path / "run.json", "json").read_bytes())["body"]
    folder = write(notepad, tmp_path / "tables", "parquet")
    assert list(body) == ["run", *TABLES]
    for name in TABLES:
        assert pq.read_table(folder / f"{name}.parquet").to_pylist() == body[name], name
    head = json.loads((folder / "export.json").read_bytes())
    assert (head["format"], head["version"], head["body"]) == ("screensearch.export", VERSION, body["run"])


def test_the_tables_say_what_the_run_says(notepad: Path, tmp_path: Path) -> None:
    folder = write(notepad, tmp_path / "tables", "parquet")
    states, edges, transitions, screens, elements = (
        pd.read_parquet(folder / f"{name}.parquet")
        for name in ("states", "edges", "transitions", "screens", "elements")
    )
    with ss.open_run(notepad) as run:
        graph = run.graph
        assert list(states["state"]) == list(graph.iter_states())
        assert list(states["ambiguity"]) == [graph.ambiguity(each) for each in graph.iter_states()]
        assert list(states["text"]) == [each.text for each in run.states()]
        known = [(source, signature, target) for source, signature, target, _ in graph.iter_edges()]
        assert list(zip(edges["source"], edges["signature"], edges["target"], strict=True)) == known
        assert edges.groupby(["source", "signature"], observed=True)["share"].sum().round(9).eq(1).all()
        assert transitions["outcome"].value_counts().to_dict() == dict(graph.outcomes)
        first = run.founding_observation(0)
    founding = elements[elements["screen"] == states["screen"][0]]
    assert list(founding["text"]) == [each.text for each in first.elements]
    assert set(elements["screen"]) <= set(screens["screen"])
    pictures = pd.read_parquet(folder / "artifacts.parquet")
    assert set(transitions["picture"]) == set(pictures["picture"])
    assert pictures["entries"].sum() == transitions["picture"].count()


def test_polars_reads_the_tables_with_their_types_and_meanings(notepad: Path, tmp_path: Path) -> None:
    folder = write(notepad, tmp_path / "tables", "parquet")
    for name, table in TABLES.items():
        frame = pl.read_parquet(folder / f"{name}.parquet")
        assert frame.columns == [column.name for column in columns_of(table)]
        schema = pq.read_schema(folder / f"{name}.parquet")
        for column in columns_of(table):
            field = schema.field(column.name)
            assert field.metadata[b"description"].decode() == column.meaning
            assert field.nullable == column.optional
            expected = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, list: pl.List(pl.String)}
            kind = frame.schema[column.name]
            assert kind in (expected.get(column.kind), pl.String, pl.Categorical), (name, column.name)
    busiest = pl.scan_parquet(folder / "edges.parquet").sort("count", descending=True).head(1).collect()
    assert busiest["count"][0] == pl.read_parquet(folder / "edges.parquet")["count"].max()


def test_the_tables_are_written_in_batches(
    notepad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_BATCH", 50)
    folder = write(notepad, tmp_path / "tables", "parquet")
    file = pq.ParquetFile(folder / "transitions.parquet")
    with ss.open_run(notepad) as run:
        assert file.metadata.num_row_groups == -(-run.graph.sequence // 50) > 1
    assert {file.metadata.row_group(0).column(place).compression for place in range(5)} == {"ZSTD"}
    assert file.read()["sequence"].to_pylist() == list(range(1, file.metadata.num_rows + 1))


def test_networkx_reads_the_graph_with_typed_figures(notepad: Path, tmp_path: Path) -> None:
    graph = nx.read_graphml(write(notepad, tmp_path / "run.graphml", "graphml"), node_type=int)
    assert graph.is_directed()
    with ss.open_run(notepad) as run:
        assert set(graph.nodes) == set(run.graph.iter_states())
        assert graph.number_of_edges() == run.graph.edges
        for state, figures in graph.nodes(data=True):
            assert figures["visits"] == run.graph.visits(state)
            assert figures["ambiguity"] == run.graph.ambiguity(state)
        counts = {
            (source, target, figures["signature"]): figures["count"]
            for source, target, figures in graph.edges(data=True)
        }
        assert counts == {(s, t, signature): count for s, signature, t, count in run.graph.iter_edges()}
    assert nx.descendants(graph, 0) == set(graph.nodes) - {0}


def test_the_graph_keeps_the_rules_of_graphml(hostile: Path, tmp_path: Path) -> None:
    """What its XML Schema asks for: order, unique names of type NMTOKEN, declared keys, types that exist."""
    root = ElementTree.parse(write(hostile, tmp_path / "run.graphml", "graphml")).getroot()
    assert root.tag == f"{GRAPHML}graphml"
    tags = [child.tag.removeprefix(GRAPHML) for child in root]
    assert tags == ["desc", *["key"] * (len(tags) - 2), "graph"]
    keys = {key.get("id"): key for key in root.iter(f"{GRAPHML}key")}
    for key in keys.values():
        assert key.get("attr.type") in ("boolean", "int", "long", "float", "double", "string")
        assert key.get("for") in ("node", "edge")
    graph = root.find(f"{GRAPHML}graph")
    assert graph is not None
    assert graph.get("edgedefault") == "directed"
    names = [child.get("id", "") for child in graph]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.:-]+", name, re.ASCII) for name in names)
    nodes = {child.get("id") for child in graph if child.tag == f"{GRAPHML}node"}
    for child in graph:
        kind = child.tag.removeprefix(GRAPHML)
        if kind == "edge":
            assert {child.get("source"), child.get("target")} <= nodes
        for data in child:
            assert keys[data.get("key")].get("for") == kind
    columns = {
        key.get("attr.name"): key.get("attr.type") for key in keys.values() if key.get("for") == "edge"
    }
    assert (columns["label"], columns["weight"]) == ("string", "double")  # the names that Gephi looks for


@pytest.mark.parametrize("format_", FORMATS)
def test_hostile_texts_go_out_as_texts(hostile: Path, tmp_path: Path, format_: str) -> None:
    out = write(hostile, tmp_path / "out", format_)
    if format_ == "graphml":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = nx.read_graphml(out)
        texts = {figures["text"] for _, figures in graph.nodes(data=True)}
    elif format_ == "json":
        texts = {row["text"] for row in json.loads(out.read_bytes())["body"]["states"]}
    else:
        texts = set(pd.read_parquet(out / "states.parquet")["text"])
    with ss.open_run(hostile) as run:
        said = {state.text for state in run.states()}
        if format_ == "graphml":  # XML has no such character
            said = {text.replace("\ufffe", "\ufffd") for text in said}
        assert texts == said
        assert run.graph.states == len(HOSTILE)
    assert any("<script>alert(1)</script>" in text for text in texts)


def test_characters_that_xml_cannot_hold_are_replaced(hostile: Path, tmp_path: Path) -> None:
    with ss.open_run(hostile) as run:
        original = run.log.screen

        def spiteful(row: int) -> ss.Screen:
            screen = original(row)
            return ss.Screen(
                screen.key,
                screen.role_atoms,
                screen.text_atoms,
                "a\x00b\x0b\ud800c\ufffe\rd<",
                screen.metadata,
            )

        run.log.screen = spiteful  # type: ignore[method-assign]
        export_run(run, tmp_path / "run.graphml", "graphml")
    graph = nx.read_graphml(tmp_path / "run.graphml")
    assert {figures["text"] for _, figures in graph.nodes(data=True)} == {"a\ufffdb\ufffd\ufffdc\ufffd\rd<"}


# -- what stays behind ------------------------------------------------------------------------------


def everything(out: Path) -> str:
    """All texts of an export, compressed ones too."""
    if out.is_file():
        content = out.read_text(encoding="utf-8")
        return "\n".join(texts_in(json.loads(content))) if out.suffix == ".json" else content
    tables = [json.dumps(pq.read_table(path).to_pylist()) for path in out.glob("*.parquet")]
    return "\n".join([*tables, (out / "export.json").read_text(encoding="utf-8")])


@pytest.mark.parametrize("format_", FORMATS)
def test_no_secret_goes_out_of_a_run_that_keeps_them(mail: Path, tmp_path: Path, format_: str) -> None:
    out = write(mail, tmp_path / f"out.{format_}", format_)
    said = everything(out).lower()
    assert [secret for secret in SECRETS if secret.lower() in said] == []
    assert "[redacted:email]" in said
    files = b"".join(path.read_bytes() for path in [out, *out.rglob("*")] if path.is_file())
    assert [secret for secret in SECRETS if secret.encode() in files] == []


def test_two_actions_that_differ_in_a_secret_stay_two(mail: Path, tmp_path: Path) -> None:
    edges = pd.read_parquet(write(mail, tmp_path / "tables", "parquet") / "edges.parquet")
    boxes = edges[edges["signature"].astype(str).str.contains("mailbox")]
    assert len(set(boxes["signature"])) == len(ADDRESSES)
    assert len(set(boxes["target"])) == len(ADDRESSES)
    with ss.open_run(mail) as run:
        assert len(edges) == run.graph.edges


def test_pictures_go_out_with_their_secrets_covered(mail: Path, tmp_path: Path) -> None:
    folder = write(mail, tmp_path / "tables", "parquet", pictures=True)
    artifacts = pd.read_parquet(folder / "artifacts.parquet")
    with ss.open_run(mail) as run:
        original = run.entry(1).evidence.screenshot
    assert len(artifacts) > 0
    assert original not in set(artifacts["picture"])
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.png")} == set(artifacts["file"])
    with ss.open_run(mail) as run:
        export_run(run, tmp_path / "without", "parquet")
    assert len(pd.read_parquet(tmp_path / "without" / "artifacts.parquet")) == 0


def test_where_the_log_is_kept_is_not_told(notepad: Path, tmp_path: Path) -> None:
    head = json.loads(write(notepad, tmp_path / "run.json", "json").read_bytes())["body"]["run"]
    assert {"store", "artifacts", "run"} & set(head) == set()


# -- where it goes ----------------------------------------------------------------------------------


def test_nothing_is_overwritten_unless_that_is_asked_for(notepad: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    out.write_text("mine")
    refused = command("export", notepad, "--format", "json", "--out", out)
    assert refused.exit_code == 1
    assert "--force" in refused.output
    assert out.read_text() == "mine"
    assert command("export", notepad, "--format", "json", "--out", out, "--force").exit_code == 0
    assert json.loads(out.read_bytes())["format"] == "screensearch.export"


def test_force_replaces_an_export_and_no_other_folder(notepad: Path, tmp_path: Path) -> None:
    tables, mine = tmp_path / "tables", tmp_path / "mine"
    write(notepad, tables, "parquet")
    (tables / "old").touch()
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with ss.open_run(notepad) as run:
        export_run(run, tables, "parquet", force=True)
        with pytest.raises(OutExists, match="something else"):
            export_run(run, mine, "parquet", force=True)
    assert not (tables / "old").exists()
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("problem", [KeyboardInterrupt, ss.ScreenSearchError])
def test_what_is_broken_off_leaves_nothing(
    notepad: Path, tmp_path: Path, format_: str, problem: type[BaseException]
) -> None:
    def stop(name: str, done: int, of: int) -> None:
        if name == "edges":
            raise problem

    with ss.open_run(notepad) as run, pytest.raises(problem):
        export_run(run, tmp_path / "out", format_, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_being_written_goes_out_as_of_one_moment(notepad: Path, tmp_path: Path) -> None:
    with ss.open_run(notepad) as run:
        last = run.graph.sequence
        read = run.log.read

        def further(after: int = 0) -> Iterator[tuple[int, ss.Arrival | ss.FailedStart | ss.Transition]]:
            entries = list(read(after))
            yield from entries
            yield last + 1, entries[-1][1]  # what an owner appended meanwhile

        run.log.read = further  # type: ignore[method-assign]
        export_run(run, tmp_path / "run.json", "json")
    body = json.loads((tmp_path / "run.json").read_bytes())["body"]
    assert len(body["transitions"]) == last == body["run"]["entries"]


def test_pictures_are_refused_where_there_is_no_room_for_them(notepad: Path, tmp_path: Path) -> None:
    with ss.open_run(notepad) as run, pytest.raises(SettingsError, match="choose parquet"):
        export_run(run, tmp_path / "run.json", "json", pictures=True)


def test_without_the_extra_it_is_told_what_to_install(
    notepad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    refused = command("export", notepad, "--format", "parquet", "--out", tmp_path / "tables")
    assert refused.exit_code == 1
    assert "screensearch[tables]" in refused.output
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_wrote(notepad: Path, tmp_path: Path) -> None:
    result = command("export", notepad, "--format", "parquet", "--out", tmp_path / "tables", "--json")
    said = json.loads(result.output)
    with ss.open_run(notepad) as run:
        assert said["states"] == run.graph.states == said["rows"]["states"]
        assert said["digest"] == run.graph.digest()
    assert set(said["rows"]) == set(TABLES)


def test_an_unknown_run_is_named(tmp_path: Path) -> None:
    refused = command("export", tmp_path / "nowhere", "--format", "json")
    assert refused.exit_code == 1
    assert "there is no run at" in refused.output
