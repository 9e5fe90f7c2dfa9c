"""A run on a cluster with simulated workers, and what each part of it costs while they work."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from postgres_server import PostgresServer
from ray_cluster import RayCluster

import screensearch as ss
from cluster_figures import lost_steps
from cluster_load import Host, Mix
from cluster_parts import CONDUCTOR, DATABASE, MACHINERY, OWNERS, RAY, WORKERS
from processes import below, machine_seconds, threads_of
from screensearch.cluster.engine import answer, end, place
from screensearch.cluster.launch import Attached, start_on_cluster
from screensearch.domain.transition import Outcome

HOSTS = 4  # processes that the simulated workers live in
SETTLE_SECONDS = 3.0  # after all workers were sent to work
BEGIN_SECONDS = 300.0  # for all workers to begin, or to finish their step
SATURATED = 0.95  # of the offered steps

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds and has written so far."""

    steps: dict[int, int]  # of one run, by worker
    table_bytes: int  # indexes and large values included
    wal_bytes: int
    transactions: int  # those that only read included


class Database:
    """The server as a benchmark looks at it."""

    def __init__(self, server: PostgresServer, *, buffers: str = "512MB") -> None:
        self.server = server
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET shared_buffers = '{buffers}'")
        server.stop()
        server.start()
        self._connection = psycopg.connect(server.url(), autocommit=True)

    def stored(self, run: str) -> Stored:
        steps = self._connection.execute(
            "SELECT worker, count(*) FROM screensearch.entries JOIN screensearch.logs ON id = log "
            "WHERE run = %s AND step > 0 AND outcome <> %s GROUP BY worker",
            (run, Outcome.LOST.value),
        ).fetchall()
        row = self._connection.execute(
            "SELECT (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON"
            " n.oid = c.relnamespace WHERE n.nspname = 'screensearch' AND c.relkind = 'r'),"
            "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,"
            "(SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())"
        ).fetchone()
        assert row is not None  # it has one always
        return Stored(dict(steps), *map(int, row))

    def close(self) -> None:
        self._connection.close()


class Fleet:
    """One run: owners of so many shards, and workers that are sent to work for a while and rest again."""

    def __init__(
        self, cluster: RayCluster, database: Database, folder: Path, *, shards: int, mix: Mix, say: Say
    ) -> None:
        self._cluster, self._database, self._folder = cluster, database, folder
        self._shards, self._say = shards, say
        self._run = start_on_cluster(
            cluster.address,
            "synthetic:notepad",  # nothing is ever asked of it
            folder,
            settings=ss.resolve(overrides=["explore.screenshots=none"]),
            stop=ss.StopRule(seconds=1e6),
            workers=0,
            seed=0,
            store=database.server.url(),
        )
        self._attached = Attached(cluster.address, folder)
        self._hosts = [place(Host, f"{self._run}/host/{number}", self._run, mix) for number in range(HOSTS)]
        self._host_processes = set(self._ask("process"))
        self._muster(shards)  # each shard gets its owner with its first screen
        self._rest()
        owners = self._attached.view().owners
        self._owner_processes: set[int] = {each.process for each in owners}
        # The first may be the second that was placed, if that one has started sooner.
        self._generations = {each.shard: each.generation for each in owners}

    # -- measurements -------------------------------------------------------------------------

    def idle(self, seconds: float) -> dict[str, Any]:
        """What all of it costs while nobody works."""
        time.sleep(SETTLE_SECONDS)
        before, machine = self._cpu(), machine_seconds()
        time.sleep(seconds)
        after, machine = self._cpu(), machine_seconds().since(machine)
        return {
            "seconds": seconds,
            "shards": self._shards,
            "cpu_ms_per_second": {
                part: round(1000 * (after[part] - before[part]) / seconds, 2) for part in after
            },
            "machine_cpu_ms_per_second": round(1000 * machine.busy / seconds, 2),
        }

    def measure(self, *, workers: int, pace: float, seconds: float) -> dict[str, Any]:
        """So many workers, each at so many steps a second."""
        stored = self._database.stored(self._run)
        self._say(f"{workers} workers at {pace:.3g} steps/s each, {self._shards} shards: all begin")
        self._employ(workers, pace)
        time.sleep(SETTLE_SECONDS)
        self._owner_processes = {each.process for each in self._attached.view().owners}
        begin, before, machine = time.monotonic(), self._cpu(), machine_seconds()
        threads = self._owner_threads()
        while (left := begin + seconds - time.monotonic()) > 0:
            progress = self._attached.view().progress
            self._say(f"{workers} workers: {progress.steps} steps of the run, {left:.0f} s left")
            time.sleep(min(5.0, left))
        until, after, machine = time.monotonic(), self._cpu(), machine_seconds().since(machine)
        threads_after = self._owner_threads()
        acknowledged = self._rest()  # those under way at the end belong to it, too
        timed = [each for some in self._ask("decisions", begin, until) for each in some]
        now = self._database.stored(self._run)
        steps = sum(now.steps.values()) - sum(stored.steps.values())
        taken, logged, lasted = max(len(timed), 1), max(steps, 1), until - begin
        used = {part: after[part] - before[part] for part in after}
        view = self._attached.view()
        return {
            "workers": workers,
            "shards": self._shards,
            "steps_per_second_of_a_worker": pace,
            "seconds": round(lasted, 1),
            "offered_steps_per_second": round(workers * pace, 1),
            "steps_per_second": round(len(timed) / lasted, 1),
            "saturated": len(timed) / lasted < SATURATED * workers * pace,
            "decisions": len(timed),
            "decision_ms": percentiles([seconds for _, seconds, _ in timed]),
            "decision_ms_from_due": percentiles([seconds for _, _, seconds in timed]),
            "cpu_ms_per_step": {part: round(1000 * spent / taken, 3) for part, spent in used.items()},
            "machinery_cpu_ms_per_step": round(1000 * sum(used[part] for part in MACHINERY) / taken, 3),
            "cores_used": {part: round(spent / lasted, 3) for part, spent in used.items()},
            "cores_busy_of_the_machine": round(machine.busy / lasted, 3),
            "cores_in_iowait": round(machine.iowait / lasted, 3),
            "cores_stolen": round(machine.steal / lasted, 3),
            "cores_of_others": round(
                (machine.busy - sum(used.values())) / lasted, 3
            ),  # the kernel's for all included
            "busiest_owner_cores": round(busiest_process(threads, threads_after) / lasted, 3),
            "busiest_owner_thread_cores": round(busiest_thread(threads, threads_after) / lasted, 3),
            "database_bytes_per_step": round((now.table_bytes - stored.table_bytes) / logged),
            "wal_bytes_per_step": round((now.wal_bytes - stored.wal_bytes) / logged),
            "steps_per_transaction": round(logged / max(now.transactions - stored.transactions, 1), 2),
            "logged": steps,
            "lost": lost_steps(acknowledged, now.steps),  # since the beginning of the run
            "failures": [each for some in self._ask("failures") for each in some],
            "trouble": view.trouble,
            # What a process has used is not known any more once it is gone.
            "owner_replaced": {each.process for each in view.owners} != self._owner_processes,
        }

    def close(self) -> dict[str, Any]:
        """End the run, and look whether its log holds together and has what was acknowledged."""
        view = self._attached.view()
        self._attached.stop()
        acknowledged = together(self._ask("finish"))
        summary = self._attached.follow(lambda now: None)
        self.abandon()
        self._say(f"{summary.steps} steps: reading them again")
        with ss.open_run(self._folder) as run:
            verification = run.verify()
        return {
            "shards": self._shards,
            "owners_by_node": dict(Counter(each.node for each in view.owners)),
            "owners_replaced": sum(each.generation != self._generations[each.shard] for each in view.owners),
            "steps": summary.steps,
            "states": summary.states,
            "acknowledged": sum(acknowledged.values()),
            "lost": lost_steps(acknowledged, self._database.stored(self._run).steps),
            "steps_of_lost_workers": summary.lost,
            "verify_problems": list(verification.problems),
        }

    def abandon(self) -> None:
        """End the processes of the workers; the run's own end with the cluster, if it was not closed."""
        for host in self._hosts:
            end(host)

    # -- the workers --------------------------------------------------------------------------

    def _ask(self, method: str, *arguments: object) -> list[Any]:
        return self._answers(method, [getattr(host, method).remote(*arguments) for host in self._hosts])

    def _answers(self, method: str, calls: list[Any]) -> list[Any]:
        try:
            found: list[Any] = answer(calls, seconds=BEGIN_SECONDS)
        except TimeoutError as problem:
            raise TimeoutError(f"{method}: workers were not done within {BEGIN_SECONDS:.0f} s") from problem
        return found

    def _muster(self, workers: int) -> None:
        calls = [host.muster.remote(share, self._shards) for host, share in self._shares(workers)]
        self._answers("muster", calls)

    def _employ(self, workers: int, pace: float) -> None:
        """All begin before any takes a step: the pace is that of workers who know where they belong."""
        self._muster(workers)
        self._answers("employ", [host.employ.remote(share, pace) for host, share in self._shares(workers)])

    def _shares(self, workers: int) -> list[tuple[Any, list[int]]]:
        return [
            (host, list(range(number, workers, len(self._hosts)))) for number, host in enumerate(self._hosts)
        ]

    def _rest(self) -> dict[int, int]:
        return together(self._ask("rest"))

    # -- costs --------------------------------------------------------------------------------

    def _cpu(self) -> dict[str, float]:
        """CPU seconds so far, by part."""
        used = dict.fromkeys((*MACHINERY, WORKERS), 0.0)
        for node in (self._cluster.head, *self._cluster.nodes):
            for process in below(node.process.pid):
                if process.id in self._owner_processes:
                    part = OWNERS
                elif process.id in self._host_processes:
                    part = WORKERS
                else:
                    part = CONDUCTOR if "Conductor" in process.name else RAY
                used[part] += process.cpu_seconds
        used[DATABASE] = sum(process.cpu_seconds for process in below(self._database.server.process))
        return used

    def _owner_threads(self) -> dict[tuple[int, int], float]:
        return {
            (process, thread): seconds
            for process in self._owner_processes
            for thread, seconds in threads_of(process).items()
        }


def together(counts: list[dict[int, int]]) -> dict[int, int]:
    """Of all workers, what each host says of its own."""
    return {number: count for some in counts for number, count in some.items()}


def percentiles(seconds: list[float]) -> dict[str, float | None]:
    """In milliseconds."""
    return {
        f"p{each}": round(1000 * float(np.percentile(seconds, each)), 1) if seconds else None
        for each in (50, 90, 99, 100)
    }


def busiest_process(before: dict[tuple[int, int], float], after: dict[tuple[int, int], float]) -> float:
    """The same of the process whose threads used most together: those that run Python share one core."""
    used: dict[int, float] = defaultdict(float)
    for each, seconds in after.items():
        used[each[0]] += seconds - before.get(each, 0.0)
    return max(used.values(), default=0.0)


def busiest_thread(before: dict[tuple[int, int], float], after: dict[tuple[int, int], float]) -> float:
    """The CPU seconds of the thread that used most of them in between: it can use one core and no more."""
    return max((seconds - before.get(each, 0.0) for each, seconds in after.items()), default=0.0)
