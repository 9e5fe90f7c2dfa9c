"""What a set of runs amounts to: the paper's corpus table and the data of its four diagnostics figures.

A row is an application in the look that it was explored in, under one prior and one identity rule. Entries
are read once, in order; what grows with a run is its distinct screens, pictures and windows, and four bytes a
step.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from screensearch.config import Settings, settings_from_document
from screensearch.domain.screen import Metadata, StateId
from screensearch.domain.transition import Entry, Outcome, Transition
from screensearch.errors import ScreenSearchError
from screensearch.explore.run import Run
from screensearch.explore.store import EXECUTED, make_resolver
from screensearch.identify.resolve import Resolver
from screensearch.record.run import Manifest, read_manifest
from screensearch.study.pixels import PictureSample, StatePixels
from screensearch.study.runs import RunSource, application_of, counterpart_of, in_order, opened
from screensearch.traces.segments import Segment, Segmenting, windows

WINDOW = 3
"""Steps of the windows in the paper's last column."""

LONGEST_WINDOW = 10
POINTS = 400
"""Of a curve, at most."""

LATENCY_BINS, SMALLEST_BIN = 60, 50


@dataclass(frozen=True, slots=True)
class LatencyBin:
    """How long decisions took up to a step of the application, since the bin before."""

    step: int
    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The data of the four figures."""

    discovery: list[tuple[float, int]]  # worker-hours, unique observations by then
    latency: list[LatencyBin]
    pixels: list[StatePixels]
    segments: dict[int, int]  # how many have so many steps
    windows: dict[int, int]  # how many windows there are of so many steps


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """One row of the corpus table, and what else is known of it."""

    application: str
    stands_for: str  # the paper's application, "" for none
    prior: str
    rule: str  # the identity rule in words
    runs: list[str]  # their ids
    steps: int
    worker_hours: float
    captures: int
    observations: int
    unique: int
    pictures: int  # distinct to the pixel
    states: int
    state_rate: float  # per cent of observations; NaN without any
    windows: int
    distinct_windows: int
    ok_steps: int
    still_steps: int  # of those, how many changed no state
    looped_steps: int  # and how many were part of a short loop


@dataclass(frozen=True, slots=True)
class Gathered:
    """A row with its curves: what raw results keep."""

    row: CorpusRow
    course: Course


@dataclass(frozen=True, slots=True)
class _Key:
    application: str
    stands_for: str
    prior: str
    rule: bytes  # the settings of encoding and identity: other ones make other states

    @classmethod
    def of(cls, manifest: Manifest) -> _Key:
        settings = settings_from_document(manifest.settings)
        return cls(
            application_of(manifest.environment),
            counterpart_of(manifest.environment, settings),
            settings.select.prior,
            msgspec.json.encode((settings.encode, settings.identify)),
        )


class Gathering:
    """The runs of one row, read one after another."""

    def __init__(self, key: _Key, settings: Settings, *, several: bool) -> None:
        self._key = key
        self._settings = settings
        self._pool = _pooling(settings) if several else None
        self._runs: list[str] = []
        self._seconds = 0.0
        self._captures = self._observations = self._states = 0
        self._identities: set[tuple[str, Metadata]] = set()
        self._pictures: set[str] = set()
        self._discovery: list[tuple[float, int]] = [(0.0, 0)]
        self._decide = array("f")
        self._segments: Counter[int] = Counter()
        self._windows: Counter[int] = Counter()
        self._distinct: set[int] = set()
        self._ok = self._still = self._looped = 0
        self._pixels: list[StatePixels] = []
        self._left = 0  # pictures that may still be read

    def take(self, run: Run, source: RunSource, pictures: int) -> None:
        """Read a run; of its pictures at most so many, all runs of the row together."""
        self._left = pictures if not self._runs else self._left
        self._runs.append(source.run)
        rows: set[int] = set()  # screens of this run that are known
        states: set[StateId] = set()
        sample, segmenting = PictureSample(), Segmenting()
        for entry in in_order(run):
            self._seconds += entry.evidence.act_seconds + entry.evidence.decide_seconds
            self._count(entry)
            if entry.decision is not None and entry.screen is not None:
                states.add(entry.decision.state)
                if entry.screen not in rows:
                    rows.add(entry.screen)
                    self._identify(run, entry.screen)
                sample.note(entry)
            for segment in segmenting.add(entry):
                self._cut(segment)
        for segment in segmenting.rest():
            self._cut(segment)
        self._ok += segmenting.took
        self._still += segmenting.still
        self._looped += segmenting.looped
        self._states = len(states)  # of the only run; several are pooled
        if self._left > 0:
            found = list(sample.compare(source.run, run.artifacts, self._left))
            self._left -= sum(each.pictures + 1 for each in found)  # and the founding one
            self._pixels += found

    def _count(self, entry: Entry) -> None:
        if isinstance(entry, Transition):
            self._captures += entry.outcome is Outcome.CAPTURE
            if entry.outcome in EXECUTED:
                self._decide.append(entry.evidence.decide_seconds)
            if entry.outcome is Outcome.UNDECIDED:
                return  # nothing was done, and so nothing looked at
        self._observations += entry.screen is not None
        if entry.evidence.screenshot is not None:
            self._pictures.add(entry.evidence.screenshot)

    def _identify(self, run: Run, row: int) -> None:
        """A screen that this run has not shown yet; another one of the row may have."""
        screen = run.log.screen(row)
        identity = screen.key, screen.metadata
        if identity in self._identities:
            return
        self._identities.add(identity)
        self._discovery.append((self._seconds / 3600, len(self._identities)))
        if self._pool is not None:
            self._pool.resolve(screen)

    def _cut(self, segment: Segment) -> None:
        self._segments[len(segment.steps)] += 1
        for length in range(1, min(LONGEST_WINDOW, len(segment.steps)) + 1):
            for window in windows(segment, length):
                self._windows[length] += 1
                if length == WINDOW:
                    self._distinct.add(hash((len(self._runs), window)))

    def result(self) -> Gathered:
        """What was read."""
        return Gathered(self._row(), self._course())

    def _row(self) -> CorpusRow:
        states = self._states if self._pool is None else self._pool.states
        return CorpusRow(
            application=self._key.application,
            stands_for=self._key.stands_for,
            prior=self._key.prior,
            rule=rule_in_words(self._settings),
            runs=self._runs,
            steps=len(self._decide),
            worker_hours=self._seconds / 3600,
            captures=self._captures,
            observations=self._observations,
            unique=len(self._identities),
            pictures=len(self._pictures),
            states=states,
            state_rate=100 * states / self._observations if self._observations else math.nan,
            windows=self._windows[WINDOW],
            distinct_windows=len(self._distinct),
            ok_steps=self._ok,
            still_steps=self._still,
            looped_steps=self._looped,
        )

    def _course(self) -> Course:
        end = (self._seconds / 3600, len(self._identities))
        return Course(
            discovery=thinned([*self._discovery, end]),
            latency=latency_bins(self._decide),
            pixels=self._pixels,
            segments=dict(sorted(self._segments.items())),
            windows=dict(sorted(self._windows.items())),
        )


def read_corpus(
    runs: Sequence[Path],
    pictures: int,
    on_run: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> tuple[list[Gathered], list[RunSource]]:
    """Read the runs, one after another; their rows, in order of appearance. A row may read so many pictures.

    The states of several runs of one row are those that its rule makes of all their screens together: a
    screen that two runs have met is not two states.
    """
    keys = [_Key.of(read_manifest(path)) for path in runs]
    gatherings: dict[_Key, Gathering] = {}
    sources: list[RunSource] = []
    for done, (path, key) in enumerate(zip(runs, keys, strict=True)):
        on_run(done, len(runs), str(path))
        with opened(path) as (run, source):
            gathering = gatherings.get(key)
            if gathering is None:
                gathering = gatherings[key] = Gathering(key, run.settings, several=keys.count(key) > 1)
            gathering.take(run, source, pictures)
            sources.append(source)
    if not any(source.entries for source in sources):
        raise ScreenSearchError(
            f"nothing is recorded in {', '.join(map(str, runs))} yet: explore first, then study"
        )
    return [gathering.result() for gathering in gatherings.values()], sources


def rule_in_words(settings: Settings) -> str:
    """``exact, τ = 0.93``"""
    return f"{settings.identify.identifier}, τ = {settings.identify.merge.threshold:g}"


def latency_bins(seconds: array[float]) -> list[LatencyBin]:
    """Steps in at most `LATENCY_BINS` parts of one size, each of `SMALLEST_BIN` or more if there are."""
    values = np.asarray(seconds, dtype=np.float64)
    parts = min(LATENCY_BINS, max(len(values) // SMALLEST_BIN, 1 if len(values) else 0))
    found, step = [], 0
    for part in np.array_split(values, parts) if parts else []:
        step += len(part)
        p50, p99 = np.quantile(part, (0.5, 0.99))
        found.append(LatencyBin(step, float(p50), float(p99)))
    return found


def thinned(points: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """At most `POINTS` of them: the first, the last, and even ones between."""
    if len(points) <= POINTS:
        return list(points)
    places = np.unique(np.linspace(0, len(points) - 1, POINTS).round().astype(int))
    return [points[place] for place in places]


def _pooling(settings: Settings) -> Resolver:
    """The rule that several runs are pooled by: `hybrid` by its score alone, so that no embedder is asked."""
    if settings.identify.identifier == "hybrid":
        settings = replace(settings, identify=replace(settings.identify, identifier="exact"))
    return make_resolver(settings)
