"""What is really the case, noted beside a run by worlds that know it. Explorers never read this.

One file per worker, ``truth/w0.jsonl``; one versioned document per line, written after the observation
it is about was acknowledged. So everything noted is also in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from screensearch.domain.document import decode_document, encode_document
from screensearch.domain.transition import EpisodeId

KIND = "truth"


@dataclass(frozen=True, slots=True)
class Note:
    """What an observation really was."""

    episode: int  # of the worker whose file this is
    step: int
    state: int | str  # the true state
    screen: int | str  # the true screen: one for all states that look the same
    aliased: bool  # whether some action on this true screen has several possible successors
    hidden: dict[str, Any] = field(default_factory=dict)  # the variables that do not show
    declared_state: int | str | None = None  # as which a count of all reachable ones has it, if any
    declared_screen: int | str | None = None  # likewise of the screens


class TruthNotes:
    """Writes the notes of one worker. Each is one unbuffered write: whole in the file, or cut at its end."""

    def __init__(self, folder: Path, worker: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"w{worker}.jsonl").open("ab", buffering=0)

    def __enter__(self) -> TruthNotes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def note(self, episode: EpisodeId, step: int, truth: Mapping[str, Any]) -> None:
        document = {"episode": episode.number, "step": step, **truth}
        self._file.write(encode_document(KIND, document) + b"\n")


def read_truth(folder: Path) -> dict[tuple[EpisodeId, int], Note]:
    """All notes of a run's truth folder, by episode and step. A line that was cut off is left out."""
    notes: dict[tuple[EpisodeId, int], Note] = {}
    for path in sorted(folder.glob("w*.jsonl")):
        worker = int(path.stem.removeprefix("w"))
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    note = decode_document(line, KIND, Note)
                    notes[EpisodeId(worker, note.episode), note.step] = note
    return notes
