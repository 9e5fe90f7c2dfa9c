"""Settings as files that a person can read: where each value stands, and how to write them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from screensearch.config.settings import Key, Settings, items_of
from screensearch.errors import SettingsError

ABSENT = "none"
"""How a file says that an optional setting has no value: TOML itself has no word for it."""

_PREAMBLE = "# Every setting of a run. The source in brackets after a value is that of its default."

_TABLE = re.compile(r"\s*\[([\w.\"'-]+)\]")
_ENTRY = re.compile(r"\s*\[\[([\w.\"'-]+)\]\]")
_OPENED = re.compile(r"\s*([\w.\"'-]+)\s*=\s*\[\s*(#.*)?$")
_VALUE = re.compile(r"(\s*)([\w.\"'-]+)\s*=\s*")


def read_toml(text: str, origin: str) -> dict[str, Any]:
    """The values of a file; a syntax error names the file and the place."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        said = str(problem)
        if "end of document" in said:  # which is not where it went wrong
            began = max(line_of_each_key(text).values(), default=1)
            said += f"; what begins on line {began} is not closed by a bracket or a quotation mark"
        raise SettingsError(f"{origin} is not TOML: {said}") from problem


def read_text(path: Path, what: str = "settings file") -> str:
    """The text of a file; one that cannot be read is named with the reason."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{what} {str(path)!r} cannot be read: {problem}") from problem


def preset_text(name: str) -> str | None:
    """The text of a shipped preset, or None when there is none of that name."""
    resource = files("screensearch").joinpath("presets", f"{name}.toml")
    return resource.read_text(encoding="utf-8") if resource.is_file() else None


def preset_names() -> list[str]:
    """The presets that are shipped, sorted."""
    folder = files("screensearch").joinpath("presets")
    return sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))


def line_of_each_key(text: str) -> dict[Key, int]:
    """The line on which each key of a valid TOML text stands, counted from 1. Serves messages only.

    The entries of a list that is written as ``[[app.files]]`` are counted from 0: what the second one
    calls ``path`` is ``("app", "files", "1", "path")``. So are the tables of a list that has a line for each.
    A table below a list belongs to its latest entry: ``[run.app]`` after the second ``[[run]]`` is
    ``("run", "1", "app")``.
    """
    lines: dict[Key, int] = {}
    entries: dict[Key, int] = {}
    table: Key = ()
    listed: Key = ()  # the latest list of one line for each of its tables
    for number, line in enumerate(text.split("\n"), start=1):
        if entry := _ENTRY.match(line):
            key = _in_latest_entry(_path(entry[1]), entries)
            entries[key] = entries.get(key, -1) + 1
            table = (*key, str(entries[key]))
            lines.setdefault(key, number)
            lines[table] = number
        elif heading := _TABLE.match(line):
            table = _in_latest_entry(_path(heading[1]), entries)
            lines.setdefault(table, number)
        elif value := _VALUE.match(line):
            lines.setdefault((*table, *_path(value[2])), number)
            if opened := _OPENED.match(line):
                listed = (*table, *_path(opened[1]))
        elif listed and line.lstrip().startswith("{"):
            lines[*listed, str(entries.setdefault(listed, 0))] = number
            entries[listed] += 1
    return lines


def _in_latest_entry(key: Key, entries: Mapping[Key, int]) -> Key:
    """The path of a heading, with the number of the latest entry after each list that it goes through."""
    found: Key = ()
    for part in key:
        found = (*found, str(entries[found]), part) if found in entries else (*found, part)
    return found


def to_toml(settings: Settings) -> str:
    """The settings as a complete file: the default preset's words and units, with these values."""
    template = preset_text("default")
    assert template is not None  # shipped with the package
    values = dict(items_of(msgspec.to_builtins(settings)))
    table: Key = ()
    written = []
    for line in template.splitlines():
        if heading := _TABLE.match(line):
            table = _path(heading[1])
        elif (value := _VALUE.match(line)) and not line.lstrip().startswith("#"):
            comment = _comment_after(line)
            key = (*table, *_path(value[2]))
            line = f"{value[1]}{value[2]} = {toml_value(values[key])}{comment}"
        written.append(line)
    return "\n".join(_without_preamble(written)) + "\n"


def _without_preamble(lines: list[str]) -> list[str]:
    """The head of the default preset speaks of that preset: it does not hold for other values."""
    first_table = next(number for number, line in enumerate(lines) if _TABLE.match(line))
    head = max(number for number in range(first_table) if not lines[number])
    return [_PREAMBLE, *lines[head:]]


def _comment_after(line: str) -> str:
    """The comment that ends a line `key = value  # comment`, with its space."""
    start = line.index("=") + 1
    quote = ""
    for place in range(start, len(line)):
        character = line[place]
        if quote:
            if character == quote and line[place - 1] != "\\":
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "#":
            return "  " + line[place:]
    return ""


def toml_value(value: Any) -> str:
    """One value on one line. JSON's strings, numbers and booleans are TOML's."""
    if value is None:
        return json.dumps(ABSENT)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name} = {toml_value(each)}" for name, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(each) for each in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def _path(dotted: str) -> Key:
    return tuple(part.strip("\"'") for part in dotted.split("."))
