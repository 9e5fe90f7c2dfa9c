"""The screenshots beside an export: copied as they are, or with what is secret in them covered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from screensearch.domain.screen import Image
from screensearch.record.artifacts import Artifacts
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.pictures import place_of

FOLDER = "pictures"

Cover = Callable[[Image], Image | None]


class Pictures:
    """A folder ``pictures/ab/cdef….png``, laid out as in a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._stored = LocalArtifacts(self._folder)
        self.missing = 0  # those that the run names and does not have
        self.withheld = 0  # those that nobody knows how to cover

    @staticmethod
    def place(name: str) -> str:
        """Where a picture is, from the folder of the export."""
        return f"{FOLDER}/{place_of(name)}"

    def put(self, artifacts: Artifacts, name: str, cover: Cover | None) -> str | None:
        """Take a picture over; returns its name here, None if it does not go out."""
        if artifacts.missing([name]):
            self.missing += 1
            return None
        if cover is None and isinstance(artifacts, LocalArtifacts):
            here = self._stored.path(name)
            here.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(artifacts.path(name), here)
            return name
        image = artifacts.open_image(name)
        shown = image if cover is None else cover(image)
        if shown is None:
            self.withheld += 1
            return None
        return self._stored.put_image(shown)


class MovedPictures:
    """The screenshots beside an export, on their way into a run."""

    def __init__(self, folder: Path | None, artifacts: Artifacts) -> None:
        self._stored = None if folder is None else LocalArtifacts(folder / FOLDER)
        self._artifacts = artifacts
        self._known: dict[str, bool] = {}

    @property
    def lacked(self) -> int:
        """How many pictures are named and not there."""
        return len(self._known) - self.moved

    @property
    def moved(self) -> int:
        """How many pictures the run has now."""
        return sum(self._known.values())

    def move(self, name: str | None) -> str | None:
        """Take a picture into the run; returns its name, None if it is not there.

        `FormatError` if it is not what its name says.
        """
        if name is None:
            return None
        if name not in self._known:
            there = self._stored is not None and not self._stored.missing([name])
            if self._stored is not None and there:
                self._artifacts.put_image(self._stored.open_image(name))
            self._known[name] = there
        return name if self._known[name] else None
