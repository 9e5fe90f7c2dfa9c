"""The programs that a desktop is made of: which package brings each, and which of them are missing here."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from screensearch.environments.desktop.sandbox import SessionFailed

LAUNCHER_PACKAGE = "at-spi2-core"

_LAUNCHERS = (
    "/usr/libexec/at-spi-bus-launcher",
    "/usr/lib/at-spi2-core/at-spi-bus-launcher",
    "/usr/lib/at-spi2/at-spi-bus-launcher",
    "/usr/lib/at-spi-bus-launcher",
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the desktop: the Debian package that brings it, and what it is there for."""

    package: str
    purpose: str
    version_flag: str = ""  # makes it say its version, if it does
    of_the_walls: bool = False  # without a sandbox it is not needed


PROGRAMS = {
    "bwrap": Program("bubblewrap", "the sandbox", "--version", of_the_walls=True),
    "prlimit": Program("util-linux", "the limits of the sandbox", "--version", of_the_walls=True),
    "choom": Program("util-linux", "who gives way when memory is short", "--version", of_the_walls=True),
    "nsenter": Program("util-linux", "the number of processes", "--version", of_the_walls=True),
    "Xvfb": Program("xvfb", "the display"),
    "dbus-daemon": Program("dbus-daemon", "the session bus", "--version"),
    "dbus-send": Program("dbus-bin", "questions to the buses"),
    "openbox": Program("openbox", "the window manager", "--version"),
}


def missing_packages(*, sandbox: bool = True) -> tuple[str, ...]:
    """The Debian packages that a session needs and that are not there."""
    absent = [
        program.package
        for name, program in PROGRAMS.items()
        if (sandbox or not program.of_the_walls) and shutil.which(name) is None
    ]
    if not any(os.access(path, os.X_OK) for path in _LAUNCHERS):
        absent.append(LAUNCHER_PACKAGE)
    return tuple(dict.fromkeys(absent))


def accessibility_launcher() -> str:
    """The program that brings the accessibility bus."""
    for path in _LAUNCHERS:
        if os.access(path, os.X_OK):
            return path
    raise SessionFailed(f"there is no at-spi-bus-launcher here (Debian package {LAUNCHER_PACKAGE})")
