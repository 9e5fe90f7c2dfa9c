"""The runs that are shown together, and the answers about them that are kept until a run has grown."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from screensearch.domain.screen import StateId
from screensearch.errors import RunNotFound, ScreenSearchError
from screensearch.explore.path import Paths
from screensearch.record.log import Log
from screensearch.view.comparisons import Difference, Explanation
from screensearch.view.difference import difference
from screensearch.view.explaining import explain
from screensearch.view.found import make_findings
from screensearch.view.founders import Founders
from screensearch.view.map_page import make_map
from screensearch.view.messages import Answer, Hits, Live, Map, RunInfo, Runs, StateBrief, StatePage
from screensearch.view.messages import Path as PathAnswer
from screensearch.view.path_page import make_path, making_paths, paths_of
from screensearch.view.pictures import PictureMemory, screenshot, thumbnail, thumbnail_name
from screensearch.view.reading import Reading, ViewerEnds
from screensearch.view.searching import Searching
from screensearch.view.state_page import make_state_page

_SMALLEST_ZIPPED = 1_000  # bytes: less is not worth the while
_LEVEL = 5
_SLICE = 100  # screens that are read at once ahead of a question: nobody waits longer than that takes
_PAUSE_SECONDS = 0.002  # in which somebody who waits gets a turn

Made = TypeVar("Made")


class UnknownRun(RunNotFound):
    """None of the runs that are shown has that name."""


class Body(NamedTuple):
    """An answer as it is sent."""

    content: bytes
    zipped: bytes | None
    tag: str | None  # of the version, for a browser that has it already


def encode(answer: Answer, tag: str | None = None) -> Body:
    """An answer as JSON, compressed if that pays."""
    content = msgspec.json.encode(answer)
    zipped = gzip.compress(content, _LEVEL, mtime=0) if len(content) >= _SMALLEST_ZIPPED else None
    return Body(content, zipped, tag)


class _Kept(NamedTuple):
    version: tuple[str, int]
    body: Body


class Shown:
    """Runs by the names they have in addresses. Any thread may ask; about one run, one at a time."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._readings: dict[str, Reading] = {}
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._depths: dict[str, tuple[str, list[int]]] = {}
        self._pictures = PictureMemory()
        self._closed = threading.Event()
        self._paths: dict[str, tuple[tuple[str, int], Paths]] = {}
        self._founders: dict[str, tuple[Log, Founders]] = {}
        self._differences: dict[tuple[str, str], tuple[object, Difference]] = {}
        try:
            for path in paths:
                name = _name(path, self._readings)
                self._readings[name] = Reading(path, name, self._closed)
        except BaseException:
            for reading in self._readings.values():
                reading.close()
            raise
        self.searching = Searching(
            ((name, reading.path) for name, reading in self._readings.items()),
            self._briefs,
            self._closed,
        )

    def _briefs(self, name: str, states: Iterable[StateId]) -> dict[StateId, StateBrief]:
        """Those of these states that there are, as they stand in a list."""

        def make(reading: Reading) -> dict[StateId, StateBrief]:
            return {state: reading.brief(state) for state in states if state in reading.sights.places}

        return self.ask(name, make)

    def end(self) -> None:
        """Let those go who follow a run."""
        self._closed.set()

    def close(self) -> None:
        """Release all logs. Safe to call twice."""
        self.end()
        self.searching.close()
        for reading in self._readings.values():
            reading.close()

    @property
    def closed(self) -> bool:
        """Whether it is over: who follows a run is to go."""
        return self._closed.is_set()

    @property
    def names(self) -> list[str]:
        return list(self._readings)

    def reading(self, name: str) -> Reading:
        """The run of a name."""
        found = self._readings.get(name)
        if found is None:
            known = ", ".join(self._readings)
            raise UnknownRun(f"no run {name[:100]!r} is shown here (there are: {known})")
        return found

    def ask(self, name: str, make: Callable[[Reading], Made]) -> Made:
        """Make an answer about a run as it is now."""
        with self._turn(name) as reading:
            return make(reading)

    def _check_open(self) -> None:
        if self.closed:
            raise ViewerEnds("the viewer is ending: start it again to see more")

    @contextmanager
    def _turn(self, name: str) -> Iterator[Reading]:
        """A run as it is now, alone with it. When all is over, nobody in the queue gets a turn any more."""
        reading = self.reading(name)
        with reading.lock:
            self._check_open()
            reading.follow()
            yield reading

    @property
    def share_read(self) -> float:
        """How much of all runs has been read, from 0 to 1. Needs no turn."""
        readings = self._readings.values()
        return sum(reading.share_read for reading in readings) / max(1, len(readings))

    def draw_all(self) -> None:
        """Read all runs ahead of the first question. What cannot be read is told when it is asked for."""
        for name in self._readings:
            with suppress(ScreenSearchError):
                self.map(name)

    def pause(self, seconds: float) -> None:
        """Wait so long, or until it is over."""
        self._closed.wait(seconds)

    def prepare(self) -> None:
        """Make ready, a little at a time, what takes long when it is asked for the first time."""
        with suppress(ScreenSearchError):
            self.searching.prepare()
        for name in self._readings:
            with suppress(ScreenSearchError):
                while not self.ask(name, self._extend_founders):
                    self._closed.wait(_PAUSE_SECONDS)
                self._prepare_paths(name)
                self.kept(name, "findings", make_findings)

    # -- what is kept ---------------------------------------------------------------------------

    def kept(self, name: str, what: str, make: Callable[[Reading], Answer]) -> Body:
        """An answer about a whole run, made once for each length of its log."""
        with self._turn(name) as reading:
            return self._body(reading, what, make)

    def _body(self, reading: Reading, what: str, make: Callable[[Reading], Answer]) -> Body:
        version = (reading.manifest.run, reading.sequence)
        found = self._kept.get((reading.name, what))
        if found is None or found.version != version:
            run, sequence = version
            found = _Kept(version, encode(make(reading), f"{run}-{what}-{sequence}"))
            self._kept[reading.name, what] = found
        return found.body

    def map(self, name: str) -> Body:
        """The map of a run."""
        return self.kept(name, "map", self._draw)

    def _draw(self, reading: Reading) -> Map:
        drawn = make_map(reading)
        self._depths[reading.name] = reading.manifest.run, drawn.states.depth
        return drawn

    def state_page(self, name: str, state: StateId) -> StatePage:
        """All about a state. Its depth is that of the latest map with it: to draw one anew takes long."""

        def make(reading: Reading) -> StatePage:
            place = reading.sights.places[reading.check_state(state)]
            run, depths = self._depths.get(name, ("", []))
            if run != reading.manifest.run or place >= len(depths):
                self._body(reading, "map", self._draw)
                _, depths = self._depths[name]
            return make_state_page(reading, state, depths[place])

        return self.ask(name, make)

    def path(self, name: str, state: StateId) -> PathAnswer:
        """The most reliable way to a state."""

        def make(reading: Reading) -> PathAnswer:
            return make_path(reading, self._build_paths(reading), state)

        return self.ask(name, make)

    def _build_paths(self, reading: Reading) -> Paths:
        version = (reading.manifest.run, reading.sequence)
        known = self._paths.get(reading.name)
        if known is None or known[0] != version:
            known = self._paths[reading.name] = version, paths_of(reading)
        return known[1]

    def _prepare_paths(self, name: str) -> None:
        """Learn the ways of a run ahead of a question; of one that grows meanwhile, only when asked."""
        with self._turn(name) as reading:
            version = (reading.manifest.run, reading.sequence)
            making = making_paths(reading)
        while True:
            with self._turn(name) as reading:
                if (reading.manifest.run, reading.sequence) != version:
                    return
                try:
                    next(making)
                except StopIteration as made:
                    self._paths[name] = version, made.value
                    return
            self._closed.wait(_PAUSE_SECONDS)

    def explain(self, name: str, first: str, second: str | None) -> Explanation:
        """Why two screens are one state, or are not; why one alone was decided as it was: 12 or @345."""

        def make(reading: Reading) -> Explanation:
            for each in (first, second or first):
                if each.startswith("@"):
                    reading.entry(int(each[1:]))
                else:
                    reading.check_state(int(each))
            founders = self._founders_of(reading)
            while not founders.extend(reading.run.log, most=_SLICE):
                self._check_open()
            return explain(reading.run, first, second, name=name, title=reading.title, founders=founders)

        return self.ask(name, make)

    def _extend_founders(self, reading: Reading) -> bool:
        """Read some more founding screens ahead of the first question; returns whether that was all."""
        return self._founders_of(reading).extend(reading.run.log, most=_SLICE)

    def _founders_of(self, reading: Reading) -> Founders:
        """Those of another log, or of shards opened anew, are read afresh."""
        log = reading.run.log
        known = self._founders.get(reading.name)
        if known is None or known[0] is not log:
            known = self._founders[reading.name] = log, Founders()
        return known[1]

    def similar(self, name: str, state: StateId, limit: int) -> Hits:
        """States that look like this one."""
        self.ask(name, lambda reading: reading.brief(state))  # there must be one
        return self.searching.similar(name, state, limit)

    def difference(self, first: str, second: str) -> Difference:
        """What became of a run in another. Made once for each length of their logs."""
        a, b = sorted((self.reading(first), self.reading(second)), key=lambda each: each.name)
        with a.lock, b.lock:  # in one order, whoever asks
            a.follow()
            b.follow()
            version = tuple((each.manifest.run, each.sequence) for each in (a, b))
            known = self._differences.get((first, second))
            if known is None or known[0] != version:
                made = difference(self.reading(first), self.reading(second))
                known = self._differences[first, second] = version, made
            return known[1]

    # -- runs -----------------------------------------------------------------------------------

    def runs(self) -> Runs:
        """All runs that can be read."""
        infos: list[RunInfo] = []
        for name in self._readings:
            try:
                infos.append(self.ask(name, Reading.info))
            except ScreenSearchError:
                if len(self._readings) == 1:
                    raise
        return Runs(runs=infos)

    def live(self, name: str) -> Live:
        """How far a run has come."""

        def make(reading: Reading) -> Live:
            graph = reading.graph
            return Live(
                run=name,
                sequence=reading.sequence,
                states=graph.states,
                edges=graph.edges,
                live=reading.live,
            )

        return self.ask(name, make)

    # -- pictures -------------------------------------------------------------------------------

    def screenshot(self, name: str, picture: str) -> bytes:
        """A screenshot as PNG."""
        return screenshot(self._followed(name), picture)

    def thumbnail_tag(self, name: str, state: StateId) -> str:
        """What a thumbnail is made of: it stays the same as long as this does."""
        with self._turn(name) as reading:
            return thumbnail_name(reading, state)

    def thumbnail(self, name: str, state: StateId) -> bytes:
        """A small picture of a state as WebP."""
        reading = self._followed(name)
        key = (name, reading.manifest.run, str(state))
        content = self._pictures.get(key)
        if content is None:
            content = thumbnail(reading, state)
            self._pictures.put(key, content)
        return content

    def _followed(self, name: str) -> Reading:
        with self._turn(name) as reading:
            return reading


def _name(path: Path, taken: Iterable[str]) -> str:
    """A name for a run in addresses: its folder's, as far as that is plain, and unlike those taken."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", path.resolve().name).strip("-.") or "run"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name
