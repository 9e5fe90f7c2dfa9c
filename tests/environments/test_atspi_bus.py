"""The connection: what it sends is D-Bus, what it meets becomes our own errors."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Message, MessageType
from dbus_fast.aio.message_reader import build_message_reader
from hypothesis import given
from hypothesis import strategies as st

from screensearch.environments.desktop.atspi import Call
from screensearch.environments.desktop.bus import Bus, BusFailed, CallFailed, CallTimedOut, Conversation
from screensearch.environments.desktop.wire import Envelopes

TEXTS = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), max_size=40)
VALUES: dict[str, st.SearchStrategy[object]] = {
    "s": TEXTS,
    "i": st.integers(-(2**31), 2**31 - 1),
    "u": st.integers(0, 2**32 - 1),
    "as": st.lists(TEXTS, max_size=3).map(tuple),
}
PATHS = st.lists(st.from_regex(r"[A-Za-z0-9_]{1,9}", fullmatch=True), max_size=5).map(
    lambda p: "/" + "/".join(p)
)


def decode(data: bytes) -> Message:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        messages: list[Message] = []
        ours.sendall(data)
        build_message_reader(theirs, messages.append, lambda problem: None, False)()
    (message,) = messages
    return message


@given(
    st.lists(st.sampled_from(sorted(VALUES)), max_size=4).flatmap(
        lambda kinds: st.tuples(st.just("".join(kinds)), st.tuples(*(VALUES[kind] for kind in kinds)))
    ),
    PATHS,
    st.integers(1, 2**32 - 1),
)
def test_a_sealed_call_is_read_back_as_it_was(
    body: tuple[str, tuple[object, ...]], path: str, serial: int
) -> None:
    signature, values = body
    envelopes = Envelopes()
    for destination in (":1.42", "org.example.Name"):  # the second time from what is kept
        call = Call(destination, path, "org.example.Face", "Do", signature, values)
        message = decode(envelopes.seal(call, serial))
        assert (message.message_type, message.serial) == (MessageType.METHOD_CALL, serial)
        assert (message.destination, message.path) == (destination, path)
        assert (message.interface, message.member) == ("org.example.Face", "Do")
        assert message.signature == signature
        assert message.body == [list(each) if isinstance(each, tuple) else each for each in values]


Answer = Callable[[Message], bytes]


@asynccontextmanager
async def a_daemon(path: Path, answer: Answer, *, greeting: bytes = b"OK 1234\r\n") -> AsyncIterator[None]:
    """A socket that behaves like a D-Bus daemon as far as a test needs."""

    served: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n")
            writer.write(greeting)
            if greeting.startswith(b"OK") and await reader.readuntil(b"\r\n"):
                while not writer.is_closing():
                    start = await reader.readexactly(16)
                    body, fields = (int.from_bytes(start[at : at + 4], "little") for at in (4, 12))
                    rest = await reader.readexactly(-(-fields // 8) * 8 + body)
                    writer.write(answer(decode(start + rest)))
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()
        tasks = asyncio.gather(*(task for task in served if task is not None), return_exceptions=True)
        await asyncio.wait_for(tasks, 5)  # or somebody has left a connection open


def returned(call: Message, *values: str) -> bytes:
    reply = Message.new_method_return(call, "s" * len(values), list(values))
    reply.serial = 1
    return bytes(reply._marshall(False))


def failed(call: Message) -> bytes:
    reply = Message.new_error(call, "org.example.Error.Gone", "it is gone")
    reply.serial = 1
    return bytes(reply._marshall(False))


async def test_a_call_gets_its_answer_its_error_or_its_deadline(tmp_path: Path) -> None:
    def answer(call: Message) -> bytes:
        match call.member:
            case "Hello":
                return returned(call, ":1.7")
            case "Good":
                return returned(call, "yes")
            case "Bad":
                return failed(call)
        return b""

    async with a_daemon(tmp_path / "bus", answer):
        bus = await Bus.connect(tmp_path / "bus", 1000, seconds=5)
        assert bus.name == ":1.7"
        assert await bus.call("a.b", "/x", "a.b", "Good", seconds=5) == ["yes"]
        with pytest.raises(CallFailed, match="it is gone"):
            await bus.call("a.b", "/x", "a.b", "Bad", seconds=5)
        with pytest.raises(CallTimedOut):
            await bus.call("a.b", "/x", "a.b", "Never", seconds=0.02)
        bus.close()
        bus.close()
        assert bus.closed.result() == "closed"
        with pytest.raises(BusFailed):
            await bus.call("a.b", "/x", "a.b", "Good", seconds=5)


async def test_a_conversation_asks_more_than_may_be_in_flight_and_ends(tmp_path: Path) -> None:
    async with a_daemon(tmp_path / "bus", lambda call: returned(call, call.path or "")):
        bus = await Bus.connect(tmp_path / "bus", 1000, seconds=5)
        conversation, answers = Conversation(bus), list[str]()

        def answered(reply: list[str] | CallFailed) -> None:
            assert not isinstance(reply, CallFailed)
            answers.append(reply[0])
            if reply[0] == "/first/7":
                for number in range(300):
                    conversation.ask(Call("a.b", f"/second/{number}", "a.b", "Echo"), answered)

        for number in range(300):
            conversation.ask(Call("a.b", f"/first/{number}", "a.b", "Echo"), answered)
        assert await conversation.finish(10)
        assert sorted(answers) == sorted(f"/{kind}/{n}" for kind in ("first", "second") for n in range(300))
        bus.close()


async def test_a_conversation_with_nobody_ends_in_time(tmp_path: Path) -> None:
    async with a_daemon(tmp_path / "bus", lambda call: returned(call, "") if call.member == "Hello" else b""):
        bus = await Bus.connect(tmp_path / "bus", 1000, seconds=5)
        conversation = Conversation(bus)
        conversation.ask(Call("a.b", "/x", "a.b", "Never"), lambda reply: None)
        assert not await conversation.finish(0.02)
        assert await conversation.finish(5)  # and nothing is left of it
        bus.close()


async def test_a_lost_daemon_fails_whoever_waits_and_says_why(tmp_path: Path) -> None:
    async with a_daemon(
        tmp_path / "bus", lambda call: returned(call, "") if call.member == "Hello" else b"\xff" * 64
    ):
        bus = await Bus.connect(tmp_path / "bus", 1000, seconds=5)
        with pytest.raises(CallFailed, match="the bus is gone"):
            await bus.call("a.b", "/x", "a.b", "Nonsense", seconds=5)
        assert "Error" in bus.closed.result()


@pytest.mark.parametrize("greeting", [b"REJECTED EXTERNAL\r\n", b"", b"x" * 5000])
async def test_who_does_not_let_us_in_is_named(tmp_path: Path, greeting: bytes) -> None:
    async with a_daemon(tmp_path / "bus", lambda call: b"", greeting=greeting):
        with pytest.raises(BusFailed, match=str(tmp_path)):
            await Bus.connect(tmp_path / "bus", 1000, seconds=5)


@pytest.mark.parametrize("greeting", [b"OK 1234\r\n", b"OK"])
async def test_a_daemon_that_falls_silent_leaves_nothing_open(tmp_path: Path, greeting: bytes) -> None:
    async with a_daemon(tmp_path / "bus", lambda call: b"", greeting=greeting):
        before = descriptors()
        with pytest.raises(BusFailed, match="did not answer within"):
            await Bus.connect(tmp_path / "bus", 1000, seconds=0.05)
        await until_as(before)
        # A reader that stayed would now be told of whatever got the number of the closed socket.
        assert_no_reader_but_of(before)


async def test_a_connection_that_is_given_up_leaves_nothing_open(tmp_path: Path) -> None:
    asked = asyncio.Event()

    def answer(call: Message) -> bytes:
        asked.set()
        return b""

    async with a_daemon(tmp_path / "bus", answer):
        before = descriptors()
        connecting = asyncio.ensure_future(Bus.connect(tmp_path / "bus", 1000, seconds=5))
        await asked.wait()
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await until_as(before)
        assert_no_reader_but_of(before)


def descriptors() -> set[int]:
    """Those that are open, without the one that it takes to list them."""
    return {int(each) for each in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{each}")}


async def until_as(before: set[int]) -> None:
    """Wait until no more descriptors are open than there were; the daemon's side follows ours."""
    async with asyncio.timeout(5):
        while descriptors() - before:  # noqa: ASYNC110 - a descriptor has no event
            await asyncio.sleep(0.01)


def assert_no_reader_but_of(before: set[int]) -> None:
    loop: Any = asyncio.get_running_loop()
    assert set(loop._selector.get_map()) <= before


async def test_a_missing_socket_is_named(tmp_path: Path) -> None:
    with pytest.raises(BusFailed, match="nowhere"):
        await Bus.connect(tmp_path / "nowhere", 1000, seconds=5)


NONSENSE = {
    "no path": Call(":1.2", "", "org.example.Face", "Do"),
    "a path that is none": Call(":1.2", "/a//b", "org.example.Face", "Do"),
    "no name": Call("", "/a", "org.example.Face", "Do"),
    "a name that is none": Call("the application", "/a", "org.example.Face", "Do"),
    "a number too big": Call(":1.2", "/a", "org.example.Face", "Do", "i", (2**40,)),
}


@pytest.mark.parametrize("what", NONSENSE)
async def test_what_the_daemon_would_drop_us_for_is_not_sent(tmp_path: Path, what: str) -> None:
    heard: list[str] = []

    def answer(call: Message) -> bytes:
        heard.append(call.member or "")
        return returned(call, "yes")

    async with a_daemon(tmp_path / "bus", answer):
        bus = await Bus.connect(tmp_path / "bus", 1000, seconds=5)
        with pytest.raises(CallFailed):
            await bus.ask(NONSENSE[what], seconds=5)
        conversation = Conversation(bus)
        replies: list[object] = []
        conversation.ask(NONSENSE[what], replies.append)
        assert await conversation.finish(5)
        assert isinstance(replies[0], CallFailed)
        assert await bus.call(":1.2", "/a", "org.example.Face", "Fine", seconds=5) == ["yes"]
        bus.close()
    assert "Do" not in heard
