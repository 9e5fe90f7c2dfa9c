"""A replay suite: a corpus, the starts in it with their prefixes, and the thresholds, fixed once for all.

It is a folder, to be copied as one:

    suite.json   what was built: environment, settings, rules, thresholds, starts, and digests of it all
    corpus/      the run that the graph of every condition is initialised from

The same corpus, rules and seed give the same `suite.json`, byte for byte. A suite that was changed by hand
is refused; one from elsewhere is checked as a whole by `verify_suite`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from screensearch.config import Settings, settings_from_document
from screensearch.domain.document import decode_document
from screensearch.domain.screen import StateId
from screensearch.errors import FormatError, RunNotFound, SettingsError, StoreFailed
from screensearch.explore.replay.route import Route, RouteStep
from screensearch.explore.run import Run, open_run
from screensearch.record.durable import sync_folder, write_durably
from screensearch.record.log import Log
from screensearch.study.files import naming
from screensearch.study.names import check_name
from screensearch.study.starts import Cuts, Eligibility, Stratum

KIND = "suite"
VERSION = 1
SUITE = "suite.json"
CORPUS = "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStart:
    """A verified start: a state, and the prefix that leads to it from a clean start."""

    number: int  # counted from 0
    state: StateId
    stratum: Stratum
    ambiguity: float  # u(s) in the corpus
    occurrences: int
    episode: str  # whose first steps are the prefix
    configuration: dict[str, str]
    seeds: list[int]  # that gave the configuration: for environments that cannot be told it
    origin: StateId
    steps: list[tuple[str, StateId]]  # each action, and the state it leads to


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The content of `suite.json`."""

    name: str  # of the application, for tables and folders
    environment: str
    settings: dict[str, Any]  # as a run stores them
    seed: int
    rules: Eligibility
    cuts: Cuts  # u(s) above `cuts.high` is high ambiguity, in every condition
    corpus: CorpusMark
    asked: dict[Stratum, int]  # starts that were asked for
    eligible: dict[Stratum, int]  # states that the rules allowed
    refused: dict[str, int] = field(default_factory=dict)  # prefixes that did not lead back, by how
    starts: list[SuiteStart]
    version: str  # of this project
    digest: str = ""  # of all of the above

    def __post_init__(self) -> None:
        check_name("a suite", self.name)

    @property
    def missing(self) -> dict[Stratum, int]:
        """How many starts of each stratum were asked for and not found; only those with some."""
        found = {stratum: sum(each.stratum is stratum for each in self.starts) for stratum in Stratum}
        lacking = {stratum: self.asked.get(stratum, 0) - found[stratum] for stratum in Stratum}
        return {stratum: count for stratum, count in lacking.items() if count > 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusMark:
    """What a corpus must be, to be the one that a suite was built on."""

    entries: int
    states: int
    edges: int
    graph: str  # digest of its graph
    screens: str  # digest of its screens with their states


class OpenSuite:
    """A suite with its corpus opened for reading. Close it, or use ``with``."""

    def __init__(self, path: Path, suite: Suite, run: Run) -> None:
        self.path = path
        self.suite = suite
        self.run = run
        self.settings: Settings = settings_from_document(suite.settings)

    def __enter__(self) -> OpenSuite:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.run.close()

    def route(self, start: SuiteStart) -> Route:
        """The prefix of a start, to be walked."""
        return route_of(self.run, self.suite.environment, self.settings, start)


def route_of(run: Run, environment: str, settings: Settings, start: SuiteStart) -> Route:
    """The route along a prefix: each state is judged by its founding screen in the corpus."""
    expected = {start.origin, *(state for _, state in start.steps)}
    return Route(
        environment=environment,
        settings=settings,
        configuration=start.configuration,
        start=start.origin,
        steps=tuple(RouteStep(signature, state) for signature, state in start.steps),
        screens={state: run.founding_screen(state) for state in expected},
        seeds=tuple(start.seeds),
    )


def mark_of(run: Run) -> CorpusMark:
    """What a run is, as a corpus."""
    graph = run.graph
    return CorpusMark(
        entries=graph.sequence,
        states=graph.states,
        edges=graph.edges,
        graph=graph.digest(),
        screens=_digest_of_screens(run.log),
    )


def _digest_of_screens(log: Log) -> str:
    hashed = hashlib.sha256()
    for (_, state, founder), screen in log.known_screens():
        line = (state, founder, screen.key, msgspec.to_builtins(screen.metadata))
        hashed.update(msgspec.json.encode(line, order="sorted"))
    return hashed.hexdigest()


def sealed(suite: Suite) -> Suite:
    """The suite with its digest."""
    return replace(suite, digest=_digest(suite))


def _digest(suite: Suite) -> str:
    return hashlib.sha256(msgspec.json.encode(replace(suite, digest=""), order="sorted")).hexdigest()


def write_suite(folder: Path, suite: Suite) -> None:
    """Write `suite.json`, whole or not at all."""
    document = {"format": f"screensearch.{KIND}", "version": VERSION, "body": suite}
    content = msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=1) + b"\n"
    try:
        write_durably(folder / SUITE, content)
        sync_folder(folder)
    except OSError as problem:
        raise StoreFailed(
            f"cannot write {folder / SUITE}: {problem}; check its permissions and free space"
        ) from problem


def read_suite(folder: Path) -> Suite:
    """The suite of a folder, if nothing in `suite.json` was changed since it was built."""
    path = folder / SUITE
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise RunNotFound(
            f"there is no suite at {folder}: it has no {SUITE}; build one with "
            f"`screensearch study suite APP --out {folder}`"
        ) from problem
    except OSError as problem:
        raise StoreFailed(f"cannot read {path}: {problem}; check its permissions") from problem
    with naming(path):
        suite = decode_document(content, KIND, Suite, version=VERSION)
    if suite.digest != _digest(suite):
        raise FormatError(
            f"{path} was changed since it was built: its digest is not what it says; restore it from a copy"
        )
    return suite


def open_suite(folder: str | Path) -> OpenSuite:
    """Open a suite and see that its corpus is the one it was built on.

    A suite may come from anywhere: one whose settings leave the sandbox is refused.
    """
    path = Path(folder)
    suite = read_suite(path)
    check_walls(settings_from_document(suite.settings))
    run = open_run(path / CORPUS)
    try:
        check_mark(path, suite.corpus, mark_of(run))
        return OpenSuite(path, suite, run)
    except BaseException:
        run.close()
        raise


def check_walls(settings: Settings) -> None:
    """Studies act again and again without anybody watching: they never leave the sandbox."""
    if not settings.desktop.sandbox:
        raise SettingsError(
            "desktop.sandbox is false: a study would act as you, with your files and your network; studies "
            "run in the sandbox only, so leave that setting out"
        )


def check_mark(path: Path, expected: CorpusMark, found: CorpusMark) -> None:
    """Raise unless a corpus is the one that a suite was built on."""
    differing = [
        f"{name} {_short(seen)} instead of {_short(wanted)}"
        for name, wanted, seen in _pairs(expected, found)
        if wanted != seen
    ]
    if differing:
        raise FormatError(
            f"the corpus of {path} is not the one it was built on: {', '.join(differing)}; "
            "restore it from a copy"
        )


def _pairs(expected: CorpusMark, found: CorpusMark) -> list[tuple[str, Any, Any]]:
    seen: Mapping[str, Any] = msgspec.to_builtins(found)
    return [(name, wanted, seen[name]) for name, wanted in msgspec.to_builtins(expected).items()]


def _short(value: object) -> str:
    return str(value)[:12]
