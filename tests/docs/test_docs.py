"""The documentation cannot fall behind the code without a test that says where."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import json
import re
import shlex
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from our_pages import (
    PAGES,
    ROOT,
    Block,
    Typed,
    anchors,
    blocks,
    inline_code,
    install_plugins,
    links,
    typed_lines,
)

import screensearch
from screensearch.cli import main
from screensearch.config import resolve, settings_for
from screensearch.config.settings import DOCUMENT_VERSION
from screensearch.domain.document import OBSERVATION_VERSION
from screensearch.domain.transition import ELSEWHERE, Outcome
from screensearch.environments.synthetic.apps import APPS
from screensearch.environments.synthetic.arguments import DEFAULT_NOISE, GENERATED, NUMBERS
from screensearch.environments.synthetic.generator import GeneratorSettings
from screensearch.explore.campaign.file import read_campaign
from screensearch.explore.metrics import METRICS, Kind
from screensearch.record.format import FORMAT_VERSION
from screensearch.record.log import FAILED_STARTS, LANDING, START
from screensearch.record.postgres_schema import MIGRATIONS
from screensearch.record.sqlite_schema import SCHEMA

BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = [
    typed
    for block in BLOCKS
    if block.language == "console"
    for typed in typed_lines(block)
    if typed.line.startswith("screensearch ")
]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def in_language(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def test_the_generated_pages_say_what_the_code_says() -> None:
    check = subprocess.run(
        [sys.executable, "scripts/reference_pages.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert check.returncode == 0, check.stderr


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                waiting.append(target)
    assert [named(page) for page in PAGES if page not in reached] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def parse(arguments: list[str]) -> click.Context | None:
    """Parse a command line without running it; None for one that only asks for help."""
    command: click.Command = main
    context: click.Context | None = None
    name = "screensearch"
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        context = click.Context(command, info_name=name, parent=context)
        below = command.get_command(context, arguments[0])
        if below is None:
            raise click.UsageError(f"no command {arguments[0]!r}")
        name, *arguments = arguments
        command = below
    try:
        return command.make_context(name, arguments, parent=context)
    except click.exceptions.Exit:
        return None


def accept(line: str) -> None:
    """Raise if a command, an option, a value or a setting named by ``--set`` would be refused."""
    context = parse(shlex.split(line)[1:])
    if context is not None and context.params.get("overrides"):
        preset = context.params.get("preset", "default")
        resolve("default" if preset.endswith(".toml") else preset, overrides=context.params["overrides"])
    target = None if context is None else context.params.get("target")
    if target is not None and ":" not in target and not target.endswith(".toml"):
        settings_for(target)


@pytest.mark.parametrize("typed", COMMANDS, ids=lambda typed: f"{typed.place} {typed.line[:60]}")
def test_a_command_line_in_the_docs_is_accepted_unless_it_is_shown_to_fail(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for block in BLOCKS:
        if str(block).partition(":")[0] == typed.place.partition(":")[0]:
            install_plugins(block, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    if typed.refused:
        with pytest.raises((click.ClickException, screensearch.ScreenSearchError)):
            accept(typed.line)
    else:
        accept(typed.line)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_command_in_the_text_exists(page: Path) -> None:
    for code in inline_code(page):
        if code.startswith("screensearch "):
            try:
                parse(shlex.split(code)[1:])
            except click.MissingParameter:
                continue  # the text names the command, not all that it needs


def test_no_command_line_escapes_the_check() -> None:
    """What is typed stands in a console block, after a ``$``."""
    astray = [
        f"{block}: {line}"
        for block in BLOCKS
        for line in block.text.splitlines()
        if block.language != "console"
        and line.lstrip("$ ").startswith("screensearch ")
        and named(block.page) != "docs/reference/cli.md"
    ]
    assert astray == []


@pytest.mark.parametrize("block", in_language("python"), ids=str)
def test_a_python_block_compiles_and_its_names_of_ours_exist(block: Block) -> None:
    tree = ast.parse(block.text, str(block))
    compile(tree, str(block), "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "screensearch":
            module = importlib.import_module(node.module or "")
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "screensearch":
            assert node.attr in screensearch.__all__


@pytest.mark.parametrize("block", in_language("toml"), ids=str)
def test_a_toml_block_is_toml(block: Block) -> None:
    tomllib.loads(block.text)


@pytest.mark.parametrize("block", in_language("json"), ids=str)
def test_a_json_block_is_json(block: Block) -> None:
    json.loads(block.text)


def test_a_settings_or_campaign_file_in_the_docs_is_accepted(tmp_path: Path) -> None:
    files = [block for block in in_language("toml") if "entry-points" not in block.text]
    campaigns = [block for block in files if "[[run]]" in block.text]
    assert len(files) > len(campaigns) > 0
    for block in files:
        path = tmp_path / "mine.toml"
        path.write_text(block.text, encoding="utf-8")
        if block in campaigns:
            read_campaign(path)
        else:
            resolve("default", files=[path])


def test_the_run_format_names_every_table_column_and_version() -> None:
    text = (ROOT / "docs" / "reference" / "run-format.md").read_text(encoding="utf-8")
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    tables = [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    ]
    columns = {name for table in tables for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
    database.close()
    assert [table for table in tables if f"**{table}**" not in text] == []
    assert sorted(column for column in columns if f"`{column}`" not in text) == []
    assert f"format {FORMAT_VERSION}, the only one so far" in text
    assert f"| an observation document | {OBSERVATION_VERSION} |" in text
    assert f"| a settings document | {DOCUMENT_VERSION} |" in text


def test_the_run_format_names_every_outcome_and_that_a_step_ended_elsewhere() -> None:
    text = (ROOT / "docs" / "reference" / "run-format.md").read_text(encoding="utf-8")
    names = [START, LANDING, *FAILED_STARTS, *(each.value for each in Outcome), ELSEWHERE]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_page_about_postgresql_names_what_its_tables_have_and_the_file_has_not() -> None:
    text = (ROOT / "docs" / "how-to" / "keep-the-log-in-postgresql.md").read_text(encoding="utf-8")
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    tables = dict(re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", "".join(MIGRATIONS), re.DOTALL))
    column = re.compile(r'(?:^|,)\s*"?(\w+)"? (?:bigint|integer|text|bytea|boolean|double|timestamptz)', re.M)
    assert {"logs", "entries", "graphs"} <= set(tables)
    for table, declared in tables.items():
        here = set(column.findall(declared))
        there = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
        assert there <= here, f"{table} was not understood: {declared}"
        assert there or f"`{table}`" in text, table
        assert sorted(name for name in here - there if f"`{name}`" not in text) == [], table
    database.close()


def layers() -> list[str]:
    """The layers that import-linter enforces, top to bottom, as pyproject.toml writes them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (found,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return list(found)


def test_the_layers_in_the_architecture_rule_are_those_that_are_enforced() -> None:
    (told,) = (block for block in in_language("text") if named(block.page) == "CONTRIBUTING.md")
    assert told.text.splitlines() == layers()


def test_how_it_works_says_of_every_room_what_it_is_about() -> None:
    """In the order of the layers; what is in brackets there is still to come."""
    text = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text(encoding="utf-8")
    section = text.partition("\n## The rooms\n")[2].partition("\n## ")[0]
    rooms = [room for layer in layers() for room in layer.split(" | ") if not room.startswith("(")]
    assert re.findall(r"^\| `(\w+)` \| \S", section, re.MULTILINE) == rooms


def test_every_metric_that_a_page_asks_for_is_served() -> None:
    served = {metric.name for metric in METRICS}
    for metric in METRICS:
        if metric.kind is Kind.HISTOGRAM:
            served |= {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
    for page in PAGES:
        asked = set(re.findall(r"\bscreensearch_[a-z_]+", page.read_text(encoding="utf-8")))
        assert sorted(asked - served) == [], named(page)


def test_scripts_that_the_docs_name_exist_and_can_be_run() -> None:
    for page in PAGES:
        for name in set(re.findall(r"(?<![\w/.])scripts/[a-z]+\b(?!\.)", page.read_text(encoding="utf-8"))):
            script = ROOT / name
            assert script.is_file(), f"{named(page)} names {name}"
            assert script.stat().st_mode & 0o100, f"{name} is not executable"


def test_the_page_of_the_synthetic_world_names_every_application_option_and_value() -> None:
    text = (ROOT / "docs" / "reference" / "synthetic.md").read_text(encoding="utf-8")
    expected = {*APPS, GENERATED, "noise", "scales", "modes", "text_scales"}
    for application in APPS.values():
        for variable in application.variables:
            if len(variable.initial) > 1:
                expected |= {variable.name, *(str(value).lower() for value in variable.initial)}
    assert sorted(name for name in expected if f"`{name}`" not in text) == []
    defaults = {field.name: field.default for field in dataclasses.fields(GeneratorSettings)}
    assert set(defaults) == set(NUMBERS)
    for name, default in {**defaults, "noise": DEFAULT_NOISE}.items():
        assert f"| `{name}` | {default} |" in text
