"""What can go wrong with the processes of a run on a cluster: its workers, its owners, its conductor."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aftermath import send
from ray_cluster import Node, RayCluster
from struck import BACK_SECONDS, Struck, TooLate, at_once, now_over

ACTORS = ("Worker", "ShardOwner", "Conductor")


class ProcessFaults:
    """Kills, freezes and pauses actors of a run: not those that earlier ones have left on the cluster."""

    def __init__(
        self,
        cluster: RayCluster,
        random: random.Random,
        *,
        is_over: Callable[[], bool],
        given_up: Callable[[int], bool],
    ) -> None:
        self._cluster = cluster
        self._random = random
        self._is_over = is_over  # the run
        self._given_up = given_up  # a process, by all others
        self._serving: set[int] = set()  # processes that were seen at work before the fault
        self._workers: dict[int, int] = {}  # of these, by process: the numbers of workers
        self._of_others = {
            each for each in cluster.processes() if any(is_actor(each, what) for what in ACTORS)
        }

    def kill_worker(self) -> Struck:
        return self._kill("Worker")

    def freeze_worker(self) -> Struck:
        return self._freeze("Worker")

    def pause_worker(self) -> Struck:
        """The others have to go on."""
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

    def freeze_conductor(self) -> Struck:
        """Until another has taken its place: it is frozen for good.

        Owners that it does not ask any more find out, so they alone have to see to it.
        """
        process = self._some("Conductor")
        gone = Gone(process)
        send(process, signal.SIGSTOP)

        def mend() -> None:
            until = time.monotonic() + BACK_SECONDS
            while not self._present("Conductor") - {process}:
                assert time.monotonic() < until, f"the frozen conductor {process} was never replaced"
                time.sleep(0.2)
            send(process, signal.SIGCONT)
            gone.wait("the conductor that was frozen and replaced")

        return at_once(mend)

    def _kill(self, what: str) -> Struck:
        send(self._some(what), signal.SIGKILL)
        return at_once()

    def _freeze(self, what: str) -> Struck:
        process = self._some(what)
        gone, served = Gone(process), process in self._serving
        send(process, signal.SIGSTOP)

        def go_on() -> None:
            """When the run is over without it: whatever it still tries, it has tried when this returns."""
            send(process, signal.SIGCONT)
            gone.wait(f"the {what} that was frozen until the run was over")

        def thaw() -> None:
            """Once it was given up: then it must not be heard any more, and has to go."""
            until = time.monotonic() + BACK_SECONDS
            while not self._given_up(process):
                assert time.monotonic() < until, f"the frozen {what} {process} was never given up"
                time.sleep(0.2)
            send(process, signal.SIGCONT)
            if served:  # one that was about to may yet do so
                gone.wait(f"the {what} that was frozen and given up")

        return at_once(thaw, go_on)

    def _pause(self, what: str, shortest: float, longest: float) -> Struck:
        """Too short to be given up, or nearly so."""
        process, begun = self._some(what), time.monotonic_ns()
        send(process, signal.SIGSTOP)
        time.sleep(self._random.uniform(shortest, longest))  # for how long it is frozen: this is the fault
        send(process, signal.SIGCONT)
        return now_over(begun, stops=self._stopped_by(what, process))

    def _stopped_by(self, what: str, process: int) -> frozenset[int] | None:
        """The workers that cannot go on while a process is paused; None where it may be any."""
        if what == "Worker":
            return frozenset({self._workers[process]}) if process in self._workers else None
        return frozenset() if what == "Conductor" else None

    def _some(self, what: str) -> int:
        """A process of one kind of actor, as soon as there is one; if possible one that was seen at work."""
        until = time.monotonic() + BACK_SECONDS
        while True:
            if found := sorted(self._present(what)):
                return self._random.choice([each for each in found if each in self._serving] or found)
            if time.monotonic() > until or self._is_over():
                raise TooLate(f"there is no {what} any more")
            time.sleep(0.05)

    def _present(self, what: str) -> set[int]:
        """The processes of one kind of actor."""
        there = set(self._cluster.processes()) - self._of_others
        return {each for each in there if is_actor(each, what)}


class Gone:
    """Whether a process has ended: this one, and not a later one of the same number."""

    def __init__(self, process: int) -> None:
        try:
            self._known = os.pidfd_open(process)
        except ProcessLookupError as problem:
            raise TooLate(f"process {process} has ended") from problem

    def __del__(self) -> None:
        with suppress(AttributeError):  # it had ended before
            os.close(self._known)

    def wait(self, what: str) -> None:
        """Until it has; fails if it goes on for long."""
        ended, _, _ = select.select([self._known], [], [], BACK_SECONDS)
        assert ended, f"{what} goes on"


def has_actor(node: Node, what: str) -> bool:
    return any(is_actor(process, what) for process in node.processes())


def is_actor(process: int, what: str) -> bool:
    """Whether Ray has named a process after such a class."""
    try:
        name = Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return name.startswith(b"ray::") and what.encode() in name
