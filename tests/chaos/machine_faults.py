"""What can go wrong with the machines of a cluster, and with the network between them."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable

from process_faults import Gone, has_actor, is_actor
from ray_cluster import Node, RayCluster
from struck import BACK_SECONDS, Struck, TooLate, at_once, now_over

SLOTS = 3
"""Of each node: as many as there are workers, so that one node can have them all."""


class MachineFaults:
    """Does things to one of two nodes, so that a run can go on with the other; or to the head."""

    def __init__(
        self,
        cluster: RayCluster,
        random: random.Random,
        nodes_alive: Callable[[], set[str]],
        *,
        at_work: Callable[[], set[int]],
    ) -> None:
        self._cluster = cluster
        self._random = random
        self._nodes_alive = nodes_alive
        self._at_work = at_work  # the processes that are, as soon as all are

    def kill_node(self) -> Struck:
        node = self._some_node()
        node.kill()
        self._cluster.nodes.remove(node)
        return at_once(lambda: _add_node(self._cluster))

    def freeze_node(self) -> Struck:
        node = self._some_node()
        node.signal(signal.SIGSTOP)
        return at_once(lambda: self._bring_back(node, lambda: node.signal(signal.SIGCONT)))

    def cut_off_node(self) -> Struck:
        """The machine goes on, and so does its way to the database; but nobody else can reach it.

        So an owner there can go on to write what workers there tell it, when others have given it up.
        """
        nodes = self._shuffled()
        node = max(nodes, key=lambda each: has_actor(each, "ShardOwner") and has_actor(each, "Worker"))
        self._cluster.network.cut(node.number)
        return at_once(lambda: self._bring_back(node, lambda: self._cluster.network.mend(node.number)))

    def _bring_back(self, node: Node, mend: Callable[[], None]) -> None:
        """Once a node was given up: let it go on, see that it learns what it missed, and have another."""
        until = time.monotonic() + BACK_SECONDS
        while node.ip in self._nodes_alive():
            assert time.monotonic() < until, f"the node {node.ip} was never given up"
            time.sleep(0.2)
        mend()
        node.wait_until_ended(BACK_SECONDS)
        self._cluster.nodes.remove(node)
        _add_node(self._cluster)

    def disturb_network(self) -> Struck:
        """Nobody reaches anybody, for a moment: too short for a node to be given up."""
        begun = time.monotonic_ns()
        for node in self._cluster.nodes:
            self._cluster.network.cut(node.number)
        time.sleep(self._random.uniform(0.5, 2))  # for how long: this is the fault
        for node in self._cluster.nodes:
            self._cluster.network.mend(node.number)
        return now_over(begun)

    def cut_off_database(self) -> Struck:
        """A machine with owners loses its way to the database, and no other, for a moment.

        All others keep theirs: it counts from the cut on.
        """
        node, begun = self._node_of_owner(), time.monotonic_ns()
        self._cluster.network.cut_storage(node.number)
        time.sleep(self._random.uniform(1, 4))  # for how long: this is the fault
        self._cluster.network.mend_storage(node.number)
        return Struck(begun, begun)

    def cut_off_database_for_long(self) -> Struck:
        """For longer than an owner takes a silent server for alive, or even than it waits for one.

        Others reach the database: they have to take over while it lasts, and not when it is over.
        """
        node, seconds = self._node_of_owner(), self._random.choice((12, 42))
        owners = {each: Gone(each) for each in node.processes() if is_actor(each, "ShardOwner")}
        begun = time.monotonic_ns()
        self._cluster.network.cut_storage(node.number)

        def mend() -> None:
            """Once it has lasted so long: what was given up learns of it, and has to go."""
            time.sleep(max(0.0, seconds - (time.monotonic_ns() - begun) / 1e9))
            self._cluster.network.mend_storage(node.number)
            at_work = self._at_work()
            for process, gone in owners.items():
                if process not in at_work:
                    gone.wait("an owner that had lost the database and was given up")

        return Struck(begun, begun, mend)

    def _node_of_owner(self) -> Node:
        node = next((each for each in self._shuffled() if has_actor(each, "ShardOwner")), None)
        if node is None:
            raise TooLate("no node has an owner: they are beside the head")
        return node

    def freeze_head(self) -> Struck:
        """With all that runs there, for a moment. Workers need nothing of it."""
        begun = time.monotonic_ns()
        self._cluster.head.signal(signal.SIGSTOP)
        time.sleep(self._random.uniform(1, 4))  # for how long: this is the fault
        self._cluster.head.signal(signal.SIGCONT)
        return now_over(begun, stops=frozenset())

    def kill_head(self) -> Struck:
        """And start it again, at the same address. Its storage is outside, and has remained."""
        assert self._cluster.storage is not None
        begun = time.monotonic_ns()
        self._cluster.head.kill()
        self._cluster.restart_head()
        return now_over(begun)

    def lose_head(self) -> Struck:
        """Until all nodes have given it up and ended; then start all of it again, as a machine would."""
        assert self._cluster.storage is not None
        begun = time.monotonic_ns()
        self._cluster.head.kill()
        for node in self._cluster.nodes:
            node.wait_until_ended(BACK_SECONDS)
        slots = [SLOTS for _ in self._cluster.nodes]
        self._cluster.nodes.clear()
        self._cluster.restart_head()
        for number in slots:
            self._cluster.add_node(number)
        return now_over(begun)

    def _some_node(self) -> Node:
        return self._shuffled()[0]

    def _shuffled(self) -> list[Node]:
        return self._random.sample(self._cluster.nodes, len(self._cluster.nodes))


def _add_node(cluster: RayCluster) -> None:
    cluster.add_node(SLOTS)
