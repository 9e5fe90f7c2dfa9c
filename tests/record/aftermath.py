"""What is left when a process of tests is killed: its servers, networks and folders go with it.

Whoever starts a server leaves word of it with a small process of its own, which waits for the end of this
one and then does what is left to do, the latest first. A Ctrl-C of `pytest -n 3` needs that: xdist kills the
processes of its tests, and no fixture has time to end what it has begun.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

END_SECONDS = 20.0
COMMAND_SECONDS = 30.0


class Aftermath:
    """Word of what is to be done after this process; each of these can be taken back."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._watcher: subprocess.Popen[bytes] | None = None

    def end(self, process: int, how: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
        """End a process and all that it has started, as by kill; or ask it first to end in another way."""
        return self._leave_word("end", process, int(how))

    def remove(self, folder: Path) -> Callable[[], None]:
        return self._leave_word("remove", str(folder))

    def run(self, *command: str) -> Callable[[], None]:
        return self._leave_word("run", *command)

    def _leave_word(self, *what: str | int) -> Callable[[], None]:
        number = next(self._numbers)
        self._say(number, what)
        return lambda: self._say(number, None)

    def _say(self, number: int, what: object) -> None:
        if self._watcher is None:
            self._watcher = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(os.getpid())],
                stdin=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C is not for it
            )
            atexit.register(self._watcher.communicate)
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(json.dumps([number, what]).encode() + b"\n")
        self._watcher.stdin.flush()


AFTERMATH = Aftermath()
"""Of this process."""


def descendants(root: int) -> list[int]:
    """All processes that a process has started, and those that these have started."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [root]
    for process in found:  # grows while it is read
        found += children.get(process, ())
    return found[1:]


def kill_tree(root: int) -> None:
    """Kill a process and all that it has started, at once, and see them gone."""
    for process in (everything := [root, *descendants(root)]):
        send(process, signal.SIGKILL)
    until = time.monotonic() + END_SECONDS
    while any(Path(f"/proc/{each}/exe").exists() for each in everything) and time.monotonic() < until:
        time.sleep(0.02)


def send(process: int, number: signal.Signals) -> None:
    """A signal, to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(process, number)


# -- the process that waits -----------------------------------------------------------------------


def _wait(parent: int, words: IO[bytes]) -> list[list[Any]]:
    """What there is to do once the parent is gone."""
    left: dict[int, list[Any]] = {}
    try:
        watched = os.pidfd_open(parent)  # a pipe would not do: a process that forked holds its end as well
    except ProcessLookupError:
        watched = -1
    here = os.getppid() == parent and watched >= 0
    with select.epoll() as waiting:
        if here:
            waiting.register(watched, select.EPOLLIN)
        waiting.register(words, select.EPOLLIN)
        read = b""
        while True:
            ready = {each for each, _ in waiting.poll(None if here else 0)}
            said = os.read(words.fileno(), 65_536) if words.fileno() in ready else b""
            *lines, read = (read + said).split(b"\n")
            for number, what in map(json.loads, lines):
                left[number] = _known(what)
            if not said and (not here or watched in ready or words.fileno() in ready):
                return [what for _, what in sorted(left.items(), reverse=True) if what]


def _known(what: list[Any] | None) -> list[Any]:
    """The same, with the process that is there now in place of its number, which another may have later."""
    if not what or what[0] != "end":
        return what or []
    try:
        return [*what, os.pidfd_open(what[1])]
    except ProcessLookupError:
        return []


def _do(what: list[Any]) -> None:
    match what:
        case ["end", process, how, known]:
            if select.select([known], [], [], 0)[0]:  # it has ended
                return
            if how != signal.SIGKILL:
                signal.pidfd_send_signal(known, how)
                signal.pidfd_send_signal(known, signal.SIGCONT)
                select.select([known], [], [], END_SECONDS)
            kill_tree(process)
        case ["remove", folder]:
            shutil.rmtree(folder, ignore_errors=True)
        case ["run", *command]:
            subprocess.run(command, check=False, capture_output=True, timeout=COMMAND_SECONDS)


def main() -> None:
    for what in _wait(int(sys.argv[1]), sys.stdin.buffer):
        with suppress(OSError, subprocess.TimeoutExpired):
            _do(what)


if __name__ == "__main__":
    main()
