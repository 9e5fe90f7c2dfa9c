"""What a run on a cluster shows to Prometheus: the conductor what is of the run, each owner its shard."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from screensearch.cluster.account import Counts
from screensearch.cluster.names import ENDED, RESTS, STARTS, WAITS, WORKS, Job, WorkerView
from screensearch.errors import PluginUnavailable
from screensearch.explore.budget import StopRule
from screensearch.explore.metrics import Readable, Series, alone, by_label
from screensearch.explore.metrics_server import (
    MetricsServer,
    MetricsUnavailable,
    parse_listen_address,
    serve_near,
)
from screensearch.explore.progress import Figures

log = logging.getLogger(__name__)

STATES = {WORKS: "working", WAITS: "waiting", STARTS: "starting", RESTS: "resting", ENDED: "ended"}
"""The states of workers, as labels."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A run as its conductor knows it."""

    counts: Counts
    workers: tuple[WorkerView, ...]
    figures: Figures
    seconds: float  # of this exploration
    discovered_at: int  # steps when the latest state was found


class RunMetrics:
    """The figures that are of a run, and not of one of its shards."""

    part = ""

    def __init__(self, job: Job, moment: Callable[[], Moment]) -> None:
        self.run = job.run
        self._about = (job.environment, job.folder, job.version)
        self._stop = job.stop
        self._moment = moment

    def read(self) -> dict[str, Series]:
        now = self._moment()
        states = Counter(each.state for each in now.workers)
        return {
            "screensearch_run_info": {self._about: 1.0},
            "screensearch_workers": by_label({label: states[state] for state, label in STATES.items()}),
            "screensearch_worker_starts_total": by_label(now.counts.starts),
            "screensearch_worker_failures_total": by_label(now.counts.failures),
            "screensearch_owner_replacements_total": alone(now.counts.replacements),
            **_left(self._stop, now),
        }


def _left(rule: StopRule, now: Moment) -> dict[str, Series]:
    """What is left until each of the rules that were given ends the exploration."""
    steps, states = now.figures.steps, now.figures.states
    return {
        f"screensearch_budget_left_{name}": alone(None if asked is None else max(0.0, asked - spent))
        for name, asked, spent in (
            ("steps", rule.steps, steps),
            ("states", rule.states, states),
            ("plateau_steps", rule.plateau, steps - now.discovered_at),
            ("seconds", rule.seconds, now.seconds),
        )
    }


def serve(asked: str, shown: Readable, *, before: str = "") -> MetricsServer | None:
    """Serve figures on this node, at the port that was asked for or one after it; None if nowhere.

    `before` is where an earlier life of the same actor served them: there again, if possible. A node that
    does not have the address serves them to itself. No run ends for want of its metrics.
    """
    try:
        server = _serve(asked, before)
    except (PluginUnavailable, MetricsUnavailable) as problem:
        log.warning("metrics are not served here: %s", problem)
        return None
    server.show(shown)
    return server


def _serve(asked: str, before: str) -> MetricsServer:
    try:
        server = serve_near(asked, before=before)
    except MetricsUnavailable as problem:
        server = MetricsServer("0")
        log.warning("metrics are served at %s, to this node only: %s", server.url, problem)
        return server
    _, port = parse_listen_address(asked)
    if port not in (0, urlsplit(server.url).port):
        log.info("metrics are served at %s: port %d is taken", server.url, port)
    return server


def url_of(server: MetricsServer | None, node: str) -> str:
    """Where figures can be read, from other nodes too if it listens for them; empty if nowhere."""
    if server is None:
        return ""
    for everywhere in ("//0.0.0.0:", "//[::]:"):
        if everywhere in server.url:
            return server.url.replace(everywhere, f"//{node}:")
    return server.url
