"""One run of a campaign, in a process of its own: ``python -m screensearch.explore.campaign.process FD``.

It is given one end of a socket pair, told over it what to explore, and tells how it goes on, in lines of
JSON. When the other end says no more, because it was interrupted or in whatever way it ended, the steps under
way are finished and no more are taken.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from screensearch.config import settings_from_document
from screensearch.errors import EnvironmentFailed, RunNotFound, ScreenSearchError
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import resume_exploration, start_exploration
from screensearch.explore.logs import TEXT, LogFormatter, Whereabouts, log_uncaught, start_logging
from screensearch.explore.memory import give_large_blocks_back
from screensearch.explore.metrics_server import MetricsServer, serve_near
from screensearch.explore.progress import NeverStarted, Progress, Summary
from screensearch.record.run import open_run_folder, read_manifest

logger = logging.getLogger("screensearch.explore.campaign.process")  # run as a program, it has another name


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be explored, and where to."""

    folder: str
    environment: str
    settings: dict[str, Any]  # the document of the resolved settings
    stop: StopRule
    workers: int
    seed: int
    store: str
    artifacts: str = ""
    cluster: str = ""  # its address; without one, workers are on this machine
    metrics: str = ""  # where they are served, or at the next port that is free: [HOST:]PORT, "" for nowhere
    log_format: str = TEXT


class Going(msgspec.Struct, frozen=True, tag=True):
    """The run goes on."""

    progress: Progress


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The run came to an end, by its rule or by an interrupt."""

    summary: Summary


class Broken(msgspec.Struct, frozen=True, tag=True):
    """The run could not go on, and why."""

    kind: str
    message: str
    summary: Summary | None


News = Going | Ended | Broken


ExploreOne = Callable[[Order, Callable[[Progress], None]], Summary]
"""Explores one run of a campaign into its folder, or goes on with the one that is there."""


def explore_here(order: Order, on_progress: Callable[[Progress], None]) -> Summary:
    """By workers on this machine."""
    folder = Path(order.folder)
    with _serving(order.metrics) as server:
        if holds_a_run(folder):
            return resume_exploration(
                folder,
                stop=order.stop,
                workers=order.workers,
                on_progress=on_progress,
                metrics=server,
                log_format=order.log_format,
            )
        return start_exploration(
            order.environment,
            folder,
            stop=order.stop,
            settings=settings_from_document(order.settings),
            workers=order.workers,
            seed=order.seed,
            store=order.store,
            artifacts=order.artifacts,
            on_progress=on_progress,
            metrics=server,
            log_format=order.log_format,
        )


@contextlib.contextmanager
def _serving(asked: str) -> Iterator[MetricsServer | None]:
    """Where the figures of a run are shown: those of others at the same time are asked for the same place."""
    if not asked:
        yield None
        return
    with serve_near(asked) as server:
        logger.info("metrics are served at %s", server.url)
        yield server


def holds_a_run(folder: Path) -> bool:
    """Whether there is a run to go on with."""
    try:
        open_run_folder(folder, to_write=True)
    except RunNotFound:
        return False
    return True


def carry_out(order: Order, tell: Callable[[News], None], explore: ExploreOne) -> None:
    """Explore, and tell how it goes and how it ended."""
    try:
        summary = explore(order, lambda progress: tell(Going(progress)))
        if not summary.states and summary.ended != "interrupted":
            raise EnvironmentFailed(
                f"no screen of {order.environment} was seen before the time was up (see `screensearch "
                f"findings {shlex.quote(summary.run)}`)"
            )
    except NeverStarted as problem:
        tell(Broken(type(problem).__name__, str(problem), problem.summary))
    except ScreenSearchError as problem:
        tell(Broken(type(problem).__name__, str(problem), None))
    else:
        tell(Ended(summary))


def main(explore: ExploreOne = explore_here) -> None:
    """The process; `explore` is the one place that says where a run of a campaign is explored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where we were started
    give_large_blocks_back()
    connection = socket.socket(fileno=int(sys.argv[1]))
    with connection, connection.makefile("rb") as orders:
        line = orders.readline()
        if not line:  # the campaign was gone before it had told anything
            return
        order = msgspec.json.decode(line, type=Order)
        where = Whereabouts()
        start_logging(sys.stderr, LogFormatter(order.log_format, where), details_of="screensearch")
        log_uncaught()

        def tell(news: News) -> None:
            if where.run is None and isinstance(news, Going):  # the first progress is of a run that is there
                where.run = read_manifest(Path(order.folder)).run
            connection.sendall(msgspec.json.encode(news) + b"\n")

        threading.Thread(target=_stop_with_campaign, args=(connection.dup(),), daemon=True).start()
        # It is gone and needs no telling, or it wants no more and nothing has begun.
        with contextlib.suppress(ConnectionError, KeyboardInterrupt):
            carry_out(order, tell, explore)


def _stop_with_campaign(connection: socket.socket) -> None:
    """When the campaign wants no more, or is gone, do what an interrupt does."""
    closed = select.poll()
    closed.register(connection, select.POLLRDHUP)
    closed.poll()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
