"""An OpenAI-compatible endpoint on the loopback interface that answers as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789"
JSON = {"Content-Type": "application/json"}

Reply = tuple[int, dict[str, str], bytes]
Plan = Callable[[dict[str, Any]], Reply]


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> Reply:
    """What a good endpoint answers."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return 200, JSON, json.dumps(document).encode()


def saying(content: str) -> Plan:
    return lambda _: completion(content)


def answering(status: int, body: bytes = b"no", headers: dict[str, str] | None = None) -> Plan:
    return lambda _: (status, JSON if headers is None else headers, body)


def told(request: dict[str, Any]) -> dict[str, Any]:
    """The document that a request carries for the model."""
    system, user = request["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    document = json.loads(user["content"])
    assert isinstance(document, dict)
    return document


@dataclass
class Endpoint:
    """The server: answers request after request by plan; the last plan repeats."""

    url: str = ""
    plans: list[Plan] = field(default_factory=lambda: [saying('{"action": "wait"}')])
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def hang(self, _: dict[str, Any]) -> Reply:
        self.released.wait(20)
        return completion('{"action": "wait"}')


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint for the length of a test."""
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            state.paths.append(self.path)
            state.keys.append(self.headers["Authorization"])
            plan = state.plans.pop(0) if len(state.plans) > 1 else state.plans[0]
            status, headers, body = plan(state.requests[-1])
            try:
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting, or reading

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
