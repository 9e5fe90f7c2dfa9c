"""What can go wrong on a cluster, done on purpose to a run that is under way there."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from aftermath import send
from database_faults import DatabaseFaults
from postgres_server import PostgresServer
from ray_cluster import Node, RayCluster
from struck import BACK_SECONDS, Struck, TooLate, at_once

from screensearch.cluster.names import View

SLOTS = 3
"""Of each node: as many as there are workers, so that one node can have them all."""


class NotBack(AssertionError):
    """The run did not go on after a fault."""


class Watched(Protocol):
    """A run, as whoever does something to it can see it."""

    def view(self) -> View: ...

    def nodes_alive(self) -> set[str]: ...


class Faults(DatabaseFaults):
    """Does one thing after another to a run, and waits each time until all its workers are back at work."""

    def __init__(
        self, run: Watched, cluster: RayCluster, database: PostgresServer, random: random.Random
    ) -> None:
        super().__init__(database, random)
        self._run = run
        self._cluster = cluster

    def inject(self, *names: str) -> int:
        """Do these at once, or nearly so; wait until the run has recovered. Returns `Struck.since`."""
        self.wait(at_work)
        struck = []
        for name in names:
            time.sleep(self._random.uniform(0, 0.5))  # a random moment: this is the fault
            struck.append(self.strike(name))
        self.wait_for_steps(*names)
        for each in struck:
            each.mend()
        self.wait(at_work, *names)
        self.wait_for_steps(*names)
        return max(each.since for each in struck)

    def wait_for_steps(self, *after: str) -> None:
        """Until more of them are recorded."""
        before = self._run.view().progress.steps
        self.wait(lambda view: view.progress.steps > before, *after)

    def strike(self, name: str) -> Struck:
        """Do it, now, and wait for nothing but that there is something to do it to."""
        return KINDS[name](self)

    def wait(self, until: Callable[[View], bool], *what: str) -> View:
        """The first view for which this holds."""
        begun = time.monotonic()
        while not until(view := self._run.view()):
            if view.phase == "ended" or time.monotonic() - begun > BACK_SECONDS:
                raise NotBack(f"after {' and '.join(what) or 'the start'}: {view}")
            time.sleep(0.2)
        return view

    # -- processes ----------------------------------------------------------------------------

    def kill_worker(self) -> Struck:
        return self._kill("Worker")

    def freeze_worker(self) -> Struck:
        return self._freeze("Worker")

    def pause_worker(self) -> Struck:
        return self._pause("Worker", 1, 4)

    def kill_owner(self) -> Struck:
        return self._kill("ShardOwner")

    def freeze_owner(self) -> Struck:
        return self._freeze("ShardOwner")

    def pause_owner(self) -> Struck:
        return self._pause("ShardOwner", 1, 4)

    def kill_conductor(self) -> Struck:
        return self._kill("Conductor")

    def pause_conductor(self) -> Struck:
        """Nobody finds out while it is frozen. When it goes on, it may take all others for silent."""
        return self._pause("Conductor", 1, 8)

    def _kill(self, what: str) -> Struck:
        send(self._some(what), signal.SIGKILL)
        return at_once()

    def _freeze(self, what: str) -> Struck:
        process = self._some(what)
        send(process, signal.SIGSTOP)

        def thaw() -> None:
            """Once it was given up: then it must not be heard any more."""
            self.wait(lambda view: process not in _processes(view), f"{what} {process} is frozen")
            send(process, signal.SIGCONT)

        return Struck(time.monotonic_ns(), thaw)

    def _pause(self, what: str, shortest: float, longest: float) -> Struck:
        """Too short to be given up, or nearly so."""
        process = self._some(what)
        send(process, signal.SIGSTOP)
        time.sleep(self._random.uniform(shortest, longest))  # for how long it is frozen: this is the fault
        send(process, signal.SIGCONT)
        return at_once()

    def _some(self, what: str) -> int:
        """A process of one kind of actor, as soon as there is one."""
        begun = time.monotonic()
        while not (found := [each for each in self._cluster.processes() if _is_actor(each, what)]):
            if time.monotonic() - begun > BACK_SECONDS or self._run.view().phase == "ended":
                raise TooLate(f"there is no {what} any more")
        return self._random.choice(found)

    # -- machines and the network -------------------------------------------------------------

    def kill_node(self) -> Struck:
        node = self._some_node()
        node.kill()
        self._cluster.nodes.remove(node)
        return Struck(time.monotonic_ns(), lambda: _add_node(self._cluster))

    def freeze_node(self) -> Struck:
        node = self._some_node()
        node.signal(signal.SIGSTOP)
        since = time.monotonic_ns()
        return Struck(since, lambda: self._bring_back(node, lambda: node.signal(signal.SIGCONT)))

    def cut_off_node(self) -> Struck:
        """The machine goes on, and so does its way to the database; but nobody else can reach it."""
        node = self._some_node()
        self._cluster.network.cut(node.number)
        since = time.monotonic_ns()
        return Struck(since, lambda: self._bring_back(node, lambda: self._cluster.network.mend(node.number)))

    def _bring_back(self, node: Node, mend: Callable[[], None]) -> None:
        """Once a node was given up: let it go on, see that it learns what it missed, and have another."""
        self.wait(lambda view: node.ip not in self._run.nodes_alive(), "a node is given up")
        mend()
        node.wait_until_ended()
        self._cluster.nodes.remove(node)
        _add_node(self._cluster)

    def disturb_network(self) -> Struck:
        """Nobody reaches anybody, for a moment: too short for a node to be given up."""
        for node in self._cluster.nodes:
            self._cluster.network.cut(node.number)
        time.sleep(self._random.uniform(0.5, 2))  # for how long: this is the fault
        for node in self._cluster.nodes:
            self._cluster.network.mend(node.number)
        return at_once()

    def freeze_head(self) -> Struck:
        """With all that runs there, for a moment."""
        self._cluster.head.signal(signal.SIGSTOP)
        time.sleep(self._random.uniform(1, 4))  # for how long: this is the fault
        self._cluster.head.signal(signal.SIGCONT)
        return at_once()

    def kill_head(self) -> Struck:
        """And start it again, at the same address. Its storage is outside, and has remained."""
        assert self._cluster.storage is not None
        self._cluster.head.kill()
        self._cluster.restart_head()
        return at_once()

    def lose_head(self) -> Struck:
        """Until all nodes have given it up and ended; then start all of it again, as a machine would."""
        assert self._cluster.storage is not None
        self._cluster.head.kill()
        for node in self._cluster.nodes:
            node.wait_until_ended(BACK_SECONDS)
        slots = [SLOTS for _ in self._cluster.nodes]
        self._cluster.nodes.clear()
        self._cluster.restart_head()
        for number in slots:
            self._cluster.add_node(number)
        return at_once()

    def _some_node(self) -> Node:
        """One of two, so that the run can go on with the other."""
        return self._random.choice(self._cluster.nodes)


KINDS: dict[str, Callable[[Faults], Struck]] = {
    "kill_worker": Faults.kill_worker,
    "freeze_worker": Faults.freeze_worker,
    "pause_worker": Faults.pause_worker,
    "kill_owner": Faults.kill_owner,
    "freeze_owner": Faults.freeze_owner,
    "pause_owner": Faults.pause_owner,
    "kill_conductor": Faults.kill_conductor,
    "pause_conductor": Faults.pause_conductor,
    "crash_database": Faults.crash_database,
    "freeze_database": Faults.freeze_database,
    "kill_backend": Faults.kill_backend,
    "drop_connections": Faults.drop_connections,
    "disturb_network": Faults.disturb_network,
    "freeze_head": Faults.freeze_head,
    "kill_node": Faults.kill_node,
    "freeze_node": Faults.freeze_node,
    "cut_off_node": Faults.cut_off_node,
    "freeze_database_for_long": Faults.freeze_database_for_long,
    "lose_database": Faults.lose_database,
    "kill_head": Faults.kill_head,
    "lose_head": Faults.lose_head,
}

NODES = ("kill_node", "freeze_node", "cut_off_node")
"""These take long, since a node has to be started after each."""

LONG = ("freeze_database_for_long", "lose_database")
"""These take long by what they are."""

NETWORK = ("cut_off_node", "disturb_network")
"""These need nodes that have networks of their own."""

HEAD = ("kill_head", "lose_head")
"""These need outside storage for the head."""

QUICK = tuple(kind for kind in KINDS if kind not in (*NODES, *LONG, *HEAD))


def at_work(view: View) -> bool:
    return (
        view.phase == "exploring"
        and all(worker.state == "working" for worker in view.workers)
        and all(owner.state == "serving" for owner in view.owners)
        and bool(view.owners)
    )


def _processes(view: View) -> list[int]:
    return [*(worker.process for worker in view.workers), *(owner.process for owner in view.owners)]


def _add_node(cluster: RayCluster) -> None:
    cluster.add_node(SLOTS)


def _is_actor(process: int, what: str) -> bool:
    """Whether Ray has named a process after such a class."""
    try:
        name = Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return name.startswith(b"ray::") and what.encode() in name
