"""Where artifacts may be kept: what can be written down with a run, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from screensearch.errors import SettingsError
from screensearch.record.artifact_location import read_location
from screensearch.record.artifacts import open_artifacts
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.remote_artifacts import RemoteArtifacts


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("/data/pictures", Path("/data/pictures")),
        ("pictures/", Path.cwd() / "pictures"),
        ("./s3:x", Path.cwd() / "s3:x"),
        ("file:///data/with%20space/", Path("/data/with space")),
        ("s3://bucket", "s3://bucket"),
        ("S3://bucket/some/where/", "s3://bucket/some/where"),
        ("sftp://joe@host:2222/pictures", "sftp://joe@host:2222/pictures"),
    ],
)
def test_a_location_is_a_folder_or_a_url(location: str, place: Path | str) -> None:
    assert read_location(location) == place
    assert read_location(str(place)) == place  # as it is written down


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("s3://AKIA:word@bucket/x", "holds a key or a password"),
        ("s3://AKIA:wo/rd@bucket/x", "holds a key or a password"),
        ("sftp://joe:word@host/x", "holds a key or a password"),
        ("s3://bucket/x?secret=word", "has options"),
        ("simplecache::s3://bucket/word", "neither a URL"),
        ("s3://bucket/x::file://word", "a chain"),
        ("s3://", "names no place"),
        ("s3:/bucket/word", "neither a URL"),
        ("file://word", "needs a path from the root"),
    ],
)
def test_a_location_that_cannot_be_written_down_is_refused_and_not_repeated(location: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told) as refused:
        read_location(location)
    assert "word@" not in str(refused.value)
    assert "bucket/" not in str(refused.value)


def test_without_a_location_artifacts_are_in_the_runs_own_folder(tmp_path: Path) -> None:
    own, other = open_artifacts("", tmp_path), open_artifacts(str(tmp_path / "other"), tmp_path)
    assert isinstance(own, LocalArtifacts)
    assert isinstance(other, LocalArtifacts)
    assert (own.folder, other.folder) == (tmp_path / "artifacts", tmp_path / "other")
    assert isinstance(open_artifacts("s3://bucket", tmp_path), RemoteArtifacts)
