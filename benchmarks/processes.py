"""Processes as /proc shows them: those that a process has started, what they use, what they leave behind."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

GROUPS = {
    "Xvfb": "display",
    "openbox": "window manager",
    "dbus-daemon": "buses",
    "at-spi-bus-laun": "accessibility registry",
    "at-spi2-registr": "accessibility registry",
    "bwrap": "sandbox",
    "sh": "sandbox",
}
"""What a process of a desktop is, by its name. All others are the application's."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one moment. `born` tells two processes with the same id apart."""

    id: int
    parent: int
    name: str
    born: int
    cpu_seconds: float
    threads: int
    memory_bytes: int

    @property
    def key(self) -> tuple[int, int]:
        return (self.id, self.born)


def everything() -> dict[int, Process]:
    """All processes that can be seen."""
    found = (read(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.id: process for process in found if process is not None}


def read(pid: int) -> Process | None:
    """One process; None when it is gone or only waits to be reaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()  # from field 3 of proc(5), the state, on
    if fields[0] in "ZX":
        return None
    return Process(
        id=pid,
        parent=int(fields[1]),
        name=name,
        born=int(fields[19]),
        cpu_seconds=(int(fields[11]) + int(fields[12])) / TICKS,
        threads=int(fields[17]),
        memory_bytes=int(fields[21]) * PAGE,
    )


def below(root: int) -> list[Process]:
    """A process and all that descend from it, parents first."""
    processes = everything()
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found = [processes[root]] if root in processes else []
    for process in found:  # grows while it is read
        found += children.get(process.id, ())
    return found


def command(pid: int) -> list[str]:
    """The command line of a process; empty when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    return []


def threads_of(pid: int) -> dict[int, float]:
    """CPU seconds of each thread of a process; empty when it is gone."""
    used: dict[int, float] = {}
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            used[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


def open_files(pid: int) -> int | None:
    """How many file descriptors a process holds; None when it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def part_of(process: Process, owner: int) -> str:
    """Which part of an exploration a process below its owner is."""
    if process.id == owner:
        return "owner"
    if "screensearch.explore.worker_process" in command(process.id):
        return "worker"
    return GROUPS.get(process.name, f"application: {process.name}")


class CpuSampler:
    """Adds up the CPU time of everything below a process, by part, while the body of a ``with`` runs.

    Sandboxes come and go: what one used after the last look at it is not seen, so look often, and compare
    with what the machine as a whole did.
    """

    def __init__(self, root: int, *, every_seconds: float = 0.1) -> None:
        self._root = root
        self._every_seconds = every_seconds
        self._latest: dict[tuple[int, int], float] = {}
        self._parts: dict[tuple[int, int], str] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._before = machine_seconds()
        self.most_processes = 0
        self.machine_busy_seconds = 0.0

    def __enter__(self) -> CpuSampler:
        self._thread.start()
        return self

    def __exit__(self, *_problem: object) -> None:
        self._done.set()
        self._thread.join()
        self.machine_busy_seconds = machine_seconds().since(self._before).busy

    def _watch(self) -> None:
        while not self._done.wait(self._every_seconds):
            processes = below(self._root)
            self.most_processes = max(self.most_processes, len(processes))
            for process in processes:
                self._latest[process.key] = process.cpu_seconds
                part = self._parts.get(process.key, "")
                if part in ("", "sandbox") or part.startswith("application"):  # it may exec something else
                    self._parts[process.key] = part_of(process, self._root)

    def seconds(self) -> dict[str, float]:
        """CPU seconds by part, most first."""
        total: dict[str, float] = {}
        for key, spent in self._latest.items():
            total[self._parts[key]] = total.get(self._parts[key], 0.0) + spent
        return dict(sorted(total.items(), key=lambda part: -part[1]))


class MachineSeconds(NamedTuple):
    """What has become of the time of all cores since the machine started; what is left of it was idle."""

    busy: float  # for any process, or the kernel
    iowait: float  # idle, while something waited for a disk
    steal: float  # taken by other guests of the same host

    def since(self, before: MachineSeconds) -> MachineSeconds:
        return MachineSeconds(*(now - then for now, then in zip(self, before, strict=True)))


def machine_seconds() -> MachineSeconds:
    fields = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, iowait, irq, soft_irq, steal = fields[:8]
    busy = user + nice + system + irq + soft_irq
    return MachineSeconds(busy / TICKS, iowait / TICKS, steal / TICKS)
