"""What the controls consist of, and their folder: every trial has a place, and is there whole or not at all.

study.json        the plan: applications with their settings, how many trials, the seed
trials/           one file for each finished trial
results.jsonl.gz  all of them, once the study is done; tables beside it
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from screensearch.domain.document import decode_document, encode_document
from screensearch.domain.screen import Screen
from screensearch.errors import FormatError, SettingsError
from screensearch.study.files import compressed_lines, naming
from screensearch.study.names import check_name
from screensearch.study.plan import PLAN, RESULTS, write_whole

PLAN_KIND, TRIAL_KIND = "controls", "trial"

TOKENS = ("alpha", "beta")
"""What the clipboard holds. Who has read neither commits to the first."""

TIMING_TRIALS = 5
"""So many Pastes say how long one takes to reach the application, before anything is raced against it; then
the latest so many, races among them: how long depends on what else the machine does."""


class Kind(StrEnum):
    """What is done in a trial."""

    TIMING = "timing"  # Paste, with the clock: what the race is set up by; no figure comes of it
    HIDDEN = "hidden"  # Paste, with one or the other token on the clipboard
    RACE = "race"  # Paste, with the first on the clipboard and the second on its way
    NO_PROBE = "no-probe"  # commit at once
    PASTE_UNDO = "paste-undo"  # Paste, Undo, commit
    FILE_MENU = "file-menu"  # open the File menu, close it, commit


PROBES = (Kind.NO_PROBE, Kind.PASTE_UNDO, Kind.FILE_MENU)


class Moment(StrEnum):
    """When something was seen in a trial."""

    START = "start"
    PROBE = "probe"  # after Paste, or with the menu open
    DESTINATION = "destination"  # after Undo, or with the menu closed again
    COMMITMENT = "commitment"  # after the token was typed


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Which trial of the study this is."""

    application: str
    kind: Kind
    number: int

    def __post_init__(self) -> None:
        check_name("an application", self.application)


@dataclass(frozen=True, slots=True)
class Sight:
    """What is kept of a screen."""

    moment: Moment
    screen: Screen
    document: str | None  # the text of the document; None where none can be typed into
    tokens: tuple[str, ...]  # those that can be read anywhere on the screen
    true_screen: str | None = None  # where the environment knows it


@dataclass(slots=True)
class Trial:
    """One trial: what was hidden, what was seen, what was committed to.

    On a synthetic world nothing in it depends on a clock: the same trial gives the same bytes.
    """

    place: Place
    clipboard: str  # what it held at the start
    configuration: dict[str, str] = field(default_factory=dict)
    sights: list[Sight] = field(default_factory=list)
    evidence: str | None = None  # the token that the probe disclosed
    committed: str | None = None  # the token that the document held in the end
    delay_seconds: float | None = None  # between the announcement of an update and the update
    taken: str | None = None  # the text that the application took from a real clipboard, and when
    taken_seconds: float | None = None  # after Paste was begun, in a race after the update was announced
    tries: int = 1
    failure: str | None = None  # why it tells nothing
    note: str = ""

    @property
    def complete(self) -> bool:
        return self.failure is None

    def sight(self, moment: Moment) -> Sight | None:
        return next((each for each in self.sights if each.moment is moment), None)


@dataclass(frozen=True, slots=True)
class PlannedApplication:
    """An application with all that decides how it is run and how its screens are judged."""

    name: str
    environment: str
    settings: dict[str, Any]  # a settings document
    real_clipboard: bool  # one that is held from outside; else it is a variable of a synthetic world


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlan:
    """The study before it is run."""

    applications: list[PlannedApplication]
    trials: int  # of the hidden clipboard and of each way to probe; half with each token
    race_trials: int
    seed: int
    version: str  # of this project

    def __post_init__(self) -> None:
        if self.trials % len(TOKENS):
            raise SettingsError(
                f"{self.trials} trials cannot be half {TOKENS[0]} and half {TOKENS[1]}: give an even number"
            )
        names = [each.name for each in self.applications]
        for name in names:
            if names.count(name) > 1:
                raise SettingsError(f"two applications are named {name!r}: give each once")

    def places(self, application: PlannedApplication) -> Iterator[Place]:
        """Every trial of an application, in the order in which they are run."""
        if application.real_clipboard:  # a synthetic world has no clock to race against
            yield from (Place(application.name, Kind.TIMING, each) for each in range(TIMING_TRIALS))
        yield from (Place(application.name, Kind.RACE, each) for each in range(self.race_trials))
        yield from (Place(application.name, Kind.HIDDEN, each) for each in range(self.trials))
        for number in range(self.trials):  # in turn: what changes on the machine befalls all three
            yield from (Place(application.name, kind, number) for kind in PROBES)

    def all_places(self) -> Iterator[Place]:
        for application in self.applications:
            yield from self.places(application)

    def application(self, name: str) -> PlannedApplication:
        return next(each for each in self.applications if each.name == name)

    def clipboard(self, place: Place) -> str:
        """What the clipboard of a trial holds: each token equally often, in an order drawn by the seed."""
        if place.kind in (Kind.TIMING, Kind.RACE):
            return TOKENS[0]
        order = [token for token in TOKENS for _ in range(self.trials // len(TOKENS))]
        self._chance(place.kind).shuffle(order)
        return order[place.number]

    def delay_share(self, place: Place) -> float:
        """How long an update is on its way, as a multiple of the time that a Paste takes: 0 to 2."""
        return self._chance(place.kind, place.number).uniform(0.0, 2.0)

    def world_seed(self, place: Place) -> int:
        """What a synthetic world draws its chances from in this trial."""
        return self._chance(place.application, place.kind, place.number, "world").getrandbits(32)

    def _chance(self, *parts: str | int) -> random.Random:
        return random.Random("/".join(map(str, (self.seed, *parts))))  # noqa: S311 - an order, not a secret


class ControlFolder:
    """The folder of the controls: what is planned, and what is finished."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, plan: ControlPlan) -> None:
        """Write the plan, or see that the folder is of this very plan."""
        path = self.path / PLAN
        if not path.exists():
            write_whole(path, encode_document(PLAN_KIND, plan) + b"\n")
            return
        theirs, ours = _as_written(read_plan(self.path)), _as_written(plan)
        differing = [name for name in ours if theirs[name] != ours[name]]
        if differing:
            raise SettingsError(
                f"{self.path} holds other controls (their {', '.join(differing)} differ): choose another "
                "--out, or give the same options to go on with them"
            )

    def file(self, place: Place) -> Path:
        """The file of a trial."""
        return self.path / "trials" / place.application / place.kind / f"{place.number:03}.json"

    def keep(self, trial: Trial) -> None:
        """Write a finished trial, whole or not at all."""
        write_whole(self.file(trial.place), encode_document(TRIAL_KIND, trial) + b"\n")

    def trial(self, place: Place) -> Trial | None:
        """A finished trial; None if it is not."""
        path = self.file(place)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        with naming(path, "remove it, and the trial is run again"):
            trial = decode_document(content, TRIAL_KIND, Trial)
        if trial.place != place:
            raise FormatError(f"{path} is of another trial: {trial.place}; remove it")
        return trial

    def write_results(self, plan: ControlPlan) -> None:
        """All trials in one compressed file, one document per line, in the order of the plan."""
        lines = [self.file(place).read_bytes() for place in plan.all_places()]
        write_whole(self.path / RESULTS, gzip.compress(b"".join(lines), mtime=0))


def _as_written(plan: ControlPlan) -> dict[str, Any]:
    """A plan as JSON has it, in which a tuple is a list."""
    written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plan))
    return written


def read_plan(folder: Path) -> ControlPlan:
    """The plan of controls that were begun, or that were copied from elsewhere."""
    try:
        content = (folder / PLAN).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise SettingsError(f"there are no controls at {folder}: it has no {PLAN}") from problem
    with naming(folder / PLAN):
        return decode_document(content, PLAN_KIND, ControlPlan)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a `results.jsonl.gz`, wherever it lies."""
    lines = compressed_lines(path)
    with naming(path):
        return [decode_document(line, TRIAL_KIND, Trial) for line in lines]
