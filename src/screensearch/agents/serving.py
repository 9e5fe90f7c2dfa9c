"""How clients reach the protocol server: on standard input and output, or over HTTP on this machine.

The only module of this room that knows `uvicorn`, which the SDK brings: import it late.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import msgspec

from screensearch.agents.atlas import Atlas
from screensearch.agents.mcp import make_server
from screensearch.errors import PluginUnavailable, ScreenSearchError
from screensearch.view.access import LOOPBACK, Access

try:
    import uvicorn
except ImportError as problem:
    raise PluginUnavailable(
        "the MCP server needs the extra `agents`: pip install 'screensearch[agents]'"
    ) from problem

PATH = "/mcp"
"""Where the server is, over HTTP."""

_ENDING_SECONDS = 2  # that answers under way get when it is over


def serve_stdio(atlas: Atlas) -> None:
    """Answer on standard input and output until the client leaves, or an interrupt."""
    # The SDK waits for the next line of input in a thread that nothing can wake: only the process can end it.
    # It only reads, so that there is nothing to put in order before.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    try:
        with _prepared(atlas):
            make_server(atlas).run("stdio")
    finally:
        signal.signal(signal.SIGINT, before)


def listen(port: int) -> socket.socket:
    """A port of this machine alone; 0 for any that is free."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen()  # who opens the printed address at once is to be waited for, not refused
    except OSError as problem:
        listening.close()
        raise ScreenSearchError(
            f"cannot serve at port {port}: {problem.strerror}; give another --port, or 0 for any"
        ) from problem
    return listening


def serve_http(atlas: Atlas, listening: socket.socket, access: Access) -> None:
    """Answer over streamable HTTP on a listening socket until an interrupt. Closes the runs."""
    application = make_server(atlas).streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, host=access.host
    )
    server = uvicorn.Server(
        uvicorn.Config(
            _Guarded(application, access),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_ENDING_SECONDS,
        )
    )
    with _prepared(atlas), contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


@contextlib.contextmanager
def _prepared(atlas: Atlas) -> Iterator[None]:
    """Reads ahead while the first questions come; releases the runs in the end."""
    threading.Thread(target=atlas.prepare, name="reads the runs", daemon=True).start()
    try:
        yield
    finally:
        atlas.close()


class _Guarded:
    """Lets through who has the token and asks by our own address; no page of another site does."""

    def __init__(self, application: Any, access: Access) -> None:
        self._application = application
        self._access = access

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._application(scope, receive, send)
            return
        status, why = refusal
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": msgspec.json.encode({"problem": why})})

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered, with its status."""
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        foreign = self._access.is_foreign(headers)
        if foreign is not None:
            return 403, foreign
        if self._access.knows(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        return 401, "give the token that the server printed, as in `Authorization: Bearer TOKEN`"
