"""Machines on one machine: a network namespace for each, on two bridges, so that each can be cut off.

One bridge is their way to each other, the other one that to a database. So a machine can lose either alone.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress

from aftermath import AFTERMATH

_NUMBERS = itertools.count()  # a process may have several networks


class Network:
    """Bridges with the address .1, and machines that hang on them; not `works` where that is not allowed."""

    def __init__(self) -> None:
        number = 8 * os.getpid() + next(_NUMBERS) % 8  # of this process alone, while there are so few
        self._name = f"ss{number % 10**8}"  # with what is appended below, short enough for an interface
        self._prefix = f"10.{100 + number % 100}.{number // 100 % 256}"
        self._storage_prefix = f"100.{64 + number % 64}.{number // 64 % 256}"
        self._machines: list[str] = []
        self._links: list[str] = []
        self._left: list[Callable[[], None]] = []
        self.works = self._begin()
        if self.works:
            for bridge in self._bridges:
                self._left.append(AFTERMATH.run("ip", "link", "del", bridge))

    @property
    def address(self) -> str:
        """Of this machine itself, as the others see it."""
        return f"{self._prefix}.1" if self.works else "127.0.0.1"

    @property
    def storage_address(self) -> str:
        """The same on the way to a database; empty where there is none."""
        return f"{self._storage_prefix}.1" if self.works else ""

    def add(self, number: int) -> tuple[str, list[str]]:
        """A new machine: its address, and what to put before a command that shall run on it."""
        if not self.works:
            return f"127.0.0.{number}", []
        name = self._machine(number)
        _ip("netns", "add", name)
        self._machines.append(name)
        self._left.append(AFTERMATH.run("ip", "netns", "del", name))
        _ip("netns", "exec", name, "ip", "link", "set", "lo", "up")
        for bridge, prefix in zip(self._bridges, (self._prefix, self._storage_prefix), strict=True):
            self._join(name, bridge, number, f"{prefix}.{number}")
        return f"{self._prefix}.{number}", ["ip", "netns", "exec", name]

    def _join(self, machine: str, bridge: str, number: int, address: str) -> None:
        """Give a machine an address on a bridge."""
        outer, inner = _ends(bridge, number)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", machine)
        self._links.append(outer)
        self._left.append(AFTERMATH.run("ip", "link", "del", outer))
        _ip("link", "set", outer, "master", bridge, "up")
        inside = ("netns", "exec", machine, "ip")
        _ip(*inside, "addr", "add", f"{address}/24", "dev", inner)
        _ip(*inside, "link", "set", inner, "up")

    def cut(self, number: int) -> None:
        """No other machine reaches that one any more, nor it them."""
        _ip("link", "set", _ends(self._bridges[0], number)[0], "down")

    def mend(self, number: int) -> None:
        _ip("link", "set", _ends(self._bridges[0], number)[0], "up")

    def cut_storage(self, number: int) -> None:
        """That machine does not reach the database any more."""
        _ip("link", "set", _ends(self._bridges[1], number)[0], "down")

    def mend_storage(self, number: int) -> None:
        _ip("link", "set", _ends(self._bridges[1], number)[0], "up")

    def end(self) -> None:
        for outer in self._links:  # a machine keeps its own for a while after its end, as its connections do
            with suppress(subprocess.CalledProcessError):
                _ip("link", "del", outer)
        for name in self._machines:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", name)
        for bridge in self._bridges if self.works else ():
            _ip("link", "del", bridge)
        for gone in self._left:
            gone()

    def _begin(self) -> bool:
        try:
            for bridge, prefix in zip(self._bridges, (self._prefix, self._storage_prefix), strict=True):
                _ip("link", "add", bridge, "type", "bridge")
                _ip("addr", "add", f"{prefix}.1/24", "dev", bridge)
                _ip("link", "set", bridge, "up")
            self._try()
        except (FileNotFoundError, subprocess.CalledProcessError):
            for bridge in self._bridges:
                with suppress(FileNotFoundError, subprocess.CalledProcessError):
                    _ip("link", "del", bridge)
            return False
        return True

    def _try(self) -> None:
        name = self._machine(0)
        _ip("netns", "add", name)
        _ip("netns", "del", name)

    def _machine(self, number: int) -> str:
        return f"{self._name}m{number}"

    @property
    def _bridges(self) -> tuple[str, str]:
        return self._name, f"{self._name}s"


def _ends(bridge: str, number: int) -> tuple[str, str]:
    """Of the link between a bridge and a machine: outside and inside."""
    return f"{bridge}o{number}", f"{bridge}i{number}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)
