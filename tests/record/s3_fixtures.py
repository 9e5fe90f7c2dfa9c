"""A server for each module of tests, and in it a bucket for each test, which our own code finds as a user's
would: through the environment. A plugin of pytest."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
import s3fs
from s3_server import S3Server, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a bucket of the test's own."""
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # clients of a server before this one
    return s3.make_bucket(f"test-{uuid.uuid4().hex[:12]}")
