"""Machines on one machine: a network namespace for each, on a bridge, so that each can be cut off."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress

from aftermath import AFTERMATH

_NUMBERS = itertools.count()  # a process may have several networks


class Network:
    """A bridge with the address .1, and machines that hang on it; not `works` where that is not allowed."""

    def __init__(self) -> None:
        number = 8 * os.getpid() + next(_NUMBERS) % 8  # of this process alone, while there are so few
        self._name = f"ss{number % 10**9}"  # with what is appended below, short enough for an interface
        self._prefix = f"10.{100 + number % 100}.{number // 100 % 256}"
        self._machines: list[str] = []
        self._links: list[str] = []
        self._left: list[Callable[[], None]] = []
        self.works = self._begin()
        if self.works:
            self._left.append(AFTERMATH.run("ip", "link", "del", self._name))

    @property
    def address(self) -> str:
        """Of this machine itself, as the others see it."""
        return f"{self._prefix}.1" if self.works else "127.0.0.1"

    def add(self, number: int) -> tuple[str, list[str]]:
        """A new machine: its address, and what to put before a command that shall run on it."""
        if not self.works:
            return f"127.0.0.{number}", []
        name, (outer, inner) = self._machine(number), self._ends(number)
        address = f"{self._prefix}.{number}"
        _ip("netns", "add", name)
        self._machines.append(name)
        self._left.append(AFTERMATH.run("ip", "netns", "del", name))
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
        self._links.append(outer)
        self._left.append(AFTERMATH.run("ip", "link", "del", outer))
        _ip("link", "set", outer, "master", self._name, "up")
        inside = ("netns", "exec", name, "ip")
        _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "addr", "add", f"{address}/24", "dev", inner)
        _ip(*inside, "link", "set", inner, "up")
        return address, ["ip", "netns", "exec", name]

    def cut(self, number: int) -> None:
        """Nothing reaches that machine any more, and nothing comes from it."""
        _ip("link", "set", self._ends(number)[0], "down")

    def mend(self, number: int) -> None:
        _ip("link", "set", self._ends(number)[0], "up")

    def end(self) -> None:
        for outer in self._links:  # a machine keeps its own for a while after its end, as its connections do
            with suppress(subprocess.CalledProcessError):
                _ip("link", "del", outer)
        for name in self._machines:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", name)
        if self.works:
            _ip("link", "del", self._name)
        for gone in self._left:
            gone()

    def _begin(self) -> bool:
        try:
            _ip("link", "add", self._name, "type", "bridge")
            _ip("addr", "add", f"{self._prefix}.1/24", "dev", self._name)
            _ip("link", "set", self._name, "up")
            self._try()
        except (FileNotFoundError, subprocess.CalledProcessError):
            with suppress(FileNotFoundError, subprocess.CalledProcessError):
                _ip("link", "del", self._name)
            return False
        return True

    def _try(self) -> None:
        name = self._machine(0)
        _ip("netns", "add", name)
        _ip("netns", "del", name)

    def _machine(self, number: int) -> str:
        return f"{self._name}m{number}"

    def _ends(self, number: int) -> tuple[str, str]:
        return f"{self._name}o{number}", f"{self._name}i{number}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)
