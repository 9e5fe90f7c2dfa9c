"""The desktop of one episode: a display, its buses, a window manager and one application, alone in a sandbox.

The worker stays outside and reaches the sockets and files inside through a descriptor of the sandbox's root,
so nothing is written on the machine and nothing can stay behind. A session serves once: a reset is a new one.

Without the sandbox (`DesktopSettings.sandbox`), the same desktop runs as the user, with the user's home: the
files of the profile are not written there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from screensearch.environments.desktop import coverage_hook
from screensearch.environments.desktop.channels import Lines, Pipe, Tail, gone, listener, resolve
from screensearch.environments.desktop.coverage import Covered, measured
from screensearch.environments.desktop.home import Dressing, environment, furnish
from screensearch.environments.desktop.limits import ProcessBound, bound_processes, limited
from screensearch.environments.desktop.programs import accessibility_launcher, missing_packages
from screensearch.environments.desktop.sandbox import (
    HOME,
    PATH,
    RUN,
    UID,
    SessionFailed,
    find_program,
    sweep,
    walls,
)
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings

__all__ = ["AppEnd", "Dressing", "Session", "SessionFailed"]

SCRIPT = Path(__file__).with_name("session.sh")
_MARK = "SCREENSEARCH_SESSION"  # the variable by which a session without walls knows its own
_TAIL_BYTES = 8192
_STOP_SECONDS = 10.0  # the kernel ends a sandbox in milliseconds; longer means that something is badly wrong
_REPORT_SECONDS = 0.2  # for the script to report how a part ended, once it is seen to have ended
_OWN_BYTES = 2**20  # of the bounded file system, for the session's own files
_PARTS = {  # each before those that it takes with it
    "sandbox": "the sandbox (bwrap)",
    "runtime": "the runtime directory",
    "display": "the display (Xvfb)",
    "bus": "the session bus (dbus-daemon)",
    "accessibility": "the accessibility bus (at-spi-bus-launcher)",
    "manager": "the window manager (openbox)",
}
_SPEAKING = ("display", "bus", "accessibility", "manager")  # in the order that the script knows


@dataclass(frozen=True, slots=True)
class AppEnd:
    """How the process of the application ended: with a status, or by a signal (``"SIGSEGV"``).

    A shell that started the real program hands on 128+N for signal N: that counts as the signal.
    """

    status: int | None
    signal: str | None

    @classmethod
    def from_shell(cls, status: int) -> AppEnd:
        """What a shell calls `status`."""
        if status > 128:
            with contextlib.suppress(ValueError):
                return cls(None, signal.Signals(status - 128).name)
        return cls(status, None)

    @property
    def clean(self) -> bool:
        return self.status == 0

    def describe(self) -> str:
        return f"was killed by {self.signal}" if self.signal else f"exited with status {self.status}"


class Session:
    """A running desktop. Made by `start`; the application runs after `launch`; gone after `stop`.

    Connect to the sockets and open the framebuffer before `launch`: from then on a hostile program inside may
    put something else in their places. The session itself opens nothing there any more but ``/proc``, which
    the walls keep in its place.
    """

    display_socket: Path
    session_bus: Path
    accessibility_bus: Path
    accessibility_address: str  # of the same, as the programs inside know it
    framebuffer: Path
    uid: int  # of the programs inside, as they and the buses see it
    pid: int  # of the init of the sandbox (without one: of the session's script), as seen from here
    process_bound: ProcessBound  # what keeps the programs inside from becoming too many
    app_pid: int | None  # of the application, as seen inside; known after `launch`
    # Done when the application's process has ended by itself or with `stop`, not when the desktop died first.
    app_end: asyncio.Future[AppEnd]
    # Done when a part of the desktop has died: which, and how. Pending after a plain `stop`.
    broken: asyncio.Future[str]

    def __init__(self, app: AppSettings, desktop: DesktopSettings, dressing: Dressing) -> None:
        self._app, self._desktop, self._dressing = app, desktop, dressing
        program = find_program(app.command[0], path=PATH if desktop.sandbox else os.environ.get("PATH", PATH))
        self._command = [program, *app.command[1:], *([dressing.document] if dressing.document else [])]
        self.covered: Covered | None = Covered(app.coverage) if app.coverage else None
        if self.covered is not None:
            self._command = measured(self._command)
        self._loop = loop = asyncio.get_running_loop()
        self.uid = UID if desktop.sandbox else os.getuid()
        self.process_bound = ProcessBound.NONE
        self.app_pid = None
        self.app_end = loop.create_future()
        self.broken = loop.create_future()
        self._begun: asyncio.Future[None] = loop.create_future()
        self._ready: asyncio.Future[None] = loop.create_future()
        self._launched: asyncio.Future[int] = loop.create_future()
        self._words = Tail(_TAIL_BYTES)  # of the sandbox and the script
        self._said = {part: Tail(_TAIL_BYTES) for part in _SPEAKING}
        self._output = Tail(_TAIL_BYTES)  # of the application
        self._process: subprocess.Popen[bytes] | None = None
        self._pipes: list[Pipe] = []
        self._watched: dict[int, str] = {}  # pidfd: part
        self._ends: dict[str, str] = {}  # part: how it ended
        self._orders = -1  # descriptors, once they are open
        self._root = -1
        self._init = -1
        self._inside = RUN  # the runtime directory, as seen inside
        self._folder: str | None = None  # the same without a sandbox: a folder of this machine
        self._stopping = False
        self._stopped: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, app: AppSettings, desktop: DesktopSettings, dressing: Dressing) -> Session:
        """A desktop that is up, the application not yet started; or a `SessionFailed`, and nothing left.

        The thread that calls this must outlive the session: the kernel ends the sandbox with it.
        """
        if missing := missing_packages(sandbox=desktop.sandbox):
            raise SessionFailed(f"a live desktop needs {', '.join(missing)}: apt install {' '.join(missing)}")
        if not app.command:
            raise SessionFailed("app.command is empty: there is no application to start")
        session = cls(app, desktop, dressing)
        try:
            async with asyncio.timeout(desktop.start_seconds):
                await session._come_up()
        except TimeoutError as error:
            await session.stop()
            raise SessionFailed(
                f"the desktop did not come up within {desktop.start_seconds:g} s{session._last_words()}"
            ) from error
        except BaseException:  # also when cancelled: nothing may stay behind
            await session.stop()
            raise
        return session

    async def launch(self) -> None:
        """Start the application. Its window comes when it comes; its end is `app_end`."""
        self._order("launch")
        await self._reached(self._launched)
        self.app_pid = self._launched.result()

    def output(self) -> str:
        """The end of what the application has written to its standard output and error."""
        return self._output.text()

    def processes(self) -> set[int]:
        """The programs that run inside now, as they count themselves; empty without a sandbox."""
        if not self._desktop.sandbox or self._root == -1:
            return set()
        with contextlib.suppress(OSError):
            return {int(name) for name in os.listdir(self._seen("/proc")) if name.isdigit()}
        return set()

    def runs(self, process: int) -> bool:
        """Whether a program inside has not ended; one that has, and was not asked how, is only a name."""
        with contextlib.suppress(OSError):
            stat = self._seen(f"/proc/{process}/stat").read_text(errors="replace")
            return not stat.rpartition(")")[2].lstrip().startswith(("Z", "X"))
        return False

    def processor_seconds(self, process: int) -> float:
        """How long a program inside has kept a processor busy so far; 0 when it has ended."""
        with contextlib.suppress(OSError):
            stat = self._seen(f"/proc/{process}/stat").read_text(errors="replace")
            of_its_own, of_the_kernel = stat.rpartition(")")[2].split()[11:13]
            return (int(of_its_own) + int(of_the_kernel)) / os.sysconf("SC_CLK_TCK")
        return 0.0

    async def stop(self) -> None:
        """End everything. Safe to call twice; on return every process of the session is gone."""
        if self._stopped is None:
            self._stopped = asyncio.create_task(self._end())
        await asyncio.shield(self._stopped)

    async def _come_up(self) -> None:
        self._process, info = self._spawn()
        with info:
            self._watch(os.pidfd_open(self._process.pid), "sandbox")
            await self._reached(self._begun)
            self.pid = json.load(info)["child-pid"] if self._desktop.sandbox else self._process.pid
        self._init = os.pidfd_open(self.pid)
        self._watch(os.dup(self._init), "sandbox")
        self._root = os.open(f"/proc/{self.pid}/root", os.O_PATH | os.O_DIRECTORY)
        self._run = self._seen(self._inside)
        self.session_bus = self._run / "bus"
        self.framebuffer = self._run / "Xvfb_screen0"
        home = self._seen(HOME) if self._desktop.sandbox else None
        furnished = asyncio.to_thread(
            furnish, self._app, self._dressing, run=self._run, inside=self._inside, home=home
        )
        if self._desktop.sandbox:
            bounded = asyncio.to_thread(bound_processes, self.pid, self._desktop.process_limit)
            self.process_bound, _ = await asyncio.gather(bounded, furnished)
        else:
            await furnished
        self._order("furnished")
        await self._reached(self._ready)
        for path, part in (
            (self.display_socket, "display"),
            (self.session_bus, "bus"),
            (self.accessibility_bus, "accessibility"),
        ):
            try:
                self._watch(listener(path), part)
            except OSError as error:
                raise SessionFailed(f"{_PARTS[part]} is up, but not reached at {path}: {error}") from error

    def _spawn(self) -> tuple[subprocess.Popen[bytes], BinaryIO]:
        """The script, behind walls if there are to be any, and where bwrap says which process is the init."""
        given: list[int] = []  # descriptors for the script, closed here
        with contextlib.ExitStack() as undone:  # if it fails
            try:
                orders, self._orders = os.pipe()
                given.append(orders)
                takers = (Lines(self._report).take, self._words.take, self._output.take)
                for take in (*takers, *(self._said[part].take for part in _SPEAKING)):
                    ours, theirs = os.pipe()
                    given.append(theirs)
                    self._pipes.append(Pipe(ours, take))
                told, tells = os.pipe()
                given.append(tells)
                info = undone.enter_context(os.fdopen(told, "rb"))
                _, reports, words, *outputs, _ = given
                arguments = self._walled(tells, given)
                variables = environment(
                    self._app, self._dressing, run=self._inside, sandbox=self._desktop.sandbox
                )
                if not self._desktop.sandbox:
                    variables[_MARK] = self._inside
                if self.covered is not None:
                    descriptors, variables[coverage_hook.VARIABLE] = self.covered.open()
                    given += descriptors
                process = subprocess.Popen(  # noqa: S603
                    [*arguments, *map(str, outputs), *self._command],
                    stdin=orders,
                    stdout=reports,
                    stderr=words,
                    pass_fds=given[3:],
                    # Not the worker's and --clearenv: what bwrap is started with is in /proc/1/environ.
                    env=variables,
                    start_new_session=True,  # an interrupt of the worker is the worker's to handle
                )
            except OSError as error:
                raise SessionFailed(f"{_PARTS['sandbox']} cannot be started: {error}") from error
            finally:
                for descriptor in given:
                    os.close(descriptor)
            undone.pop_all()
        return process, info

    def _walled(self, info: int, given: list[int]) -> list[str]:
        """The script on a command line, up to its descriptors; those that the walls need come to `given`."""
        desktop = self._desktop
        if desktop.sandbox:
            screen_bytes = desktop.width * desktop.height * 4
            built = walls(
                self._command,
                script=SCRIPT,
                info=info,
                home_bytes=desktop.home_megabytes * 2**20 + screen_bytes + _OWN_BYTES,
            )
            given += built.descriptors
            arguments = limited(
                built.arguments,
                memory_bytes=desktop.memory_megabytes * 2**20,
                processes=desktop.process_limit,
            )
            arguments += ["sh", "/session.sh", self._inside, ":0"]
        else:
            self._folder = self._inside = tempfile.mkdtemp(prefix="screensearch-")
            arguments = ["sh", str(SCRIPT), self._inside, "-"]
        return [*arguments, f"{desktop.width}x{desktop.height}x24", accessibility_launcher()]

    def _seen(self, path: str) -> Path:
        """Where `path` inside is, seen from this process (and from others while this one lives)."""
        return Path(f"/proc/{os.getpid()}/fd/{self._root}{path}")

    def _report(self, line: str) -> None:
        """Take a line of the script. A hostile program may have written it: nonsense is kept as words."""
        try:
            self._take(*line.split())
        except (TypeError, ValueError, KeyError):
            self._words.take(line.encode() + b"\n")

    def _take(self, word: str, subject: str = "", status: str = "") -> None:
        match word:
            case "begun":
                resolve(self._begun, None)
            case "display" if not self._ready.done():
                self.display_socket = self._seen(f"/tmp/.X11-unix/X{int(subject)}")  # noqa: S108
            case "accessibility" if not self._ready.done():
                self.accessibility_bus = self._seen(_socket_path(subject))
                self.accessibility_address = subject
            case "ready":
                resolve(self._ready, None)
            case "launched":
                resolve(self._launched, int(subject))
            case "failed":
                self._died(subject, self._ends.get(subject, "did not come up"))
                self._break()  # before the script's own end, which follows
            case "ended" if subject != "app":
                self._died(subject, AppEnd.from_shell(int(status)).describe())
            case "ended" if not self._dead():
                self._drain()
                resolve(self.app_end, AppEnd.from_shell(int(status)))

    def _dead(self) -> list[str]:
        """The parts whose processes are gone: an application that ends with them has not ended by itself."""
        poll = select.poll()
        for descriptor in self._watched:
            poll.register(descriptor, select.POLLIN)
        return [self._watched[descriptor] for descriptor, _ in poll.poll(0)]

    def _watch(self, descriptor: int, part: str) -> None:
        def ended() -> None:
            self._loop.remove_reader(descriptor)
            self._died(part)

        self._watched[descriptor] = part
        self._loop.add_reader(descriptor, ended)

    def _died(self, part: str, how: str = "") -> None:
        """One part takes others with it: in a moment all is known, and the cause is named."""
        if part not in _PARTS:
            raise KeyError(part)
        if not self._ends:
            self._loop.call_later(_REPORT_SECONDS, self._break)
        self._ends[part] = how or self._ends.get(part, "ended")

    def _break(self) -> None:
        if not self._stopping:
            part = next(part for part in _PARTS if part in self._ends)
            resolve(self.broken, f"{_PARTS[part]} {self._ends[part]}{self._last_words(part)}")

    async def _reached(self, step: asyncio.Future[Any]) -> None:
        """Wait for a step of the script; the desktop breaking first is a `SessionFailed`."""
        await asyncio.wait({step, self.broken}, return_when=asyncio.FIRST_COMPLETED)
        if not step.done():
            raise SessionFailed(self.broken.result())

    def _last_words(self, part: str = "") -> str:
        """What the part that failed said last, and what the sandbox and the script said."""
        self._drain()
        text = (self._said[part].text() if part in self._said else "") + self._words.text()
        words = " / ".join(line.strip() for line in text.splitlines()[-6:] if line.strip())
        return f" (its last words: {words})" if words else ""

    def _drain(self) -> None:
        """Take what was written before the end that is about to be told, and not yet read."""
        for pipe in self._pipes[1:]:  # the first brings reports, of which one may be what is handled now
            pipe.drain()

    def _order(self, line: str) -> None:
        if self._orders == -1:
            raise SessionFailed(f"the session has been stopped and cannot {line}")
        try:
            os.write(self._orders, line.encode() + b"\n")
        except BrokenPipeError as error:
            raise SessionFailed(f"the session is gone and cannot {line}{self._last_words()}") from error

    async def _end(self) -> None:
        self._stopping = True
        try:
            if self._process is not None:
                await self._end_processes(self._process)
        finally:
            while self._pipes:
                self._pipes.pop().close()
            if self.covered is not None:
                self.covered.close()
            for descriptor in self._watched:
                self._loop.remove_reader(descriptor)
            for descriptor in (*self._watched, self._orders, self._root, self._init):
                if descriptor != -1:
                    os.close(descriptor)
            self._watched.clear()
            self._orders = self._root = self._init = -1
            resolve(self.app_end, AppEnd(None, "SIGKILL"))
            if self._folder is not None:
                await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _end_processes(self, process: subprocess.Popen[bytes]) -> None:
        """In a sandbox, its init takes all with it and ends last. Without, all that carry the mark end."""
        if self._desktop.sandbox:
            with contextlib.suppress(ProcessLookupError):
                if self._init == -1:
                    process.kill()
                else:
                    signal.pidfd_send_signal(self._init, signal.SIGKILL)
            awaited = [os.dup(self._init)] if self._init != -1 else []
            with contextlib.suppress(ProcessLookupError):  # it has ended, and somebody asked how
                awaited.append(os.pidfd_open(process.pid))
        else:
            awaited = await asyncio.to_thread(sweep, f"{_MARK}={self._folder}")
        try:
            for pidfd in awaited:
                await gone(pidfd, seconds=_STOP_SECONDS)
        finally:
            for pidfd in awaited:
                os.close(pidfd)
        process.wait()


def _socket_path(address: str) -> str:
    """The file of a D-Bus address such as ``unix:path=/run/user/1000/at-spi/bus_0,guid=…``."""
    for part in address.removeprefix("unix:").split(","):
        key, _, value = part.partition("=")
        if key == "path":
            return value
    raise SessionFailed(f"the accessibility bus is at {address!r}, which is not a socket with a path")
