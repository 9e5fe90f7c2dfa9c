"""What can go wrong on a cluster, done on purpose to a run that is under way there."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from database_faults import DatabaseFaults
from machine_faults import MachineFaults
from postgres_server import PostgresServer
from process_faults import ProcessFaults
from ray_cluster import RayCluster
from struck import BACK_SECONDS, Struck, TooLate

from screensearch.cluster.names import View


class NotBack(AssertionError):
    """The run did not go on after a fault."""


class Injected(NamedTuple):
    """What was done, each under its name, in the order in which it was done."""

    struck: dict[str, Struck]
    new_shard: bool = False  # one was found meanwhile: its owner is placed by the conductor, which takes time

    @property
    def since(self) -> int:
        """The earliest moment since which one of them has nothing to wait for but the run itself."""
        return min(each.since for each in self.struck.values())

    @property
    def held_seconds(self) -> float:
        """How long after that moment the test itself made another one last: it may hold up the first one."""
        spans = ((max(each.begun, self.since), each.since) for each in self.struck.values())
        return sum(max(0, over - begun) for begun, over in spans) / 1e9


class Watched(Protocol):
    """A run, as whoever does something to it can see it."""

    def view(self) -> View: ...

    def nodes_alive(self) -> set[str]: ...


class Faults(ProcessFaults, MachineFaults, DatabaseFaults):
    """Does one thing after another to a run, and waits each time until all its workers are back at work."""

    def __init__(
        self, run: Watched, cluster: RayCluster, database: PostgresServer, random: random.Random
    ) -> None:
        ProcessFaults.__init__(self, cluster, random, is_over=self.is_over, given_up=self._was_given_up)
        MachineFaults.__init__(
            self, cluster, random, run.nodes_alive, at_work=lambda: _processes(self.wait(at_work))
        )
        DatabaseFaults.__init__(self, database, random)
        self._run = run

    def inject(self, *names: str) -> Injected:
        """Do these at once, or nearly so; wait until the run has recovered. `TooLate` if none has struck."""
        view, struck = self.wait(at_work), dict[str, Struck]()
        self._serving = _processes(view)
        self._workers = {worker.process: worker.worker for worker in view.workers}
        for name in names:
            time.sleep(self._random.uniform(0, 0.5))  # a random moment: this is the fault
            try:
                struck[name] = self.strike(name)
            except TooLate:
                if name == names[-1] and not struck:
                    raise
        self.wait_for_steps(*struck)
        for each in struck.values():
            each.mend()
        after = self.wait(at_work, *struck)
        self.wait_for_steps(*struck)
        return Injected(struck, new_shard=len(after.owners) > len(view.owners))

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

    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self._run.view().phase == "ended"

    def _was_given_up(self, process: int) -> bool:
        """Whether all are at work without it: a conductor that was started anew may not know it yet."""
        view = self._run.view()
        return at_work(view) and process not in _processes(view)


def _processes(view: View) -> set[int]:
    return {worker.process for worker in view.workers} | {owner.process for owner in view.owners}


KINDS: dict[str, Callable[[Faults], Struck]] = {
    "kill_worker": Faults.kill_worker,
    "freeze_worker": Faults.freeze_worker,
    "pause_worker": Faults.pause_worker,
    "kill_owner": Faults.kill_owner,
    "freeze_owner": Faults.freeze_owner,
    "pause_owner": Faults.pause_owner,
    "kill_conductor": Faults.kill_conductor,
    "pause_conductor": Faults.pause_conductor,
    "freeze_conductor": Faults.freeze_conductor,
    "crash_database": Faults.crash_database,
    "freeze_database": Faults.freeze_database,
    "kill_backend": Faults.kill_backend,
    "drop_connections": Faults.drop_connections,
    "take_log": Faults.take_log,
    "disturb_network": Faults.disturb_network,
    "cut_off_database": Faults.cut_off_database,
    "freeze_head": Faults.freeze_head,
    "kill_node": Faults.kill_node,
    "freeze_node": Faults.freeze_node,
    "cut_off_node": Faults.cut_off_node,
    "freeze_database_for_long": Faults.freeze_database_for_long,
    "lose_database": Faults.lose_database,
    "cut_off_database_for_long": Faults.cut_off_database_for_long,
    "kill_head": Faults.kill_head,
    "lose_head": Faults.lose_head,
}

NODES = ("kill_node", "freeze_node", "cut_off_node")
"""These take long, since a node has to be started after each."""

LONG = ("freeze_database_for_long", "lose_database", "cut_off_database_for_long", "freeze_conductor")
"""These take long by what they are."""

NETWORK = ("cut_off_node", "disturb_network", "cut_off_database", "cut_off_database_for_long")
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
