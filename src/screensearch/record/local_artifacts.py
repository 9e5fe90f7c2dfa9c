"""Artifacts in a folder of this machine: files that are still there, whole, after the power went."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from screensearch.domain.screen import Image
from screensearch.errors import FormatError, StoreFailed
from screensearch.record.durable import sync_folder, write_durably
from screensearch.record.pictures import NameMemory, decode_picture, encode_picture, name_of, place_of

MARKERS = "runs"
"""The folder of the marks, one for each run on a cluster: a name that no picture's folder has."""


class LocalArtifacts:
    """A folder of PNG files, ``ab/cdef….png``. Any number of processes may write to it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._durable = NameMemory()
        self._shards: set[Path] = set()  # those whose own place in the folder is durable

    def put_image(self, image: Image) -> str:
        """Store an image, if it is not there yet; returns its name."""
        name = name_of(image)
        if name not in self._durable:
            try:
                self._make_durable(name, image)
            except OSError as problem:
                raise StoreFailed(f"cannot store an artifact in {self.folder}: {problem}") from problem
            self._durable.add(name)
        return name

    def open_image(self, name: str) -> Image:
        """Read an image back, and check that it is what its name says."""
        path = self.path(name)
        try:
            return decode_picture(name, path, str(path))
        except FileNotFoundError as problem:
            raise FormatError(f"artifact {name} is missing from {self.folder}") from problem

    def missing(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are not stored."""
        return {name for name in names if not self.path(name).exists()}

    def path(self, name: str) -> Path:
        """Where the artifact of that name is, or would be."""
        return self.folder / place_of(name)

    def where(self, name: str) -> str:
        """The path as a text."""
        return str(self.path(name))

    def take_from(self, other: LocalArtifacts, names: Iterable[str]) -> set[str]:
        """Have these artifacts here too, as links to the same files; returns those that are missing there.

        A file of the artifacts never changes, so two places may share it, and either may be deleted. Where
        there can be no link, as on another file system, it is copied.
        """
        missing = set()
        shards: set[Path] = set()
        try:
            for name in names:
                path, there = self.path(name), other.path(name)
                if path.exists():
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                shards.add(path.parent)
                try:
                    os.link(there, path)
                except FileNotFoundError:
                    missing.add(name)
                except OSError:
                    write_durably(path, there.read_bytes())
            for shard in shards:
                sync_folder(shard)
            if shards:
                sync_folder(self.folder)
        except OSError as problem:
            raise StoreFailed(f"cannot store an artifact in {self.folder}: {problem}") from problem
        return missing

    def check(self) -> None:
        """Make the folder and write to it, or raise."""
        probe = self.folder / ".writable"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_durably(probe, b"")
            probe.unlink(missing_ok=True)  # another process may be trying it out too
        except OSError as problem:
            raise StoreFailed(
                f"cannot keep artifacts in {self.folder}: {problem}; choose a folder that can be written"
            ) from problem

    def mark(self, run: str) -> None:
        """Leave a sign that a run keeps its artifacts here: whoever sees it has this folder, and no other."""
        marker = self._marker(run)
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            write_durably(marker, b"")
            sync_folder(marker.parent)
        except OSError as problem:
            raise StoreFailed(f"cannot keep artifacts in {self.folder}: {problem}") from problem

    def is_marked(self, run: str) -> bool:
        """Whether this is the folder that was marked for a run. Makes nothing."""
        try:
            return self._marker(run).exists()
        except PermissionError:
            return False
        except OSError as problem:
            raise StoreFailed(f"cannot look into {self.folder}: {problem}") from problem

    def _marker(self, run: str) -> Path:
        return self.folder / MARKERS / run

    def _make_durable(self, name: str, image: Image) -> None:
        path = self.path(name)
        shard = path.parent
        if shard not in self._shards:
            shard.mkdir(parents=True, exist_ok=True)
            sync_folder(self.folder)
            self._shards.add(shard)
        if not path.exists():
            write_durably(path, encode_picture(image))
        # Both folders are synced also when another process made what is in them: its own sync may
        # still be to come.
        sync_folder(shard)
