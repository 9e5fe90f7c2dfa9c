"""Screenshots by content: the same picture is stored once, whoever brings it, and named by its hash.

An artifact is durable when `put_image` returns, so that no row of the log can name a missing one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from screensearch.domain.screen import Image
from screensearch.record.artifact_location import read_location
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.remote_artifacts import RemoteArtifacts

ARTIFACTS = "artifacts"
"""The folder of a run that has its artifacts, unless its manifest names another place for them."""


class Artifacts(Protocol):
    """The artifacts of a run, or of many: any number of processes may write to one place at once."""

    def put_image(self, image: Image) -> str:
        """Store an image, if it is not there yet, and return its name; `StoreFailed` when it cannot be."""
        ...

    def open_image(self, name: str) -> Image:
        """Read an image back, and check that it is what its name says: else `FormatError`."""
        ...

    def missing(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are not stored."""
        ...

    def where(self, name: str) -> str:
        """The file or the URL of the artifact of that name, whether or not it is there."""
        ...

    def check(self) -> None:
        """Raise when nothing can be stored here. Leaves no artifact behind."""
        ...


def open_artifacts(location: str, folder: Path) -> Artifacts:
    """The artifacts at a location: a folder, a URL that fsspec knows, or none for the run's own folder.

    Nothing is asked of a place elsewhere until it is used.
    """
    if not location:
        return LocalArtifacts(folder / ARTIFACTS)
    place = read_location(location)
    return LocalArtifacts(place) if isinstance(place, Path) else RemoteArtifacts(place)
