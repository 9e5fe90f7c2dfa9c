"""What an application is started with, and how its desktop is watched: the tables [app] and [desktop]."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from screensearch.domain.keys import parse_combination
from screensearch.errors import FormatError, SettingsError

DISPLAY_MODES = ("light", "dark")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFile:
    """A file of the home template: its path below the home, and its text or the file it is copied from."""

    path: str
    text: str = ""
    source: str = ""  # a file or folder of this machine, instead of `text`; copied into every new home


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Size and place of the first window, in pixels of the screen."""

    width: int
    height: int
    x: int = 0
    y: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStep:
    """One step of the start script: exactly one of these, done once the one before has settled.

    `click` and `double_click` name an element by its text, `press` names a key such as ``Return`` or
    ``ctrl+o``, `type` is typed into what has the focus, `wait_for` waits until an element with that
    text shows.
    """

    click: str = ""
    double_click: str = ""
    press: str = ""
    type: str = ""
    wait_for: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSettings:
    """An application: how it is started, with what in its home, and what varies between episodes."""

    name: str = ""  # what it is called here; empty: the name of its command
    title: str = ""  # for people: "Mousepad, a text editor (GTK 3)"
    command: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # Debian packages that bring it
    also: tuple[str, ...] = ()  # names on the accessibility bus of further programs that belong to it
    environment: tuple[str, ...] = ()  # NAME=value
    files: tuple[SeedFile, ...] = ()
    start: tuple[StartStep, ...] = ()
    display_modes: tuple[str, ...] = ("light",)  # each episode takes one
    text_scales: tuple[float, ...] = (1.0,)  # each episode takes one
    placements: tuple[Placement, ...] = ()  # each episode takes one; none: as the application likes
    documents: tuple[str, ...] = ()  # each episode appends one to the command; none: nothing
    coverage: tuple[str, ...] = ()  # folders or packages of its Python whose run lines are counted; none: not

    def __post_init__(self) -> None:
        if any("\0" in word for word in self.command) or (self.command and not self.command[0]):
            raise SettingsError(f"app.command = {list(self.command)!r} is not a command line")
        for mode in self.display_modes:
            if mode not in DISPLAY_MODES:
                raise SettingsError(f"app.display_modes holds {mode!r}; known are {', '.join(DISPLAY_MODES)}")
        if not self.display_modes or not self.text_scales:
            raise SettingsError("app.display_modes and app.text_scales need at least one value each")
        for scale in self.text_scales:
            if not 0.5 <= scale <= 4:
                raise SettingsError(f"app.text_scales holds {scale!r}, which is not in [0.5, 4]")
        for each in self.environment:
            if not _VARIABLE.fullmatch(each) or "\0" in each:
                raise SettingsError(f"app.environment holds {each!r}, which is not of the form NAME=value")
        for number, file in enumerate(self.files):
            path = PurePosixPath(file.path)
            if not file.path or path.is_absolute() or ".." in path.parts:
                raise SettingsError(
                    f"app.files[{number}].path is {file.path!r}; paths are relative and below the home"
                )
            if file.text and file.source:
                raise SettingsError(
                    f"app.files[{number}] gives {file.path!r} both a text and a source: choose one"
                )
        for number, place in enumerate(self.placements):
            if not (place.width >= 50 and place.height >= 50 and place.x >= 0 and place.y >= 0):
                raise SettingsError(
                    f"app.placements[{number}] is {place}: at least 50×50 pixels, on the screen"
                )
        for number, step in enumerate(self.start):
            if step.press:
                try:
                    parse_combination(step.press)
                except FormatError as problem:
                    raise SettingsError(
                        f"app.start[{number}].press is {step.press!r}: {problem}"
                    ) from problem
            given = [name for name in StartStep.__slots__ if getattr(step, name)]
            if len(given) != 1:
                raise SettingsError(
                    f"app.start[{number}] has {' and '.join(given) or 'nothing'}; each step is exactly "
                    f"one of {', '.join(StartStep.__slots__)}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class DesktopSettings:
    """The desktop of a worker: its screen, its walls, and how long anything may take."""

    sandbox: bool = True  # false: the application runs as you, with your files and your network
    width: int = 1024  # [320, 7680] pixels
    height: int = 768  # [240, 4320] pixels
    home_megabytes: int = 256  # [1, 65536] home, /tmp and runtime directory together may hold so much
    memory_megabytes: int = 4096  # [256, 1048576] each process may take so much for itself
    process_limit: int = 1000  # [400, 30000] processes and threads of a desktop
    start_seconds: float = 30.0  # (0, 600] for the first window to show its elements
    start_quiet_seconds: float = 0.2  # (0, 10] the same after the start, when much is still being filled in
    quiet_seconds: float = 0.05  # (0, 10] without an event or a changed pixel: the screen has settled
    settle_seconds: float = 2.0  # (0, 60] a screen that has not settled by then is taken as it is
    window_seconds: float = 1.5  # (0, 60] for the window of another program that an action started
    hang_seconds: float = 5.0  # (0, 600] an application that answers nothing for so long is slow, or hangs
    grace_seconds: float = 20.0  # [0, 600] one that answers nothing for so much longer hangs
    wait_seconds: float = 0.5  # (0, 60] how long the action `wait` lasts at most
    node_limit: int = 4000  # [1, 1000000] elements of a tree; a longer one is partial
    depth_limit: int = 60  # [1, 1000] levels of a tree; a deeper one is partial
    walk_seconds: float = 4.0  # (0, 600] for a full walk; a longer one is partial
    check_every: int = 50  # [0, ∞) observations between two checks of the mirror by a full walk; 0: never

    def __post_init__(self) -> None:
        for name, low, high in (
            ("width", 320, 7680),
            ("height", 240, 4320),
            ("home_megabytes", 1, 65536),
            ("memory_megabytes", 256, 1_048_576),
            ("process_limit", 400, 30_000),
            ("node_limit", 1, 1_000_000),
            ("depth_limit", 1, 1000),
            ("check_every", 0, math.inf),
            ("grace_seconds", 0, 600),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise SettingsError(f"desktop.{name} is {value}, which is not in [{low}, {high}]")
        for name, longest in (
            ("start_seconds", 600),
            ("start_quiet_seconds", 10),
            ("quiet_seconds", 10),
            ("settle_seconds", 60),
            ("window_seconds", 60),
            ("hang_seconds", 600),
            ("wait_seconds", 60),
            ("walk_seconds", 600),
        ):
            value = getattr(self, name)
            if not 0 < value <= longest:
                raise SettingsError(f"desktop.{name} is {value}, which is not in (0, {longest}]")
