"""The pages of docs/reference that are derived from the code: commands, settings, plugins, names, metrics.

Run as ``scripts/docs`` to write them, ``scripts/docs --check`` to compare: status 1 and the names of
the pages that are out of date.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click
import msgspec

import screensearch
from screensearch.cli import main as command_line
from screensearch.config import load_preset, presets
from screensearch.config.settings import Key, declared_settings, items_of
from screensearch.config.toml import line_of_each_key, preset_text, toml_value
from screensearch.explore.metrics import METRICS
from screensearch.registry import KINDS, Registry
from screensearch.view.exchange.parquet import HEAD
from screensearch.view.exchange.rows import KIND, TABLES, VERSION, Head, columns_of
from screensearch.view.openapi import ADDRESSES, describe_api

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
MADE_BY = "<!-- Written by scripts/docs: change the code and run it again. -->"

KIND_SETTING = {
    "environment": "the argument of `screensearch explore`, as `name:argument`",
    "embedder": "`embed.name`",
    "identifier": "`identify.identifier`",
    "selector": "`select.selector`",
    "prior": "`select.prior`",
    "guard": "`guard.rules`, as `{ name, patterns }`",
}
"""Where a plugin of each kind is named."""


# -- words ------------------------------------------------------------------------------------------


def first_paragraph(thing: object) -> str:
    """The first paragraph of a docstring on one line, in Markdown."""
    text = inspect.getdoc(thing) or ""
    return markdown(" ".join(text.split("\n\n")[0].split()))


def markdown(text: str) -> str:
    """Docstrings mark code with two backticks, Markdown with one."""
    return text.replace("``", "`")


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return text.replace("|", "\\|")


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [header, tuple("---" for _ in header), *rows]
    return [f"| {' | '.join(map(cell, line))} |" for line in lines]


def page(*lines: str) -> str:
    return "\n".join(lines) + "\n"


# -- commands ---------------------------------------------------------------------------------------


def cli_page() -> str:
    """Every command with its arguments and options."""
    lines = ["# Commands", "", MADE_BY, ""]
    lines += [
        "Every command answers `--help`. An error is one line on standard error and status 1; a mistake in",
        "the command line itself is status 2, and Ctrl-C is status 130. With `--json` a command prints one",
        "JSON object, nothing else.",
        "",
    ]
    for context in contexts(command_line, "screensearch"):
        lines += command_lines(context)
    return page(*lines[:-1])


def contexts(
    command: click.Command, name: str, above: click.Context | None = None
) -> Iterator[click.Context]:
    """A command and all below it, each in the context that it runs in."""
    context = click.Context(command, info_name=name, parent=above, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for name_below in command.list_commands(context):
            below = command.get_command(context, name_below)
            if below is not None and not below.hidden:
                yield from contexts(below, name_below, context)


def command_lines(context: click.Context) -> list[str]:
    command, path = context.command, context.command_path
    lines = [f"## {path}", "", "```text"]
    lines += [" ".join((path, *command.collect_usage_pieces(context))), "```", ""]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        lines += [" ".join(paragraph.split()), ""]
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    rows = [
        (option_names(option), option.help or "", option_default(option))
        for option in options
        if not option.hidden
    ]
    return [*lines, *table(("option", "meaning", "default"), rows), ""]


def option_names(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += " / " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    if option.is_flag or option.count:
        return names
    return f"{names} {option_value(option)}"


def option_value(option: click.Option) -> str:
    """What an option takes, in words."""
    kind = option.type
    if option.metavar is not None:
        return option.metavar
    if isinstance(kind, click.Choice):
        return ", ".join(map(str, kind.choices))
    if isinstance(kind, click.IntRange | click.FloatRange):
        word = "whole number" if isinstance(kind, click.IntRange) else "number"
        bounds = []
        if kind.min is not None:
            bounds.append(f"{'over' if kind.min_open else 'at least'} {kind.min}")
        if kind.max is not None:
            bounds.append(f"{'under' if kind.max_open else 'at most'} {kind.max}")
        return f"{word}, {' and '.join(bounds)}" if bounds else word
    return {"integer": "whole number", "float": "number"}.get(kind.name, kind.name)


def option_default(option: click.Option) -> str:
    if option.is_flag or option.multiple or not isinstance(option.default, str | int | float):
        return ""
    return f"`{option.default}`"


# -- settings ---------------------------------------------------------------------------------------


def settings_page() -> str:
    """Every setting: type, default, the paper's value, and the words of the default preset."""
    default, paper = (values_of(name) for name in ("default", "paper"))
    text = preset_text("default")
    assert text is not None  # shipped with the package
    lines = ["# Settings", "", MADE_BY, ""]
    lines += [
        "A run resolves its settings from a preset and from every `--set table.key=value`, and stores the",
        "result in its `run.json`. The column *paper* says what differs in the preset `paper`. The source in",
        "brackets is that of the default: *paper* if the paper publishes the value, *ours* if it does not.",
        "How to change them: [change settings and presets](../how-to/change-settings.md).",
        "",
    ]
    notes = comments(text)
    for name in dict.fromkeys(key[0] for key in declared_settings()):
        rows = [
            (
                f"`{'.'.join(key)}`",
                f"`{toml_value(default[key])}`",
                "" if paper[key] == default[key] else f"`{toml_value(paper[key])}`",
                type_name(kind),
                notes[key],
            )
            for key, kind in declared_settings().items()
            if key[0] == name
        ]
        lines += [f"## {name}", "", notes[(name,)], ""]
        lines += [*table(("setting", "default", "paper", "type", "meaning"), rows), ""]
    return page(*lines[:-1])


def values_of(preset: str) -> dict[Key, Any]:
    return dict(items_of(msgspec.to_builtins(load_preset(preset))))


def type_name(kind: Any) -> str:
    """A type as a person who writes TOML calls it."""
    name = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)
    if name.startswith("tuple["):
        inside = re.sub(r"^.*\.", "", name.removeprefix("tuple[").split(",")[0])
        words = {"str": "text", "float": "number", "int": "whole number"}
        return f"list of {words.get(inside, 'table')}s"
    words = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
    return {**words, "int | None": "whole number or none", "float | None": "number or none"}.get(name, name)


def comments(text: str) -> dict[Key, str]:
    """What a preset says about each table and each setting: at the end of its line, or above it."""
    lines = text.split("\n")
    found: dict[Key, str] = {}
    for key, number in line_of_each_key(text).items():
        line = lines[number - 1]
        _, _, after = line.partition("  # ")
        above: list[str] = []
        for earlier in reversed(lines[: number - 1]):
            if not earlier.startswith("# "):
                break
            above.insert(0, earlier.removeprefix("# "))
        found[key] = after or " ".join(above)
        if not found[key]:
            raise SystemExit(f"the default preset says nothing about {'.'.join(key)} (line {number})")
    return found


# -- plugins ----------------------------------------------------------------------------------------


def plugins_page() -> str:
    """Every plugin that this project ships."""
    lines = ["# Plugins", "", MADE_BY, ""]
    lines += [
        "What the project ships. `screensearch plugins` lists what is installed, yours included. A plugin is",
        "an entry point in the group `screensearch.<kind>s`: [write a plugin](../how-to/write-a-plugin.md).",
        "",
    ]
    for kind in KINDS:
        registry: Registry[object] = Registry(kind)
        rows = [
            (f"`{name}`", first_paragraph(registry.get(name)), f"`{registry.origin(name)}`")
            for name in registry.names()
            if registry.origin(name).startswith("screensearch.")
        ]
        lines += [f"## {kind}", "", f"Group `screensearch.{kind}s`. Named in {KIND_SETTING[kind]}.", ""]
        lines += [*table(("name", "what it does", "where"), rows), ""]
    lines += [
        "## Presets",
        "",
        f"{', '.join(f'`{name}`' for name in presets())}: see [settings](settings.md).",
    ]
    return page(*lines)


# -- Python -----------------------------------------------------------------------------------------


def python_page() -> str:
    """Every public name: signature and first paragraph."""
    lines = ["# Python", "", MADE_BY, ""]
    lines += [
        "`import screensearch` gives these names. They are the public interface; everything else may move.",
        "How they work together: [read a run from Python](../how-to/read-a-run.md) and",
        "[explore an environment of your own](../how-to/explore-your-own.md). `screensearch.testing` holds",
        "the contract of every kind of plugin as a check for its own tests.",
        "",
    ]
    public = {name: getattr(screensearch, name) for name in screensearch.__all__}
    groups: tuple[tuple[str, Callable[[Any], bool]], ...] = (
        ("Functions", inspect.isfunction),
        ("Classes", inspect.isclass),
        ("Registries", lambda thing: isinstance(thing, Registry)),
        ("Values", lambda thing: isinstance(thing, tuple | frozenset)),
    )
    listed = 0
    for title, belongs in groups:
        lines += [f"## {title}", ""]
        for name, thing in sorted(public.items(), key=lambda item: item[0].lower()):
            if belongs(thing):
                lines += [f"### {name}", "", *described(name, thing), ""]
                listed += 1
    if listed != len(public):
        raise SystemExit("a public name is of a kind that is not described here yet: describe it")
    return page(*lines[:-1])


def described(name: str, thing: Any) -> list[str]:
    if isinstance(thing, tuple | frozenset):
        return [
            ", ".join(f"`{value}`" for value in (sorted(thing) if isinstance(thing, frozenset) else thing))
        ]
    if isinstance(thing, Registry):
        offers = ", ".join(f"`{shown}`" for shown, _ in own_methods(type(thing)))
        return [f"The {thing.kind} plugins: {offers}."]
    if inspect.isfunction(thing):
        return [*code(f"{name}{signature(thing)}"), "", first_paragraph(thing)]
    if issubclass(thing, enum.Enum):
        return [first_paragraph(thing), "", ", ".join(f"`{member.value}`" for member in thing)]
    if issubclass(thing, Exception):
        return [first_paragraph(thing)]
    lines = [first_paragraph(thing)]
    if not getattr(thing, "_is_protocol", False):
        lines = [*code(f"{name}{signature(thing)}"), "", *lines]
    methods = list(own_methods(thing))
    if methods:
        lines += ["", *(f"- `{shown}`{text}" for shown, text in methods)]
    return lines


def code(text: str) -> list[str]:
    return ["```text", text, "```"]


def own_methods(thing: type) -> Iterator[tuple[str, str]]:
    """The public methods and properties that a class defines, each with what it says about itself."""
    for name, member in vars(thing).items():
        if name.startswith("_") and name != "__call__":
            continue
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            shown = name
        elif inspect.isfunction(member):
            shown = f"{'' if name == '__call__' else name}{signature(member, bound=True)}"
            if inspect.iscoroutinefunction(member):
                shown = f"async {shown}"
        else:
            continue
        text = first_paragraph(member) if member.__doc__ else ""
        yield shown, f": {text}" if text else ""


def signature(thing: Callable[..., Any], *, bound: bool = False) -> str:
    """A signature with its annotations as they are written in the source."""
    found = inspect.signature(thing)
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    parts: list[str] = []
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        part = parameter.name
        if parameter.annotation is not parameter.empty:
            part += f": {annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            part += f" = {default_text(parameter.default)}"
        parts.append(part)
    returned = found.return_annotation
    arrow = "" if returned in (found.empty, None, "None") else f" -> {annotation(returned)}"
    return f"({', '.join(parts)}){arrow}"


def annotation(written: object) -> str:
    return written if isinstance(written, str) else cast(str, getattr(written, "__name__", str(written)))


def default_text(default: object) -> str:
    shown = repr(default)
    return "…" if shown.startswith("<") else shown


# -- metrics ----------------------------------------------------------------------------------------


def metrics_page() -> str:
    """Every metric: kind, unit, labels and meaning."""
    lines = ["# Metrics", "", MADE_BY, ""]
    lines += [
        "What `--metrics` of `screensearch explore` serves. Every series has the label `run`, the identifier",
        "in `run.json`. On a cluster several processes serve: each owner tells of its shard, with the label",
        "`shard`, a number from 0, also where there is only one; the conductor tells of the run as a whole,",
        "without that label. Without a cluster all of it is served at one place, without that label, too.",
        "",
        "Counts of steps, starts, states and edges are of all that is in the log, of the run or of the",
        "shard, and go on when the run is resumed; those of shards add up. What the conductor counts is",
        "of the exploration, also after it was started anew. All else is of the process that serves it:",
        "times begin again with another owner. A metric without a value is absent: what is left is told for",
        "the stop rules that were given. `process_*` are of the process that serves, as usual.",
        "How to use them: [watch a run](../how-to/watch-a-run.md).",
        "",
    ]
    rows = [
        (
            f"`{metric.name}`",
            metric.kind.value,
            metric.unit,
            ", ".join(f"`{label}`" for label in metric.labels),
            "conductor" if metric.of_run else "owners",
            metric.meaning,
        )
        for metric in METRICS
    ]
    return page(*lines, *table(("metric", "kind", "unit", "labels", "on a cluster by", "meaning"), rows))


# -- writing and comparing --------------------------------------------------------------------------

# -- the viewer ---------------------------------------------------------------------------------------


def openapi_file() -> str:
    """The description that the page's types are made from."""
    return msgspec.json.format(msgspec.json.encode(describe_api()), indent=2).decode() + "\n"


def viewer_page() -> str:
    """Every address of the viewer's API, and the types of its answers."""
    lines = ["# The viewer's API", "", MADE_BY, ""]
    lines += [
        "What [`screensearch view`](../how-to/look-at-a-run.md) answers, all by GET, as JSON. The server",
        "describes it itself at `/api/openapi.json` (OpenAPI 3.1). An answer that cannot be given is a",
        "`Problem`, with a status of 400 (a question that cannot be meant), 403 (no token, or another site),",
        "404 (no such thing), 409 (the run cannot be read) or 500.",
        "",
    ]
    rows = [
        (
            f"`{each.path}`",
            f"[`{each.answer.__name__}`](#{each.answer.__name__.lower()})",
            each.summary,
            ", ".join(f"`{query.name}`: {query.meaning}" for query in each.queries),
        )
        for each in ADDRESSES
    ]
    lines += table(("address", "answer", "what it is", "after `?`"), rows)
    lines += [
        "",
        "`/runs/RUN/pictures/NAME.png` is a screenshot, `/runs/RUN/thumbnails/STATE` a small picture of a",
        "state as WebP.",
        "",
        "## Types",
    ]
    for name, schema in sorted(describe_api()["components"]["schemas"].items()):
        lines += ["", f"### {name}", ""]
        said = schema.get("description", "")
        if said and said != "The base of all that is answered.":
            lines += [markdown(" ".join(said.split())), ""]
        lines += table(
            ("field", "type"),
            [(f"`{field}`", _schema_words(of)) for field, of in schema.get("properties", {}).items()],
        )
    return page(*lines)


def _schema_words(schema: dict[str, Any]) -> str:
    """A type of JSON in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_schema_words(each) for each in schema["anyOf"])
    kind = schema.get("type", "anything")
    if "prefixItems" in schema:
        return f"{len(schema['prefixItems'])} numbers: x, y, width, height"
    if kind == "array":
        return f"list of {_schema_words(schema['items'])}"
    if kind == "object":
        return f"table of {_schema_words(schema.get('additionalProperties', {}))}"
    return f"`{kind}`"


# -- exports ------------------------------------------------------------------------------------------


def export_page() -> str:
    """Every format, table and column."""
    lines = [
        "# The tables of an export",
        "",
        MADE_BY,
        "",
        "What `screensearch export` writes; how to use it: [export a run](../how-to/export-a-run.md).",
        "JSON and Parquet have the same tables with the same columns. Where there is nothing to say, a",
        "value is null. Numbers are 64 bits wide. Columns may be added: a reader must not mind those it",
        "does not know.",
        "",
        "## JSON",
        "",
        f'One document, `{{"format":"screensearch.{KIND}","version":{VERSION},"body":{{…}}}}`.',
        "The body has `run`, the head below, and each table as a list of objects, one on a line.",
        "",
        "## Parquet",
        "",
        f"A folder: each table as `NAME.parquet`, the head as `{HEAD}` (a document as above, without the",
        "tables), and with `--pictures` the screenshots as `pictures/ab/cdef….png`. Compressed with",
        "Zstandard; texts that repeat are dictionaries; the meaning of each column is in its metadata,",
        "as `description`.",
        "",
        "## GraphML",
        "",
        "A directed graph with parallel edges, its nodes named by the numbers of states. A node has the",
        "columns of [states](#states), an edge those of [edges](#edges), typed, with `words` as its",
        "`label`; a node has a `label` too, and an edge its count again as `weight`. Characters that",
        "XML cannot hold are U+FFFD.",
        "",
        "## The head",
        "",
        *_columns_table(Head),
    ]
    for name, of in TABLES.items():
        lines += ["", f"## {name}", "", first_paragraph(of), "", *_columns_table(of)]
    return page(*lines)


def _columns_table(of: type[msgspec.Struct]) -> list[str]:
    names: dict[type, str] = {list: "list of text", str: "text", dict: "table"}
    rows = [
        (
            f"`{column.name}`",
            names.get(column.kind, column.kind.__name__) + (" or null" if column.optional else ""),
            cell(column.meaning),
        )
        for column in columns_of(of)
    ]
    return table(("column", "type", "meaning"), rows)


# -- all of them --------------------------------------------------------------------------------------


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "settings.md": settings_page,
    "plugins.md": plugins_page,
    "python.md": python_page,
    "metrics.md": metrics_page,
    "viewer-api.md": viewer_page,
    "export.md": export_page,
}

FILES = {
    **{f"docs/reference/{name}": make for name, make in PAGES.items()},
    "web/openapi.json": openapi_file,
}
"""All that is written, from the root of the project."""


def out_of_date() -> list[str]:
    """The files that differ from what the code says now."""
    return [
        name
        for name, make in FILES.items()
        if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != make()
    ]


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: scripts/docs [--check]", file=sys.stderr)
        return 2
    stale = out_of_date()
    if arguments:
        for name in stale:
            print(f"{name} is out of date: run scripts/docs", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(FILES[name](), encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
