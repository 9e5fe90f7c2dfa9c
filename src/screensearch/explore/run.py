"""A finished or running exploration, opened for reading: the graph, its states, its transitions."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from screensearch.config import Settings, settings_from_document
from screensearch.domain.document import decode_observation
from screensearch.domain.screen import Image, Observation, Screen, StateId, crop
from screensearch.domain.transition import Arrival, Entry, Outcome, Transition
from screensearch.errors import ScreenSearchError
from screensearch.explore.courses import Courses
from screensearch.explore.findings import Finding, find_failures
from screensearch.explore.path import Paths, StatePath, find_starts
from screensearch.explore.skipped import Skipped, count_skipped
from screensearch.explore.store import make_resolver
from screensearch.explore.verify import Verification, join_verifications, verify_log
from screensearch.identify.verify import Comparison, compare
from screensearch.record.graph import StateGraph, Tried
from screensearch.record.restore import restore_graph
from screensearch.record.run import Provenance, RunFolder, open_run_folder
from screensearch.record.sharded_log import ShardedLog
from screensearch.select.policy import unanswered_of


@dataclass(frozen=True, slots=True)
class State:
    """One state of the graph, as a reader sees it."""

    id: StateId
    visits: int
    ambiguity: float
    first_seen: int  # sequence number of the entry that founded it
    actions: int  # distinct signatures tried
    window: str
    display_mode: str
    text_size: str
    text: str  # of its founding screen
    screenshot: str | None  # file or URL of its founding screen's picture, if one was kept


class Run:
    """Read access to a run; safe while an owner is still writing it. Close it, or use ``with``."""

    def __init__(self, folder: RunFolder) -> None:
        self.path: Path = folder.path
        self.environment: str = folder.manifest.environment
        self.seed: int = folder.manifest.seed
        self.settings: Settings = settings_from_document(folder.manifest.settings)
        self.remerged_from: Provenance | None = folder.manifest.remerged_from
        self.log = folder.read_log()
        self.artifacts = folder.artifacts

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Run {self.path} of {self.environment}>"

    def close(self) -> None:
        """Release the log. Safe to call twice."""
        self.log.close()

    @cached_property
    def graph(self) -> StateGraph:
        """The graph as of the moment it was first asked for."""
        return restore_graph(self.log, self.settings.ambiguity)

    def states(self) -> Iterator[State]:
        """Every state, in order of discovery."""
        for state in self.graph.iter_states():
            yield self.state(state)

    def state(self, state: StateId) -> State:
        """One state by its number."""
        screen = self.founding_screen(state)
        first_seen = self.graph.first_seen(state)
        assert first_seen is not None  # it was founded
        picture = self.entry(first_seen).evidence.screenshot
        return State(
            id=state,
            visits=self.graph.visits(state),
            ambiguity=self.graph.ambiguity(state),
            first_seen=first_seen,
            actions=len(self.graph.tried(state)),
            window=screen.metadata.window,
            display_mode=screen.metadata.display_mode,
            text_size=screen.metadata.text_size,
            text=screen.text,
            screenshot=None if picture is None else self.artifacts.where(picture),
        )

    def tried(self, state: StateId) -> Mapping[str, Tried]:
        """The actions tried at a state, by signature: N, Q and where they led."""
        self.founding_row(state)
        return self.graph.tried(state)

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """The whole log: arrivals, failed starts and transitions with their sequence numbers."""
        return self.log.read()

    def transitions(self) -> Iterator[Transition]:
        """Every logged execution, in order."""
        return (entry for _, entry in self.log.read() if isinstance(entry, Transition))

    def arrivals(self) -> Iterator[Arrival]:
        """The beginning of every episode, in order; one that failed at its start has none."""
        return (entry for _, entry in self.log.read() if isinstance(entry, Arrival) and not entry.step)

    def founding_screen(self, state: StateId) -> Screen:
        """The screen that a state was founded on, which all later ones were compared with."""
        return self.log.screen(self.founding_row(state))

    def founding_row(self, state: StateId) -> int:
        """The row of the screen that a state was founded on."""
        row = None if self.graph.first_seen(state) is None else self.log.founder(state)
        if row is None:
            shards = f", in {len(self.log.shards)} shards" if isinstance(self.log, ShardedLog) else ""
            raise ScreenSearchError(
                f"{self.path} has no state {state}: it has {self.graph.states}, counted from 0{shards}"
            )
        return row

    def founding_observation(self, state: StateId) -> Observation:
        """The observation behind the founding screen: its elements, without the screenshot."""
        return decode_observation(zlib.decompress(self.log.elements(self.founding_row(state))))

    def screenshot(self, entry: Entry) -> Image | None:
        """The picture of the screen that an entry ended on, if one was kept."""
        name = entry.evidence.screenshot
        return None if name is None else self.artifacts.open_image(name)

    def window_screenshot(self, entry: Entry) -> Image | None:
        """The same picture, cut to the window that took the input."""
        picture, window = self.screenshot(entry), entry.evidence.window
        return picture if picture is None or window is None else crop(picture, window)

    def entry(self, sequence: int) -> Entry:
        """One entry of the log, by its number."""
        known = 1 <= sequence <= self.log.last_sequence
        found = next(self.log.read(after=sequence - 1), None) if known else None
        if found is None:
            raise ScreenSearchError(
                f"{self.path} has no entry {sequence}: they are 1 to {self.log.last_sequence}"
            )
        return found[1]

    def screen_of_entry(self, sequence: int) -> Screen:
        """The screen that a log entry ended on."""
        row = self.entry(sequence).screen
        if row is None:
            raise ScreenSearchError(f"entry {sequence} of {self.path} ended with nothing to be seen")
        return self.log.screen(row)

    @cached_property
    def paths(self) -> Paths:
        """The most reliable ways from the starts, and between states, as of the moment first asked for."""
        courses = Courses.learn(self.graph, self.log.read())
        return Paths(self.graph, find_starts(self.log.read()), courses)

    def path_to(self, state: StateId, start: StateId | None = None) -> StatePath:
        """The most reliable way to a state: from the start of an episode, or from the state `start`.

        `explore.path` states the rule. Raises `Unreachable` when nothing observed leads there.
        """
        self.founding_row(state)
        if start is None:
            return self.paths.to(state)
        self.founding_row(start)
        return self.paths.between(start, state)

    def findings(self) -> list[Finding]:
        """Every crash, hang, exit and capture, each kind once, with the way that led there."""
        return find_failures(self.log, self.artifacts)

    def skipped(self) -> list[Skipped]:
        """What was kept from being done, why, and at how many choices."""
        return count_skipped(self.log, self.settings)

    def undecided(self) -> dict[str, int]:
        """How often a model gave no action, by the reason (`Unanswered`), the most frequent first."""
        if not self.graph.outcomes.get(Outcome.UNDECIDED):
            return {}
        reasons = (
            unanswered_of(each.note) for each in self.transitions() if each.outcome is Outcome.UNDECIDED
        )
        return dict(Counter(reasons).most_common())

    def explain(self, first: Screen, second: Screen) -> Comparison:
        """Two screens side by side: their score, both Jaccards, what they share and what they do not."""
        return compare(first, second, self.settings.identify.merge)

    def joins(self, founder: Screen, screen: Screen) -> bool:
        """Whether a screen would join a state founded on another, under this run's rule and filters."""
        settings, rule = self.settings, self.settings.identify
        if rule.identifier == "hybrid":  # decides by the same score; retrieval only limits who is asked
            settings = replace(settings, identify=replace(rule, identifier="exact"))
        resolver = make_resolver(settings)
        return resolver.resolve(founder).state == resolver.resolve(screen).state

    def verify(self) -> Verification:
        """Derive everything again from the log, shard by shard, and compare."""
        if not isinstance(self.log, ShardedLog):
            return verify_log(self.log, self.settings, self.artifacts)
        parts = [
            verify_log(log, self.settings, self.artifacts, shard=shard) for shard, log in self.log.shards
        ]
        # Not `self.graph`: that is made of the checkpoints, which are what is checked.
        whole = StateGraph.fold(self.log.rows(), self.settings.ambiguity)
        return join_verifications(parts, whole.digest())

    def describe(self) -> dict[str, Any]:
        """The manifest and the main figures, as JSON values."""
        graph = self.graph
        return {
            "run": str(self.path),
            "environment": self.environment,
            "seed": self.seed,
            "remerged_from": self.remerged_from,
            "entries": graph.sequence,
            "states": graph.states,
            "edges": graph.edges,
            "outcomes": dict(graph.outcomes),
            "undecided": self.undecided(),
            "digest": graph.digest(),
        }


def open_run(folder: str | Path) -> Run:
    """Open a run for reading; `FormatError` if its log is damaged, also where nobody would come by."""
    return open_whole(open_run_folder(Path(folder)))


def open_whole(folder: RunFolder) -> Run:
    """Open a run that was found, if the pages of its log are whole."""
    run = Run(folder)
    try:
        run.log.check_pages()
    except BaseException:
        run.close()
        raise
    return run
