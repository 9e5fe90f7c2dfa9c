"""A Ray cluster of our own: real nodes on this machine, in network namespaces of their own if possible."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aftermath import AFTERMATH, descendants, kill_tree, send
from networks import Network
from redis_server import RedisServer, redis_server

START_SECONDS = 150.0
MOST_STARTS = 3
"""Where much is busy, a raylet gives its agent up after 15 s, and ends."""

END_SECONDS = 20.0
STORE_BYTES = 80_000_000


TOKEN = secrets.token_hex(16)

PASSWORD = secrets.token_hex(16)
"""With which the nodes can get into a database that asks for one."""

# Ray reads these once, when it is imported.
os.environ.update(
    {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": TOKEN,
        "RAY_USAGE_STATS_ENABLED": "0",
        # Ray's own choice is 15: beside other tests, actors would wait for seconds for their turn.
        "RAY_worker_niceness": "0",
        # A node that is gone or frozen is to be noticed in seconds: on a busy machine, some more.
        "RAY_raylet_start_wait_time_s": "120",
        "RAY_health_check_initial_delay_ms": "5000",
        "RAY_health_check_period_ms": "1000",
        "RAY_health_check_timeout_ms": "3000",
        "RAY_health_check_failure_threshold": "3",
    }
)


class NotStarted(RuntimeError):
    """A node that was to start has ended, or is not done."""


class Node:
    """One `ray start --block`, with all its processes in one group."""

    def __init__(
        self, number: int, ip: str, command: list[str], output: Path, environment: Mapping[str, str]
    ) -> None:
        self.number, self.ip = number, ip
        self._output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=file, start_new_session=True, env={**os.environ, **environment}
            )
        self._ended = AFTERMATH.end(self.process.pid)

    def processes(self) -> list[int]:
        """Everything that runs on this node: Ray's own processes, and the actors with all they started."""
        return descendants(self.process.pid)

    def signal(self, number: signal.Signals) -> None:
        """To all of it at once: as if the machine was frozen or thawed."""
        for process in self.processes():
            send(process, number)

    def kill(self) -> None:
        """As if the machine was switched off."""
        kill_tree(self.process.pid)
        self._ended()
        self.process.wait()

    def wait_until_started(self) -> None:
        until, began = time.monotonic() + START_SECONDS, False
        while "Ray runtime started" not in self.said():
            running = any(map(_is_raylet, self.processes()))
            ended = self.process.poll() is not None or (began and not running)  # Ray would wait for that one
            if ended or time.monotonic() > until:
                self.kill()
                raise NotStarted(f"a node did not start:\n{self.said()}")
            began = began or running
            time.sleep(0.1)

    def wait_until_ended(self, seconds: float = END_SECONDS) -> None:
        """By itself, since the cluster has given it up; if it does not, it is ended."""
        try:
            self.process.wait(seconds)
        finally:
            self.kill()

    def said(self) -> str:
        return self._output.read_text(errors="replace")


class RayCluster:
    """A head without slots, and nodes with some. With outside storage for what the head knows, or without."""

    def __init__(
        self, folder: Path, network: Network, storage: RedisServer | None, settings: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._settings = settings
        self.network = network
        self.storage = storage
        self.port = free_port()
        self.nodes: list[Node] = []
        self.left: list[Node] = []  # those of a head that is gone: they end by themselves, in time
        self._numbers = itertools.count(2)
        self.head = self._start_head()

    @property
    def address(self) -> str:
        return f"{self.network.address}:{self.port}"

    @property
    def logs(self) -> Path:
        """Where all nodes write theirs."""
        return self._folder / "session_latest" / "logs"

    def _start_head(self) -> Node:
        # Of a head that was killed, this file says that it is there; and so do the nodes, which a head on a
        # machine of its own would not see.
        (self._folder / "ray_current_cluster").unlink(missing_ok=True)
        options = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self._folder}"]
        options += ["--no-monitor"]  # nobody asks Ray for more machines
        environment: dict[str, str] = {}
        if self.storage is not None:
            options += ["--redis-username=default", f"--redis-password={self.storage.password}"]
            environment["RAY_REDIS_ADDRESS"] = self.storage.address
        return _persistently(
            lambda: self._start(1, self.network.address, [], *options, slots=0, environment=environment)
        )

    def restart_head(self) -> None:
        """Start a head at the address of the one that was killed. Without storage, it knows no nodes."""
        if self.storage is None:
            self.left += self.nodes
            self.nodes = []
        self.head = self._start_head()

    def end_those_left(self) -> None:
        """As whoever starts the services of such nodes anew does."""
        while self.left:
            self.left.pop().kill()

    def _start(
        self,
        number: int,
        ip: str,
        where: list[str],
        *options: str,
        slots: int,
        environment: Mapping[str, str] | None = None,
    ) -> Node:
        command = [
            *(*where, sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
            *(f"--node-ip-address={ip}", "--num-cpus=1", "--disable-usage-stats"),
            "--include-log-monitor=false",  # it reads all logs for drivers that want them, which ours do not
            *(f"--resources={json.dumps({'desktop': slots} if slots else {})}",),
            *(f"--object-store-memory={STORE_BYTES}", *options),
        ]
        environment = {**self._settings, **(environment or {})}
        return Node(number, ip, command, self._folder / f"node{number}.log", environment)

    def add_node(self, slots: int) -> Node:
        """Another machine."""

        def start() -> Node:
            number = next(self._numbers)
            ip, where = self.network.add(number)
            return self._start(number, ip, where, f"--address={self.address}", slots=slots)

        self.nodes.append(node := _persistently(start))
        return node

    def processes(self) -> list[int]:
        """All that runs on its nodes, the head among them."""
        return [process for node in (self.head, *self.nodes) for process in node.processes()]

    def logged(self, process: int) -> list[str]:
        """The lines that an actor's process has written to standard error, without those of Ray itself."""
        (path,) = self._folder.glob(f"session_2*/logs/worker-*-{process}.err")
        lines = path.read_text(errors="replace").splitlines()
        return [line for line in lines if not line.startswith(":")]

    def stop(self) -> None:
        for node in (*self.nodes, *self.left, self.head):
            node.kill()


def _persistently(start: Callable[[], Node]) -> Node:
    """A node that has started, perhaps not at the first try."""
    for attempt in range(1, MOST_STARTS + 1):
        node = start()
        try:
            node.wait_until_started()
        except NotStarted:
            if attempt == MOST_STARTS:
                raise
        else:
            break
    return node


def _is_raylet(process: int) -> bool:
    try:
        return os.readlink(f"/proc/{process}/exe").endswith("/raylet")
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def ray_cluster(
    *slots: int, stored: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[RayCluster]:
    """A head and a node for each number, which offers so many slots; gone afterwards.

    `stored`: with outside storage for the head. `settings` are Ray's, in place of those above.
    """
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="screensearch-ray-"))
        stack.callback(AFTERMATH.remove(folder))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        network = Network()
        stack.callback(network.end)
        storage = stack.enter_context(redis_server("127.0.0.1", free_port())) if stored else None
        cluster = RayCluster(folder, network, storage, settings or {})
        stack.callback(cluster.stop)
        for number in slots:
            cluster.add_node(number)
        yield cluster
