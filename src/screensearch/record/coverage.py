"""Which lines of an application's code were run, noted beside a run by environments that count them.

One file per worker, ``coverage/w0.jsonl``; one versioned document per line, for every observation before
which lines were run that the worker had not seen run before. Explorers never read this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from screensearch.domain.document import decode_document, encode_document
from screensearch.domain.transition import EpisodeId

KIND = "coverage"
COVERAGE = "coverage"
"""The folder of a run that holds the notes; only runs whose application is measured have it."""


@dataclass(frozen=True, slots=True)
class LinesRun:
    """The lines that were run before an observation and, in this worker, never before; by file."""

    episode: int  # of the worker whose file this is
    step: int
    lines: dict[str, list[int]]


class CoverageNotes:
    """Writes the notes of one worker. Each is one unbuffered write: whole in the file, or cut at its end."""

    def __init__(self, folder: Path, worker: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"w{worker}.jsonl").open("ab", buffering=0)

    def __enter__(self) -> CoverageNotes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def note(self, episode: EpisodeId, step: int, lines: Mapping[str, list[int]]) -> None:
        """Keep what is new; nothing is written where nothing is."""
        if lines:
            document = {"episode": episode.number, "step": step, "lines": dict(lines)}
            self._file.write(encode_document(KIND, document) + b"\n")


def read_coverage(folder: Path) -> Iterator[tuple[EpisodeId, LinesRun]]:
    """All notes of a run's coverage folder, worker by worker. A line that was cut off is left out."""
    for path in sorted(folder.glob("w*.jsonl")):
        worker = int(path.stem.removeprefix("w"))
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    note = decode_document(line, KIND, LinesRun)
                    yield EpisodeId(worker, note.episode), note
