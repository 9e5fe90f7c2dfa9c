"""Claim: the viewer is quick on a run as large as the paper's corpus, 30,000 states and 100,000 edges.

The first picture of the map within 3 s of opening the page, p99 of a state's page ≤ 50 ms, p99 of a search
≤ 100 ms, the server within 500 MB. A real `screensearch view` serves a generated run (`view_run.py`) to a
real headless Chromium, which draws in software: there is no graphics card. The first picture is judged twice:
of an address that is opened the moment it is printed, before the server has made its search ready, and of a
server that is ready. How fluently the map moves is told beside it: every frame of what a user does, with what
scripts and drawing took of the processor; once with the page put together in memory, as Chromium does without
a graphics card, and once by the computed GL. The command prints the address when it has read the run; how
long that takes, and how much of the processor, is told beside it. Memory is the most that the server ever
had, with every kind of page asked for. The baseline of each answer is the smallest one that the same server
gives, the list of its runs.

    python benchmarks/view.py [--json] [--run FOLDER] [--pages 1000] [--searches 300] [--out FILE]
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from machine import describe_machine
from outcome import parser_for, tell
from processes import read
from view_browser import measure_first_picture, measure_moves
from view_run import make_run

FIRST_PICTURE_SECONDS = 3.0
STATE_MILLISECONDS, SEARCH_MILLISECONDS = 50.0, 100.0
MOST_MEGABYTES = 500.0
WORDS = ("invoice", "overdue payment", "print", "monthly report", "customers", "tax rates", "close the year")


@dataclass(frozen=True)
class Server:
    """A viewer that is up."""

    process: int
    address: str  # with the token

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def connect(self) -> http.client.HTTPConnection:
        place = urlsplit(self.address)
        assert place.hostname is not None
        return http.client.HTTPConnection(place.hostname, place.port, timeout=120)

    def cpu_milliseconds(self) -> float:
        """What it has used of the processor so far."""
        found = read(self.process)
        assert found is not None  # it is up
        return found.cpu_seconds * 1000

    def megabytes(self, field: str = "VmRSS") -> float:
        """Its memory now, or the most it ever had (``VmHWM``)."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{field}:"))


@contextmanager
def served(run: Path) -> Iterator[Server]:
    """`screensearch view` of a run, as a process of its own."""
    command = [sys.executable, "-m", "screensearch", "view", "--json", str(run)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        told = ""
        for line in process.stdout:
            told += line
            if line == "}\n":
                break
        yield Server(process.pid, json.loads(told)["address"])
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Asker:
    """Asks one thing after the other, on one connection, as a page does."""

    def __init__(self, server: Server) -> None:
        self._connection = server.connect()
        self._headers = {"Authorization": f"Bearer {server.token}"}

    def ask(self, address: str, *, zipped: bool = True) -> tuple[float, bytes]:
        """Milliseconds until the whole answer is there, and the answer."""
        began = time.perf_counter()
        encoding = {"Accept-Encoding": "gzip"} if zipped else {}
        self._connection.request("GET", address, headers=self._headers | encoding)
        answer = self._connection.getresponse()
        content = answer.read()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise RuntimeError(f"{address} was answered with {answer.status}: {content[:200]!r}")
        return took, content


def quantiles(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    at = {name: ordered[min(len(ordered) - 1, int(len(ordered) * share))] for name, share in SHARES.items()}
    return {**{name: round(value, 2) for name, value in at.items()}, "most": round(ordered[-1], 2)}


SHARES = {"p50": 0.50, "p90": 0.90, "p99": 0.99}


def measure_kinds(server: Server, name: str, last: int) -> dict[str, float]:
    """Milliseconds of the first answer of every other kind of page; what they need is kept."""
    base = f"/api/runs/{quote(name)}"
    kinds = {
        "similar": f"{base}/states/0/similar",
        "explain": f"{base}/explain/0/{last}",
        "path": f"{base}/states/{last}/path",
        "observations": f"{base}/states/0/observations",
        "figures": f"{base}/figures",
        "findings": f"{base}/findings",
        "ambiguities": f"{base}/ambiguities",
    }
    asker = Asker(server)
    return {kind: round(asker.ask(address)[0], 1) for kind, address in kinds.items()}


def measure_answers(
    server: Server, name: str, states_in_run: int, pages: int, searches: int
) -> dict[str, Any]:
    """How long answers take, one after the other."""
    draw = random.Random(7)
    asker = Asker(server)
    base = f"/api/runs/{quote(name)}"
    map_milliseconds, map_bytes = asker.ask(f"{base}/map")
    first_search, _ = asker.ask("/api/search?q=first")
    states = [f"{base}/states/{draw.randrange(states_in_run)}" for _ in range(pages)]
    words = [f"/api/search?q={quote(_query(draw))}&limit=40" for _ in range(searches)]
    return {
        "runs": measure_addresses(server, asker, ["/api/runs"] * 200),
        "state": measure_addresses(server, asker, states),
        "search": measure_addresses(server, asker, words),
        "first_search_seconds": round(first_search / 1000, 2),
        "map_answer_milliseconds": round(map_milliseconds, 1),
        "map_answer_megabytes": round(len(map_bytes) / 1e6, 2),
    }


def measure_addresses(server: Server, asker: Asker, addresses: list[str]) -> dict[str, float]:
    """Milliseconds of an answer, and of the server's processor: on a busy machine the latter stay true."""
    before = server.cpu_milliseconds()
    took = quantiles([asker.ask(address)[0] for address in addresses])
    used = (server.cpu_milliseconds() - before) / len(addresses)
    return {**took, "cpu": round(used, 2)}


def _query(draw: random.Random) -> str:
    words = draw.choice(WORDS)
    return f"{words} {draw.randrange(100, 999)}" if draw.random() < 0.3 else words


def measure(run: Path, pages: int, searches: int) -> dict[str, Any]:
    """Everything, on a run that is there."""
    began = time.perf_counter()
    with served(run) as server:
        up, reading = time.perf_counter() - began, server.cpu_milliseconds()
        name = run.resolve().name
        cold = measure_first_picture(server.address, name)
        info = json.loads(Asker(server).ask("/api/runs", zipped=False)[1])["runs"][0]
        answers = measure_answers(server, name, info["states"], pages, searches)
        kinds = measure_kinds(server, name, info["states"] - 1)
        first = sorted(measure_first_picture(server.address, name) for _ in range(3))
        frames = {
            "composed in memory": measure_moves(server.address, name, "in memory"),
            "composed by GL": measure_moves(server.address, name, "by GL"),
        }
        memory = {
            "megabytes": round(server.megabytes(), 1),
            "most_megabytes": round(server.megabytes("VmHWM"), 1),
        }
    return {
        "run": {"states": info["states"], "edges": info["edges"]},
        "command_until_address_seconds": round(up, 2),
        "command_until_address_cpu_seconds": round(reading / 1000, 2),
        "first_picture_right_after_start_seconds": cold,
        "first_picture_seconds": first[1],
        "first_picture_of_all_repeats": first,
        "frames": frames,
        **answers,
        "first_of_its_kind_milliseconds": kinds,
        "server": memory,
    }


def main() -> int:
    parser = parser_for(__doc__)
    parser.add_argument("--run", type=Path, help="a run that view_run.py made; without it one is made")
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--searches", type=int, default=300)
    options = parser.parse_args()
    machine = describe_machine()
    with tempfile.TemporaryDirectory() as scratch:
        run = options.run or Path(scratch) / "generated"
        if options.run is None:
            make_run(run)
        measured = measure(run, options.pages, options.searches)
    met = {
        f"first picture within {FIRST_PICTURE_SECONDS:g} s of opening the address as it is printed": measured[
            "first_picture_right_after_start_seconds"
        ]
        <= FIRST_PICTURE_SECONDS,
        f"first picture within {FIRST_PICTURE_SECONDS:g} s, of a server that is ready": measured[
            "first_picture_seconds"
        ]
        <= FIRST_PICTURE_SECONDS,
        f"p99 of a state's page ≤ {STATE_MILLISECONDS:g} ms": measured["state"]["p99"] <= STATE_MILLISECONDS,
        f"p99 of a search ≤ {SEARCH_MILLISECONDS:g} ms": measured["search"]["p99"] <= SEARCH_MILLISECONDS,
        f"server within {MOST_MEGABYTES:g} MB": measured["server"]["most_megabytes"] <= MOST_MEGABYTES,
    }
    result = {
        "benchmark": "view",
        "machine": {**machine, "load_at_the_end": round(os.getloadavg()[0], 2)},
        **measured,
        "targets": met,
    }
    tell(result, options)
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
