"""A client of the SDK's own, held open in a thread, so that tests of one module share a server process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

T = TypeVar("T")

SECONDS = 120  # for an answer, on a machine with other things to do


class Asked:
    """A server that runs: call its tools, read its resources."""

    def __init__(self, client: Client, loop: asyncio.AbstractEventLoop) -> None:
        self.client = client
        self._loop = loop

    def wait(self, doing: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(SECONDS)

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        found = self.wait(self.client.call_tool(tool, arguments))
        assert isinstance(found, CallToolResult)
        return found

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; its text is the same for those who cannot read that."""
        found = self.result(tool, **arguments)
        assert not found.is_error, found.content
        assert isinstance(found.content[0], TextContent)
        assert json.loads(found.content[0].text) == found.structured_content
        return dict(found.structured_content or {})

    def refusal(self, tool: str, **arguments: Any) -> str:
        """What a tool says when it cannot answer."""
        found = self.result(tool, **arguments)
        assert found.is_error
        assert isinstance(found.content[0], TextContent)
        return found.content[0].text


def server_of(*arguments: Path | str) -> StdioServerParameters:
    command = ["-W", "error", "-m", "screensearch", "mcp", *map(str, arguments)]
    return StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))


@contextmanager
def asked(server: Any) -> Iterator[Asked]:
    """A client of a server, for as long as the body takes."""
    loop = asyncio.new_event_loop()
    over, ready = asyncio.Event(), threading.Event()
    held: list[Client] = []
    problems: list[BaseException] = []

    async def hold() -> None:
        try:
            async with Client(server, read_timeout_seconds=SECONDS) as client:
                held.append(client)
                ready.set()
                await over.wait()
        except BaseException as problem:
            problems.append(problem)
            raise
        finally:
            ready.set()

    def run() -> None:
        try:
            loop.run_until_complete(hold())
        except Exception:  # kept in `problems`
            return
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(SECONDS)
    if not held:
        thread.join(SECONDS)
        raise problems[0]
    try:
        yield Asked(held[0], loop)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(SECONDS)
