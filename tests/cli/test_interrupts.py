"""Ctrl-C while a command is still being loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest

from screensearch.interrupts import is_command

PATIENCE_SECONDS = 60
LAST = "screensearch.interrupts"


def heed_interrupts() -> None:
    """Programs that a shell has started in the background ignore them, and so does what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_amid_the_imports_ends_a_command_quietly() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "screensearch", "doctor"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as process:
        try:
            assert process.stderr is not None
            loaded = next(line for line in process.stderr if line.split()[-1] == LAST)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    assert loaded
    said = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, out, said[-1:]) == (130, "", ["Interrupted."])
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("shown", "started", "expected"),
    [
        (["-m"], ["python", "-m", "screensearch", "view"], True),
        (["-m"], ["python", "-m", "screensearch.explore.worker_process"], False),
        (["-m"], ["python", "-m", "other"], False),
        (["/somewhere/screensearch"], ["python", "/somewhere/screensearch"], False),
        (["/somewhere/pytest"], ["python", "/somewhere/pytest"], False),
        ([""], ["python"], False),
    ],
)
def test_only_the_command_itself_is_ended(
    monkeypatch: pytest.MonkeyPatch, shown: Sequence[str], started: Sequence[str], expected: bool
) -> None:
    monkeypatch.setattr(sys, "argv", list(shown))
    monkeypatch.setattr(sys, "orig_argv", list(started))
    assert is_command() is expected
