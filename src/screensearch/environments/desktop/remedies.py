"""Why a layer of the desktop is missing, and what helps: of kernels, containers and toolkits."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from screensearch.environments.desktop.packages import apt_line
from screensearch.environments.desktop.xwindows import XWindow

_SWITCHES = (
    # file below /proc/sys, the value that forbids, the command that allows
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
_CONTAINER_MARKS = (".dockerenv", "run/.containerenv", "run/systemd/container")


def why_no_sandbox(said: str = "", *, root: Path = Path("/")) -> tuple[str, str]:
    """Why bubblewrap, which said this, does not make a sandbox here, and the command that changes it."""
    if "nknown option" in said:
        return (
            "this bubblewrap is too old: a session needs --disable-userns, which 0.8 has",
            f"{apt_line(('bubblewrap',))} (Debian 12, Ubuntu 24.04 or newer)",
        )
    for name, forbids, command in _SWITCHES:
        path = root / "proc/sys" / name
        try:
            value = path.read_text().strip()
        except OSError:
            continue  # this kernel has no such switch
        if value == forbids:
            return f"{name.replace('/', '.')} is {value}, which forbids user namespaces", command
    if any((root / mark).exists() for mark in _CONTAINER_MARKS):
        return (
            "this is a container that may not make namespaces",
            "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--cap-add SYS_ADMIN",
        )
    return (
        "the kernel refuses new namespaces",
        "screensearch explore --unsandboxed (read what it means first)",
    )


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A toolkit by the libraries that its programs load, and why one may publish no tree."""

    name: str
    libraries: tuple[str, ...]  # parts of paths of mapped files
    reason: str
    remedy: str
    mute: bool = False  # none of its programs ever publishes one: there is nothing to wait for


TOOLKITS = (
    Toolkit(
        "Wine",
        ("/wineserver", "/wine/", "ntdll.so"),
        "Wine draws the controls of Windows by itself and has no bridge to the accessibility bus: programs "
        "in it cannot be explored (see docs/explanation/toolkits.md)",
        "",
        mute=True,
    ),
    Toolkit(
        "Chromium",
        ("/libcef.so", "chrome_crashpad", "v8_context_snapshot", "/icudtl.dat"),
        "Chromium and what is built on it publish a tree only when they are told to",
        "add --force-renderer-accessibility to the command",
    ),
    Toolkit(
        "Java",
        ("/libjvm.so",),
        "Java publishes a tree only through the ATK wrapper",
        apt_line(("libatk-wrapper-java", "libatk-wrapper-java-jni")),
    ),
    Toolkit(
        "Qt 6",
        ("/libQt6Gui.so",),
        "Qt publishes a tree through its bridge, which this program seems to be built without",
        "",
    ),
    Toolkit(
        "Qt 5",
        ("/libQt5Gui.so",),
        "Qt publishes a tree through its bridge, which this program seems to be built without",
        "",
    ),
    Toolkit(
        "GTK 2",
        ("/libgtk-x11-2.0.so",),
        "GTK 2 publishes a tree only with two modules: set GTK_MODULES=gail:atk-bridge in app.environment",
        apt_line(("libatk-adaptor", "libgail-common")),
    ),
    Toolkit(
        "LibreOffice",
        ("/libvcllo.so", "/libmergedlo.so"),
        "LibreOffice publishes a tree with its GTK 3 plugin only",
        apt_line(("libreoffice-gtk3",)),
    ),
    Toolkit(
        "GTK 4",
        ("/libgtk-4.so",),
        "GTK 4 publishes a tree by itself: it has not done so in time, or hides it (GTK_A11Y=none)",
        "",
    ),
    Toolkit(
        "GTK 3",
        ("/libgtk-3.so",),
        "GTK 3 publishes a tree by itself: it has not done so in time, or hides it (NO_AT_BRIDGE=1)",
        "",
    ),
    Toolkit("Tk", ("/libtk8", "/libtk9"), "Tk has no bridge to the accessibility bus", ""),
    Toolkit("SDL", ("/libSDL2", "/libSDL-1", "/libSDL3"), "SDL has no bridge to the accessibility bus", ""),
)
"""In the order in which they are recognised: one that is built on another comes first."""


def toolkit_of(mapped: Iterable[str]) -> Toolkit | None:
    """The toolkit of a program, by the files that it has mapped."""
    files = list(mapped)
    for toolkit in TOOLKITS:
        if any(part in file for file in files for part in toolkit.libraries):
            return toolkit
    return None


def processes_in(namespace: int) -> list[int]:
    """The processes of a process namespace, named by its inode."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}/ns/pid").st_ino == namespace:
                    found.append(int(name))
            except OSError:
                continue  # it has ended, or is not ours to ask
    return found


def toolkit_behind(windows: Iterable[XWindow], *, session: int | None) -> Toolkit | None:
    """The toolkit of the programs that these windows belong to, on the desktop of a session's process."""
    proc = Path(f"/proc/{session}/root/proc")  # the windows' processes are counted as inside
    return toolkit_of(
        file for each in windows if each.pid is not None for file in mapped_files(each.pid, proc)
    )


def mapped_files(process: int, proc: Path = Path("/proc")) -> set[str]:
    """The files that a process has mapped; nothing if it has ended."""
    try:
        lines = (proc / str(process) / "maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    return {words[5] for line in lines if len(words := line.split(maxsplit=5)) == 6 and words[5][0] == "/"}
