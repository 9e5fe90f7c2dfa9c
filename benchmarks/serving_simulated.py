"""Claim: one owner serves more reports a second if it reads and identifies while a commit is under way.

Many simulated workers in one process, each with a connection of its own, think for a while and report a
screen; half of the screens are new, the others are named by their row. So the owner is the limit, as it is
with more workers than a machine can run. The baseline and the rounds are those of `serving.py`.

    python benchmarks/serving_simulated.py [--json] [--steps 1500] [--rounds 7] [--workers 64] [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import describe_machine
from outcome import parser_for, tell
from rounds import take_turns
from screensearch.config import Settings
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.errors import FormatError
from screensearch.explore.connection import Connection
from screensearch.explore.messages import Begin, Message, Receipt, Report, Sighting
from screensearch.explore.serving import Serving
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import Failed, Frames, pack
from screensearch.record.log import Log
from screensearch.record.postgres_log import PostgresLog
from screensearch.record.sqlite_log import SqliteLog
from serving import KINDS, owner_seconds, print_result
from simulated import draw_choice, draw_screen

sys.path.append(str(Path(__file__).parent.parent / "tests" / "record"))

from postgres_server import postgres_server

WARM_UP_STEPS = 300
THINK_SECONDS = 0.02  # on average
SCREENS = 2_500
ELEMENTS = random.Random(0).randbytes(1_500)
METADATA = Metadata("app", "light", "1", "main|app")


# -- the simulated workers ------------------------------------------------------------------------


def draw_screens(rng: random.Random) -> list[Screen]:
    return [draw_screen(rng, METADATA, number) for number in range(SCREENS)]


class SimulatedWorker(asyncio.Protocol):
    """Reports step after step of one endless episode."""

    def __init__(self, worker: int, screens: list[Screen], waits: list[float], ended: asyncio.Event) -> None:
        self._episode = EpisodeId(worker, 0)
        self._rng = random.Random(worker)
        self._screens, self._waits, self._ended = screens, waits, ended
        self._rows: list[int] = []
        self._step = 0
        self._frames = Frames()
        self._said = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._say(Begin(self._episode, self._sight(), Evidence()))

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            self._waits.append(time.perf_counter() - self._said)
            if not isinstance(frame, Receipt) or frame.here is None:
                raise SystemExit(f"the owner answered {frame}")
            self._rows.append(frame.here.row)
            self._step += 1
            choice = draw_choice(self._rng, frame.snapshot)
            report = Report(
                self._episode, self._step, frame.here.state, choice, Outcome.OK, self._sight(), Evidence()
            )
            pause = self._rng.uniform(0, 2 * THINK_SECONDS)
            asyncio.get_running_loop().call_later(pause, self._say, report)

    def connection_lost(self, problem: Exception | None) -> None:
        self._ended.set()

    def _sight(self) -> Sighting:
        if self._rows and (not self._screens or self._rng.random() < 0.5):
            return Sighting(row=self._rng.choice(self._rows))
        return Sighting(screen=self._screens.pop(), elements=ELEMENTS)

    def _say(self, message: Message) -> None:
        self._said = time.perf_counter()
        self._transport.write(pack(message))


async def simulate(sockets: list[int]) -> None:
    """Work until the owner has enough, then print for how long answers were waited for."""
    screens, waits, ended = draw_screens(random.Random(5)), [0.0], asyncio.Event()
    for worker, number in enumerate(sockets):
        await asyncio.get_running_loop().create_unix_connection(
            lambda worker=worker: SimulatedWorker(worker, screens, waits, ended),  # type: ignore[misc]
            sock=socket.socket(fileno=number),
        )
    await ended.wait()
    percentiles = statistics.quantiles(waits, n=100)
    print(json.dumps({f"answer_ms_p{p}": round(1_000 * percentiles[p - 1], 1) for p in (50, 99)}))


# -- the owner ------------------------------------------------------------------------------------


class Host:
    """What connections need of an owner."""

    def __init__(self, shard: ShardStore, kind: type[Serving]) -> None:
        self.shard = shard
        self.serving = kind(shard)

    def take(self, connection: Connection, message: Message) -> None:
        def answer(said: Receipt | FormatError) -> None:
            connection.send(Failed(str(said)) if isinstance(said, FormatError) else said)

        self.serving.take(message, answer)

    def stopping_seconds(self) -> float:
        return 0.0

    async def reached(self, steps: int) -> None:
        while self.shard.budget.taken < steps:
            await asyncio.sleep(0.01)
            if self.serving.broken.done():
                self.serving.broken.result()


async def serve(kind: str, log: Log, options: argparse.Namespace) -> dict[str, float]:
    """One round."""
    host = Host(ShardStore(log, Settings()), KINDS[kind])
    pairs = [socket.socketpair() for _ in range(options.workers)]
    theirs = [other.fileno() for _, other in pairs]
    clients = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "--simulate", ",".join(map(str, theirs))),
        pass_fds=theirs,
        stdout=subprocess.PIPE,
    )
    connections = []
    for worker, (ours, other) in enumerate(pairs):
        other.close()
        _, connection = await asyncio.get_running_loop().create_unix_connection(
            lambda worker=worker: Connection(host, worker),  # type: ignore[misc]
            sock=ours,
        )
        connections.append(connection)
    await host.reached(WARM_UP_STEPS)
    begun, used, before = time.perf_counter(), owner_seconds(), host.shard.budget.taken
    await host.reached(WARM_UP_STEPS + options.steps)
    seconds, used = time.perf_counter() - begun, owner_seconds() - used
    steps = host.shard.budget.taken - before
    for connection in connections:
        connection.close()
    await host.serving.close()
    said, _ = await clients.communicate()
    return {
        "steps_per_second": round(steps / seconds, 1),
        "owner_cpu_ms_a_step": round(1_000 * used / steps, 3),
        **json.loads(said),
    }


def measure(name: str, make_log: Callable[[], Log], options: argparse.Namespace) -> dict[str, Any]:
    def one(kind: str, number: int) -> dict[str, float]:
        log = make_log()
        try:
            return asyncio.run(serve(kind, log, options))
        finally:
            log.close()

    return take_turns(KINDS, one, rounds=options.rounds, name=name, show=not options.json)


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("--steps", type=int, default=1_500, help="of a round")
    parser.add_argument("--rounds", type=int, default=7, help="of each kind and store")
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--simulate", help=argparse.SUPPRESS)  # the other end: its sockets
    options = parser.parse_args()
    if options.simulate:
        asyncio.run(simulate([int(each) for each in options.simulate.split(",")]))
        return
    result: dict[str, Any] = {"steps": options.steps, "rounds": options.rounds, "workers": options.workers}
    with tempfile.TemporaryDirectory(prefix="screensearch-") as folder:
        result["sqlite"] = measure(
            "sqlite", lambda: SqliteLog.create(Path(folder) / f"{uuid.uuid4().hex}.sqlite"), options
        )
    with postgres_server(durable=True) as server:
        result["postgresql"] = measure(
            "postgresql", lambda: PostgresLog.create(server.url(), uuid.uuid4().hex, "main"), options
        )
    result["machine"] = describe_machine()
    tell(result, options, print_result)


if __name__ == "__main__":
    main()
