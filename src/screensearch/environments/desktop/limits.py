"""What a sandbox may take of the machine: how much memory each process, and how many processes all together.

Control groups would do this best, but only whom the system gave one may use them. What is here works for
every user. Processes are counted in one of two ways, since the kernel holds no limit of the first kind
against root, and that is who a sandbox is to it when the worker runs as root:

- a limit for processes of one user (RLIMIT_NPROC), counted for each sandbox since Linux 5.14. Before, it
  counted all that the user runs, and it is not set.
- the highest process number (kernel.pid_max), of each sandbox since Linux 6.14. Before, it was the
  machine's, and it is not touched.
"""

from __future__ import annotations

import logging
import os
import re
import resource
import subprocess
from collections.abc import Sequence
from enum import Enum

log = logging.getLogger(__name__)

_FIRST_TO_GO = "1000"  # when the machine runs out of memory, these end before any other program
_COUNTED_APART = (5, 14)
_NUMBERED_APART = (6, 14)
_ENTER_SECONDS = 10.0  # for one write to the kernel
_BOUND = 'echo "$1" >/proc/sys/kernel/pid_max'
_warned: set[ProcessBound] = set()  # what this process has warned of: once is enough for all its episodes


class ProcessBound(Enum):
    """How the number of processes is bounded."""

    USER_LIMIT = "a limit for processes of the user"
    NUMBERS = "the highest process number"
    NONE = "not at all"


def process_bound() -> ProcessBound:
    """The way that works on this machine, for this user."""
    linux = kernel_version(os.uname().release)
    if os.geteuid() == 0:
        return ProcessBound.NUMBERS if linux >= _NUMBERED_APART else ProcessBound.NONE
    return ProcessBound.USER_LIMIT if linux >= _COUNTED_APART else ProcessBound.NONE


def kernel_version(release: str) -> tuple[int, int]:
    """The first two numbers of a release such as ``6.1.0-18-amd64``; zeros where there are none."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def limited(walls: Sequence[str], *, memory_bytes: int, processes: int) -> list[str]:
    """The command line of walls, up to the program inside, with the limits that are set by starting it."""
    limits = [f"--data={_allowed(resource.RLIMIT_DATA, memory_bytes)}"]
    if process_bound() is ProcessBound.USER_LIMIT:
        # Within the walls: outside, what else the user runs would count.
        limits.append(f"--nproc={_allowed(resource.RLIMIT_NPROC, processes)}")
    return ["choom", "--adjust", _FIRST_TO_GO, "--", *walls, "prlimit", *limits, "--"]


def bound_processes(init: int, processes: int) -> ProcessBound:
    """Bound the processes of a `limited` sandbox, whose init has this pid here; returns what holds.

    If that is none, the first sandbox of this process to be without is logged, and why.
    Of the numbers below 300, the kernel gives none twice: a sandbox that has used them has so many less.
    """
    bound = process_bound()
    if bound is ProcessBound.NONE:
        return _unbounded(f"this Linux ({os.uname().release}) cannot count them apart for this user")
    if bound is not ProcessBound.NUMBERS:
        return bound
    enter = ["nsenter", "--preserve-credentials", "--target", str(init), "--user", "--pid"]
    try:
        entered = subprocess.run(  # noqa: S603
            [*enter, "sh", "-c", _BOUND, "sh", str(processes)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ENTER_SECONDS,
            check=False,  # settings of the kernel may be read-only, as in a container: then there is no bound
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return _unbounded(str(problem))
    if entered.returncode != 0:
        said = " / ".join(entered.stderr.decode(errors="replace").splitlines())
        return _unbounded(f"nsenter ended with status {entered.returncode}: {said or 'it said nothing'}")
    return bound


def _unbounded(why: str) -> ProcessBound:
    """Nothing holds: a fork bomb inside would take the machine with it, so it is not passed over."""
    if ProcessBound.NONE not in _warned:
        _warned.add(ProcessBound.NONE)
        log.warning("the processes in the sandbox are not bounded: %s", why)
    return ProcessBound.NONE


def _allowed(kind: int, wanted: int) -> int:
    """The limit, or a lower one that already holds: nobody may raise that."""
    highest = resource.getrlimit(kind)[1]
    return wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
