"""Claim: counting for Prometheus costs an owner at most 1 % of its CPU time per step.

One store is asked to record the same kind of batches all along; block by block it is observed by the
metrics or by no one, which is the baseline, so that both meet the same graph, log and machine. Only the CPU
time of this process counts: a disk that is slow for others must not hide the cost. That difference is smaller
than the noise, so the same entries are also given to the metrics alone: this is the share that the target is
about. A scrape is measured alone as well, since it is another thread's and comes every few seconds.

    python benchmarks/metrics_cost.py [--json] [--steps 80000] [--workers 8] [--out FILE]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import screensearch as ss
from machine import describe_machine
from outcome import parser_for, tell
from screensearch.domain.transition import Choice, Evidence
from screensearch.encode.encoder import Encoder
from screensearch.explore.exposition import Exposition
from screensearch.explore.messages import Begin, Message, Receipt, Report, Sighting
from screensearch.explore.metrics import Metrics
from screensearch.explore.observer import Observer
from screensearch.explore.store import ShardStore
from screensearch.record.sqlite_log import SqliteLog

MOST_OF_A_STEP = 0.01
BLOCK = 100
"""Batches in a row under one observer: short, so that both see the same weather."""

SCREENS = 400
ACTIONS = 20


def sightings(settings: ss.Settings) -> list[Sighting]:
    """Different screens of thirty elements: the middle of what applications show."""
    encoder = Encoder(settings.encode)
    window = ss.Window("Toy", "main", ss.Box(0, 0, 900, 900), "toy")
    made = []
    for number in range(SCREENS):
        elements = tuple(
            ss.Element("button", f"label {number} {place}", ss.Box(30 * place, 20, 25, 20), "toy")
            for place in range(30)
        )
        made.append(Sighting(screen=encoder.encode(ss.Observation(elements, window)), elements=b"{}"))
    return made


def next_reports(before: list[Message], receipts: list[Receipt], screens: list[Sighting]) -> list[Message]:
    """Every worker takes one more step, to a screen and by an action that depend on where it is."""
    made: list[Message] = []
    for asked, receipt in zip(before, receipts, strict=True):
        assert receipt.here is not None
        step = asked.step + 1 if isinstance(asked, Report) else 1
        action = (step * 7 + asked.episode.worker) % ACTIONS
        choice = Choice(
            f"focus_click@1::r1_c{action}|button|go|toy::none", receipt.snapshot, 20, 0.1, 0.0, 0, 0.1
        )
        target = screens[(receipt.here.state * 31 + action * 17 + step) % SCREENS]
        made.append(
            Report(
                asked.episode,
                step,
                receipt.here.state,
                choice,
                ss.Outcome.OK,
                target,
                Evidence(None, 0.1, 0.01),
            )
        )
    return made


def ask(store: ShardStore, batch: list[Message]) -> list[Receipt]:
    answers = store.handle(batch)
    assert all(isinstance(answer, Receipt) for answer in answers)
    return [answer for answer in answers if isinstance(answer, Receipt)]


def counting_seconds(store: ShardStore, metrics: Metrics, workers: int, batches: int = 2_000) -> float:
    """What the metrics take for an entry: they are told of the latest ones again and again."""
    latest = [entry for _, entry in store.log.read(store.log.last_sequence - workers)]
    sequence = store.log.last_sequence
    begun = time.process_time()
    for _ in range(batches):
        for entry in latest:
            sequence += 1
            metrics.appended(sequence, entry, store.graph)
        metrics.committed(sequence, 0.001)
    return (time.process_time() - begun) / (batches * len(latest))


def measure(steps: int, workers: int) -> dict[str, Any]:
    settings = ss.Settings()
    screens = sightings(settings)
    cpu: dict[bool, float] = {False: 0.0, True: 0.0}
    taken: dict[bool, int] = {False: 0, True: 0}
    with tempfile.TemporaryDirectory(prefix="screensearch-") as folder:
        store = ShardStore(SqliteLog.create(Path(folder) / "log.sqlite"), settings)
        metrics = Metrics(store, run="0" * 32, environment="toy", folder=folder, version="0")
        batch: list[Message] = [
            Begin(ss.EpisodeId(worker, 0), screens[worker], Evidence()) for worker in range(workers)
        ]
        receipts = ask(store, batch)
        blocks = max(2, steps // (BLOCK * workers))
        for block in range(blocks):
            watched = block % 2 == 1
            store.observer = metrics if watched else Observer()
            for _ in range(BLOCK):
                batch = next_reports(batch, receipts, screens)
                begun = time.process_time()
                receipts = ask(store, batch)
                cpu[watched] += time.process_time() - begun
                taken[watched] += len(batch)
        counting = 1e6 * counting_seconds(store, metrics, workers)
        for worker in range(workers):
            metrics.worker_started(worker)
        exposition = Exposition(lambda: (metrics,))
        begun = time.process_time()
        for _ in range(50):
            _, body = exposition.write("text/plain")
        scrape = (time.process_time() - begun) / 50
        store.log.close()
    alone, counted = (1e6 * cpu[watched] / taken[watched] for watched in (False, True))
    return {
        "steps": sum(taken.values()),
        "workers": workers,
        "states": store.graph.states,
        "owner_us_per_step_without": round(alone, 2),
        "owner_us_per_step_with": round(counted, 2),
        "with_to_without": round(counted / alone, 4),
        "counting_us_per_step": round(counting, 2),
        "counting_share": round(counting / alone, 5),
        "scrape_cpu_ms": round(1e3 * scrape, 2),
        "scrape_bytes": len(body),
        "targets": {f"counting / step <= {MOST_OF_A_STEP}": counting / alone <= MOST_OF_A_STEP},
        "machine": describe_machine(),
    }


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--steps", type=int, default=80_000)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    tell(measure(options.steps, options.workers), options)


if __name__ == "__main__":
    main()
