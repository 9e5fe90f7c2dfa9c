"""Pictures in a bucket: as in a folder, and told as a failure of storage when there is one."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import s3fs
from s3_server import S3Server, free_ports, s3_server

from screensearch.domain.screen import Image
from screensearch.errors import FormatError, PluginUnavailable, ScreenSearchError, SettingsError, StoreFailed
from screensearch.record import remote_artifacts, remote_files
from screensearch.record.pictures import encode_picture, place_of
from screensearch.record.remote_artifacts import RemoteArtifacts
from screensearch.record.remote_files import RemoteFiles

pytest_plugins = ["s3_fixtures"]

RED = Image(2, 1, b"\xff\0\0" * 2)
BLUE = Image(2, 1, b"\0\0\xff" * 2)


@pytest.fixture(params=["bucket", "folders", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of each kind: objects with names, files in folders, and what fsspec calls its simplest."""
    if request.param == "bucket":
        return f"{request.getfixturevalue('bucket')}/some/where"
    return f"file://{tmp_path}" if request.param == "folders" else f"memory://{uuid.uuid4().hex}"


def test_a_picture_is_stored_once_and_read_back_to_the_pixel(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = RemoteArtifacts(url)
    name = artifacts.put_image(RED)
    assert artifacts.where(name) == f"{url}/{name[:2]}/{name[2:]}.png"
    assert artifacts.put_image(BLUE) != name
    monkeypatch.setattr(RemoteFiles, "write", None)
    assert artifacts.put_image(RED) == RemoteArtifacts(url).put_image(RED) == name
    assert RemoteArtifacts(url).open_image(name) == RED
    assert artifacts.missing([name, "0" * 64]) == {"0" * 64}


@pytest.mark.parametrize("content", [None, b"", b"not a picture", encode_picture(RED)[:-1]])
def test_a_picture_that_is_not_whole_is_missed_told_and_mended(url: str, content: bytes | None) -> None:
    name = RemoteArtifacts(url).put_image(BLUE)
    other = RemoteArtifacts(url).put_image(RED)
    if content is None:
        name = "f" * 64
    else:
        RemoteFiles(url, 30.0).write(place_of(name), content)
    assert RemoteArtifacts(url).missing([name, other]) == {name}
    with pytest.raises(FormatError, match="missing" if content is None else "damaged"):
        RemoteArtifacts(url).open_image(name)
    mended = RemoteArtifacts(url).put_image(BLUE)
    assert RemoteArtifacts(url).open_image(mended) == BLUE


def test_a_picture_that_does_not_match_its_name_is_refused(url: str) -> None:
    name = RemoteArtifacts(url).put_image(RED)
    RemoteFiles(url, 30.0).write(place_of(name), encode_picture(BLUE))
    with pytest.raises(FormatError, match=f"{name[2:]}.png is damaged: its pixels do not match"):
        RemoteArtifacts(url).open_image(name)


def _put(url: str, user: str, count: int) -> list[str]:
    os.environ["AWS_ACCESS_KEY_ID"] = user
    artifacts = RemoteArtifacts(url)
    return [artifacts.put_image(Image(20, 20, bytes([number]) * 1200)) for number in range(count)]


def test_processes_bring_the_same_pictures_at_once_and_a_later_one_writes_nothing(
    s3: S3Server, bucket: str
) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        names = pool.starmap(_put, [(bucket, "writer", 20)] * 2)
        late = pool.apply(_put, (bucket, "reader", 20))  # which is not allowed to write
    assert names[0] == names[1] == late
    stored = [path for path in s3.files().find(bucket) if path.endswith(".png")]
    assert len(stored) == 20
    assert [RemoteArtifacts(bucket).open_image(name).pixels[0] for name in late] == list(range(20))


def test_a_place_that_can_be_written_passes_its_check_and_holds_no_picture_after_it(
    s3: S3Server, bucket: str
) -> None:
    RemoteArtifacts(f"{bucket}/new").check()
    RemoteArtifacts(f"{bucket}/new").check()
    assert [Path(path).name for path in s3.files().find(f"{bucket}/new")] == ["writable.txt"]


@pytest.mark.parametrize(
    ("changed", "place", "kind", "told"),
    [
        ({}, "s3://no-such-bucket", StoreFailed, "bucket does not exist; make the bucket"),
        ({}, "s3://no-such-bucket/x", StoreFailed, "bucket does not exist; make the bucket"),
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "", StoreFailed, "signature.*; check the credentials"),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "", StoreFailed, "; check the credentials"),
        ({"AWS_ACCESS_KEY_ID": "reader"}, "", StoreFailed, "; check the credentials .* read, write and list"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:{closed}"}, "", StoreFailed, "connect to the endpoint"),
        ({}, "memory://x", SettingsError, "forgotten with the process"),
        ({}, "nowhere://x", SettingsError, "Protocol not known"),
        ({}, "zip://x", ScreenSearchError, "zip://x"),
    ],
)
def test_a_place_that_cannot_be_used_says_why_and_what_helps_without_a_secret(
    bucket: str,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, str],
    place: str,
    kind: type[ScreenSearchError],
    told: str,
) -> None:
    monkeypatch.setattr(remote_artifacts, "CHECK_SECONDS", 5.0 if "AWS_ENDPOINT_URL" in changed else 60.0)
    (closed,) = free_ports(1)
    for name, value in changed.items():
        monkeypatch.setenv(name, value.format(closed=closed))
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(kind, match=told) as refused:
        RemoteArtifacts(place or bucket).check()
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(refused.value)
    assert (place or bucket) in str(refused.value)


def test_a_server_that_comes_back_in_time_is_waited_for(s3: S3Server, bucket: str) -> None:
    artifacts = RemoteArtifacts(bucket)
    artifacts.put_image(RED)
    s3.kill()
    restarting = threading.Timer(0.5, s3.start)
    restarting.start()
    try:
        assert artifacts.open_image(artifacts.put_image(BLUE)) == BLUE
    finally:
        restarting.join()


@contextlib.contextmanager
def frozen(server: S3Server) -> Iterator[None]:
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def test_a_server_that_says_nothing_is_given_up(
    s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = RemoteArtifacts(bucket)
    artifacts.put_image(RED)
    impatient = RemoteFiles(bucket, 1.0)
    with frozen(s3), pytest.raises(StoreFailed, match=f"cannot write to {bucket}: no answer within 1 s"):
        impatient.write("x", b"")
    assert artifacts.open_image(artifacts.put_image(BLUE)) == BLUE  # the connection is of use again


def test_a_server_that_is_full_says_so_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server(buckets=1) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        server.make_bucket("roomy")
        server.files().mkdir("crowded")
        with pytest.raises(StoreFailed, match=r"cannot write to s3://crowded: .*internal error"):
            RemoteFiles("s3://crowded", 1.0).write("x", b"y")
        RemoteArtifacts("s3://roomy").check()


def test_what_may_pass_is_tried_again_and_what_is_refused_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    files = RemoteFiles("memory://x", 30.0)
    failures: list[Exception] = [
        OSError(5, "busy"),
        ConnectionError("at http://joe:word@host/"),
        OSError(22, "bad"),
    ]
    monkeypatch.setattr(remote_files, "FIRST_PAUSE_SECONDS", 0.001)

    def fail(*_: object, **__: object) -> None:
        raise failures.pop(0)

    monkeypatch.setattr(RemoteFiles, "_call", fail)
    with pytest.raises(StoreFailed, match="bad"):
        files.write("y", b"")
    assert failures == []
    failures = [ConnectionError("at http://joe:word@host/")]
    with pytest.raises(StoreFailed, match="at http://host/"):
        RemoteFiles("memory://x", 0.0).read("y")


@pytest.mark.parametrize("package", ["s3fs", "fsspec"])
def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for module in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    if package == "s3fs":
        monkeypatch.delitem(importlib.import_module("fsspec.registry")._registry, "s3", raising=False)
    artifacts = RemoteArtifacts("s3://bucket")  # to open a run takes no more
    with pytest.raises(PluginUnavailable, match=r"pip install 'screensearch\[s3\]'"):
        artifacts.put_image(RED)
