"""Runs a Python program under coverage.py and tells, whenever it is asked, which lines it has run since.

This is the text of a program: it runs inside of the application's own process, in the Python that the
application asks for, where nothing of this package can be imported. It is given as ``python3 -c TEXT SCRIPT
ARGUMENTS``; the variable names two descriptors and the source. Each byte that can be read from the one is
answered on the other, with lines of JSON: ``["FILE", [1, 2, 5]]`` for what is new, then the byte's number.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import sys
import threading
from typing import Any

VARIABLE = "SCREENSEARCH_COVERAGE"
NUMBERS = 300  # in one line, which stays short enough to be read whole


class Telling:
    """What was run, told once each."""

    def __init__(self, coverage: Any, channel: int) -> None:
        self._coverage = coverage
        self._channel = channel
        self._told: dict[str, set[int]] = {}
        self._lock = threading.Lock()

    def answer(self, number: int) -> None:
        """Tell what is new, and then the number."""
        with self._lock:
            data = self._coverage.get_data()
            said = []
            for name in sorted(data.measured_files()):
                known = self._told.setdefault(name, set())
                new = sorted(set(data.lines(name) or ()) - known)
                known.update(new)
                said += [[name, new[at : at + NUMBERS]] for at in range(0, len(new), NUMBERS)]
            for each in [*said, number]:
                self._write(json.dumps(each).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._channel, line) :]

    def serve(self, asked: int) -> None:
        """Answer until nobody asks any more."""
        try:
            while question := os.read(asked, 1):
                self.answer(question[0])
        except OSError:  # who asked is gone
            return

    def at_exit(self) -> None:
        try:
            self.answer(0)
        except OSError:
            return


def main() -> None:
    """Start measuring, then be the program."""
    given = json.loads(os.environ.pop(VARIABLE))
    for descriptor in (given["asked"], given["told"]):
        os.set_inheritable(descriptor, False)
    import coverage

    measuring = coverage.Coverage(data_file=None, source=given["source"], config_file=False, messages=False)
    # What was not run is no matter for a warning on the application's output.
    measuring._warn_no_data = measuring._warn_unimported_source = False
    telling = Telling(measuring, given["told"])
    threading.Thread(target=telling.serve, args=(given["asked"],), daemon=True).start()
    atexit.register(telling.at_exit)
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    measuring.start()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
