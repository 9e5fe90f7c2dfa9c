"""Where the run of an exploration goes."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from screensearch.cli.logs import tell, warn
from screensearch.errors import ScreenSearchError, StoreFailed
from screensearch.record.run import own
from screensearch.record.stores import Store

_OF_A_RUN = frozenset(
    {
        "run.json",
        "log.sqlite",
        "log.sqlite-wal",
        "log.sqlite-shm",
        "artifacts",
        "truth",
        "coverage",
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


class EmptyRun:
    """A run that never came to its first entry makes room, so that the same command can be given again.

    Inside the ``with``, it is set aside. It comes back if no other run took its place, and is removed by
    `remove` or at the end if one did. Whatever else is in the folder stays as it is: a run with an entry, one
    that is being written or cannot be read, a folder with anything in it that is no part of a run.
    """

    def __init__(self, folder: Path, in_use: Callable[[str], bool] = lambda run: False) -> None:
        """`in_use` knows by its id of a run that is under way where no lock of the folder tells it."""
        self._folder = folder
        self._in_use = in_use
        self._aside: Path | None = None  # where it is meanwhile
        self._log: Store | None = None  # where its log is, if that is not in its folder

    def __enter__(self) -> Self:
        with _translated("make room for the run at", self._folder):
            if _holds_a_run_alone(self._folder):
                self._set_aside()
        return self

    def __exit__(self, *_: object) -> None:
        if self._aside is None:
            return
        if self._folder.exists():
            self.remove()
            return
        with _translated(f"bring back from {self._aside} the run at", self._folder):
            self._aside.rename(self._folder)

    def remove(self) -> None:
        """There is another run in its place now: say so and remove it, if that was not done."""
        aside, self._aside = self._aside, None
        if aside is None:
            return
        tell(f"{self._folder} was a run without an entry: it is begun anew")
        try:
            if self._log is not None:
                self._log.discard()
            _remove(aside)
        except (OSError, ScreenSearchError) as problem:  # no reason to end the run that has begun
            warn(f"what was left of it at {aside} cannot be removed: {problem}")

    def _set_aside(self) -> None:
        folder = self._folder
        try:
            with own(folder) as run:  # nobody else writes to it, nor begins to
                log = run.read_log()
                try:
                    if log.last_sequence or self._in_use(run.manifest.run):
                        return
                finally:
                    log.close()
                if run.manifest.store:
                    run.write_log().close()  # which is refused while another machine owns it
                    self._log = run.store
                aside = folder.with_name(f".{folder.name}-{uuid.uuid4().hex[:8]}")
                folder.rename(aside)
                self._aside = aside
        except ScreenSearchError:  # owned by another process, or no run that can be read
            return


def _holds_a_run_alone(folder: Path) -> bool:
    """Whether there is nothing in a folder but what may belong to a run."""
    return (
        not folder.is_symlink()
        and folder.is_dir()
        and not {each.name for each in folder.iterdir()} - _OF_A_RUN
    )


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)


@contextmanager
def _translated(verb: str, folder: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a failure of storage."""
    try:
        yield
    except OSError as problem:
        raise StoreFailed(f"cannot {verb} {folder}: {problem}; check its permissions") from problem
