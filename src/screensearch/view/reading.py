"""One run opened for viewing: its log folded once into a graph and into columns, and followed as it grows.

A log is used by one thread at a time, so whoever asks holds `lock` from `follow` to the end of the answer.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path

from screensearch.act.wording import describe_action
from screensearch.domain.screen import StateId
from screensearch.domain.transition import START_FAILURES, Entry
from screensearch.errors import FormatError, RunNotFound, ScreenSearchError
from screensearch.explore.redaction import Redaction
from screensearch.explore.run import Run, open_whole
from screensearch.explore.store import EXECUTED
from screensearch.record.graph import StateGraph
from screensearch.record.log import START, failed_start
from screensearch.record.run import Manifest, open_run_folder, owner_of
from screensearch.record.sharded_log import ShardedLog
from screensearch.view.entries import NONE, Entries
from screensearch.view.messages import RunInfo, StateBrief
from screensearch.view.sights import Sights

SHARDS_SECONDS = 5.0
"""How often the shards of a run are looked at anew: their entries are then read from the first."""

_BATCH = 1_000  # entries, or screens, between two looks at whether to go on
_SHARE_OF_ENTRIES = 0.6  # of the time that a read takes; the rest goes to screens

_STILL_SECONDS = 15.0  # a log in a database that did not grow for so long has no writer that we know of


class UnknownState(ScreenSearchError):
    """There is no such state, entry or picture in a run."""


class ViewerEnds(ScreenSearchError):
    """Nothing is answered any more."""


class Reading:
    """A run as pages are made of it. Opening checks that it can be read; `follow` reads it.

    A read that is under way when `ends` is set is given up with `ViewerEnds`.
    """

    def __init__(self, path: Path, name: str, ends: threading.Event | None = None) -> None:
        self.path = path
        self.name = name
        self.lock = threading.RLock()
        self.share_read = 0.0
        """How much has been read of what there was at the last look, from 0 to 1. Needs no lock."""
        self._ends = threading.Event() if ends is None else ends
        self._open()

    def _open(self) -> None:
        folder = open_run_folder(self.path)
        self._stamp = _stamp_of(self.path)
        self.manifest: Manifest = folder.manifest
        self.run = open_whole(folder)
        self._begin()

    def _begin(self) -> None:
        settings = self.run.settings
        self.graph = StateGraph(settings.ambiguity)
        self.run.graph = self.graph  # so that what is asked of the run itself is followed too
        self.entries = Entries()
        self.sights = Sights()
        self.redaction = Redaction(settings)
        self._looked = self._grown = time.monotonic()

    def close(self) -> None:
        """Release the log. Safe to call twice."""
        with self.lock:
            self.run.close()

    # -- following ------------------------------------------------------------------------------

    def follow(self) -> None:
        """Take in what was written since. Raises when the run is gone or cannot be read any more.

        A run that was replaced by another at its place is opened anew.
        """
        if _stamp_of(self.path) != self._stamp:
            self.run.close()
            self._open()
        if isinstance(self.run.log, ShardedLog):
            self._reopen_shards()
        last = self.run.log.last_sequence
        if last <= len(self.entries):
            return
        self._grown = time.monotonic()
        try:
            if not len(self.entries):
                self._begin_with_checkpoint()
            self._read_new(last)
            self._look_at_new()
        except BaseException:
            self._begin()  # half of a fold is of no use
            raise

    def _begin_with_checkpoint(self) -> None:
        """Spare the fold what a checkpoint holds."""
        checkpoint = self.run.log.latest_checkpoint()
        if checkpoint is not None:
            self.graph = self.run.graph = StateGraph.load(checkpoint.graph)

    def _read_new(self, last: int) -> None:
        outlines = self.run.log.outlines(len(self.entries))
        while batch := list(islice(outlines, _BATCH)):
            self._go_on(len(self.entries) / last * _SHARE_OF_ENTRIES)
            self.entries.extend(batch)
            new = (outline.row for outline in batch if outline.sequence > self.graph.sequence)
            StateGraph.fold(new, self.run.settings.ambiguity, start=self.graph)
        if self.graph.sequence != len(self.entries):
            raise FormatError(
                f"a checkpoint of {self.path} is of entry {self.graph.sequence}, but there are "
                f"{len(self.entries)}; run `screensearch verify {self.path}`"
            )

    def _look_at_new(self) -> None:
        log, founded = self.run.log, self.entries.founded
        new = [state for state in founded if state not in self.sights.places]
        if self.redaction.active:
            self.redaction.learn(log, (row for row in set(self.entries.screen) if row != NONE))
        for number, state in enumerate(new):
            if not number % _BATCH:
                self._go_on(_SHARE_OF_ENTRIES + number / len(new) * (1 - _SHARE_OF_ENTRIES))
            row = self.entries.screen[founded[state] - 1]
            self.sights.add(state, self.redaction.screen(log, row))
        self.share_read = 1.0

    def _go_on(self, share: float) -> None:
        """Note how much of what is new has been read; end here if nobody is to have it any more."""
        self.share_read = share
        if self._ends.is_set():
            raise ViewerEnds("the viewer is ending: start it again to see more")

    def _reopen_shards(self) -> None:
        """Shards are read as of the moment they were opened, one after another: a new look is a new fold."""
        now = time.monotonic()
        if now - self._looked < SHARDS_SECONDS:
            return
        self._looked = now
        opened = Run(open_run_folder(self.path))
        if opened.log.last_sequence == len(self.entries):
            opened.close()
            return
        self.run.close()
        self.run = opened
        self._begin()

    @property
    def sequence(self) -> int:
        """The number of the last entry that was read."""
        return len(self.entries)

    @property
    def live(self) -> bool:
        """Whether somebody is still writing it, as far as can be told from here."""
        if self.manifest.store:
            return time.monotonic() - self._grown < _STILL_SECONDS and self.sequence > 0
        return owner_of(self.path) is not None

    # -- looking up -----------------------------------------------------------------------------

    def check_state(self, state: StateId) -> StateId:
        """The state, if there is one of that number."""
        if state not in self.sights.places:
            count = len(self.sights)
            raise UnknownState(f"{self.name} has no state {state}: it has {count:,}, counted from 0")
        return state

    def entry(self, sequence: int) -> Entry:
        """One entry of the log, by its number."""
        if not 1 <= sequence <= self.sequence:
            raise UnknownState(f"{self.name} has no entry {sequence}: they are 1 to {self.sequence:,}")
        episode, step = self.entries.episode_of(sequence), self.entries.step[sequence - 1]
        found = self.run.log.find(episode, step)
        if found is None:
            raise FormatError(f"step {step} of {episode} is gone from {self.path}: the log is damaged")
        if found[0] == sequence:
            return found[1]
        return next(entry for number, entry in self.run.log.read(sequence - 1) if number == sequence)

    def founding_row(self, state: StateId) -> int:
        """The row of the screen that a state was founded on."""
        return self.entries.screen[self.entries.founded[state] - 1]

    def title(self, state: StateId) -> str:
        """A few words that tell a state from the others; of one that was seen elsewhere only its number."""
        return self.sights.title(state) if state in self.sights.places else f"state {state}"

    def words(self, signature: str | None) -> str:
        """An action in words, without secrets."""
        return "" if signature is None else _in_words(self.redaction.signature(signature))

    def picture(self, name: str | None) -> str | None:
        """The address of a picture, relative to the page."""
        return None if name is None else f"runs/{self.name}/pictures/{name}.png"

    def picture_at(self, sequence: int) -> str | None:
        """The address of the picture of the screen that an entry ended on."""
        return self.picture(self.entries.picture_of(sequence))

    def brief(self, state: StateId) -> StateBrief:
        """A state as it stands in a list."""
        sights, place = self.sights, self.sights.places[self.check_state(state)]
        picture = self.picture_at(self.entries.founded[state])
        return StateBrief(
            id=state,
            title=self.title(state),
            window=sights.windows.texts[sights.window[place]],
            display_mode=sights.display_modes.texts[sights.display_mode[place]],
            text_size=sights.text_sizes.texts[sights.text_size[place]],
            application=sights.applications.texts[sights.application[place]],
            visits=self.graph.visits(state),
            ambiguity=self.graph.ambiguity(state),
            picture=picture,
            thumbnail=None if picture is None else f"runs/{self.name}/thumbnails/{state}",
        )

    def info(self) -> RunInfo:
        """What the run is of, and what it came to so far."""
        manifest, settings, graph = self.manifest, self.run.settings, self.graph
        outcomes = dict(sorted(graph.outcomes.items()))
        starts = (START, *(failed_start(each) for each in START_FAILURES))
        redact = settings.redact
        applications = self.sights.applications.texts
        environment = self.redaction.text(manifest.environment)
        return RunInfo(
            run=self.name,
            path=str(self.path),
            environment=environment,
            application=applications[0] if applications else environment.rpartition(":")[2],
            seed=manifest.seed,
            created=manifest.created,
            version=manifest.version,
            live=self.live,
            sequence=self.sequence,
            steps=_sum(outcomes, EXECUTED),
            episodes=_sum(outcomes, starts),
            states=graph.states,
            edges=graph.edges,
            outcomes=outcomes,
            worker_seconds=self.entries.worker_seconds,
            identifier=settings.identify.identifier,
            threshold=settings.identify.merge.threshold,
            filters=list(settings.identify.filters),
            kappa=settings.ambiguity.kappa,
            prior_ambiguity=settings.ambiguity.prior_ambiguity,
            redacted=[]
            if redact.at == "never"
            else [*redact.kinds, *("pattern" for _ in redact.patterns[:1])],
        )


def _sum(counts: dict[str, int], names: Iterable[str]) -> int:
    return sum(counts.get(name, 0) for name in names)


_in_words = lru_cache(maxsize=8_192)(describe_action)


def _stamp_of(path: Path) -> tuple[int, int]:
    """What changes when another run is put in the place of this one."""
    try:
        found = os.stat(path / "run.json")
    except OSError as problem:
        raise RunNotFound(f"there is no run at {path} any more: {problem}") from problem
    return found.st_ino, found.st_mtime_ns
