"""What can go wrong on a cluster, done on purpose to a run that is under way there."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

from postgres_server import PostgresServer
from ray_cluster import Node, RayCluster, descendants

from screensearch.cluster.engine import nodes_alive
from screensearch.cluster.launch import Attached
from screensearch.cluster.names import View

BACK_SECONDS = 120.0
"""For a run to be at work again: far more than it takes, since the machine may be busy."""

SLOTS = 2


class NotBack(AssertionError):
    """The run did not go on after a fault."""


class Faults:
    """Does one thing after another to a run, and waits each time until all its workers are back at work."""

    def __init__(
        self, run: Attached, cluster: RayCluster, database: PostgresServer, random: random.Random
    ) -> None:
        self._run = run
        self._cluster = cluster
        self._database = database
        self._random = random
        self.seconds: list[tuple[str, float]] = []  # how long it took to be back

    def inject(self, name: str) -> None:
        """Do it, and wait until the run has recovered."""
        mend = KINDS[name](self)
        begun, before = time.monotonic(), self._view().progress.steps
        self.wait(lambda view: view.progress.steps > before, name)
        mend()
        view = self.wait(_at_work, name)
        self.seconds.append((name, round(time.monotonic() - begun, 1)))
        self.wait(lambda now: now.progress.steps > view.progress.steps, name)

    def wait(self, until: Callable[[View], bool], what: str = "the start") -> View:
        """The first view for which this holds."""
        begun = time.monotonic()
        while not until(view := self._view()):
            if view.phase == "ended" or time.monotonic() - begun > BACK_SECONDS:
                raise NotBack(f"after {what}: {view}")
            time.sleep(0.2)
        return view

    def _view(self) -> View:
        return self._run.view()

    # -- the kinds: each returns what mends it ------------------------------------------------

    def kill_worker(self) -> Callable[[], None]:
        _send(self._some_worker(), signal.SIGKILL)
        return _nothing

    def freeze_worker(self) -> Callable[[], None]:
        process = self._some_worker()
        _send(process, signal.SIGSTOP)

        def thaw() -> None:
            """Once it was given up: then it must not be heard any more."""
            self.wait(lambda view: process not in [worker.process for worker in view.workers])
            _send(process, signal.SIGCONT)

        return thaw

    def kill_owner(self) -> Callable[[], None]:
        _send(self._owner(), signal.SIGKILL)
        return _nothing

    def freeze_owner(self) -> Callable[[], None]:
        process = self._owner()
        _send(process, signal.SIGSTOP)
        return lambda: _send(process, signal.SIGCONT)

    def kill_conductor(self) -> Callable[[], None]:
        for node in (self._cluster.head, *self._cluster.nodes):
            for process in node.processes():
                if b"Conductor" in _command(process):
                    _send(process, signal.SIGKILL)
        return _nothing

    def crash_database(self) -> Callable[[], None]:
        self._database.stop("immediate")
        self._database.start()
        return _nothing

    def freeze_database(self) -> Callable[[], None]:
        self._database.signal(signal.SIGSTOP)
        for backend in descendants(self._database.process):
            _send(backend, signal.SIGSTOP)
        time.sleep(2)  # for how long it is frozen: this is the fault
        for backend in descendants(self._database.process):
            _send(backend, signal.SIGCONT)
        self._database.signal(signal.SIGCONT)
        return _nothing

    def kill_node(self) -> Callable[[], None]:
        node = self._some_node()
        node.kill()
        self._cluster.nodes.remove(node)
        self._cluster.add_node(SLOTS)
        return _nothing

    def freeze_node(self) -> Callable[[], None]:
        node = self._some_node()
        node.signal(signal.SIGSTOP)
        return lambda: self._bring_back(node, lambda: node.signal(signal.SIGCONT))

    def _bring_back(self, node: Node, mend: Callable[[], None]) -> None:
        """Once a node was given up: let it go on, see that it learns what it missed, and have another."""
        self.wait(lambda view: node.ip not in nodes_alive(), "a node is given up")
        mend()
        node.wait_until_ended()
        self._cluster.nodes.remove(node)
        self._cluster.add_node(SLOTS)

    def cut_off_node(self) -> Callable[[], None]:
        """The machine goes on, and so does its way to the database; but nobody else can reach it."""
        node = self._some_node()
        self._cluster.network.cut(node.number)
        return lambda: self._bring_back(node, lambda: self._cluster.network.mend(node.number))

    def _some_worker(self) -> int:
        view = self.wait(_at_work)
        return self._random.choice([worker.process for worker in view.workers])

    def _owner(self) -> int:
        return self.wait(_at_work).owners[0].process

    def _some_node(self) -> Node:
        """One of two, so that the run can go on with the other."""
        return self._random.choice(self._cluster.nodes)


KINDS: dict[str, Callable[[Faults], Callable[[], None]]] = {
    "kill_worker": Faults.kill_worker,
    "freeze_worker": Faults.freeze_worker,
    "kill_owner": Faults.kill_owner,
    "freeze_owner": Faults.freeze_owner,
    "kill_conductor": Faults.kill_conductor,
    "crash_database": Faults.crash_database,
    "freeze_database": Faults.freeze_database,
    "kill_node": Faults.kill_node,
    "freeze_node": Faults.freeze_node,
    "cut_off_node": Faults.cut_off_node,  # where nodes have networks of their own
}

SLOW = ("kill_node", "freeze_node", "cut_off_node")
"""These take the longest, since a node has to be started after each."""


def _at_work(view: View) -> bool:
    return (
        view.phase == "exploring"
        and all(worker.state == "working" for worker in view.workers)
        and all(owner.state == "serving" for owner in view.owners)
        and bool(view.owners)
    )


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _send(process: int, number: signal.Signals) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def _nothing() -> None:
    """It needs no mending."""
