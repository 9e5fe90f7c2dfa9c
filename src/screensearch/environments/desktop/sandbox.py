"""The walls of a session: what a program inside can see, write and reach, as one bubblewrap command line.

Inside there is the system's ``/usr``, read-only, a few files of ``/etc``, and one bounded memory file system
that holds the home, ``/tmp`` and the runtime directory together. Every namespace is unshared: no network, no
other process, no other user, no other display. When the worker dies, the kernel ends everything inside, and
the memory file system with it.

``/etc`` is an allowlist. For a worker that runs as root, the user inside *is* root outside as far as
permissions of files go: whatever is bound can be read.
"""

from __future__ import annotations

import contextlib
import glob
import os
import platform
import select
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from screensearch.environments.desktop.syscalls import system_call_filter
from screensearch.errors import EnvironmentFailed

UID = 1000  # inside; programs behave oddly when they see that they are root
HOME = "/home/user"
RUN = "/home/.run"  # the runtime directory: on the bounded file system of the home
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

_DISPLAY_SECONDS = 2.0  # for Xvfb to remove its socket
_SWEEP_SECONDS = 10.0  # for ending what starts others; most of it ends in one turn
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_NEVER = ("/dev", "/etc", "/proc", "/run", "/sys")  # a word of a command line opens nothing of these
_SHARED = ("/tmp", "/var", "/var/tmp", "/home", "/opt", "/srv", "/mnt", "/media")  # noqa: S108
_ETC = (
    "X11",
    "alternatives",
    "at-spi2",
    "dbus-1",
    "default/locale",
    "fonts",
    "glvnd",
    "gtk-2.0",
    "gtk-3.0",
    "gtk-4.0",
    "host.conf",
    "java*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libpaper.d",
    "libreoffice",
    "locale.alias",
    "localtime",
    "magic",
    "magic.mime",
    "mime.types",
    "os-release",
    "pango",
    "papersize",
    "perl",
    "protocols",
    "pulse",
    "python3*",
    "sensors3.conf",
    "services",
    "sgml",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "vulkan",
    "xdg",
    "xml",
)
_VAR = (
    "/var/cache/dictionaries-common",
    "/var/cache/fontconfig",
    "/var/lib/aspell",
    "/var/lib/dictionaries-common",
    "/var/lib/ghostscript",
    "/var/lib/libreoffice",
    "/var/lib/openbox",
    "/var/lib/xml-core",
)
_KERNEL = (  # what root may read of the kernel, with the permissions of files alone
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/pagetypeinfo",
    "/proc/slabinfo",
    "/proc/sched_debug",
    "/proc/timer_list",
    "/proc/vmallocinfo",
)
_WRITTEN = {
    "/etc/passwd": f"user:x:{UID}:{UID}:User:{HOME}:/bin/sh\n",
    "/etc/group": f"user:x:{UID}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/hostname": "desktop\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "/etc/machine-id": "5c4ee45ea4c84c5ab1d25ea3c4d35e2c\n",  # no machine's: the same everywhere, every time
}


class SessionFailed(EnvironmentFailed):
    """The desktop of an episode did not come up, or cannot do what is asked of it."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}; run `screensearch doctor` to see which layer is missing")


@dataclass(frozen=True, slots=True)
class Walls:
    """A bubblewrap command line up to the program, and the descriptors that it reads while it sets up."""

    arguments: tuple[str, ...]
    descriptors: tuple[int, ...]


def walls(command: Sequence[str], *, script: Path, info: int, home_bytes: int) -> Walls:
    """The walls around `command`, with `script` readable as ``/session.sh``; `info` gets the pid of the init.

    `home_bytes` bounds the home, ``/tmp`` and the runtime directory together. Shared memory (``/dev/shm``)
    may take as much again.
    """
    descriptors: list[int] = []
    try:
        return _walls(command, descriptors, script=script, info=info, home_bytes=home_bytes)
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _walls(
    command: Sequence[str], descriptors: list[int], *, script: Path, info: int, home_bytes: int
) -> Walls:
    arguments = ["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    if filter_ := system_call_filter(platform.machine()):
        descriptors.append(_memory(filter_))
        arguments += ["--seccomp", str(descriptors[-1])]
    arguments += ["--die-with-parent", "--new-session"]
    arguments += ["--uid", str(UID), "--gid", str(UID), "--hostname", "desktop", "--info-fd", str(info)]
    for folder in _SYSTEM:
        if os.path.islink(folder):
            arguments += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            arguments += ["--ro-bind", folder, folder]
    for path in (*_etc(), *(path for path in _VAR if os.path.exists(path))):
        arguments += ["--ro-bind", path, path]
    arguments += ["--dev", "/dev", "--proc", "/proc"]
    for path in _KERNEL:
        if os.path.exists(path):
            arguments += ["--ro-bind", "/dev/null", path]
    # For a worker that runs as root, the settings of the kernel (/proc/sys) would be writable inside.
    arguments += ["--remount-ro", "/proc"]
    arguments += ["--size", str(home_bytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    arguments += ["--size", str(home_bytes), "--perms", "0755", "--tmpfs", "/home"]
    arguments += ["--perms", "0700", "--dir", HOME, "--perms", "0700", "--dir", RUN]
    arguments += [
        "--perms",
        "1777",
        "--dir",
        "/home/.tmp",
        "--perms",
        "1777",
        "--dir",
        "/home/.tmp/.X11-unix",
    ]
    # One file system, so that one bound holds for all; relative links, so that they hold from outside too.
    arguments += ["--symlink", "home/.tmp", "/tmp", "--dir", "/var", "--symlink", "../home/.tmp", "/var/tmp"]  # noqa: S108
    arguments += ["--dir", "/run/user", "--symlink", "../../home/.run", f"/run/user/{UID}"]
    arguments += ["--symlink", "../run", "/var/run"]
    for path, text in _WRITTEN.items():
        descriptors.append(_memory(text.encode()))
        arguments += ["--perms", "0444", "--file", str(descriptors[-1]), path]
    for path in named_paths(command):
        arguments += ["--ro-bind", path, path]
    arguments += ["--ro-bind", str(script), "/session.sh", "--remount-ro", "/", "--chdir", HOME]
    # Not on the command line, which can be read inside and names folders of this machine.
    descriptors.append(_memory("\0".join(arguments).encode()))
    return Walls(("bwrap", "--args", str(descriptors[-1]), "--"), tuple(descriptors))


_SCRIPTS = (".py", ".pyw", ".sh", ".js", ".rb", ".pl", ".tcl", ".lua", ".jar")
"""How files end that need others beside them, as programs do."""


def find_program(name: str, *, path: str = PATH) -> str:
    """Where the program of a command line is; a plain name is looked for in `path`."""
    found = shutil.which(os.path.abspath(name) if "/" in name else name, path=path)
    if found is None:
        where = "here" if "/" in name else f"in {path} (install it, or name it by its path)"
        raise SessionFailed(f"there is no program {name!r} {where}")
    return found


def named_paths(command: Sequence[str]) -> Iterator[str]:
    """What a command line names outside the system's own folders, and may therefore be read inside.

    That is the folder of the program, or all of the Python that it belongs to; the folder of a script; and
    exactly the other files and folders that further words name by their absolute paths. The home itself and
    the folders above it are never opened: of a program or a script that lies right there, only the file.
    """
    program = find_program(command[0])
    for path in dict.fromkeys((program, os.path.realpath(program))):
        if not _of_the_system(path):
            yield _with_its_like(path, _python_of(path) or os.path.dirname(path))
    for word in command[1:]:
        if os.path.isabs(word) and os.path.exists(word) and not _of_the_system(word) and not _too_wide(word):
            is_script = word.endswith(_SCRIPTS) and os.path.isfile(word)
            yield _with_its_like(word, os.path.dirname(word)) if is_script else word


def _with_its_like(path: str, folder: str) -> str:
    return path if _too_wide(folder) else folder


def _python_of(program: str) -> str | None:
    """The folder of the virtual environment, or of the installation of Python, that a program is of."""
    prefix = os.path.dirname(os.path.dirname(program))
    libraries = glob.glob(os.path.join(glob.escape(prefix), "lib", "python3*", "os.py"))
    return prefix if libraries or os.path.exists(os.path.join(prefix, "pyvenv.cfg")) else None


def sweep(mark: str) -> list[int]:
    """End every process whose environment holds the variable `mark` (``NAME=value``).

    So ends a session without walls. Xvfb is asked first, for it has a socket to remove. Returns pidfds, to
    wait on and to close. A program that starts others faster than they are found is a `SessionFailed`.
    """
    ended: dict[int, int] = {}
    try:
        _sweep(mark, ended)
    except BaseException:
        for pidfd in ended.values():
            os.close(pidfd)
        raise
    return list(ended.values())


def _sweep(mark: str, ended: dict[int, int]) -> None:
    deadline = time.monotonic() + _SWEEP_SECONDS
    while found := [pid for pid in _carriers(mark) if pid not in ended]:
        if time.monotonic() > deadline:
            raise SessionFailed(
                f"programs of the session started others for {_SWEEP_SECONDS:g} s while they were ended, and "
                f"some still run (all have {mark} in their environment)"
            )
        for pid in found:
            with contextlib.suppress(ProcessLookupError):  # gone in the meantime
                ended[pid] = os.pidfd_open(pid)
        displays = [pid for pid in found if pid in ended and _name(pid) == "Xvfb"]
        for pid in displays:
            _signal(ended[pid], signal.SIGTERM)
            _gone(ended[pid], _DISPLAY_SECONDS)
        for pid in found:
            if pid in ended:
                _signal(ended[pid], signal.SIGKILL)
        for pid in [pid for pid, pidfd in ended.items() if _gone(pidfd, 0)]:
            os.close(ended.pop(pid))  # it is gone, and its number may be another's


def _signal(pidfd: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def _gone(pidfd: int, seconds: float) -> bool:
    """Whether a process has ended, or does so in time."""
    poll = select.poll()  # which, other than `select`, takes any number of descriptors
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _carriers(mark: str) -> Iterator[int]:
    for name in os.listdir("/proc"):
        # Not ours to read, or gone in the meantime: not ours to end.
        with contextlib.suppress(OSError, ValueError):
            if mark.encode() in Path(f"/proc/{int(name)}/environ").read_bytes().split(b"\0"):
                yield int(name)


def _memory(content: bytes) -> int:
    """A descriptor to read `content` from; it never touches a disk."""
    descriptor = os.memfd_create("screensearch")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _etc() -> Iterator[str]:
    for pattern in _ETC:
        yield from sorted(str(path) for path in Path("/etc").glob(pattern))


def _of_the_system(path: str) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in (*_SYSTEM, *_NEVER))


def _too_wide(path: str) -> bool:
    """Whether `path` is the home, lies above it, or is a folder that everybody writes to."""
    path = os.path.realpath(path)
    home = os.path.realpath(os.path.expanduser("~"))
    return path in _SHARED or (home + "/").startswith(path.rstrip("/") + "/")
