"""Which lines of an application written in Python were run: a yardstick that knows nothing of screens.

The application is started by `coverage_hook`, in its own Python and behind the same walls. It is asked
after every observation what it has run since, through a pair of pipes. Whatever runs inside can write there
too: what is read is bounded and checked, and at worst wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from screensearch.environments.desktop import coverage_hook
from screensearch.environments.desktop.channels import Lines, Pipe, resolve
from screensearch.errors import PluginUnavailable, SettingsError

ANSWER_SECONDS = 2.0
"""How long an answer is waited for. One that comes later counts for the step that is then under way."""

MOST_LINES = 2_000_000
"""So many lines are remembered at most: a program that invents them must not fill the memory."""

_ANSWER = msgspec.json.Decoder(int | tuple[str, list[int]])


def python_of(command: Sequence[str]) -> tuple[list[str], list[str]]:
    """The Python that runs a command, with its options, and what it runs: a script and its arguments."""
    program = command[0]
    if Path(program).name.startswith("python"):
        if len(command) < 2 or command[1].startswith("-"):
            raise SettingsError(
                f"app.coverage needs a script: {shlex.join(command)!r} names none right after the interpreter"
            )
        return [program], list(command[1:])
    with contextlib.suppress(OSError), open(program, "rb") as script:
        first = script.readline(1000).decode(errors="replace")
        words = first[2:].split() if first.startswith("#!") else []
        if words and Path(words[0]).name == "env":
            words = ["/usr/bin/env", *words[1:]]
        if any(Path(word).name.startswith("python") for word in words[:2]):
            return words, list(command)
    raise SettingsError(
        f"app.coverage counts lines of Python, and {program} is no script for it (its first line does not "
        "name Python): leave app.coverage empty"
    )


def check_measurable(command: Sequence[str]) -> None:
    """See that the Python of a command has coverage.py."""
    python, _ = python_of(command)
    found = subprocess.run(  # noqa: S603 - the interpreter that the application's own first line names
        [*python, "-c", "import coverage"], capture_output=True, timeout=60, check=False
    )
    if found.returncode:
        raise PluginUnavailable(
            f"app.coverage needs coverage.py in the Python of the application, {shlex.join(python)}: "
            "apt install python3-coverage (or pip install coverage, for a Python of your own)"
        )


def measured(command: Sequence[str]) -> list[str]:
    """The command that runs the same under coverage.py. The hook is text: no file of ours has to be shown."""
    python, script = python_of(command)
    return [*python, "-c", Path(coverage_hook.__file__).read_text(), *script]


class Covered:
    """The lines that were run in one session; `new` holds those that nobody has taken yet."""

    def __init__(self, source: Sequence[str]) -> None:
        self._source = list(source)
        self._asks = -1  # descriptors, once they are open
        self._pipe: Pipe | None = None
        self._number = 0
        self._answered: dict[int, asyncio.Future[None]] = {}
        self._known = 0
        self.new: dict[str, set[int]] = {}

    def open(self) -> tuple[tuple[int, int], str]:
        """The two descriptors that the application is given, and the value of the variable that says so."""
        asked, self._asks = os.pipe()
        os.set_blocking(self._asks, False)
        ours, told = os.pipe()
        self._pipe = Pipe(ours, Lines(self._take).take)
        value = json.dumps({"asked": asked, "told": told, "source": self._source})
        return (asked, told), value

    async def collect(self) -> None:
        """Ask what was run since, and wait for the answer, but not for long."""
        self._number = self._number % 255 + 1
        answer = self._answered[self._number] = asyncio.get_running_loop().create_future()
        try:
            os.write(self._asks, bytes([self._number]))
            async with asyncio.timeout(ANSWER_SECONDS):
                await answer
        except (TimeoutError, OSError):  # it is busy, or gone: what it says later is taken then
            return
        finally:
            self._answered.pop(self._number, None)

    def take(self) -> dict[str, list[int]]:
        """What came since the last call."""
        if self._pipe is not None:
            self._pipe.drain()
        new, self.new = self.new, {}
        return {name: sorted(lines) for name, lines in new.items()}

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.drain()
            self._pipe.close()
            os.close(self._asks)
            self._pipe = None

    def _take(self, line: str) -> None:
        try:
            said = _ANSWER.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            return  # cut, or not written by the hook
        if isinstance(said, int):
            answer = self._answered.get(said)
            if answer is not None:
                resolve(answer, None)
            return
        name, lines = said
        if self._known + len(lines) <= MOST_LINES and all(0 < number <= 10_000_000 for number in lines):
            self._known += len(lines)
            self.new.setdefault(name, set()).update(lines)
