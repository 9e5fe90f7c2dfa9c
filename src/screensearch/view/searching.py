"""Search over the runs that are shown. It reads their logs by itself, so that nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from screensearch.domain.screen import StateId
from screensearch.errors import ScreenSearchError
from screensearch.explore.redaction import Redaction
from screensearch.explore.run import Run
from screensearch.record.run import open_run_folder
from screensearch.record.sharded_log import ShardedLog
from screensearch.view.messages import Hit, Hits, StateBrief
from screensearch.view.reading import SHARDS_SECONDS, ViewerEnds
from screensearch.view.search import Found, SearchIndex

_SLICE = 25  # screens that are taken in at once ahead of the first question
_PAUSE_SECONDS = 0.002  # in which somebody who waits gets a turn

BriefsOf = Callable[[str, Collection[StateId]], dict[StateId, StateBrief]]
"""States of a run as they stand in a list; raises one of our errors if they cannot be told."""


class Searching:
    """An index of all runs by their names, made anew when one of them was replaced by another."""

    def __init__(
        self, runs: Iterable[tuple[str, Path]], briefs: BriefsOf, closed: threading.Event | None = None
    ) -> None:
        self._paths = dict(runs)
        self._briefs = briefs
        self._closed = threading.Event() if closed is None else closed
        self._lock = threading.Lock()
        self._index: SearchIndex | None = None
        self._opened: dict[str, tuple[str, Run]] = {}  # each with the id of its run
        self._looked = time.monotonic()  # when shards were last opened

    def close(self) -> None:
        """Release the logs."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        for _, run in self._opened.values():
            run.close()
        self._opened.clear()
        self._index = None

    def _current(self) -> SearchIndex:
        """The index of the runs that are there now; those that cannot be read are left out."""
        folders = {}
        for name, path in self._paths.items():
            with suppress(ScreenSearchError):
                folders[name] = open_run_folder(path)
        ids = {name: folder.manifest.run for name, folder in folders.items()}
        if self._index is None or ids != {name: known for name, (known, _) in self._opened.items()}:
            self._drop()
            self._index = SearchIndex()
            for name, folder in folders.items():
                run = Run(folder)
                self._opened[name] = ids[name], run
                self._index.add(name, run.log, partial(Redaction(run.settings).screen, run.log))
        self._reopen_shards(self._index)
        return self._index

    def _reopen_shards(self, index: SearchIndex) -> None:
        """Shards are read as of the moment they were opened: look at them anew now and then."""
        now = time.monotonic()
        if now - self._looked < SHARDS_SECONDS:
            return
        self._looked = now
        for name, (known, run) in list(self._opened.items()):
            if not isinstance(run.log, ShardedLog):
                continue
            opened = Run(open_run_folder(self._paths[name]))
            if opened.log.last_sequence == run.log.last_sequence:
                opened.close()
                continue
            run.close()
            self._opened[name] = known, opened
            index.renew(name, opened.log, partial(Redaction(opened.settings).screen, opened.log))

    def prepare(self) -> None:
        """Index ahead of the first question, a little at a time, so that one may come in between."""
        whole = False
        while not (whole or self._closed.wait(_PAUSE_SECONDS)):
            with self._lock:
                whole = self._current().extend(_SLICE)

    def _whole(self) -> SearchIndex:
        """The index with all that there is; what takes long ends with the viewer."""
        index = self._current()
        while not index.extend(_SLICE):
            if self._closed.is_set():
                raise ViewerEnds("the viewer is ending: start it again to see more")
        return index

    def search(self, text: str, run: str | None, limit: int) -> Hits:
        """States that say this, or something like it, best first."""
        with self._lock:
            found = self._whole().search(text, limit, None if run is None else [run])
        return self._hits(text, found)

    def similar(self, run: str, state: StateId, limit: int) -> Hits:
        """States that look like this one, best first."""
        with self._lock:
            found = self._whole().like(run, state, limit)
        return self._hits(f"like state {state} of {run}", found)

    def _hits(self, query: str, found: Collection[Found]) -> Hits:
        briefs: dict[tuple[str, StateId], StateBrief] = {}
        for run in {each.run for each in found}:
            with suppress(ScreenSearchError):  # it broke just now
                told = self._briefs(run, [each.state for each in found if each.run == run])
                briefs |= {(run, state): brief for state, brief in told.items()}
        return Hits(
            query=query,
            hits=[
                Hit(
                    run=each.run,
                    state=briefs[each.run, each.state],
                    score=each.score,
                    by_words=each.by_words,
                    by_meaning=each.by_meaning,
                    snippet=each.snippet,
                )
                for each in found
                if (each.run, each.state) in briefs
            ],
        )
