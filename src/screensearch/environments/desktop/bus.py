"""A connection to a D-Bus daemon: calls with deadlines, many at once, and signals as they come.

The only module that knows dbus_fast, of which it takes the decoder of messages. Its errors, and those
of the socket, become ours here. Calls are collected and written together once per turn of the event
loop: on the way to an application a message costs more than what it says.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio.message_reader import build_message_reader

from screensearch.environments.desktop.atspi import DAEMON, DAEMON_PATH, Call
from screensearch.environments.desktop.wire import Envelopes
from screensearch.errors import EnvironmentFailed

# Whatever goes wrong below ends in `Bus.closed`, with the reason; the library would print it as well.
logging.getLogger("dbus_fast").addHandler(logging.NullHandler())

IN_FLIGHT = 64
"""Calls under way at once. Without a bound the buffers on the way fill, and the daemon drops us."""


class BusFailed(EnvironmentFailed):
    """The connection to the bus could not be made, or is lost."""


class CallFailed(EnvironmentFailed):
    """A call was answered with an error: the object is gone, or has no such method."""


class CallTimedOut(CallFailed):
    """A call was not answered in time."""


Reply = list[Any] | CallFailed
"""What a call came to: the body of the answer, or why there is none."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal as it came."""

    sender: str
    path: str
    interface: str
    member: str
    body: list[Any]


class Bus:
    """One connection. Its callbacks run in the event loop that opened it, and must not block."""

    def __init__(self, connection: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = connection
        self._serial = 0
        self._envelopes = Envelopes()
        self._outgoing: list[bytes] = []
        self._writing = False
        self._waiting: dict[int, Callable[[Reply], None]] = {}
        self._on_signal: list[Callable[[Signal], None]] = []
        self.name = ""
        """Our own name on the bus."""
        self.calls = 0
        self.closed: asyncio.Future[str] = self._loop.create_future()
        """Done, with the reason, once the connection is lost or closed."""
        self._loop.add_reader(connection, build_message_reader(connection, self._receive, self._lost, False))

    @classmethod
    async def connect(cls, path: Path, uid: int, *, seconds: float) -> Bus:
        """Connect to the daemon behind the socket `path`, as the user whom the daemon knows by `uid`."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        close: Callable[[], None] = connection.close
        try:
            async with asyncio.timeout(seconds):
                await _introduce(connection, str(path), uid)
                bus = cls(connection)
                close = bus.close  # which also takes it from the loop
                bus.name = (await bus.call(DAEMON, DAEMON_PATH, DAEMON, "Hello", seconds=seconds))[0]
                return bus
        except (TimeoutError, CallTimedOut):
            close()
            raise BusFailed(f"the bus at {path} did not answer within {seconds:g} s") from None
        except (OSError, CallFailed) as problem:
            close()
            raise BusFailed(f"cannot connect to the bus at {path}: {problem}") from problem
        except BaseException:  # also when cancelled: nothing may stay behind
            close()
            raise

    def on_signal(self, callback: Callable[[Signal], None]) -> None:
        """Call this for every signal that a match rule lets through."""
        self._on_signal.append(callback)

    async def add_match(self, rule: str, *, seconds: float) -> None:
        """Ask the daemon for the signals of a rule."""
        await self.call(DAEMON, DAEMON_PATH, DAEMON, "AddMatch", "s", (rule,), seconds=seconds)

    async def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Sequence[Any] = (),
        *,
        seconds: float,
    ) -> list[Any]:
        """One call and its answer. Raises `CallFailed`, `CallTimedOut`, or `BusFailed`."""
        values = tuple(tuple(each) if isinstance(each, list) else each for each in body)
        return await self.ask(Call(destination, path, interface, member, signature, values), seconds=seconds)

    async def ask(self, call: Call, *, seconds: float) -> list[Any]:
        """`call`, with the call as a value."""
        future: asyncio.Future[Reply] = self._loop.create_future()

        def answered(reply: Reply) -> None:
            if not future.done():
                future.set_result(reply)

        serial = self.post(call, answered)
        try:
            async with asyncio.timeout(seconds):
                reply = await future
        except TimeoutError:
            raise CallTimedOut(f"{call.member} of {call.path} was not answered in {seconds:g} s") from None
        finally:
            self.forget(serial)
        if isinstance(reply, CallFailed):
            raise reply
        return reply

    def post(self, call: Call, answered: Callable[[Reply], None]) -> int:
        """Send a call; `answered` is called once, later, unless the serial number is forgotten before."""
        if self.closed.done():
            raise BusFailed(f"the bus is gone: {self.closed.result()}")
        self._serial = serial = self._serial % 0xFFFFFFFF + 1
        self._waiting[serial] = answered
        self.calls += 1
        try:
            sealed = self._envelopes.seal(call, serial)
        except ValueError as problem:
            self._loop.call_soon(self._fail, serial, str(problem))
            return serial
        if not self._outgoing and not self._writing:
            self._loop.call_soon(self._write)
        self._outgoing.append(sealed)
        return serial

    def _fail(self, serial: int, why: str) -> None:
        answered = self._waiting.pop(serial, None)
        if answered is not None:
            answered(CallFailed(why))

    def forget(self, serial: int) -> None:
        """Nobody waits for this answer any more."""
        self._waiting.pop(serial, None)

    def close(self) -> None:
        """Close the connection. Whoever waits is answered with a failure. Safe to call twice."""
        self._end("closed")

    def _write(self) -> None:
        """Write what is there to be written, or as much as there is room for."""
        if self.closed.done():
            return
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as problem:
            self._end(f"{type(problem).__name__}: {problem}")
            return
        if sent < len(data):
            self._outgoing.append(data[sent:])
            if not self._writing:
                self._writing = True
                self._loop.add_writer(self._socket, self._write)
        elif self._writing:
            self._writing = False
            self._loop.remove_writer(self._socket)

    def _receive(self, message: Message) -> None:
        kind = message.message_type
        if kind is MessageType.METHOD_RETURN:
            answered = self._waiting.pop(message.reply_serial, None)
            if answered is not None:
                answered(message.body)
        elif kind is MessageType.SIGNAL:
            signal = Signal(
                message.sender or "",
                message.path or "",
                message.interface or "",
                message.member or "",
                message.body,
            )
            for callback in self._on_signal:
                callback(signal)
        elif kind is MessageType.ERROR:
            answered = self._waiting.pop(message.reply_serial, None)
            if answered is not None:
                detail = message.body[0] if message.body else ""
                answered(CallFailed(f"{message.error_name}: {detail}".strip()))
        # A call of ours to answer? We export nothing; who asks gets no answer, as from a busy program.

    def _lost(self, problem: Exception | None = None) -> None:
        """The decoder ends: the daemon is gone, or sent what is no message."""
        if problem is None or isinstance(problem, EOFError):
            self._end("the daemon closed the connection")
        else:
            self._end(f"{type(problem).__name__}: {problem}")

    def _end(self, reason: str) -> None:
        if self.closed.done():
            return
        self.closed.set_result(reason)
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            answered(CallFailed(f"the bus is gone: {reason}"))


async def _introduce(connection: socket.socket, path: str, uid: int) -> None:
    """Say who we are: the mechanism EXTERNAL, with the name that our user has on the other side."""
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, path)
    await loop.sock_sendall(connection, b"\0AUTH EXTERNAL %b\r\n" % str(uid).encode().hex().encode())
    line = b""
    while not line.endswith(b"\r\n"):
        received = await loop.sock_recv(connection, 512)
        line += received
        if not received or len(line) > 4096:
            raise OSError("it does not speak D-Bus")
    if not line.startswith(b"OK"):
        raise OSError(f"it refused user {uid}: {line.decode('ascii', 'replace').strip()}")
    await loop.sock_sendall(connection, b"BEGIN\r\n")


class Conversation:
    """Many calls in flight at once, where an answer may lead to further calls.

    `ask` may be called from the callbacks themselves. `finish` returns when nothing is left to be asked
    or to be answered, or when time is up; what is unanswered then is forgotten.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._queue: deque[tuple[Call, Callable[[Reply], None]]] = deque()
        self._flying: dict[int, None] = {}
        self._done: asyncio.Future[None] | None = None
        self.puzzles = 0
        """Answers that could not be understood."""

    def ask(self, call: Call, answered: Callable[[Reply], None]) -> None:
        """Ask this as soon as there is room."""
        if self._done is None or len(self._flying) >= IN_FLIGHT:
            self._queue.append((call, answered))
        else:
            self._post(call, answered)

    async def finish(self, seconds: float) -> bool:
        """Ask everything, until nothing is left; False when time ran out. Raises `BusFailed`."""
        self._done = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                self._go_on()
                await self._done
        except TimeoutError:
            return False
        else:
            if self._bus.closed.done():  # then the last answers were none
                raise BusFailed(f"the bus is gone: {self._bus.closed.result()}")
            return True
        finally:
            for serial in self._flying:
                self._bus.forget(serial)
            self._flying.clear()
            self._queue.clear()
            self._done = None

    def _go_on(self) -> None:
        while self._queue and len(self._flying) < IN_FLIGHT:
            self._post(*self._queue.popleft())
        if not self._flying and self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _post(self, call: Call, answered: Callable[[Reply], None]) -> None:
        def landed(reply: Reply) -> None:
            del self._flying[serial]
            try:
                try:
                    answered(reply)
                except (TypeError, ValueError, LookupError, AttributeError):
                    self.puzzles += 1  # an answer of another shape than AT-SPI defines
                if self._queue or not self._flying:
                    self._go_on()
            except BusFailed as problem:
                if self._done is not None and not self._done.done():
                    self._done.set_exception(problem)

        serial = self._bus.post(call, landed)
        self._flying[serial] = None


def first_value(body: Sequence[Any]) -> Any:
    """The one value that was asked for, out of its variant. An answer without any is a failure."""
    if not body:
        raise CallFailed("the answer is empty")
    return plain(body[0])


def plain(value: Any) -> Any:
    """A value out of its variant."""
    return value.value if isinstance(value, Variant) else value
