"""A quiet end for a command that is interrupted while it is still being loaded.

To import all that a command needs takes some tenths of a second, in which Ctrl-C would end in the innards of
an import. So this module is imported before everything else; if the process is the command, and not somebody
else's program, an interrupt ends it at once, until the command itself takes over.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_STATUS = 130  # what shells say of a program that an interrupt ended
_NAME = "screensearch"


def is_command() -> bool:
    """Whether this process was started as ``screensearch`` or as ``python -m screensearch``."""
    started = sys.argv[0] if sys.argv else ""
    if started == "-m":  # so called while the package is looked for
        place = sys.orig_argv.index("-m") if "-m" in sys.orig_argv else len(sys.orig_argv)
        return sys.orig_argv[place + 1 : place + 2] == [_NAME]
    if os.path.basename(started) != _NAME:
        return False
    try:
        return os.path.samefile(os.path.dirname(os.path.realpath(started)), os.path.dirname(sys.executable))
    except OSError:
        return False


def end_quietly() -> None:
    """Let an interrupt end the process from now on, unless it is to be ignored or handled otherwise."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_as_usual() -> None:
    """Let an interrupt raise `KeyboardInterrupt` again, if it was to end the process."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"Interrupted.\n")
    os._exit(_STATUS)  # nothing has been begun that would have to be ended


if is_command():
    end_quietly()
