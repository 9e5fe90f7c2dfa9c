"""A run is made whole, opened only when it can be read, and written by one process at a time."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from one_log import fill

from screensearch.errors import FormatError, NewerFormat, RunBusy, RunNotFound, StoreFailed
from screensearch.record.run import (
    Manifest,
    RunExists,
    RunFolder,
    create_run,
    open_run_folder,
    own,
    owner_of,
)

MANIFEST = Manifest(
    run="x7",
    created="2026-01-02T03:04:05Z",
    environment="synthetic:notepad",
    seed=7,
    settings={"select": {"c_puct": 1.0}, "texts": ["a", "é"]},
    version="0.1.0",
)

OWNER = """
import os, sys, time
from pathlib import Path
from screensearch.record.run import own
with own(Path(sys.argv[1])) as run:
    log = run.write_log()
    lives, born = os.pipe()
    child = os.fork() if sys.argv[2] == "with a child" else None
    if child:
        os.read(lives, 1)
    if child == 0:
        os.write(born, b"!")
    else:
        print(child or 0, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = create_run(tmp_path / "runs" / "x", MANIFEST)
    with own(run.path), closing(run.write_log()) as log:
        fill(log)
    return run


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Nothing in the folder changes meanwhile, and no file comes or goes."""
    before = hashes(folder)
    yield
    assert hashes(folder) == before


@contextmanager
def another_owner(folder: Path, company: str = "alone") -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that owns the run until it is killed; gives it, and the process id of its child."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder), company],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        try:
            yield owner, child
        finally:
            owner.kill()


def test_a_new_run_is_a_folder_with_all_its_parts(run: RunFolder) -> None:
    assert sorted(path.name for path in run.path.iterdir()) == [
        "artifacts",
        "log.sqlite",
        "owner.lock",
        "run.json",
        "truth",
    ]
    assert [path.name for path in run.path.parent.iterdir()] == ["x"]
    opened = open_run_folder(run.path)
    assert opened.manifest == MANIFEST
    with closing(opened.read_log()) as log:
        assert log.last_sequence == 4


def test_the_manifest_is_json_that_a_person_can_read(run: RunFolder) -> None:
    text = (run.path / "run.json").read_text()
    assert json.loads(text)["format"] == 1
    assert '\n  "environment": "synthetic:notepad"' in text


def test_opening_and_reading_a_finished_run_changes_nothing(run: RunFolder) -> None:
    with unchanged(run.path):
        with closing(open_run_folder(run.path).read_log()) as log:
            assert len(list(log.read())) == 4
            log.integrity_check()
        assert owner_of(run.path) is None


def test_an_empty_folder_becomes_a_run_and_a_full_one_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    create_run(tmp_path / "empty", MANIFEST)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    (tmp_path / "file").touch()
    with unchanged(tmp_path):
        for name in ("empty", "full", "file"):
            with pytest.raises(RunExists, match="choose a"):
                create_run(tmp_path / name, MANIFEST)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the right of a superuser to read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("place", ["file/run", "file/deeper/run"])
def test_a_run_below_a_file_is_refused_with_its_path_and_a_remedy(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with unchanged(tmp_path), pytest.raises(StoreFailed, match=rf"create the run at .*{place}: .*; choose"):
        create_run(tmp_path / place, MANIFEST)


def test_a_run_where_the_system_allows_no_folder_is_refused() -> None:
    with pytest.raises(StoreFailed, match=r"create the run at /proc/x/run: .*; choose"):
        create_run(Path("/proc/x/run"), MANIFEST)


@pytest.mark.parametrize("mode", [0o000, 0o555])
def test_a_run_in_a_folder_of_others_is_refused(open_folder: Path, mode: int) -> None:
    (open_folder / "theirs").mkdir()
    (open_folder / "theirs").chmod(mode)
    with as_nobody(), pytest.raises(StoreFailed, match=r"create the run at .*theirs/x: .*Permission denied"):
        create_run(open_folder / "theirs" / "x", MANIFEST)


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        (".", r"cannot read the run at .*Permission denied.*; check its permissions"),
        ("run.json", r"cannot read the run at .*Permission denied.*; check its permissions"),
        ("owner.lock", r"cannot read the run at .*Permission denied.*; check its permissions"),
        ("log.sqlite", r"cannot read the log .*Permission denied.*; check its permissions"),
    ],
)
def test_a_run_that_may_not_be_read_is_said_so(open_folder: Path, hidden: str, message: str) -> None:
    run = create_run(open_folder / "x", MANIFEST)
    (run.path / hidden).chmod(0o000)
    with as_nobody():
        with pytest.raises(StoreFailed, match=message):
            open_run_folder(run.path)
        with pytest.raises(StoreFailed, match=message), own(run.path):
            pass


def test_a_run_that_may_only_be_read_is_read_and_not_owned(open_folder: Path) -> None:
    run = create_run(open_folder / "x", MANIFEST)
    with own(run.path), closing(run.write_log()) as log:
        fill(log)
    for path in (*run.path.iterdir(), run.path):
        path.chmod(0o555)
    with as_nobody(), unchanged(run.path):
        with closing(open_run_folder(run.path).read_log()) as log:
            assert log.last_sequence == 4
        with (
            pytest.raises(StoreFailed, match=r"own the run at .*Permission denied.*; .*copy it"),
            own(run.path),
        ):
            pass


@pytest.mark.parametrize(
    ("call", "number"), [("open", errno.EROFS), ("pwrite", errno.ENOSPC), ("ftruncate", errno.EIO)]
)
def test_what_keeps_a_run_from_being_owned_is_said_and_the_run_stays_free(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    real = getattr(os, call)

    def refuse(*arguments: object) -> object:
        if call == "open" and not (isinstance(arguments[1], int) and arguments[1] & os.O_RDWR):
            return real(*arguments)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        with pytest.raises(StoreFailed, match=f"own the run at .*{os.strerror(number)}"), own(run.path):
            pass
    with own(run.path):
        pass


def test_an_error_of_the_owners_own_work_is_not_taken_for_one_of_the_run(run: RunFolder) -> None:
    with pytest.raises(FileNotFoundError), own(run.path):
        (run.path / "nothing").read_bytes()


@pytest.mark.parametrize("place", ["nowhere", "letter", "letter/inside"])
def test_a_place_without_a_run_is_said_so(tmp_path: Path, place: str) -> None:
    (tmp_path / "letter").touch()
    with unchanged(tmp_path), pytest.raises(RunNotFound, match="no run at"):
        open_run_folder(tmp_path / place)


def test_a_newer_run_is_refused_by_the_version_that_wrote_it(run: RunFolder) -> None:
    manifest = run.path / "run.json"
    document = {
        **json.loads(manifest.read_text()),
        "format": 2,
        "version": "9.1",
        "settings": ["of another shape"],
    }
    manifest.write_text(json.dumps(document))
    with unchanged(run.path):
        for attempt in (open_run_folder, lambda folder: own(folder).__enter__()):
            with pytest.raises(NewerFormat, match=r"format 2, written by screensearch 9\.1"):
                attempt(run.path)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": "1"}', b'{"format": 0}', b"\xff"]
)
def test_a_malformed_manifest_is_refused(run: RunFolder, content: bytes) -> None:
    (run.path / "run.json").write_bytes(content)
    with unchanged(run.path), pytest.raises(FormatError, match=r"run\.json"):
        open_run_folder(run.path)


def test_a_truncated_log_is_refused_by_readers_and_owners(run: RunFolder) -> None:
    path = run.path / "log.sqlite"
    os.truncate(path, path.stat().st_size - 100)
    with unchanged(run.path):
        with pytest.raises(FormatError, match="truncated"):
            open_run_folder(run.path)
        with pytest.raises(FormatError, match="truncated"), own(run.path):
            pass


def test_a_run_without_its_log_is_said_so(run: RunFolder) -> None:
    (run.path / "log.sqlite").unlink()
    with unchanged(run.path), pytest.raises(RunNotFound, match=r"log\.sqlite"):
        open_run_folder(run.path)


def test_a_run_that_another_process_owns_is_refused_by_its_number_and_stays_readable(run: RunFolder) -> None:
    with another_owner(run.path) as (owner, _):
        with unchanged(run.path):
            with pytest.raises(RunBusy, match=f"process {owner.pid}"), own(run.path):
                pass
            assert owner_of(run.path) == str(owner.pid)
        with closing(open_run_folder(run.path).read_log()) as log:
            assert log.last_sequence == 4


def test_a_run_is_owned_once_within_a_process_too(run: RunFolder) -> None:
    with own(run.path):
        assert owner_of(run.path) == str(os.getpid())
        with pytest.raises(RunBusy), own(run.path):
            pass
        assert owner_of(run.path) == str(os.getpid())
    assert owner_of(run.path) is None
    with own(run.path):
        pass


def test_a_killed_owner_frees_the_run_at_once(run: RunFolder) -> None:
    with another_owner(run.path) as (owner, _):
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        with own(run.path) as mine, closing(mine.write_log()) as log:
            assert log.last_sequence == 4
            log.integrity_check()


def test_a_child_that_outlives_its_killed_owner_does_not_hold_the_run(run: RunFolder) -> None:
    with another_owner(run.path, "with a child") as (owner, child):
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        os.kill(child, 0)  # it lives
        with own(run.path):
            pass
        os.kill(child, signal.SIGKILL)
