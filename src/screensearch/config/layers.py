"""From a preset, files and overrides to one `Settings`, with errors that say where to look.

Layers apply in order: preset, then profiles and files, then overrides; a later value replaces an
earlier one.
"""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from screensearch.config.plugins import check_plugins
from screensearch.config.settings import (
    Key,
    Settings,
    check_deadlines,
    declared_settings,
    entry_names,
    items_of,
    optional,
)
from screensearch.config.toml import (
    ABSENT,
    line_of_each_key,
    preset_names,
    preset_text,
    read_text,
    read_toml,
)
from screensearch.environments.desktop.fitness import check_fitness
from screensearch.errors import SettingsError

Check = Callable[[Settings], None]
"""What settings as a whole are held against; raises `SettingsError`."""

_TOML_WORDS = {"object": "table", "null": ABSENT}
"""What a person who writes TOML calls the types that msgspec names after JSON."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place: a file, or one ``--set``."""

    origin: str
    values: Mapping[str, Any]
    lines: Mapping[Key, int]  # empty for an override; that of the empty key is where all of it begins

    def place(self, key: Key) -> str:
        """Where a key of this layer stands, or the nearest one that it lies in, for messages."""
        known = (self.lines.get(key[:length]) for length in range(len(key), -1, -1))
        line = next((each for each in known if each is not None), None)
        return self.origin if line is None else f"{self.origin}, line {line}"


def presets() -> list[str]:
    """The names of the shipped presets."""
    return preset_names()


def load_preset(name_or_path: str | Path) -> Settings:
    """A shipped preset by name, or a settings file by path (what it leaves out is as in the code)."""
    return build([preset_layer(name_or_path)])


def resolve(
    preset: str | Path = "default",
    files: Sequence[str | Path] = (),
    overrides: Sequence[str] = (),
) -> Settings:
    """The settings of a preset, changed by files and then by overrides such as ``select.c_puct=2``."""
    return build(
        [
            preset_layer(preset),
            *(file_layer(Path(each)) for each in files),
            *(override_layer(each) for each in overrides),
        ]
    )


def changed(settings: Settings, overrides: Sequence[str]) -> Settings:
    """These settings, such as those of a run, changed by overrides."""
    values = msgspec.to_builtins(settings)
    return build([Layer("the settings", values, {}), *(override_layer(each) for each in overrides)])


# -- reading layers -------------------------------------------------------------------------------


def preset_layer(name_or_path: str | Path) -> Layer:
    """A shipped preset by name, or a settings file by path."""
    name = str(name_or_path)
    if names_a_file(name_or_path):
        return file_layer(Path(name_or_path))
    text = preset_text(name)
    if text is None:
        known = preset_names()
        raise SettingsError(
            f"no preset named {name!r}{near_miss(name, known)} (known: {', '.join(known)}; "
            "a settings file is named by a path that ends in .toml)"
        )
    return text_layer(f"preset {name!r}", text)


def names_a_file(name_or_path: str | Path) -> bool:
    """Whether this is the path of a file, not the name of something shipped."""
    name = str(name_or_path)
    return isinstance(name_or_path, Path) or name.endswith(".toml") or "/" in name


def file_layer(path: Path, what: str = "settings file") -> Layer:
    """The values of a file. The sources of `app.files` are relative to its folder."""
    return text_layer(f"{what} {str(path)!r}", read_text(path), folder=path.parent)


def text_layer(origin: str, text: str, folder: Path | None = None) -> Layer:
    """The values of a TOML text, if it names only settings that exist."""
    layer = Layer(origin, read_toml(text, origin), line_of_each_key(text))
    return _checked(layer) if folder is None else checked_layer(layer, folder)


def checked_layer(layer: Layer, folder: Path) -> Layer:
    """The layer, if all its settings exist; the sources of `app.files` are relative to `folder`."""
    return _with_sources(_checked(layer), folder.resolve())


def values_layer(origin: str, values: Mapping[str, Any]) -> Layer:
    """Values that come from no text, such as a command that was typed."""
    return _checked(Layer(origin, values, {}))


def override_layer(text: str) -> Layer:
    """A ``key=value``. The value is read as TOML; what is not TOML is taken as the text it is."""
    name, equals, written = text.partition("=")
    key = tuple(name.strip().split("."))
    if not equals or not all(key):
        raise SettingsError(f"--set {text!r} is not of the form table.key=value")
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written.strip()
    for part in reversed(key):
        value = {part: value}
    return _with_sources(_checked(Layer(f"--set {text!r}", value, {})), Path.cwd())


def _with_sources(layer: Layer, folder: Path) -> Layer:
    """The layer with the sources of `app.files` absolute: what a run stores must not depend on its folder."""
    table = layer.values.get("app")
    entries = table.get("files") if isinstance(table, Mapping) else None
    if not isinstance(entries, list):
        return layer  # a wrong type is refused when the layers are put together
    found = []
    for number, entry in enumerate(entries):
        if isinstance(entry, Mapping) and isinstance(entry.get("source"), str) and entry["source"]:
            source = folder / entry["source"]
            if not source.exists():
                place = layer.place(("app", "files", str(number), "source"))
                raise SettingsError(
                    f"{place}: app.files names the source {entry['source']!r}, and there is no {source}: "
                    "put it there, or give the file a text instead"
                )
            entry = {**entry, "source": str(source)}
        found.append(entry)
    return replace(layer, values={**layer.values, "app": {**layer.values["app"], "files": found}})


def _checked(layer: Layer) -> Layer:
    """The layer, if it names only settings that exist."""
    declared = declared_settings()
    for key, value in items_of(layer.values):
        if key not in declared:
            raise SettingsError(f"{layer.place(key)}: {_unknown(key)}")
        _check_entries(layer, key, value)
    return layer


def _check_entries(layer: Layer, key: Key, value: Any) -> None:
    """Refuse a list of tables of which one holds an unknown name."""
    names = entry_names(declared_settings()[key])
    if not names or not isinstance(value, list):
        return
    for number, entry in enumerate(value):
        for name in entry if isinstance(entry, Mapping) else ():
            if name not in names:
                raise SettingsError(
                    f"{layer.place((*key, str(number), name))}: an entry of {'.'.join(key)} has no "
                    f"{name!r}{near_miss(name, names)} (known: {', '.join(names)})"
                )


def _unknown(key: Key) -> str:
    """What to say about a key that is no setting: a table, a near miss, or what there is."""
    name = ".".join(key)
    settings = [".".join(each) for each in declared_settings()]
    inside = [each for each in settings if each.startswith(f"{name}.")]
    if inside:
        return f"{name} is a table, not a setting; it holds {', '.join(inside)}"
    same_leaf = [each for each in settings if each.rpartition(".")[2] == key[-1]]
    hint = near_miss(name, settings) or (f"; did you mean {same_leaf[0]!r}?" if same_leaf else "")
    if not hint:
        table = [each for each in settings if each.startswith(f"{key[0]}.")]
        tables = list(dict.fromkeys(each.partition(".")[0] for each in settings))
        hint = f" (known: {', '.join(table or tables)})"
    return f"no setting named {name!r}{hint}"


def near_miss(name: str, known: Sequence[str]) -> str:
    """``; did you mean 'x'?``, or nothing."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f"; did you mean {near[0]!r}?" if near else ""


# -- putting them together ------------------------------------------------------------------------


def build(layers: Sequence[Layer], check: Check = check_plugins) -> Settings:
    """One `Settings` from layers, the lowest first; a refusal names the layer that brought it about."""
    try:
        return _convert(layers, check)
    except msgspec.ValidationError as problem:
        raise SettingsError(_wrong_type(str(problem), layers)) from problem
    except SettingsError as problem:
        raise SettingsError(f"{_culprit(str(problem), layers, check)}: {problem}") from problem


def check_live(settings: Settings) -> None:
    """Refuse what no run may have, and what a run on a live desktop may not."""
    check_plugins(settings)
    check_deadlines(settings)
    check_fitness(settings.app, settings.desktop)


def _convert(layers: Sequence[Layer], check: Check) -> Settings:
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge(merged, layer.values)
    settings = msgspec.convert(_with_absent(merged), Settings)
    check(settings)
    return settings


def _merge(below: dict[str, Any], above: Mapping[str, Any], path: Key = ()) -> None:
    """Lay one set of tables over another; a setting is replaced whole, a list too."""
    for name, value in above.items():
        key = (*path, name)
        if isinstance(value, Mapping) and key not in declared_settings():
            _merge(below.setdefault(name, {}), value, key)
        else:
            below[name] = copy.deepcopy(value)


def _with_absent(values: dict[str, Any], path: Key = ()) -> dict[str, Any]:
    """The values with "none" read as absent where a setting may be."""
    declared = declared_settings()
    read = {}
    for name, value in values.items():
        key = (*path, name)
        if key in declared:
            read[name] = None if value == ABSENT and optional(declared[key]) else value
        else:
            read[name] = _with_absent(value, key)
    return read


def _wrong_type(problem: str, layers: Sequence[Layer]) -> str:
    """What msgspec says about a type, with the setting, its value and the layer it came from."""
    expected, _, location = problem.partition(" - at ")
    parts = tuple(re.findall(r"\w+", location))
    key = _declared_prefix(parts)
    said = re.sub(r"\b(object|null)\b", lambda word: _TOML_WORDS[word[0]], expected)
    said = f"{said[:1].lower()}{said[1:]}"
    for layer in reversed(layers):
        for each, value in items_of(layer.values):
            if each == key:
                return f"{layer.place(parts)}: {'.'.join(key)} is {value!r}: {said}"
    return f"{'.'.join(key)}: {said}"


def _declared_prefix(parts: Sequence[str]) -> Key:
    """The setting that a location such as ``$.encode.masks.regions[0].left`` lies in."""
    return next(
        (key for length in range(len(parts), 0, -1) if (key := tuple(parts[:length])) in declared_settings()),
        tuple(parts),
    )


def _culprit(problem: str, layers: Sequence[Layer], check: Check) -> str:
    """Where the value that a room refused came from.

    A room's check may weigh several settings against each other, so it runs on the whole. The
    layer to blame is the one whose arrival brings this very refusal about.
    """
    for count in range(1, len(layers) + 1):
        try:
            _convert(layers[:count], check)
        except SettingsError as refusal:
            if str(refusal) == problem:
                return _place_of(problem, layers[count - 1])
        except msgspec.ValidationError:
            continue  # a later layer repairs that type
    return layers[-1].origin


def _place_of(problem: str, layer: Layer) -> str:
    """The line of the setting that a refusal names, when it names one; else the layer.

    A refusal calls a setting by the last two parts of its name, and may go on to an entry of a list and to
    what that holds: ``guard.rules[1].patterns``.
    """
    for key, _ in items_of(layer.values):
        named = re.search(rf"(?<!\w){re.escape('.'.join(key[-2:]))}(?:\[(\d+)\](?:\.(\w+))?)?(?!\w)", problem)
        if named is not None:
            return layer.place((*key, *(part for part in named.groups() if part is not None)))
    return layer.origin
