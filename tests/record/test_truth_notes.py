"""Notes of the truth: written whole, read whole, versioned."""

from __future__ import annotations

from pathlib import Path

import pytest

from screensearch.domain.transition import EpisodeId
from screensearch.errors import FormatError, NewerFormat
from screensearch.record.truth import Note, TruthNotes, read_truth

TRUTH = {"state": 4, "screen": "editor", "aliased": True, "hidden": {"clipboard": "alpha"}}


def test_what_is_noted_is_read_back(tmp_path: Path) -> None:
    for worker in (0, 3):
        with TruthNotes(tmp_path, worker) as notes:
            notes.note(EpisodeId(worker, 2), 7, TRUTH)
    expected = Note(2, 7, 4, "editor", True, {"clipboard": "alpha"})
    assert read_truth(tmp_path) == {(EpisodeId(0, 2), 7): expected, (EpisodeId(3, 2), 7): expected}


def test_a_resumed_worker_adds_to_its_notes(tmp_path: Path) -> None:
    for step in (0, 1):
        with TruthNotes(tmp_path, 0) as notes:
            notes.note(EpisodeId(0, 0), step, TRUTH)
    assert len(read_truth(tmp_path)) == 2


def test_a_note_that_was_cut_off_is_not_read(tmp_path: Path) -> None:
    with TruthNotes(tmp_path, 0) as notes:
        for step in range(3):
            notes.note(EpisodeId(0, 0), step, TRUTH)
    path = tmp_path / "w0.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    assert len(read_truth(tmp_path)) == 2


def test_newer_and_malformed_notes_are_refused(tmp_path: Path) -> None:
    with TruthNotes(tmp_path, 0) as notes:
        notes.note(EpisodeId(0, 0), 0, TRUTH)
    path = tmp_path / "w0.jsonl"
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"version":1', b'"version":99'))
    with pytest.raises(NewerFormat, match="99"):
        read_truth(tmp_path)
    path.write_bytes(good.replace(b'"aliased":true', b'"aliased":"perhaps"'))
    with pytest.raises(FormatError, match="aliased"):
        read_truth(tmp_path)
