"""A run whose pictures are in a bucket is the run it would be with a folder of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from s3_server import S3Server

import screensearch as ss
from screensearch import Progress, StopRule, open_run, resume_exploration, start_exploration
from screensearch.cli import main
from screensearch.errors import ScreenSearchError, SettingsError, StoreFailed
from screensearch.record import remote_artifacts

pytest_plugins = ["s3_fixtures"]


def once(steps: int, doing: Callable[[], None]) -> Callable[[Progress], None]:
    """Do something when a run has so many steps."""
    done = threading.Event()

    def look(progress: Progress) -> None:
        if progress.steps >= steps and not done.is_set():
            done.set()
            doing()

    return look


def test_a_run_with_pictures_in_a_bucket_is_shown_verified_and_resumed(
    s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    folder, place = tmp_path / "run", f"{bucket}/notepad"
    explore = ["explore", "synthetic:notepad", "--steps", "25", "--seed", "5", "--artifacts", place]
    explored = CliRunner().invoke(main, [*explore, "--out", str(folder)])
    assert explored.exit_code == 0, explored.output
    assert not (folder / "artifacts").exists()
    here = start_exploration("synthetic:notepad", tmp_path / "here", stop=StopRule(steps=25), seed=5)
    with open_run(folder) as run:
        assert run.graph.digest() == here.digest
        checked = run.verify()
        assert (checked.problems, checked.screenshots > 5) == ((), True)
        state = run.state(1)
        assert state.screenshot is not None
        assert state.screenshot.startswith(f"{place}/")
        assert run.screenshot(run.entry(state.first_seen)) is not None
    shown = CliRunner().invoke(main, ["show", str(folder), "1"])
    assert state.screenshot in "".join(shown.output.split())
    resume_exploration(folder, stop=StopRule(steps=35), workers=2)
    assert CliRunner().invoke(main, ["verify", str(folder)]).exit_code == 0
    stored = [path for path in s3.files().find(place) if path.endswith(".png")]
    s3.files().rm(stored[0])
    missed = CliRunner().invoke(main, ["verify", str(folder)])
    assert missed.exit_code != 0
    assert "which is missing" in " ".join(missed.output.split())


def test_two_runs_may_keep_their_pictures_in_one_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        start_exploration("synthetic:notepad", name, stop=StopRule(steps=20), seed=1, artifacts="pictures")
    monkeypatch.chdir("/")  # the place is not that of who reads
    for name in ("one", "two"):
        with open_run(tmp_path / name) as run:
            checked = run.verify()
            assert checked.problems == ()
            assert checked.screenshots == len(list((tmp_path / "pictures").rglob("*.png")))


def test_no_credential_is_written_down_with_a_run(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=5), artifacts=bucket)
    secret = s3.environment()["AWS_SECRET_ACCESS_KEY"].encode()
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in files if secret in path.read_bytes()] == []


def test_a_place_that_cannot_be_used_leaves_no_run_behind(bucket: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for place, kind, told in (
        ("s3://no-such-bucket", StoreFailed, "bucket does not exist; make the bucket"),
        ("s3://key:word@bucket", SettingsError, "holds a key or a password"),
        (__file__, StoreFailed, "cannot keep artifacts in"),
    ):
        with pytest.raises(kind, match=told) as refused:
            start_exploration("synthetic:notepad", folder, stop=StopRule(steps=1), artifacts=place)
        assert "word@" not in str(refused.value)
        assert list(tmp_path.iterdir()) == []
    resumed = CliRunner().invoke(main, ["explore", "--resume", "--out", str(folder), "--artifacts", bucket])
    assert "a resumed run keeps its" in resumed.output


def test_an_exploration_outlasts_a_crash_of_the_server(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    def crash() -> None:
        s3.kill()
        s3.start()

    summary = start_exploration(
        "synthetic:notepad",
        tmp_path / "run",
        stop=StopRule(steps=60),
        workers=2,
        artifacts=bucket,
        on_progress=once(20, crash),
    )
    assert (summary.steps, summary.lost, summary.worker_failures) == (60, 0, 0)
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()


def ends_with_storage(folder: Path, explore: Callable[[], object], told: str) -> None:
    """What was acknowledged holds; the steps under way are lost, and no fault of the application's."""
    with pytest.raises(StoreFailed, match=told):
        explore()
    with open_run(folder) as run:
        outcomes = run.describe()["outcomes"]
        assert set(outcomes) <= {"start", "ok", "missed", "lost"}, outcomes
        assert outcomes.get("lost", 0) <= 2


def test_a_bucket_that_is_gone_ends_the_run_as_a_failure_of_storage(
    s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    ends_with_storage(
        tmp_path / "run",
        lambda: start_exploration(
            "synthetic:notepad",
            tmp_path / "run",
            stop=StopRule(steps=100_000),
            workers=2,
            artifacts=bucket,
            on_progress=once(20, lambda: s3.files().rm(bucket, recursive=True)),
        ),
        f"cannot write to {bucket}: .*; make the bucket",
    )


def test_a_server_that_is_gone_ends_the_run_which_can_be_resumed_when_it_is_back(
    s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = partial(ss.ENVIRONMENTS.get("synthetic"), "notepad", ss.Means(screenshots=True))
    try:
        with monkeypatch.context() as patched:  # when it is back, it may take its time
            patched.setattr(remote_artifacts, "PATIENCE_SECONDS", 1.0)
            ends_with_storage(
                tmp_path / "run",
                lambda: start_exploration(
                    opened(),
                    tmp_path / "run",
                    stop=StopRule(steps=100_000),
                    artifacts=bucket,
                    on_progress=once(20, s3.kill),
                ),
                f"cannot (read from|write to) {bucket}: .*connect",
            )
            with pytest.raises(ScreenSearchError, match=bucket):
                resume_exploration(tmp_path / "run", opened(), stop=StopRule(steps=100_000))
    finally:
        s3.start()
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        steps = sum(1 for _ in run.transitions())
    resume_exploration(tmp_path / "run", opened(), stop=StopRule(steps=steps + 10))
    with open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
