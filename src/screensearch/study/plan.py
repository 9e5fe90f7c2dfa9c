"""What a study consists of, and its folder: every episode has a place, and is there whole or not at all.

study.lock        taken by the process that runs it
study.json        the plan: conditions, suites by their digests, starts, seeds, budget
suites/           suites that were built for it
initial/          the initial graph of a condition that needs one of its own
episodes/         one file for each finished episode
results.jsonl.gz  all of them, once the study is done; tables and figures beside it
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from screensearch.domain.document import decode_document, encode_document
from screensearch.errors import FormatError, SettingsError, StoreFailed
from screensearch.record.durable import sync_folder, write_durably
from screensearch.study.conditions import Condition
from screensearch.study.files import compressed_lines, naming
from screensearch.study.suite import Suite
from screensearch.study.trace import Place, Trace

PLAN = "study.json"
EPISODES = "episodes"
RESULTS = "results.jsonl.gz"
PLAN_KIND, TRACE_KIND = "study", "episode"


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """A suite of a study, known by its digest wherever it lies; and which of its starts take part."""

    name: str
    digest: str
    environment: str
    high: float  # u above this is high ambiguity
    starts: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A study before it is run. The same plan gives the same episodes."""

    study: str
    conditions: list[Condition]
    suites: list[PlannedSuite]
    steps: int  # of an episode, start included: the paper's budget of 50 is one start and 49 actions
    replicates: int  # episodes of each condition at each start, each by other seeds
    seed: int
    version: str  # of this project

    def places(self) -> Iterator[Place]:
        """Every episode: all conditions of a start in a row, so that a part of a study is paired, too."""
        for suite in self.suites:
            for replicate in range(self.replicates):
                for start in suite.starts:
                    for condition in self.conditions:
                        yield Place(suite.name, condition.name, start, replicate)

    def condition(self, name: str) -> Condition:
        return next(each for each in self.conditions if each.name == name)


def planned(suite: Suite, starts: int | None) -> PlannedSuite:
    """A suite with so many of its starts, all strata alike; without a number, with all of them."""
    return PlannedSuite(
        suite.name,
        suite.digest,
        suite.environment,
        suite.cuts.high,
        spread(suite, starts or len(suite.starts)),
    )


def spread(suite: Suite, starts: int) -> list[int]:
    """The numbers of so many starts, in turn from each stratum, in the order of the suite."""
    if starts > len(suite.starts):
        raise SettingsError(
            f"the suite {suite.name!r} has {len(suite.starts)} starts, not {starts}: ask for fewer, or "
            "build one with more"
        )
    taken: list[int] = []
    waiting = {
        stratum: [each.number for each in suite.starts if each.stratum is stratum] for stratum in suite.asked
    }
    while len(taken) < starts:
        for numbers in waiting.values():
            if numbers and len(taken) < starts:
                taken.append(numbers.pop(0))
    return sorted(taken)


class StudyFolder:
    """The folder of a study: what is planned, and what is finished."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, plan: Plan) -> None:
        """Write the plan, or see that the folder is of the same study.

        A plan that only takes in or leaves out conditions, suites, starts or seeds takes the place of the
        one that is there: an episode depends on nothing but its own place in a plan. Results without a plan
        are of nobody knows what.
        """
        path = self.path / PLAN
        if not path.exists() and (self.path / RESULTS).exists():
            raise SettingsError(
                f"{self.path} has {RESULTS} but no {PLAN}, so nothing says of which study: restore it from a "
                "copy, or choose another --out"
            )
        if path.exists():
            theirs = self.plan()
            if theirs == plan:
                return
            if differing := _differing(theirs, plan):
                raise SettingsError(
                    f"{self.path} holds another study (its {differing} differ): choose another --out, "
                    "or give the same options to go on with it"
                )
        write_whole(path, encode_document(PLAN_KIND, plan) + b"\n")

    def plan(self) -> Plan:
        try:
            content = (self.path / PLAN).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as problem:
            raise SettingsError(f"there is no study at {self.path}: it has no {PLAN}") from problem
        with naming(self.path / PLAN):
            return decode_document(content, PLAN_KIND, Plan)

    def episode(self, place: Place) -> Path:
        """The file of an episode."""
        return (
            self.path
            / EPISODES
            / place.suite
            / place.condition
            / f"s{place.start:03}-r{place.replicate}.json"
        )

    def initial(self, suite: str, condition: str) -> Path:
        """The run that a condition's graph begins with, if it needs one of its own."""
        return self.path / "initial" / suite / condition

    def keep(self, trace: Trace) -> None:
        """Write a finished episode, whole or not at all."""
        write_whole(self.episode(trace.place), encode_document(TRACE_KIND, trace) + b"\n")

    def trace(self, place: Place) -> Trace | None:
        """A finished episode; None if it is not."""
        path = self.episode(place)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        with naming(path, "remove it, and the episode is run again"):
            trace = decode_document(content, TRACE_KIND, Trace)
        if trace.place != place:
            raise FormatError(f"{path} is of another episode: {trace.place}; remove it")
        return trace

    def unpack(self) -> None:
        """Lay out the episodes of a folder that was stored without them: its `results.jsonl.gz` has them all.

        Where single episodes are missing, somebody took them away to have them run again.
        """
        if (self.path / EPISODES).exists() or not (self.path / RESULTS).exists():
            return
        aside = StudyFolder(self.path / "working")  # cleared away where this is cut short
        for trace in read_results(self.path / RESULTS):
            aside.keep(trace)
        try:
            (aside.path / EPISODES).rename(self.path / EPISODES)
        except OSError as problem:
            raise StoreFailed(f"cannot lay out the episodes of {self.path}: {problem}") from problem

    def write_results(self, plan: Plan) -> None:
        """All episodes in one compressed file, one document per line, in the order of the plan."""
        lines = [self.episode(place).read_bytes() for place in plan.places()]
        write_whole(self.path / RESULTS, gzip.compress(b"".join(lines), mtime=0))


def read_results(path: Path) -> list[Trace]:
    """The episodes of a `results.jsonl.gz`, wherever it lies."""
    lines = compressed_lines(path)
    with naming(path):
        return [decode_document(line, TRACE_KIND, Trace) for line in lines]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of a study; a reader sees all of it or none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, content)
        sync_folder(path.parent)
    except OSError as problem:
        raise StoreFailed(
            f"cannot write {path}: {problem}; check its permissions and free space"
        ) from problem


def check_names(suites: Sequence[Suite]) -> None:
    """Refuse two suites of one name: their episodes would lie in one folder."""
    names = [suite.name for suite in suites]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"two suites are named {name!r}: give each application once")


def _differing(theirs: Plan, ours: Plan) -> str:
    """What makes two plans those of different studies; empty if what both have is the same in both."""
    names = [
        name for name in ("study", "steps", "seed", "version") if getattr(theirs, name) != getattr(ours, name)
    ]
    for kind in ("conditions", "suites"):
        known = {each.name: _apart_from_starts(each) for each in getattr(theirs, kind)}
        here = {each.name: _apart_from_starts(each) for each in getattr(ours, kind)}
        names += [f"{kind} {name!r}" for name in known.keys() & here.keys() if known[name] != here[name]]
    return ", ".join(sorted(names))


def _apart_from_starts(each: Condition | PlannedSuite) -> Condition | PlannedSuite:
    return replace(each, starts=[]) if isinstance(each, PlannedSuite) else each
