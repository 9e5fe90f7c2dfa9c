"""A program that takes all it can get costs its own episode, and neither the desktop nor the machine."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
from pathlib import Path

import pytest

from live.conftest import Start
from live.live_sessions import SECONDS, name_of, process_named, processes_of
from live.test_environment import TROUBLE, running
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.limits import (
    ProcessBound,
    bound_processes,
    kernel_version,
    limited,
    process_bound,
)
from screensearch.environments.desktop.settings import DesktopSettings
from screensearch.errors import SettingsError

FORK = """
import os, sys, time
first = os.getpid()
while True:
    try:
        os.fork()
    except OSError as problem:
        if os.getpid() == first:
            sys.exit(problem.errno)
        time.sleep(1000)
"""
where_processes_are_counted = pytest.mark.skipif(
    process_bound() is ProcessBound.NONE,
    reason="this Linux cannot count the processes of a sandbox for this user",
)
LIMITS = "screensearch.environments.desktop.limits"
FEWEST = DesktopSettings(process_limit=400)


@where_processes_are_counted
async def test_a_fork_bomb_stays_within_the_limit_and_is_gone_with_the_desktop(start: Start) -> None:
    session = await start("python3", "-c", FORK, desktop={"process_limit": 400})
    await session.launch()
    end = await asyncio.wait_for(session.app_end, SECONDS)
    assert end.status == errno.EAGAIN
    pids = list(processes_of(session))
    assert 300 < sum(threads(pid) for pid in pids) <= 400
    assert not session.broken.done()
    namespace = os.stat(f"/proc/{session.pid}/ns/pid").st_ino
    await session.stop()
    assert not [pid for pid in pids if namespace_of(pid) == namespace]


@where_processes_are_counted
async def test_an_application_that_takes_all_processes_is_still_watched_and_the_next_episode_is_as_ever() -> (
    None
):
    async with running(TROUBLE, "greedy", desktop=FEWEST) as app:
        result = await app.click("Take processes")
        assert result.outcome is Outcome.OK
        await app.until("Taken")
        start = await app.world.reset(2)
        assert "Take processes" in {each.text for each in start.observation.elements}


async def test_a_program_that_takes_all_memory_is_a_crash() -> None:
    async with running(TROUBLE, "greedy", desktop=DesktopSettings(memory_megabytes=256)) as app:
        result = await app.click("Take memory")
        assert result.outcome is Outcome.CRASH
        assert "failed to allocate" in result.note


async def test_what_runs_in_a_sandbox_is_first_to_go_when_the_machine_has_no_memory(start: Start) -> None:
    session = await start("sleep", "1000")
    await session.launch()
    async with asyncio.timeout(SECONDS):
        # Nothing tells that a program has been started.
        while "sleep" not in {name_of(pid) for pid in processes_of(session)}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    for name in ("sleep", "Xvfb"):
        assert first_to_go(process_named(session, name)) == 1000


async def test_a_desktop_whose_processes_cannot_be_bounded_says_so_and_comes_up_all_the_same(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(f"{LIMITS}.process_bound", lambda: ProcessBound.NUMBERS)
    monkeypatch.setattr(f"{LIMITS}._BOUND", "echo it is read-only >&2; exit 1")
    monkeypatch.setattr(f"{LIMITS}._warned", set())
    for _ in range(2):
        assert (await start("true")).process_bound is ProcessBound.NONE
    (warning,) = warnings(caplog)  # once, however many episodes there are
    assert "the processes in the sandbox are not bounded" in warning
    assert "it is read-only" in warning


@pytest.mark.parametrize(
    ("linux", "path", "why"),
    [((5, 0), "/usr/bin:/bin", "this Linux"), ((6, 14), "/nonexistent", "No such file .*'nsenter'")],
)
def test_why_processes_cannot_be_bounded_is_told(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    linux: tuple[int, int],
    path: str,
    why: str,
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(f"{LIMITS}.kernel_version", lambda _: linux)
    monkeypatch.setattr(f"{LIMITS}._warned", set())
    monkeypatch.setenv("PATH", path)
    assert bound_processes(os.getpid(), 500) is ProcessBound.NONE
    (warning,) = warnings(caplog)
    assert re.search(why, warning)


async def test_without_a_sandbox_nothing_is_limited(start: Start) -> None:
    session = await start("sh", "-c", "ulimit -d", desktop={"sandbox": False, "memory_megabytes": 256})
    await session.launch()
    await asyncio.wait_for(session.app_end, SECONDS)
    assert session.output().strip() == "unlimited"


def test_a_limit_that_already_holds_is_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda kind: (2**20, 2**20))
    assert f"--data={2**20}" in limited(["bwrap", "--"], memory_bytes=2**30, processes=500)


@pytest.mark.parametrize(
    ("user", "release", "bound"),
    [
        (0, "6.14.0", ProcessBound.NUMBERS),
        (0, "6.13.9-generic", ProcessBound.NONE),  # there it would be the number of the whole machine
        (1000, "5.14.0-1.el9", ProcessBound.USER_LIMIT),
        (1000, "5.10.0-28-amd64", ProcessBound.NONE),
        (1000, "unheard of", ProcessBound.NONE),
    ],
)
def test_processes_are_counted_only_where_the_count_is_the_sandboxs_own(
    monkeypatch: pytest.MonkeyPatch, user: int, release: str, bound: ProcessBound
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(
        "screensearch.environments.desktop.limits.kernel_version", lambda _: kernel_version(release)
    )
    assert process_bound() is bound
    arguments = limited(["bwrap", "--"], memory_bytes=2**30, processes=500)
    assert any(word.startswith("--nproc=") for word in arguments) == (bound is ProcessBound.USER_LIMIT)


@pytest.mark.parametrize("wrong", [{"memory_megabytes": 255}, {"process_limit": 399}])
def test_limits_that_no_desktop_could_live_with_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=f"desktop.{next(iter(wrong))}"):
        DesktopSettings(**wrong)  # type: ignore[arg-type]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == LIMITS and record.levelno == logging.WARNING
    ]


def first_to_go(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:  # it has ended meanwhile
        return 0


def namespace_of(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino
    except OSError:  # gone
        return 0
