"""What a campaign file says.

    at_once = 2                     # runs at the same time
    workers = 2                     # of each run
    seed = 0                        # or seeds = [0, 1, 2]: as many repetitions of every run
    cluster = "10.0.0.11:6379"      # explored there, not here; it needs a store
    store = "postgresql://…"        # of the logs
    artifacts = "s3://lab/mine"     # of the pictures, each run below its own name

    [stop]                          # any table of settings: laid over the profile of every run
    steps = 2000

    [[run]]
    target = "mousepad"             # or command = ["program", "argument"]
    name = "notepad"                # of its folder; else after the target
    seeds = [1, 2]                  # the folders notepad-1 and notepad-2

    [run.app]                       # settings of this run alone
    display_modes = ["dark"]

Whatever is wrong is told with its line before anything runs. Files that it names are relative to its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec

from screensearch.config import Settings
from screensearch.config.layers import Layer, checked_layer, names_a_file, near_miss
from screensearch.config.settings import declared_settings
from screensearch.config.targets import resolve_target
from screensearch.config.toml import line_of_each_key, read_text, read_toml
from screensearch.errors import ScreenSearchError, SettingsError
from screensearch.explore.beginning import LARGEST_SEED
from screensearch.explore.budget import StopRule
from screensearch.record.artifact_location import read_location

RESERVED = "campaign."
"""How the files of the campaign itself begin, beside the folders of its runs."""

_RUN = "run"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEED)]

_COMMON: Mapping[str, tuple[Any, str]] = {
    "workers": (_Count, "a whole number of worker processes, at least 1"),
    "seed": (_Seed, f"a whole number from 0 to {LARGEST_SEED}"),
    "seeds": (Annotated[list[_Seed], msgspec.Meta(min_length=1)], "a list of whole numbers, such as [0, 1]"),
    "store": (str, "the address of a PostgreSQL database, such as postgresql://USER@HOST/DATABASE"),
    "artifacts": (str, "a folder or a URL for pictures, such as s3://BUCKET/PREFIX"),
    "preset": (str, "the name of a preset, or the path of a settings file"),
}
_OF_ALL = {
    **_COMMON,
    "at_once": (_Count, "a whole number of runs at the same time, at least 1"),
    "cluster": (str, 'the address of a Ray cluster, such as "10.0.0.11:6379", or "auto"'),
}
_SECRETIVE = ("store", "artifacts")
"""Addresses, which may hold a password."""

_OF_ONE = {
    **_COMMON,
    "target": (str, 'a text, such as "mousepad" or "synthetic:notepad"'),
    "command": (
        Annotated[list[str], msgspec.Meta(min_length=1)],
        'a list of words, such as ["python3", "app.py"]',
    ),
    "name": (str, "a text, the name of the run's folder"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One run of a campaign: what is explored, how, until when, and where in the file it stands."""

    name: str  # of its folder
    environment: str
    settings: Settings
    stop: StopRule
    workers: int
    seed: int
    store: str
    artifacts: str  # of this run alone; "" for its folder
    place: str  # for messages


@dataclass(frozen=True, slots=True)
class Campaign:
    """Runs in the order of the file."""

    name: str
    runs: tuple[PlannedRun, ...]
    at_once: int
    cluster: str = ""  # that all are explored on; "" for this machine
    cluster_place: str = ""  # of the cluster, for messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Above:
    """What stands above the file, where it is given."""

    workers: int | None = None
    store: str = ""
    artifacts: str = ""
    cluster: str = ""


_NOTHING = Above()


def campaign_names() -> list[str]:
    """The campaigns that are shipped, sorted."""
    folder = files("screensearch").joinpath("campaigns")
    return sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))


def read_campaign(name_or_path: str | Path, above: Above = _NOTHING) -> Campaign:
    """A shipped campaign by its name, or a campaign file by its path."""
    name = str(name_or_path)
    if names_a_file(name_or_path):
        path = Path(name_or_path)
        return parse_campaign(
            f"campaign file {name!r}",
            read_text(path, "campaign file"),
            name=path.stem,
            folder=path.parent,
            above=above,
        )
    known = campaign_names()
    if name not in known:
        raise SettingsError(
            f"no campaign named {name!r}{near_miss(name, known)} (known: {', '.join(known)}; a campaign file "
            "is named by a path that ends in .toml)"
        )
    text = files("screensearch").joinpath("campaigns", f"{name}.toml").read_text(encoding="utf-8")
    return parse_campaign(f"campaign {name!r}", text, name=name, folder=Path(), above=above)


def parse_campaign(origin: str, text: str, *, name: str, folder: Path, above: Above) -> Campaign:
    """The campaign of a TOML text; `origin` names it in messages."""
    values, lines = read_toml(text, origin), line_of_each_key(text)
    tables = values.pop(_RUN, [])
    if not isinstance(tables, list) or not all(isinstance(each, Mapping) for each in tables):
        place = Layer(origin, {}, lines).place((_RUN,))
        raise SettingsError(f"{place}: run is no list of tables: begin each run with a line [[run]]")
    if not tables:
        raise SettingsError(f'{origin} has no run: add a line [[run]] and below it target = "mousepad"')
    common = _read_part(Layer(origin, values, lines), _OF_ALL, folder)
    runs: list[PlannedRun] = []
    for number, table in enumerate(tables):
        layer = Layer(origin, table, _lines_of_run(lines, number))
        part = _read_part(layer, _OF_ONE, folder)
        runs += _plan(part, common, folder, above)
    _refuse_repeated(runs)
    return Campaign(
        name,
        tuple(runs),
        common.words.get("at_once", 1),
        _cluster(common, above),
        "--cluster" if above.cluster else common.settings.place(("cluster",)),
    )


# -- parts of the file ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """The head of the file, or one run: what it says of runs, and what it says of settings."""

    words: Mapping[str, Any]
    settings: Layer

    def refuse(self, key: str, why: str) -> SettingsError:
        return SettingsError(f"{self.settings.place((key,))}: {why}")


def _lines_of_run(lines: Mapping[tuple[str, ...], int], number: int) -> dict[tuple[str, ...], int]:
    """The lines of one run, by the keys that it uses itself; that of the run is under the empty key."""
    above = (_RUN, str(number))
    inside = {key[2:]: line for key, line in lines.items() if key[:2] == above}
    return inside or {(): lines[_RUN,]}  # written on one line, as run = [{ … }]


def _read_part(layer: Layer, kinds: Mapping[str, tuple[Any, str]], folder: Path) -> _Part:
    tables = {key[0] for key in declared_settings()}
    words = {}
    for key, value in layer.values.items():
        if key in tables:
            continue
        if key not in kinds:
            known = (*kinds, *tables)
            raise SettingsError(
                f"{layer.place((key,))}: a campaign has no {key!r} here{near_miss(key, known)} (known: "
                f"{', '.join(kinds)}, and the tables of settings: {', '.join(sorted(tables))})"
            )
        kind, meaning = kinds[key]
        try:
            words[key] = msgspec.convert(value, kind)
        except msgspec.ValidationError as problem:
            given = "" if key in _SECRETIVE else f" is {value!r}; it"  # an address may hold a password
            raise SettingsError(f"{layer.place((key,))}: {key}{given} must be {meaning}") from problem
    settings = {key: value for key, value in layer.values.items() if key in tables}
    part = _Part(words, checked_layer(Layer(layer.origin, settings, layer.lines), folder))
    if "seed" in words and "seeds" in words:
        raise part.refuse("seeds", "seed and seeds are both given: seed is for one run, seeds for several")
    if len(set(words.get("seeds", ()))) < len(words.get("seeds", ())):
        raise part.refuse("seeds", f"seeds = {words['seeds']!r} holds a seed twice: leave one out")
    return part


# -- runs -----------------------------------------------------------------------------------------


def _plan(part: _Part, common: _Part, folder: Path, above: Above) -> Iterator[PlannedRun]:
    """The run of a table, or as many as it has seeds."""
    words = {**common.words, **part.words}
    target = _target(part)
    name = _name(part, target)
    layers = [common.settings, part.settings]
    try:
        environment, settings = resolve_target(target, words.get("preset", "default"), layers, folder)
        stop = StopRule.of(settings.stop)
    except ScreenSearchError as problem:
        if str(problem).startswith(part.settings.origin):  # it says which line
            raise
        raise part.refuse("target" if "target" in part.words else "command", str(problem)) from problem
    seeded = "seeds" in (part.words if {"seed", "seeds"} & part.words.keys() else common.words)
    store = above.store or words.get("store", "")
    if not store and _cluster(common, above):
        raise part.refuse(
            "store",
            "a run on a cluster needs a log that all its machines can reach: add store = "
            '"postgresql://USER@HOST/DATABASE" to the file, or give --store',
        )
    artifacts = _artifacts(part, common, folder, above)
    for seed in words["seeds"] if seeded else [words.get("seed", 0)]:
        own_name = f"{name}-{seed}" if seeded else name
        yield PlannedRun(
            name=own_name,
            environment=environment,
            settings=settings,
            stop=stop,
            workers=above.workers or words.get("workers", 1),
            seed=seed,
            store=store,
            artifacts=f"{artifacts}/{own_name}" if artifacts else "",
            place=part.settings.place(()),
        )


def _cluster(common: _Part, above: Above) -> str:
    return str(above.cluster or common.words.get("cluster", ""))


def _artifacts(part: _Part, common: _Part, folder: Path, above: Above) -> str:
    """Where the pictures of all runs of a table go, each below its own name; "" for the folders of the runs.

    A folder that the file names is relative to it; one of the command line, to where that was given.
    """
    if above.artifacts:
        return str(read_location(above.artifacts))
    giving = part if "artifacts" in part.words else common
    location = giving.words.get("artifacts", "")
    if not location:
        return ""
    try:
        found = read_location(location)
    except SettingsError as problem:
        raise giving.refuse("artifacts", str(problem)) from problem
    is_plain = found == Path(location).absolute()  # and no file:// address
    return str((folder / location).absolute() if is_plain else found)


def _target(part: _Part) -> str | Sequence[str]:
    target, command = part.words.get("target"), part.words.get("command")
    if target is not None and command is not None:
        raise part.refuse("command", "target and command are two things to explore: leave one of them out")
    if target is None and command is None:
        raise part.refuse(
            "target",
            'a run needs something to explore: target = "mousepad" (`screensearch apps` lists more) or '
            'command = ["program", "argument"]',
        )
    found: str | Sequence[str] = part.words["command" if target is None else "target"]
    return found


def _name(part: _Part, target: str | Sequence[str]) -> str:
    """The name that is given, or one after the target."""
    name = part.words.get("name")
    if name is None:
        named = Path(target).stem if isinstance(target, str) and target.endswith(".toml") else target
        named = named if isinstance(named, str) else Path(named[0]).name
        name = re.sub(r"[^A-Za-z0-9]+", "-", named).strip("-")
    if not _NAME.fullmatch(name) or name.startswith(RESERVED):
        raise part.refuse(
            "name",
            f"{name!r} cannot be the name of a run's folder: take letters, digits, '.', '_' and '-', a "
            f"letter or digit first, and nothing that begins with {RESERVED!r}",
        )
    return str(name)


def _refuse_repeated(runs: Sequence[PlannedRun]) -> None:
    seen: dict[str, PlannedRun] = {}
    for run in runs:
        first = seen.setdefault(run.name, run)
        if first is not run:
            raise SettingsError(
                f"{run.place}: there is a run named {run.name!r} already ({first.place}): give one of them a "
                'name of its own, as in name = "other"'
            )
