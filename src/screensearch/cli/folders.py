"""Where the run of an exploration goes."""

from __future__ import annotations

import shutil
from pathlib import Path

from screensearch.errors import ScreenSearchError
from screensearch.record.run import own

_OF_A_RUN = frozenset(
    {
        "run.json",
        "log.sqlite",
        "log.sqlite-wal",
        "log.sqlite-shm",
        "artifacts",
        "truth",
        "workers",
        "owner.lock",
    }
)


def fresh_folder(environment: str) -> Path:
    """``runs/synthetic-notepad-1``, or the next number that is free."""
    name = "".join(letter if letter.isalnum() else "-" for letter in environment).strip("-")
    number = 1
    while Path("runs", f"{name}-{number}").exists():
        number += 1
    return Path("runs", f"{name}-{number}")


def clear_empty_run(folder: Path) -> bool:
    """Remove a run that never came to its first entry, so that the same command can be given again.

    Whatever else is there stays as it is: a run with an entry, one that is being written or cannot be read,
    a folder with anything in it that is no part of a run.
    """
    if folder.is_symlink() or not folder.is_dir() or {each.name for each in folder.iterdir()} - _OF_A_RUN:
        return False
    try:
        with own(folder) as run:  # nobody else writes to it, nor begins to
            log = run.read_log()
            try:
                if log.last_sequence:
                    return False
            finally:
                log.close()
            shutil.rmtree(folder)
    except ScreenSearchError:
        return False
    return True
