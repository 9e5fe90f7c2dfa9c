"""What a run on many machines needs besides a desktop, as checks of `screensearch doctor`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from screensearch.cli.cluster import launcher
from screensearch.environments.desktop.checkup import Check
from screensearch.errors import ScreenSearchError
from screensearch.record.artifacts import open_artifacts
from screensearch.record.stores import reach_store


def reach(store: str, artifacts: str, cluster: str) -> Iterator[Check]:
    """Try the places that were named, in the order in which a run needs them; empty ones are left out."""
    if store:
        yield _check("database", lambda: _reach_database(store))
    if artifacts:
        yield _check("pictures", lambda: _reach_pictures(artifacts))
    if cluster:
        yield _check("cluster", lambda: launcher().places_of(cluster))


def _check(name: str, look: Callable[[], str]) -> Check:
    """Our errors say what was seen and what helps: they are shown as they are."""
    begun = time.monotonic()
    try:
        state, seen = "ok", look()
    except ScreenSearchError as problem:
        state, seen = "fail", str(problem)
    return Check(name, state, seen, round(time.monotonic() - begun, 3))


def _reach_database(url: str) -> str:
    reach_store(url)
    return "lets us in, and would take a log"


def _reach_pictures(location: str) -> str:
    open_artifacts(location, Path()).check()
    return f"{location} can be written and read"
