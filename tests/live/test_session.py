"""A session comes up, tells how its application and its parts end, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from live.live_sessions import SECONDS, brightness, connect, first_window, process_named, processes_of
from screensearch.environments.desktop.sandbox import sweep
from screensearch.environments.desktop.session import Dressing, Session, SessionFailed
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings, Placement, SeedFile

if TYPE_CHECKING:
    from live.conftest import Start

# Starts sessions, and says in JSON what it sees before, meanwhile and afterwards. It is meant for a room of
# its own, where every process, every socket and every file in /tmp comes from it.
PROGRAM = textwrap.dedent("""\
    import asyncio, json, os, select, subprocess, sys
    from pathlib import Path
    from screensearch.environments.desktop.session import Dressing, Session
    from screensearch.environments.desktop.settings import AppSettings, DesktopSettings

    def alive(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def seen():
        return {
            "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and alive(name)),
            "files": sorted(str(path) for path in Path("/tmp").rglob("*") if not path.is_dir()),
            "sockets": sorted(line.split()[7] for line in open("/proc/net/unix") if len(line.split()) > 7),
            "descriptors": len(os.listdir("/proc/self/fd")),
        }

    async def start(sandbox):
        app = AppSettings(command=("mousepad",))
        session = await Session.start(app, DesktopSettings(sandbox=sandbox == "sandbox"), Dressing())
        await session.launch()
        return session

    async def stopped(sandbox):
        await asyncio.to_thread(int)  # the thread that the loop keeps
        before = seen()
        for _ in range(3):
            session = await start(sandbox)
            meanwhile = seen()
            await session.stop()
            await session.stop()
        return {"before": before, "meanwhile": meanwhile, "after": seen()}

    def killed(sandbox):
        before = seen()
        worker = subprocess.Popen([sys.executable, __file__, "wait", sandbox], stdout=subprocess.PIPE)
        worker.stdout.readline()
        meanwhile = seen()
        others = [os.pidfd_open(pid) for pid in set(meanwhile["processes"]) - set(before["processes"])]
        worker.kill()
        worker.wait()
        worker.stdout.close()
        for pidfd in others:
            if not select.select([pidfd], [], [], 20)[0]:
                break
        for pidfd in others:
            os.close(pidfd)
        # Without a sandbox a script removes the folder as its last act, and its end is awaited above.
        return {"before": before, "meanwhile": meanwhile, "after": seen()}

    async def wait(sandbox):
        session = await start(sandbox)
        print("up", flush=True)
        await session.broken

    how, sandbox = sys.argv[1:]
    if how == "wait":
        asyncio.run(wait(sandbox))
    print(json.dumps(asyncio.run(stopped(sandbox)) if how == "stopped" else killed(sandbox)))
    """)


@pytest.mark.parametrize("sandbox", ["sandbox", "open"])
@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_session_leaves_no_process_file_socket_or_descriptor(
    how: str, sandbox: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    # The first process of the room is a shell, which reaps what is orphaned. A checkout may lie in /tmp.
    room = (
        'mkdir "$0/checkout" && mount --bind "$0" /mnt && mount --bind "$1" /mnt/checkout && '
        'mount -t tmpfs tmpfs /tmp && mkdir -p "$1" && mount --bind /mnt/checkout "$1" && '
        'shift && "$@"; exit $?'
    )
    checkout = str(Path(__file__).parents[2])
    unshare = [
        "unshare",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount",
        "--mount-proc",
        "--net",
    ]
    done = subprocess.run(
        [
            *unshare,
            "sh",
            "-c",
            room,
            str(tmp_path),
            checkout,
            sys.executable,
            "/mnt/program.py",
            how,
            sandbox,
        ],
        capture_output=True,
        text=True,
        timeout=4 * SECONDS,
        env={**os.environ, "HOME": "/mnt"},
    )
    assert done.returncode == 0, done.stderr
    saw = json.loads(done.stdout)
    assert len(saw["meanwhile"]["processes"]) > len(saw["before"]["processes"]) + 5  # the look would see them
    assert saw["after"] == saw["before"]


async def test_a_window_shows_on_the_display_and_the_parts_can_be_reached_from_outside(start: Start) -> None:
    session = await start("mousepad", desktop={"width": 800, "height": 600})
    assert session.framebuffer.stat().st_size >= 800 * 600 * 4
    for path in (session.session_bus, session.accessibility_bus):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
    await session.launch()
    frame = await first_window(session)
    assert (frame.width, frame.height) > (100, 100)
    assert session.app_pid is not None
    assert not session.app_end.done()
    assert not session.broken.done()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", "exited with status 0"),
        ("exit 3", "exited with status 3"),
        ("kill -SEGV $$", "was killed by SIGSEGV"),
        ("kill -ABRT $$", "was killed by SIGABRT"),
    ],
)
async def test_the_end_of_the_application_is_told_as_it_was(start: Start, script: str, said: str) -> None:
    session = await start("sh", "-c", f"echo last words; {script}")
    await session.launch()
    end = await asyncio.wait_for(session.app_end, SECONDS)
    assert end.describe() == said
    assert end.clean == (script == "exit 0")
    assert session.output() == "last words\n"
    assert not session.broken.done()


async def test_output_is_drained_and_only_its_end_is_kept(start: Start) -> None:
    session = await start("sh", "-c", "yes | head -c 5000000; echo; echo the end >&2")
    await session.launch()
    end = await asyncio.wait_for(session.app_end, SECONDS)
    assert end.clean
    assert session.output().endswith("the end\n")
    assert len(session.output()) == 8192


@pytest.mark.parametrize(
    ("program", "nth", "said"),
    [
        ("Xvfb", 0, "the display (Xvfb) was killed by SIGKILL"),
        ("dbus-daemon", 0, "the session bus (dbus-daemon) was killed by SIGKILL"),
        ("dbus-daemon", 1, "the accessibility bus (at-spi-bus-launcher) "),
        ("openbox", 0, "the window manager (openbox) was killed by SIGKILL"),
    ],
)
async def test_a_part_that_dies_breaks_the_session_and_is_no_end_of_the_application(
    start: Start, program: str, nth: int, said: str
) -> None:
    session = await start("mousepad")
    await session.launch()
    await first_window(session)
    os.kill(process_named(session, program, nth=nth), signal.SIGKILL)
    assert (await asyncio.wait_for(session.broken, SECONDS)).startswith(said)
    assert not session.app_end.done()


async def test_the_end_of_the_sandbox_itself_breaks_the_session(start: Start) -> None:
    session = await start("sleep", "1000")
    os.kill(session.pid, signal.SIGKILL)
    assert (await asyncio.wait_for(session.broken, SECONDS)).startswith("the sandbox (bwrap) ")
    with pytest.raises(SessionFailed, match="screensearch doctor"):
        await session.launch()


async def test_two_sessions_at_once_have_displays_of_their_own(start: Start) -> None:
    small, large = await asyncio.gather(
        start("sleep", "1000", desktop={"width": 400, "height": 300}),
        start("sleep", "1000", desktop={"width": 900, "height": 700}),
    )
    assert [connect(session).get_setup().roots[0].width_in_pixels for session in (small, large)] == [400, 900]
    assert not set(processes_of(small)) & set(processes_of(large))


async def test_stop_returns_when_every_process_is_gone(start: Start) -> None:
    session = await start("sh", "-c", "sleep 1000 & setsid sleep 1000 & trap '' TERM; sleep 1000")
    await session.launch()
    pidfds = [os.pidfd_open(pid) for pid in processes_of(session)]
    assert len(pidfds) > 5
    await session.stop()
    gone, _, _ = select.select(pidfds, [], [], 0)
    for pidfd in pidfds:
        os.close(pidfd)
    assert len(gone) == len(pidfds)
    assert session.app_end.result().describe() == "was killed by SIGKILL"


async def test_the_home_is_new_every_time_and_holds_the_files_of_the_profile(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "copied.txt").write_text("copied")
    (folder / "copied.txt").chmod(0o400)
    files = (SeedFile(path="notes/hello.txt", text="hello"), SeedFile(path="taken", source=str(folder)))
    script = 'cat notes/hello.txt taken/copied.txt "$1"; echo x | tee notes/hello.txt taken/copied.txt >left'
    for _ in range(2):
        session = await start("sh", "-c", script, "sh", app={"files": files}, document="notes/hello.txt")
        await session.launch()
        end = await asyncio.wait_for(session.app_end, SECONDS)
        assert (session.output(), end.clean) == ("hellocopiedhello", True)
        left = Path(f"/proc/{session.pid}/root/home/user/left")
        assert await asyncio.to_thread(left.read_text) == "x\n"
        await session.stop()


async def test_the_first_window_takes_the_place_of_the_dressing(start: Start) -> None:
    session = await start("mousepad", placement=Placement(width=500, height=320, x=40, y=30))
    await session.launch()
    frame = await first_window(session, lambda frame: (frame.width, frame.height) == (500, 320))
    assert (frame.x, frame.y) >= (40, 30)


async def test_light_and_dark_differ_in_the_brightness_of_the_screen(start: Start) -> None:
    seen = {}
    for mode in ("light", "dark"):
        session = await start("mousepad", display_mode=mode, placement=Placement(width=1000, height=700))
        await session.launch()
        await first_window(session, lambda frame: (frame.width, frame.height) == (1000, 700))
        async with asyncio.timeout(SECONDS):
            while not brightness(session, width=1024, height=768):  # noqa: ASYNC110 - pixels have no event
                await asyncio.sleep(0.02)
        seen[mode] = brightness(session, width=1024, height=768)
    assert seen["light"] > 3 * seen["dark"]


async def test_a_larger_text_scale_makes_buttons_and_their_window_larger(start: Start) -> None:
    widths = []
    for scale in (1.0, 1.5):
        session = await start("galculator", text_scale=scale)
        await session.launch()
        widths.append((await first_window(session)).width)
    assert widths[1] > widths[0]


async def test_a_failure_to_come_up_names_the_part_and_its_last_words(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(int)  # the thread that the loop keeps
    before = os.listdir("/proc/self/fd")
    with pytest.raises(SessionFailed, match=r"no program 'no-such-program'.*screensearch doctor"):
        await start("no-such-program")
    with pytest.raises(SessionFailed, match="cannot be furnished"):
        await start("true", app={"files": (SeedFile(path="x", source="/no/such/file"),)})
    with pytest.raises(SessionFailed, match=r"cannot be furnished: .*No space left"):
        await start(
            "true", app={"files": (SeedFile(path="x", text="x" * 2**24),)}, desktop={"home_megabytes": 1}
        )
    monkeypatch.setattr(
        "screensearch.environments.desktop.session.accessibility_launcher", lambda: "/bin/false"
    )
    with pytest.raises(
        SessionFailed, match=r"accessibility bus .* exited with status 1.*screensearch doctor"
    ):
        await start("true")

    def no_launcher() -> str:
        raise SessionFailed("there is no launcher")

    monkeypatch.setattr("screensearch.environments.desktop.session.accessibility_launcher", no_launcher)
    with pytest.raises(SessionFailed, match="there is no launcher"):
        await start("true")
    assert os.listdir("/proc/self/fd") == before


async def test_a_start_that_takes_too_long_is_given_up_and_leaves_nothing_open() -> None:
    await asyncio.to_thread(int)  # the thread that the loop keeps
    before = os.listdir("/proc/self/fd")
    desktop = DesktopSettings(start_seconds=0.02)
    with pytest.raises(SessionFailed, match=r"did not come up within 0\.02 s"):
        await Session.start(AppSettings(command=("true",)), desktop, Dressing())
    assert os.listdir("/proc/self/fd") == before


def test_a_program_that_starts_others_without_end_is_not_swept_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def another(mark: str) -> list[int]:
        started.append(subprocess.Popen(["sleep", "1000"]))
        return [started[-1].pid]

    monkeypatch.setattr("screensearch.environments.desktop.sandbox._carriers", another)
    monkeypatch.setattr("screensearch.environments.desktop.sandbox._SWEEP_SECONDS", 0.2)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(SessionFailed, match=r"some still run .*MARK=1"):
        sweep("MARK=1")
    assert os.listdir("/proc/self/fd") == before
    started[-1].kill()  # it was seen after time was up
    assert {process.wait(SECONDS) for process in started} == {-signal.SIGKILL}
    assert len(started) > 1
