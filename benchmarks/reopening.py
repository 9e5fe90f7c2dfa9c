"""Claim: an owner of a shard as large as the paper's corpus is ready 5 s after it was told to take over.

Workers wait for that after an owner is lost: the next one takes the lease, loads the graph of the latest
checkpoint, folds the tail and fills the index of screens. A process of its own does it as a new owner would;
its time begins when Python and the package are there, since on a cluster such a process is started before it
is needed. Measured with a checkpoint of the last entry, and with none at all, so that the whole log is
folded: a real tail, at most a fifth of a log, lies between the two. PostgreSQL is a server of the benchmark's
own that syncs its disk; beside it the same run in SQLite.

    python benchmarks/reopening.py [--json] [--states 3000 30000] [--repeats 3] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from machine import describe_machine
from outcome import parser_for, tell
from screensearch.config import Settings
from screensearch.explore.store import ShardStore
from screensearch.record.restore import restore_graph
from screensearch.record.run import own
from view_run import make_run

sys.path.append(str(Path(__file__).parent.parent / "tests" / "record"))

from postgres_server import PostgresServer, postgres_server

MOST_SECONDS = 5.0
EDGES_PER_STATE = 10 / 3
FORGET = "DELETE FROM screensearch.graphs"


def reopen(folder: Path) -> dict[str, float]:
    """What a new owner does, in this process."""
    settings = Settings()
    with own(folder) as run:
        begun = time.perf_counter()
        with closing(run.write_log()) as log:
            opened = time.perf_counter()
            graph = restore_graph(log, settings.ambiguity)
            restored = time.perf_counter()
            shard = ShardStore(log, settings)  # which restores the graph once more
            ready = time.perf_counter()
            assert shard.graph.digest() == graph.digest()
    graph_seconds, both = restored - opened, ready - restored
    return {
        "lease_seconds": round(opened - begun, 3),
        "graph_seconds": round(graph_seconds, 3),
        "index_seconds": round(both - graph_seconds, 3),
        "seconds": round(opened - begun + both, 3),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def best(folder: Path, repeats: int) -> dict[str, float]:
    """Of several processes: other work on the machine only adds."""
    command = [sys.executable, __file__, "--reopen", str(folder)]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeats)
    ]
    return min(found, key=lambda each: each["seconds"])


def measure(folder: Path, states: int, repeats: int, server: PostgresServer) -> dict[str, Any]:
    """One size, in both stores, with a checkpoint and without."""
    rows: dict[str, Any] = {"states": states}
    for kind, store in (("sqlite", ""), ("postgresql", server.url())):
        out = folder / f"{kind}-{states}"
        make_run(out, states, int(states * EDGES_PER_STATE), store=store)
        rows[f"{kind}, from its checkpoint"] = best(out, repeats)
        with own(out) as run, closing(run.write_log()) as log:
            rows["entries"] = log.last_sequence
        if store:
            with psycopg.connect(store, autocommit=True) as connection:
                connection.execute(FORGET)
            rows[f"{kind}, from its first entry"] = best(out, repeats)
    return rows


def print_result(result: dict[str, Any]) -> None:
    for size in result["sizes"]:
        print(f"{size['states']:,} states, {size['entries']:,} entries")
        for name, row in size.items():
            if isinstance(row, dict):
                print(f"  {name:32} {row}")


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=[3_000, 30_000])
    parser.add_argument("--repeats", type=int, default=3, help="of which the best counts")
    parser.add_argument("--reopen", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reopen is not None:
        print(json.dumps(reopen(options.reopen)))
        return
    result: dict[str, Any] = {"sizes": []}
    with tempfile.TemporaryDirectory(prefix="screensearch-") as name, postgres_server(durable=True) as server:
        for states in options.states:
            result["sizes"].append(measure(Path(name), states, options.repeats, server))
    largest = result["sizes"][-1]["postgresql, from its checkpoint"]
    result["targets"] = {
        f"ready in {MOST_SECONDS:g} s from the checkpoint, with the most states": largest["seconds"]
        <= MOST_SECONDS
    }
    tell(result | {"machine": describe_machine()}, options, print_result)


if __name__ == "__main__":
    main()
