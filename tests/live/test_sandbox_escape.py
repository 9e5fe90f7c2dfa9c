"""A hostile application tries to get out. The same attempts are seen to succeed where nothing stops them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from live.live_sessions import SECONDS, connect
from screensearch.environments.desktop.framebuffer import Framebuffer, FramebufferFailed
from screensearch.environments.desktop.sandbox import named_paths

if TYPE_CHECKING:
    from live.conftest import Start

# Makes every attempt that its argument describes (JSON), and says in JSON what it got by each, or None.
PROBE = textwrap.dedent("""\
    import ctypes, glob, json, os, socket, struct, sys

    wanted = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    wanted_key = {"x86_64": 250, "aarch64": 219}[os.uname().machine]  # keyctl

    def read(path):
        return open(path, "rb").read()[:200].decode(errors="replace") or None

    def listing(path):
        return sorted(os.listdir(path))

    def write(path):
        open(path, "w").write("x")
        os.unlink(path)
        return True

    def greeting(address):
        family = socket.AF_INET if isinstance(address, list) else socket.AF_UNIX
        with socket.socket(family) as connection:
            connection.settimeout(5)
            connection.connect(tuple(address) if family == socket.AF_INET else address)
            return connection.recv(100).decode()

    def screen_widths(paths):
        widths = set()
        for path in paths:
            try:
                with socket.socket(socket.AF_UNIX) as display:
                    display.settimeout(5)
                    display.connect(path)
                    display.sendall(struct.pack("<BxHHHHxx", 0x6C, 11, 0, 0, 0))
                    reply = display.recv(8)
                    while len(reply) < 8 + 4 * struct.unpack_from("<H", reply, 6)[0]:
                        reply += display.recv(65536)
                    vendor, formats = struct.unpack_from("<H", reply, 24)[0], reply[29]
                    screen = 40 + (vendor + 3) // 4 * 4 + 8 * formats
                    widths.add(struct.unpack_from("<H", reply, screen + 20)[0])
            except OSError:
                continue
        return sorted(widths) or None

    def programs(backwards):
        text = backwards[::-1]  # or this program would find its own command line
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
            try:
                if text.encode() in open(path, "rb").read():
                    found.append(path)
            except OSError:
                continue
        return found or None

    def new_user_namespace(_):
        child = os.fork()
        if child == 0:
            os._exit(0 if libc.unshare(0x10000000) == 0 else 1)
        return os.waitpid(child, 0)[1] == 0 or None

    def capabilities(_):
        status = open("/proc/self/status").read()
        held = [line.split()[1] for line in status.splitlines() if line.startswith("Cap")]
        return [value for value in held if int(value, 16)] or None

    def mount(_):
        child = os.fork()
        if child == 0:
            os._exit(0 if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0 else 1)
        return os.waitpid(child, 0)[1] == 0 or None

    def set_to_itself(path):
        value = open(path).read()
        open(path, "w").write(value)
        return True

    def key(_):
        return libc.syscall(wanted_key, 0, -3, 1) > 0 or None  # the session keyring, made if there is none

    def signal(pid):
        os.kill(pid, 0)
        return open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace")

    def fill(order):
        folders, limit = order
        written = 0
        for folder in folders:
            path = os.path.join(folder, "filling")
            try:
                with open(path, "wb", buffering=0) as file:
                    while written < limit:
                        written += file.write(bytes(65536))
            except OSError:
                continue
        return written

    def attempt(name, subject):
        try:
            return globals()[name](subject)
        except (OSError, PermissionError):
            return None

    print(json.dumps({key: attempt(name, subject) for key, (name, subject) in wanted.items()}))
    """)


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    """The hostile program, alone in a folder: what lies beside a program can be read inside."""
    folder = tmp_path / "program"
    folder.mkdir()
    path = folder / "probe.py"
    path.write_text(PROBE)
    return path


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("the secret")
    return path


@pytest.fixture
def server() -> Iterator[tuple[list[Any], str]]:
    """A server of this machine that greets everyone, on a port and on an abstract socket."""
    program = textwrap.dedent("""\
        import os, selectors, socket
        port = socket.create_server(("127.0.0.1", 0))
        local = socket.socket(socket.AF_UNIX)
        name = f"\\0screensearch-test-{os.getpid()}"
        local.bind(name)
        local.listen()
        print(port.getsockname()[1], name[1:], flush=True)
        waiting = selectors.DefaultSelector()
        for server in (port, local):
            waiting.register(server, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                client, _ = key.fileobj.accept()
                client.sendall(b"hello")
                client.close()
        """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port, name = process.stdout.readline().split()
        yield ["127.0.0.1", int(port)], f"\0{name}"
        process.kill()


def outside(probe: Path, wanted: dict[str, tuple[str, Any]], *through: str) -> dict[str, Any]:
    """What the hostile program gets where nothing stops it."""
    command = [*through, "/usr/bin/python3", str(probe), json.dumps(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def outside_beside(command: list[str], probe: Path, wanted: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    """The same, while `command` runs, too."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as beside:
        got = outside(probe, wanted)
        beside.kill()
    return got


async def inside(
    start: Start, probe: Path, wanted: dict[str, tuple[str, Any]], **desktop: Any
) -> dict[str, Any]:
    """What the hostile program gets as the application of a session."""
    session = await start("/usr/bin/python3", str(probe), json.dumps(wanted), desktop=desktop)
    await session.launch()
    end = await asyncio.wait_for(session.app_end, SECONDS)
    assert end.clean, session.output()
    return dict(json.loads(session.output()))


async def test_files_of_the_user_and_of_the_system_cannot_be_read(
    start: Start, probe: Path, secret: Path
) -> None:
    home = str(Path.home())
    wanted: dict[str, tuple[str, Any]] = {
        "a file of the user": ("read", str(secret)),
        "the folder of that file": ("listing", str(secret.parent)),
        "the home": ("listing", home),
        "this program's code": ("read", __file__),
    }
    if os.getuid() == 0:  # for anyone else they are closed outside, too
        wanted["the passwords"] = ("read", "/etc/shadow")
        wanted["root's home"] = ("listing", "/root")
    assert all(got is not None for got in outside(probe, wanted).values())
    got = await inside(start, probe, wanted)
    # The way to the program is there, and nothing else on it.
    assert got.pop("the folder of that file") == ["program"]
    assert set(got.values()) == {None}


async def test_nothing_of_the_system_can_be_written(start: Start, probe: Path, tmp_path: Path) -> None:
    assert outside(probe, {"a folder": ("write", str(tmp_path / "x"))}) == {"a folder": True}
    places = ["/usr", "/usr/bin", "/usr/local", "/etc", "/etc/fonts", "/var", "/var/cache/fontconfig", "/run"]
    places += ["/", "/dev", "/proc/sys/kernel", "/home"]
    got = await inside(
        start,
        probe,
        {place: ("write", f"{place}/x") for place in places} | {"program": ("write", str(probe))},
    )
    assert [place for place, written in got.items() if written] == ["/home"]  # the bounded file system itself
    assert outside(probe, {"program": ("read", str(probe))})["program"] == PROBE[:200]


async def test_the_kernel_cannot_be_set(start: Start, probe: Path) -> None:
    """For root, the permissions of these files are all that is in the way, and they are root's."""
    names = ("kernel/core_pattern", "kernel/hostname", "vm/swappiness", "fs/file-max")
    wanted = {name: ("set_to_itself", f"/proc/sys/{name}") for name in names}
    if os.getuid() == 0:
        assert all(outside(probe, wanted).values())
    assert await inside(start, probe, wanted) == dict.fromkeys(wanted)


async def test_the_network_and_the_sockets_of_the_machine_cannot_be_reached(
    start: Start, probe: Path, server: tuple[list[Any], str]
) -> None:
    address, name = server
    wanted = {"port": ("greeting", address), "abstract socket": ("greeting", name)}
    assert outside(probe, wanted) == {"port": "hello", "abstract socket": "hello"}
    assert await inside(start, probe, wanted) == {"port": None, "abstract socket": None}


async def test_the_display_of_another_session_cannot_be_reached(start: Start, probe: Path) -> None:
    other = await start("sleep", "1000", desktop={"width": 640, "height": 480})
    await other.launch()
    paths = [f"/tmp/.X11-unix/X{number}" for number in range(5)]
    paths += [f"\0{path}" for path in paths]
    paths += [f"/proc/{pid}/root/tmp/.X11-unix/X0" for pid in (other.pid, 1)] + [str(other.display_socket)]
    wanted = {"widths": ("screen_widths", paths)}
    assert 640 in outside(probe, wanted)["widths"]
    assert await inside(start, probe, wanted, width=777) == {"widths": [777]}
    assert connect(other).get_setup().roots[0].width_in_pixels == 640


async def test_processes_and_environment_of_the_machine_cannot_be_seen(
    start: Start, probe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, place = "hunter2hunter2", "screensearch/environments"
    monkeypatch.setenv("A_SECRET_TOKEN", secret)
    wanted: dict[str, tuple[str, Any]] = {
        "environments": ("programs", secret[::-1]),
        "where the package lies": ("programs", place[::-1]),
        "this process": ("signal", os.getpid()),
    }
    got = await asyncio.to_thread(outside_beside, ["sh", "-c", "read _", place], probe, wanted)
    assert all(got.values()), got
    got = await inside(start, probe, wanted)
    assert got["environments"] is None
    assert got["where the package lies"] is None
    assert "pytest" not in (got["this process"] or "")


async def test_no_privilege_can_be_gained(start: Start, probe: Path) -> None:
    wanted = {name: (name, None) for name in ("new_user_namespace", "capabilities", "mount", "key")}
    got = outside(probe, wanted, "unshare", "--map-root-user", "--mount")
    assert all(got.values()), got
    assert await inside(start, probe, wanted) == dict.fromkeys(wanted)


async def test_the_disk_cannot_be_filled(start: Start, probe: Path, tmp_path: Path) -> None:
    limit = 64 * 2**20
    wanted: dict[str, tuple[str, Any]] = {"everywhere": ("fill", ([str(tmp_path)], limit))}
    assert outside(probe, wanted)["everywhere"] >= limit
    own = [
        "/home/user",
        "/tmp",
        "/var/tmp",
        "/run/user/1000",
        "/home",
        "/",
        "/run",
        "/var",
        "/etc",
        "/dev",
        "/usr",
    ]
    got = await inside(
        start,
        probe,
        {"own": ("fill", (own, limit)), "shared memory": ("fill", (["/dev/shm"], limit))},
        home_megabytes=8,
        width=320,
        height=240,
    )
    assert 4 * 2**20 < got["own"] < 11 * 2**20
    assert 4 * 2**20 < got["shared memory"] < 11 * 2**20


async def test_a_shell_gets_out_no_more_than_a_program_does(start: Start, secret: Path) -> None:
    home = str(Path.home())
    script = f"""
        try() {{ name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; fi; }}
        try control ls /usr
        try secret cat {secret}
        try home ls {home}/.
        try shadow cat /etc/shadow
        try usr touch /usr/x
        try mount mount -t tmpfs tmpfs /tmp
        try unshare unshare --map-root-user true
        try chroot chroot / true
        try kill kill -0 {os.getpid()}
        try device cat /dev/kmsg
        try disk ls /dev/disk /dev/vda /dev/sda
        try sysfs ls /sys/kernel
        try sysrq sh -c 'echo h >/proc/sysrq-trigger'
        try pattern sh -c 'cd /proc/sys/kernel && x=$(cat core_pattern) && echo "$x" >core_pattern'
        try namespace nsenter --target 1 --all true
    """
    session = await start("sh", "-c", script)
    await session.launch()
    await asyncio.wait_for(session.app_end, SECONDS)
    assert session.output().split() == ["control"]


async def test_output_can_be_no_order_and_hostile_reports_are_only_words(start: Start) -> None:
    """Every process inside has one user: an application may write to the script's own report channel."""
    lie = "display x\\nended what 1\\nran 9 0\\na b c d e\\naccessibility unix:path=/x\\n"
    script = f"for each in /proc/[0-9]*/fd/4; do printf '{lie}' >$each; done; exit 5"
    session = await start("sh", "-c", f"({script}) 2>/dev/null")
    before = (session.display_socket, session.accessibility_bus)
    await session.launch()
    assert (await asyncio.wait_for(session.app_end, SECONDS)).status == 5
    assert (session.display_socket, session.accessibility_bus) == before
    assert not session.broken.done()


KILL_XVFB = """
    for each in /proc/[0-9]*; do
        if [ "$(cat $each/comm)" = Xvfb ]; then
            echo words of the display >$each/fd/2
            kill -KILL ${each#/proc/}
        fi
    done 2>/dev/null
    sleep 1000
"""


@pytest.mark.parametrize("trap", ["ln -sf {secret}", "rm -f $log; mkfifo", "ln -sf /dev/zero"])
async def test_what_a_part_said_last_is_read_from_nothing_that_the_application_can_replace(
    start: Start, secret: Path, trap: str
) -> None:
    replace = f'for log in /run/user/1000/*.log /run/user/1000/display.log; do {trap} "$log"; done'
    session = await start("sh", "-c", replace.format(secret=secret) + KILL_XVFB)
    await session.launch()
    said = await asyncio.wait_for(session.broken, SECONDS)
    assert said.startswith("the display (Xvfb) was killed by SIGKILL")
    assert "words of the display" in said
    assert "the secret" not in said


async def test_a_framebuffer_that_the_application_cuts_short_fails_and_kills_nobody(start: Start) -> None:
    """Touching the memory of a mapped file behind its end would be the end of this process."""
    session = await start("sh", "-c", ": >/run/user/1000/Xvfb_screen0 && echo cut")
    framebuffer = Framebuffer(session.framebuffer)
    assert framebuffer.image().width == framebuffer.width
    await session.launch()
    ends: set[asyncio.Future[Any]] = {session.app_end, session.broken}  # the display may end of it
    await asyncio.wait(ends, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for look in (framebuffer.image, lambda: framebuffer.rows(0, 1)):
        with pytest.raises(FramebufferFailed, match="cut short"):
            look()
    framebuffer.close()
    with pytest.raises(FramebufferFailed, match="closed"):
        framebuffer.image()


def test_a_command_opens_its_folder_but_never_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    tool = home / "tool" / "run"
    tool.parent.mkdir(parents=True)
    for path in (tool, home / "run", tmp_path / "people" / "run"):
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    document = home / "letter.txt"
    document.write_text("dear")
    monkeypatch.setenv("HOME", str(home))
    assert list(named_paths(["sh", "-c", "true"])) == []
    assert list(named_paths([str(tool)])) == [str(tool.parent)]
    assert list(named_paths([str(home / "run")])) == [str(home / "run")]
    assert list(named_paths([str(tmp_path / "people" / "run")])) == [str(tmp_path / "people" / "run")]
    assert list(named_paths(["sh", str(document), "/etc/shadow", "/", str(home), "letter.txt"])) == [
        str(document)
    ]


def test_a_script_opens_its_folder_and_a_python_all_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "me"
    script, loose = home / "project" / "app.py", home / "app.py"
    script.parent.mkdir(parents=True)
    for path in (script, loose):
        path.write_text("print()")
    base = home / "pythons" / "3.11"
    (base / "bin").mkdir(parents=True)
    (base / "bin" / "python3").write_text("#!/bin/sh\n")
    (base / "bin" / "python3").chmod(0o755)
    (base / "lib" / "python3.11").mkdir(parents=True)
    (base / "lib" / "python3.11" / "os.py").touch()
    venv = home / "project" / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    (venv / "bin" / "python").symlink_to(base / "bin" / "python3")
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "tool").write_text("#!/bin/sh\n")
    (home / ".local" / "bin" / "tool").chmod(0o755)
    (home / ".local" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert list(named_paths(["python3", str(script)])) == [str(script.parent)]
    assert list(named_paths(["python3", str(loose)])) == [str(loose)]
    assert list(named_paths([str(venv / "bin" / "python"), str(loose)])) == [str(venv), str(base), str(loose)]
    assert list(named_paths([str(home / ".local" / "bin" / "tool")])) == [str(home / ".local" / "bin")]


async def test_a_program_of_the_users_own_runs_from_its_folder_which_it_cannot_change(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "tool"
    folder.mkdir()
    (folder / "data").write_text("data of the tool")
    (folder / "run").write_text(
        '#!/bin/sh\ncd "$(dirname "$0")" && cat data; touch new 2>/dev/null && echo; exit 0\n'
    )
    (folder / "run").chmod(0o755)
    session = await start(str(folder / "run"))
    await session.launch()
    await asyncio.wait_for(session.app_end, SECONDS)
    assert session.output() == "data of the tool"
